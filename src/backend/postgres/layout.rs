//! The physical tables of a table to be made: columns, keys and indexes, as the servers make them.
//!
//! Source: PostgreSQL data layout, sections 1, 2 and 5.

use super::names::{Physical, identifier};
use super::tables::sort_columns;
use crate::backend::loader::StagePlan;
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::index_row::IndexSpec;
use crate::domain::key::KeySpec;
use crate::domain::table::ScalarType;

/// What differs between deployments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Text keys declare `COLLATE "C"`.
    pub collate_c: bool,
    /// Index tables have the reverse index.
    pub reverse_index: bool,
    /// Physical tables are named by account and table.
    pub named_by_table: bool,
}

/// One physical table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableLayout {
    /// Its name.
    pub physical: Physical,
    /// Column definitions.
    columns: Vec<String>,
    /// Columns that a load fills, in order.
    pub filled: Vec<String>,
    /// Columns of the primary key.
    pub primary_key: Vec<String>,
    /// Columns of the ordering index, where the index has a sort key.
    pub ordering: Option<Vec<String>>,
    /// Columns of the reverse index, where the deployment has those.
    pub reverse: Option<Vec<String>>,
}

/// A table and its secondary indexes.
#[derive(Debug, Clone)]
pub struct Layouts {
    /// Key of the base table.
    pub key: KeySpec,
    /// Base table.
    pub base: TableLayout,
    /// Index tables with their rules, in the order of the plan's ids.
    pub indexes: Vec<(IndexSpec, TableLayout)>,
}

impl Layouts {
    /// Lays a plan out.
    ///
    /// # Errors
    /// `Unrepresentable` for a table that the servers would not make; `Internal` for a plan that contradicts itself.
    pub fn of(plan: &StagePlan, style: Style) -> Result<Self> {
        const OPERATION: &str = "lay the table out";
        let table = &plan.definition;
        let unfit = |message: String| {
            Error::new(ErrorKind::Unrepresentable, OPERATION, message).with("table", &table.table_name)
        };
        let key = KeySpec::new(&table.key_schema, &table.attribute_definitions).map_err(unfit)?;
        if key.hash.len() > 1 || key.range.len() > 1 {
            return Err(unfit("its key has more than one HASH or RANGE attribute".to_owned()));
        }
        let specs = IndexSpec::of_table(table).map_err(unfit)?;
        if specs.len() != plan.index_ids.len() {
            let message = format!("{} indexes and {} index ids", specs.len(), plan.index_ids.len());
            return Err(Error::new(ErrorKind::Internal, OPERATION, message));
        }
        let target = &plan.target;
        let base_name = if style.named_by_table {
            Physical::by_table(&target.account_id, &target.table_name)
        } else {
            Physical::of_id(&table.table_id)
        };
        let base_types = types(&key);
        let base = base_table(base_name, &base_types, style);
        let indexes = specs.into_iter().zip(&plan.index_ids).map(|(spec, id)| {
            let physical = if style.named_by_table {
                Physical::index_by_table(&target.account_id, &target.table_name, &spec.index_name)
            } else {
                Physical::of_id(id)
            };
            let layout = index_table(physical, &types(&spec.key), &base_types, style);
            (spec, layout)
        });
        let layouts = Self { key, base, indexes: indexes.collect() };
        if let Some(long) = layouts.all().find(|t| t.physical.name().len() >= super::names::MAX_IDENTIFIER_BYTES) {
            return Err(unfit(format!("its physical name {} would be cut off", long.physical)));
        }
        Ok(layouts)
    }

    /// Every physical table, the base table first.
    pub fn all(&self) -> impl Iterator<Item = &TableLayout> {
        std::iter::once(&self.base).chain(self.indexes.iter().map(|(_, layout)| layout))
    }
}

impl TableLayout {
    /// The statement that makes the table, without its indexes.
    pub fn create(&self) -> String {
        format!("CREATE TABLE {} ({})", self.physical.sql(), self.columns.join(", "))
    }

    /// The statement of a load.
    pub fn copy_in(&self) -> String {
        format!("COPY {} ({}) FROM STDIN (FORMAT binary)", self.physical.sql(), self.filled.join(", "))
    }

    /// The statement that makes the primary key; PostgreSQL names it.
    pub fn add_primary_key(&self) -> String {
        format!("ALTER TABLE {} ADD PRIMARY KEY ({})", self.physical.sql(), self.primary_key.join(", "))
    }

    /// The statements of the other indexes, each with the columns it covers.
    pub fn create_indexes(&self) -> Vec<(String, &[String])> {
        let mut statements = Vec::new();
        if let Some(columns) = &self.ordering {
            statements
                .push((format!("CREATE INDEX ON {} ({})", self.physical.sql(), columns.join(", ")), &columns[..]));
        }
        if let Some(columns) = &self.reverse {
            let name = identifier(self.physical.reverse_index().name());
            let sql = format!("CREATE INDEX {name} ON {} ({})", self.physical.sql(), columns.join(", "));
            statements.push((sql, &columns[..]));
        }
        statements
    }
}

