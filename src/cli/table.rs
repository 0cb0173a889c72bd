//! `table`: what the live catalog says about its tables, and what is in them.

use std::num::NonZeroUsize;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::{Access, Context, Exit};
use crate::domain::quantity::show_size;
use crate::domain::table::{AttributeDefinition, BillingMode, KeyElement, KeyType, SourceTable};
use crate::ops::settings::default_workers;
use crate::ops::table::{self, TableDescription, TableRow};
use crate::ui::Page;

/// Commands on tables.
#[derive(Subcommand)]
pub enum Command {
    /// List tables
    List {
        /// Only tables of this account
        #[arg(long, value_name = "ID")]
        account: Option<String>,
    },
    /// Describe a table: keys, indexes, capacity, physical identity
    Describe(Named),
    /// Compute the digest of a table's items
    ///
    /// Reads every item from one snapshot. The same items give the same digest on every backend and in
    /// every order, so two tables with equal digests hold the same items.
    #[command(after_help = "Examples:\n  extenddb-admin table digest Orders\n  \
        extenddb-admin table digest Orders --account 123456789012 -o json | jq -r .digest")]
    Digest {
        /// Table to read
        #[command(flatten)]
        named: Named,
        /// Use at most that many threads and connections [default: one a core, at least 2]
        #[arg(long, value_name = "N")]
        jobs: Option<NonZeroUsize>,
    },
}

/// One table.
#[derive(Args)]
pub struct Named {
    /// Name of the table
    pub table: String,
    /// Account of the table, where several have one of that name
    #[arg(long, value_name = "ID")]
    pub account: Option<String>,
}

/// Runs one.
pub async fn run(command: Command, ctx: &Context) -> Result<Exit> {
    let backend = ctx.backend(Access::ReadOnly).await?;
    match command {
        Command::List { account } => {
            let report = table::list(&*backend, account.as_deref()).await?;
            ctx.ui().print(&report, |r| {
                let headers = ["ACCOUNT", "TABLE", "STATUS", "ITEMS", "SIZE", "INDEXES", "CREATED"];
                Page::new().table(headers, r.tables.iter().map(row))
            })?;
        }
        Command::Describe(Named { table, account }) => {
            let report = table::describe(&*backend, &table, account.as_deref()).await?;
            ctx.ui().print(&report, page)?;
        }
        Command::Digest { named, jobs } => {
            let key = table::find(&*backend, &named.table, named.account.as_deref()).await?.key();
            let workers = jobs.unwrap_or_else(default_workers);
            let report = table::digest(&*backend, &key, workers, ctx.observer()).await?;
            ctx.ui().print(&report, |r| {
                Page::new().facts([
                    ("Table", r.table.clone()),
                    ("Account", r.account_id.clone()),
                    ("Items", r.item_count.to_string()),
                    ("Digest", r.digest.to_string()),
                ])
            })?;
        }
    }
    Ok(Exit::Done)
}

fn row(t: &TableRow) -> [String; 7] {
    [
        t.account_id.clone(),
        t.table.clone(),
        t.status.clone(),
        t.item_count.to_string(),
        size(t.size_bytes),
        t.indexes.to_string(),
        t.created_at.to_string(),
    ]
}

fn size(bytes: i64) -> String {
    u64::try_from(bytes).map_or_else(|_| bytes.to_string(), show_size)
}

fn page(t: &TableDescription) -> Page {
    let d = &t.definition;
    let page = Page::new().facts([
        ("Table", t.row.table.clone()),
        ("Account", t.row.account_id.clone()),
        ("Status", t.row.status.clone()),
        ("ARN", d.table_arn.clone()),
        ("Id", d.table_id.clone()),
        ("Created", t.row.created_at.to_string()),
        ("Key", key(&d.key_schema, &d.attribute_definitions)),
        ("Capacity", capacity(d)),
        ("Class", d.table_class.clone().unwrap_or_default()),
        ("Items", format!("{} (as last recorded)", t.row.item_count)),
        ("Size", format!("{} (as last recorded)", size(t.row.size_bytes))),
        ("Notes", t.notes.join("\n")),
    ]);
    let physical = |name: &str| {
        let found = t.secondary_indexes.iter().find(|index| index.index_name == name);
        found.map(|index| (index.index_id.clone(), index.status.clone())).unwrap_or_default()
    };
    let global = d.global_secondary_indexes.iter().flatten().map(|i| ("global", &i.index_name, &i.key_schema));
    let local = d.local_secondary_indexes.iter().flatten().map(|i| ("local", &i.index_name, &i.key_schema));
    let mut rows: Vec<_> = global
        .chain(local)
        .map(|(kind, name, schema)| {
            let (id, status) = physical(name);
            [name.clone(), kind.to_owned(), key(schema, &d.attribute_definitions), status, id]
        })
        .collect();
    rows.extend(d.vector_indexes.iter().flatten().map(|index| {
        let key = format!("{} ({} dimensions)", index.vector_attribute.attribute_name, index.dimensions);
        [index.index_name.clone(), "vector".to_owned(), key, String::new(), String::new()]
    }));
    if rows.is_empty() { page } else { page.table(["INDEX", "KIND", "KEY", "STATUS", "ID"], rows) }
}

/// `customer (S) / order (N)`, partition attributes before the slash.
fn key(schema: &[KeyElement], definitions: &[AttributeDefinition]) -> String {
    let part = |wanted: KeyType| {
        let of_type = |name: &str| {
            let found = definitions.iter().find(|d| d.attribute_name == name);
            found.map_or("?", |d| d.attribute_type.tag())
        };
        let names = schema.iter().filter(|e| e.key_type == wanted);
        names.map(|e| format!("{} ({})", e.attribute_name, of_type(&e.attribute_name))).collect::<Vec<_>>().join(", ")
    };
    let (hash, range) = (part(KeyType::Hash), part(KeyType::Range));
    if range.is_empty() { hash } else { format!("{hash} / {range}") }
}

fn capacity(d: &SourceTable) -> String {
    match (d.billing_mode, &d.provisioned_throughput) {
        (BillingMode::PayPerRequest, _) => "on demand".to_owned(),
        (BillingMode::Provisioned, Some(t)) => {
            format!("provisioned, {} read, {} write", t.read_capacity_units, t.write_capacity_units)
        }
        (BillingMode::Provisioned, None) => "provisioned".to_owned(),
    }
}
