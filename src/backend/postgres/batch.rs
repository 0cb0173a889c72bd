//! One data file on its way in: one transaction, COPY into the base table and each index table.

use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, Executor as _};

use super::Postgres;
use super::copy::{RowWriter, numeric};
use super::error::driver;
use super::fence::{self, Lock};
use super::layout::Layouts;
use super::loader::read_progress;
use super::snapshot::lift_timeouts;
use crate::backend::loader::{FileDone, LoadBatch};
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::claim::FenceToken;
use crate::domain::item::{ControlChars, Item, encode_for_storage};
use crate::domain::key::{KeyValues, SortValue};

const LOAD: &str = "load items";
/// A batch asks to be flushed once it holds this much, all tables together.
const FLUSH_BYTES: usize = 4 << 20;
/// Size of one message to the server.
const SEND_BYTES: usize = 256 << 10;
/// First byte of a `jsonb` value on the wire.
const JSONB_VERSION: u8 = 1;

/// The open transaction of one data file.
pub struct Batch {
    pg: Postgres,
    data: PgConnection,
    fence: FenceToken,
    table_id: String,
    layouts: Layouts,
    encoding: ControlChars,
    base: RowWriter,
    indexes: Vec<RowWriter>,
    /// The projected item of the row at hand.
    projected: Vec<u8>,
    /// The stream at hand.
    stream: Vec<u8>,
}

impl Batch {
    /// Begins the transaction on a session of its own.
    ///
    /// # Errors
    /// Database errors.
    pub async fn begin(
        pg: Postgres,
        mut data: PgConnection,
        fence: FenceToken,
        table_id: String,
        layouts: Layouts,
        encoding: ControlChars,
    ) -> Result<Self> {
        lift_timeouts(&mut data).await?;
        data.execute("BEGIN").await.map_err(|e| driver(LOAD, e))?;
        let indexes = layouts.indexes.iter().map(|_| RowWriter::new()).collect();
        Ok(Self {
            pg,
            data,
            fence,
            table_id,
            layouts,
            encoding,
            base: RowWriter::new(),
            indexes,
            projected: Vec::new(),
            stream: Vec::new(),
        })
    }

    fn buffered(&self) -> usize {
        self.base.len() + self.indexes.iter().map(RowWriter::len).sum::<usize>()
    }

    async fn record(&mut self, done: &FileDone) -> Result<()> {
        const OPERATION: &str = "record a data file as loaded";
        let too_big = |what: &str| Error::new(ErrorKind::Internal, OPERATION, format!("{what} is out of range"));
        sqlx::query(
            "INSERT INTO extenddb_admin.load_progress (fence_key, table_id, file_index, items, digest) \
             VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(&self.fence.key)
        .bind(&self.table_id)
        .bind(i32::try_from(done.file_index).map_err(|_| too_big("file_index"))?)
        .bind(i64::try_from(done.items).map_err(|_| too_big("items"))?)
        .bind(&done.digest)
        .execute(&mut self.data)
        .await
        .map(drop)
        .map_err(|e| {
            let error = driver(OPERATION, e);
            if error.kind() == ErrorKind::Conflict {
                let message = format!("data file {} is recorded already; nothing of this batch stays", done.file_index);
                return Error::new(ErrorKind::Conflict, OPERATION, message);
            }
            error
        })
    }

    /// Mirrors the progress on the server's record (0.0.5): completed files in list order, and items.
    /// A mirror only: that it could not be written is no failure of the load.
    async fn mirror(&mut self) -> Result<()> {
        if !self.pg.held.registered(&self.fence.key).contains(&self.table_id) {
            return Ok(());
        }
        let progress = read_progress(&mut self.data, &self.fence, &self.table_id).await?;
        let in_order = progress.files.iter().zip(0u32..).take_while(|(f, i)| f.file_index == *i).count();
        let items: u64 = progress.files.iter().map(|f| f.items).sum();
        let mut catalog = self.pg.catalog_connection().await?;
        sqlx::query(
            "UPDATE table_restores SET file_index = $2, items_applied = $3 \
             WHERE table_id = $1 AND status = 'RUNNING' AND owner_generation = $4",
        )
        .bind(&self.table_id)
        .bind(i64::try_from(in_order).unwrap_or(i64::MAX))
        .bind(i64::try_from(items).unwrap_or(i64::MAX))
        .bind(self.fence.epoch.stored())
        .execute(&mut catalog)
        .await
        .map_err(|e| driver("mirror the progress of a load", e))?;
        catalog.close().await.map_err(|e| driver("mirror the progress of a load", e))
    }
}

#[async_trait::async_trait]
impl LoadBatch for Batch {
    fn push(&mut self, item: &Item<'_>) -> Result<bool> {
        let unfit = |e: String| Error::new(ErrorKind::Unrepresentable, LOAD, e).with("item", shown(item));
        let key = self.layouts.key.key_of(item, self.encoding).map_err(|e| unfit(e.to_string()))?;
        let encoding = self.encoding;
        self.base.row(field_count(self.layouts.base.filled.len()));
        write_key(&mut self.base, &key).map_err(|e| unfit(e.to_string()))?;
        self.base.field_with(|out| {
            out.push(JSONB_VERSION);
            encode_for_storage(item.canonical(), encoding, out);
        })?;
        for ((spec, layout), rows) in self.layouts.indexes.iter().zip(&mut self.indexes) {
            self.projected.clear();
            self.projected.push(JSONB_VERSION);
            let Ok(own) = spec.row_of(item, &self.layouts.key, encoding, &mut self.projected) else { continue };
            rows.row(field_count(layout.filled.len()));
            write_key(rows, &own).map_err(|e| unfit(e.to_string()))?;
            write_key(rows, &key).map_err(|e| unfit(e.to_string()))?;
            rows.field(&self.projected)?;
        }
        Ok(self.buffered() >= FLUSH_BYTES)
    }

