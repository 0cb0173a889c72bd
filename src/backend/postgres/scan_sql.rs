//! The statement that takes items out of a table: one COPY of one text column, items separated by line feeds,
//! which their JSON never holds.
//!
//! A message costs the client about as much as an item does, so the items of several blocks travel in one message
//! where that is safe: it costs the server nothing (a text made for each item and put end to end against a message
//! made for each item), and halves the client's share. Values that may lie outside the table's own blocks travel
//! alone: many of them together would be too much memory for one message.

use super::names::{Physical, literal};
use crate::backend::snapshot::ScanRange;

/// Blocks whose items come in one message. What lies in the blocks themselves stays small even unpacked.
const BLOCKS_PER_MESSAGE: i64 = 8;
/// Values of this many stored bytes and more travel alone. PostgreSQL moves values out of the table's blocks only
/// when a row has more than about 2000 bytes.
const ALONE_BYTES: i64 = 2000;

/// How a table lies on the disk, as far as a scan cares.
#[derive(Debug, Clone, Copy)]
pub struct Heap {
    /// Blocks of the table itself.
    pub blocks: i64,
    /// Some values lie outside of them.
    pub has_toast: bool,
    /// The server finds a range of blocks without reading the whole table (PostgreSQL 14 on).
    pub has_tid_range: bool,
}

/// COPY of a range of blocks.
pub fn of_table(physical: &Physical, range: &ScanRange, heap: Heap) -> String {
    let table = physical.sql();
    let from = range.from;
    if !heap.has_tid_range {
        let upper = if range.to == i64::MAX { String::new() } else { format!(" AND ctid < '({},0)'", range.to + 1) };
        return copy(&format!("SELECT item_data::text FROM {table} WHERE ctid >= '({from},0)'{upper}"));
    }
    // Behind the size that was read there may be rows yet, if the range is open.
    let end = if range.to == i64::MAX { heap.blocks.max(from) } else { range.to + 1 };
    let small = if heap.has_toast { format!(" AND pg_column_size(item_data) < {ALONE_BYTES}") } else { String::new() };
    let mut parts = vec![format!(
        "SELECT (SELECT string_agg(item_data::text, E'\\n') FROM {table} WHERE ctid >= format('(%s,0)', g)::tid \
         AND ctid < format('(%s,0)', least(g + {BLOCKS_PER_MESSAGE}, {end}))::tid{small}) \
         FROM generate_series({from}::bigint, {end}::bigint - 1, {BLOCKS_PER_MESSAGE}) g"
    )];
    if heap.has_toast {
        parts.push(format!(
            "SELECT item_data::text FROM {table} WHERE ctid >= '({from},0)' AND ctid < '({end},0)' \
             AND pg_column_size(item_data) >= {ALONE_BYTES}"
        ));
    }
    if range.to == i64::MAX {
        parts.push(format!("SELECT item_data::text FROM {table} WHERE ctid >= '({end},0)'"));
    }
    copy(&parts.join(" UNION ALL "))
}

/// COPY of the items of an in-catalog backup.
pub fn of_legacy_backup(backup_arn: &str) -> String {
    copy(&format!("SELECT item_data::text FROM backup_items WHERE backup_arn = {}", literal(backup_arn)))
}

fn copy(query: &str) -> String {
    format!("COPY ({query}) TO STDOUT (FORMAT binary)")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAP: Heap = Heap { blocks: 100, has_toast: false, has_tid_range: true };

    #[test]
    fn only_an_open_range_looks_behind_the_size() {
        let table = Physical::of_id("t");
        let open = of_table(&table, &ScanRange { from: 40, to: i64::MAX }, HEAP);
        assert!(open.contains("generate_series(40::bigint, 100::bigint - 1, 8)"), "{open}");
        assert!(open.contains("ctid >= '(100,0)'"), "{open}");
        let closed = of_table(&table, &ScanRange { from: 0, to: 39 }, HEAP);
        assert!(closed.contains("least(g + 8, 40)") && !closed.contains("UNION"), "{closed}");
    }

    #[test]
    fn values_outside_the_blocks_travel_alone() {
        let sql = of_table(&Physical::of_id("t"), &ScanRange { from: 0, to: 9 }, Heap { has_toast: true, ..HEAP });
        assert!(
            sql.contains("pg_column_size(item_data) < 2000") && sql.contains("pg_column_size(item_data) >= 2000"),
            "{sql}"
        );
    }

    #[test]
    fn an_old_server_is_asked_for_its_rows_one_by_one() {
        let sql = of_table(&Physical::of_id("t"), &ScanRange { from: 3, to: 9 }, Heap { has_tid_range: false, ..HEAP });
        assert!(sql.contains("ctid >= '(3,0)' AND ctid < '(10,0)'") && !sql.contains("string_agg"), "{sql}");
    }
}
