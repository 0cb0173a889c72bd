//! Reads staged items back and digests them, on every core.

use std::sync::Mutex;

use futures_util::future::try_join_all;
use sqlx::Connection as _;

use super::names::Physical;
use super::scan::Source;
use super::snapshot::open_source;
use super::{Postgres, encoding};
use crate::backend::loader::StagePlan;
use crate::backend::snapshot::{BlockSource, Snapshot, block_channel};
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::digest::TableDigest;
use crate::domain::item::{ControlChars, ItemParser};
use crate::domain::table::{TableInfo, TableStatus};

const OPERATION: &str = "read the staged items back";
/// Sessions that read, at most.
const MAX_LANES: usize = 4;
/// Ranges for each session, so that none waits long for the slowest.
const RANGES_PER_LANE: usize = 4;

/// The digest of a physical table that no catalog row names yet.
///
/// # Errors
/// `Damaged` for an item that cannot be read back; database errors.
pub async fn digest(pg: &Postgres, plan: &StagePlan, physical: Physical) -> Result<TableDigest> {
    let lanes = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_LANES);
    let table = TableInfo {
        account_id: plan.target.account_id.clone(),
        status: TableStatus::Creating,
        definition: plan.definition.clone(),
        indexes: Vec::new(),
        named_by_table: false,
        notes: Vec::new(),
    };
    let mut data = pg.data_connection().await?;
    let encoding = encoding::of_items(&mut data, None).await?;
    data.close().await.map_err(|e| super::error::driver(OPERATION, e))?;
    let snapshot = open_source(pg, table.clone(), Source::Table(physical), encoding, lanes).await?;
    let ranges = Mutex::new(snapshot.plan(&table, lanes * RANGES_PER_LANE).await?.into_iter());
    let (sink, source) = block_channel(lanes * 3);
    let workers: Vec<_> = (0..lanes)
        .map(|_| {
            let source = source.clone();
            tokio::task::spawn_blocking(move || digest_blocks(&source, encoding))
        })
        .collect();
    drop(source);
    let next = || ranges.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
    let scans = (0..lanes).map(|_| async {
        while let Some(range) = next() {
            snapshot.scan(&table, &range, &sink).await?;
        }
        Ok::<(), Error>(())
    });
    let scanned = try_join_all(scans).await;
    drop(sink);
    let mut digest = TableDigest::default();
    for worker in workers {
        let part = worker.await.map_err(|e| Error::new(ErrorKind::Internal, OPERATION, e.to_string()))?;
        digest.merge(&part?);
    }
    scanned?;
    Box::new(snapshot).close().await?;
    Ok(digest)
}

fn digest_blocks(source: &BlockSource, encoding: ControlChars) -> Result<TableDigest> {
    let mut parser = ItemParser::new();
    let mut digest = TableDigest::default();
    while let Some(block) = source.next_blocking() {
        for text in block.texts() {
            let item =
                parser.parse(text, encoding).map_err(|e| Error::new(ErrorKind::Damaged, OPERATION, e.to_string()))?;
            digest.add(item.canonical());
        }
        source.recycle(block);
    }
    Ok(digest)
}