    async fn flush(&mut self) -> Result<()> {
        let layouts = std::iter::once(&self.layouts.base).chain(self.layouts.indexes.iter().map(|(_, l)| l));
        let writers = std::iter::once(&mut self.base).chain(&mut self.indexes);
        for (layout, rows) in layouts.zip(writers) {
            rows.take_stream(&mut self.stream);
            if self.stream.is_empty() {
                continue;
            }
            let refused = |e| driver(LOAD, e).with("physical table", layout.physical.name());
            let mut copy = self.data.copy_in_raw(&layout.copy_in()).await.map_err(refused)?;
            for part in self.stream.chunks(SEND_BYTES) {
                copy.send(part).await.map_err(refused)?;
            }
            copy.finish().await.map_err(refused)?;
        }
        Ok(())
    }

    async fn commit(mut self: Box<Self>, done: &FileDone) -> Result<()> {
        self.flush().await?;
        self.record(done).await?;
        // Last before the commit: from here on nobody can mint until the transaction has ended.
        fence::assert_held(&self.pg.held, &mut self.data, &self.fence, Lock::Share).await?;
        self.data.execute("COMMIT").await.map_err(|e| driver("commit a data file", e))?;
        if let Err(e) = self.mirror().await {
            tracing::warn!("the restore's record shows an older progress: {e}");
        }
        let this = *self;
        this.data.close().await.map_err(|e| driver(LOAD, e))
    }
}

/// At most a handful of key columns and the item.
fn field_count(columns: usize) -> i16 {
    i16::try_from(columns).expect("a physical table has far fewer than 32768 columns")
}

/// The partition text, then the sort values.
fn write_key(rows: &mut RowWriter, key: &KeyValues) -> Result<()> {
    rows.field(key.pk.as_bytes())?;
    for value in &key.sort {
        match value {
            SortValue::S(text) => rows.field(text.as_bytes())?,
            SortValue::B(bytes) => rows.field(bytes)?,
            SortValue::N(text) => {
                let mut outcome = Ok(());
                rows.field_with(|out| outcome = numeric(text, out))?;
                outcome.map_err(|e| Error::new(ErrorKind::Unrepresentable, LOAD, e))?;
            }
        }
    }
    Ok(())
}

/// The beginning of an item, for messages.
fn shown(item: &Item<'_>) -> String {
    const MOST_CHARS: usize = 120;
    let text = String::from_utf8_lossy(item.canonical());
    let short: String = text.chars().take(MOST_CHARS).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}