fn types(key: &KeySpec) -> Vec<ScalarType> {
    key.range.iter().map(|a| a.ty).collect()
}

fn collation(style: Style) -> &'static str {
    if style.collate_c { " COLLATE \"C\"" } else { "" }
}

/// All three typed columns of each sort position; the declared one is not null where it is part of the primary key.
fn typed_columns(prefix: &str, types: &[ScalarType], in_primary_key: bool, style: Style) -> Vec<String> {
    let declared = sort_columns(prefix, types);
    let mut columns = Vec::new();
    for position in 0..types.len() {
        for (ty, sql_type) in [(ScalarType::S, "text"), (ScalarType::N, "numeric"), (ScalarType::B, "bytea")] {
            let mut of_type = types.to_vec();
            of_type[position] = ty;
            let name = &sort_columns(prefix, &of_type)[position];
            let collate = if ty == ScalarType::S { collation(style) } else { "" };
            let not_null = if in_primary_key && declared[position] == *name { " NOT NULL" } else { "" };
            columns.push(format!("{name} {sql_type}{collate}{not_null}"));
        }
    }
    columns
}

fn base_table(physical: Physical, types: &[ScalarType], style: Style) -> TableLayout {
    let mut columns = vec![format!("pk text{} NOT NULL", collation(style))];
    columns.extend(typed_columns("sk", types, true, style));
    columns.push("item_data jsonb NOT NULL".to_owned());
    let mut primary_key = vec!["pk".to_owned()];
    primary_key.extend(sort_columns("sk", types));
    let mut filled = primary_key.clone();
    filled.push("item_data".to_owned());
    TableLayout { physical, columns, filled, primary_key, ordering: None, reverse: None }
}

fn index_table(physical: Physical, types: &[ScalarType], base_types: &[ScalarType], style: Style) -> TableLayout {
    let collate = collation(style);
    let mut columns = vec![format!("pk text{collate} NOT NULL")];
    columns.extend(typed_columns("sk", types, false, style));
    columns.push(format!("base_pk text{collate} NOT NULL"));
    columns.extend(typed_columns("base_sk", base_types, true, style));
    columns.push("item_data jsonb NOT NULL".to_owned());
    let pk = ["pk".to_owned()];
    let sort = sort_columns("sk", types);
    let mut base = vec!["base_pk".to_owned()];
    base.extend(sort_columns("base_sk", base_types));
    TableLayout {
        physical,
        columns,
        filled: [&pk[..], &sort, &base, &["item_data".to_owned()]].concat(),
        primary_key: [&pk[..], &base].concat(),
        ordering: (!sort.is_empty()).then(|| [&pk[..], &sort, &base].concat()),
        reverse: style.reverse_index.then_some(base),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: Style = Style { collate_c: true, reverse_index: true, named_by_table: false };

    #[test]
    fn a_base_table_has_three_columns_for_its_sort_key_and_keys_on_the_declared_one() {
        let table = base_table(Physical::of_id("t"), &[ScalarType::N], STYLE);
        assert_eq!(
            table.create(),
            "CREATE TABLE public.\"_ddb_t\" (pk text COLLATE \"C\" NOT NULL, sk_s text COLLATE \"C\", \
             sk_n numeric NOT NULL, sk_b bytea, item_data jsonb NOT NULL)"
        );
        assert_eq!(table.add_primary_key(), "ALTER TABLE public.\"_ddb_t\" ADD PRIMARY KEY (pk, sk_n)");
        assert_eq!(table.copy_in(), "COPY public.\"_ddb_t\" (pk, sk_n, item_data) FROM STDIN (FORMAT binary)");
        assert!(table.create_indexes().is_empty());
    }

    #[test]
    fn an_index_table_is_keyed_by_the_base_key_and_ordered_by_its_own() {
        let style = Style { collate_c: false, ..STYLE };
        let table = index_table(Physical::of_id("i"), &[ScalarType::N, ScalarType::S], &[ScalarType::B], style);
        assert_eq!(table.filled, ["pk", "sk_n", "sk2_s", "base_pk", "base_sk_b", "item_data"]);
        assert_eq!(table.primary_key, ["pk", "base_pk", "base_sk_b"]);
        assert!(
            table
                .create()
                .contains("sk_n numeric, sk_b bytea, sk2_s text, sk2_n numeric, sk2_b bytea, base_pk text NOT NULL")
        );
        let indexes = table.create_indexes();
        assert_eq!(indexes[0].0, "CREATE INDEX ON public.\"_ddb_i\" (pk, sk_n, sk2_s, base_pk, base_sk_b)");
        assert_eq!(indexes[1].0, "CREATE INDEX \"_ddb_i_base_key_idx\" ON public.\"_ddb_i\" (base_pk, base_sk_b)");
    }
}
