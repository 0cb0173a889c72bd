//! `table`: what the live catalog says about its tables.

use anyhow::Result;
use clap::Subcommand;

use super::{Access, Context, Exit};
use crate::domain::quantity::show_size;
use crate::ops::table::{self, TableRow};
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
}

/// Runs one.
pub async fn run(command: Command, ctx: &Context) -> Result<Exit> {
    match command {
        Command::List { account } => {
            let backend = ctx.backend(Access::ReadOnly).await?;
            let report = table::list(&*backend, account.as_deref()).await?;
            ctx.ui().print(&report, |r| {
                let headers = ["ACCOUNT", "TABLE", "STATUS", "ITEMS", "SIZE", "INDEXES", "CREATED"];
                Page::new().table(headers, r.tables.iter().map(row))
            })?;
            Ok(Exit::Done)
        }
    }
}

fn row(t: &TableRow) -> [String; 7] {
    let size = u64::try_from(t.size_bytes).map_or_else(|_| t.size_bytes.to_string(), show_size);
    [
        t.account_id.clone(),
        t.table.clone(),
        t.status.clone(),
        t.item_count.to_string(),
        size,
        t.indexes.to_string(),
        t.created_at.to_string(),
    ]
}
