//! The golden schemas are what is known of each version, object by object, so that neither can
//! change alone. `tests/data/contract` holds what is known, in a form of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use extenddb_admin::domain::difference::compare;
use extenddb_admin::domain::expression;
use extenddb_admin::domain::known::Known;
use extenddb_admin::domain::schema::{Check, Column, ForeignKey, Index, IndexColumn, Lineage, Schema, Table, Unique};
use extenddb_admin::domain::tolerance::{Addition, Aspect, OpenColumns, OpenIndex, OpenTable, Tolerance};
use extenddb_admin::ops::migrate::status::known;
use serde::Deserialize;

use crate::support::Kind;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    version: String,
    ledger: Vec<String>,
    #[allow(dead_code)] // looked at in `golden.rs`, on a database
    settings: BTreeMap<String, String>,
    #[serde(default)]
    variants: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    #[serde(default)]
    may_lack: BTreeMap<String, Vec<String>>,
    tables: BTreeMap<String, PageTable>,
    #[serde(default)]
    sequences: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageTable {
    columns: Option<BTreeMap<String, PageColumn>>,
    #[serde(default)]
    primary_key: Vec<String>,
    #[serde(default)]
    unique: Vec<PageUnique>,
    #[serde(default)]
    foreign_keys: Vec<PageKey>,
    #[serde(default)]
    checks: Vec<PageCheck>,
    #[serde(default)]
    indexes: Vec<PageIndex>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageColumn {
    #[serde(rename = "type")]
    kind: Option<String>,
    nullable: bool,
    default: Option<String>,
    collation: Option<String>,
    #[serde(default)]
    autoincrement: bool,
    #[serde(default)]
    open: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageUnique {
    name: Option<String>,
    columns: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageKey {
    name: Option<String>,
    columns: Vec<String>,
    table: String,
    to: Vec<String>,
    on_delete: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageCheck {
    name: Option<String>,
    says: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageIndex {
    name: Option<String>,
    columns: Vec<String>,
    unique: bool,
    #[serde(rename = "where")]
    predicate: Option<String>,
}

fn read(kind: Kind, name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/contract").join(kind.name()).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn page(kind: Kind, version: &str) -> Page {
    serde_yaml::from_str(&read(kind, &format!("{version}.yaml"))).unwrap()
}

/// The page as a schema, and what it leaves open. Objects without a name or a column are left out.
fn schema_of(kind: Kind, page: &Page, golden: &Schema) -> (Schema, Tolerance) {
    let mut tolerance = Tolerance { check_text: true, ..Tolerance::default() };
    let mut schema = Schema::default();
    for (name, described) in &page.tables {
        let Some(columns) = &described.columns else {
            // Nothing but its name is known.
            tolerance.tables.push(OpenTable { everything: true, ..open(name) });
            schema.tables.insert(name.clone(), Table::default());
            continue;
        };
        let mut table = Table { primary_key: described.primary_key.clone(), ..Table::default() };
        for (column, c) in columns {
            table.columns.insert(column.clone(), column_of(c));
            let aspects: Vec<Aspect> = c.open.iter().map(|aspect| aspect_of(aspect)).collect();
            let columns = vec![OpenColumns { names: vec![column.clone()], aspects }];
            tolerance.tables.push(OpenTable { columns, ..open(name) });
        }
        let chosen = |given: &Option<String>, columns: &[String], suffix: &str| {
            let system = format!("{name}_{}_{suffix}", columns.join("_"));
            given.clone().filter(|n| kind != Kind::Postgres || *n != system)
        };
        for u in &described.unique {
            table.unique.insert(Unique { columns: u.columns.clone(), name: chosen(&u.name, &u.columns, "key") });
        }
        for k in &described.foreign_keys {
            table.foreign_keys.insert(ForeignKey {
                columns: k.columns.clone(),
                references: k.table.clone(),
                referenced_columns: k.to.clone(),
                on_delete: k.on_delete.clone(),
                on_update: "no action".into(),
                name: chosen(&k.name, &k.columns, "fkey"),
                deferred: false,
                not_valid: false,
            });
        }
        for c in &described.checks {
            let words: BTreeSet<String> = c.says.split([' ', ',']).map(str::to_owned).collect();
            let spoken_of: Vec<String> = table.columns.keys().filter(|c| words.contains(*c)).cloned().collect();
            let name = chosen(&c.name, &spoken_of, "check");
            table.checks.insert(Check { columns: spoken_of, name, expression: c.says.clone(), not_valid: false });
        }
        let mut nameless = Vec::new();
        for i in &described.indexes {
            match &i.name {
                Some(name) => drop(table.indexes.insert(name.clone(), index_of(i))),
                None => nameless.push(rule_of(i)),
            }
        }
        let extra = golden.tables[name].indexes.keys().filter(|i| !table.indexes.contains_key(*i)).count();
        assert_eq!(extra, nameless.len(), "indexes of {name} that have no name on the page");
        tolerance.tables.push(OpenTable { indexes: nameless, more: Vec::<Addition>::new(), ..open(name) });
        schema.tables.insert(name.clone(), table);
    }
    schema.sequences = golden.sequences.clone();
    (schema, tolerance)
}

fn open(table: &str) -> OpenTable {
    OpenTable {
        table: table.into(),
        everything: false,
        absence: false,
        columns: vec![],
        indexes: vec![],
        more: vec![],
        unique_by_any_means: false,
    }
}

fn column_of(c: &PageColumn) -> Column {
    let default = c.default.as_deref().map(|text| match text.strip_suffix(" as text") {
        Some(inner) => format!("({inner})::text"),
        None => expression::normalise(text),
    });
    Column {
        kind: c.kind.clone().unwrap_or_default(),
        nullable: c.nullable,
        default,
        collation: c.collation.clone(),
        autoincrement: c.autoincrement,
        generated: None,
    }
}

fn aspect_of(word: &str) -> Aspect {
    match word {
        "type" => Aspect::Type,
        "nullability" => Aspect::Nullability,
        "default" => Aspect::Default,
        "autoincrement" => Aspect::Autoincrement,
        "presence" => Aspect::Absence,
        other => panic!("unknown aspect {other}"),
    }
}

fn index_of(i: &PageIndex) -> Index {
    let columns = i.columns.iter().map(|text| {
        let (name, desc) = text.strip_suffix(" desc").map_or((text.as_str(), false), |name| (name, true));
        IndexColumn { name: name.into(), desc, ..IndexColumn::default() }
    });
    Index {
        columns: columns.collect(),
        unique: i.unique,
        predicate: i.predicate.as_deref().map(expression::normalise),
        ..Index::default()
    }
}

/// `[account_id, table_name, '...']`, `[store identity columns, status]`, `[unknown]`.
fn rule_of(i: &PageIndex) -> OpenIndex {
    let mut rule = OpenIndex::default();
    for (position, column) in i.columns.iter().enumerate() {
        match column.as_str() {
            "..." | "unknown" => {}
            "store identity columns" => rule.one_of = vec!["store_id".into(), "store_root".into()],
            name if rule.leading.len() == position => rule.leading.push(name.into()),
            name => rule.holding.push(name.into()),
        }
    }
    rule
}

fn golden_is_what_is_known(kind: Kind) {
    let known = known(Lineage::Catalog, kind.name()).unwrap();
    let versions: Vec<_> = known.versions.iter().map(|v| v.version.as_str()).collect();
    assert_eq!(versions, ["0.0.2", "0.0.3", "0.0.4", "0.0.5"]);
    for version in &known.versions {
        let page = page(kind, &version.version);
        let (expected, tolerance) = schema_of(kind, &page, &version.schema);
        let found = compare(&expected, &version.schema, &tolerance);
        let shown: Vec<String> = found.differences.iter().map(ToString::to_string).collect();
        assert!(shown.is_empty(), "{} {}:\n{}", kind.name(), version.version, shown.join("\n"));
        let sequences: Vec<&String> = version.schema.sequences.keys().collect();
        assert_eq!(sequences, page.sequences.iter().collect::<Vec<_>>(), "sequences of {}", version.version);
    }
}

fn the_ledger_rows_are_what_is_known(kind: Kind) {
    let known = known(Lineage::Catalog, kind.name()).unwrap();
    let mut rows = Vec::new();
    for version in &known.versions {
        rows.extend(version.ledger_row.clone());
        let page = page(kind, &version.version);
        assert_eq!(page.version, version.version);
        assert_eq!(rows.iter().filter(|r| page.ledger.contains(r)).count(), page.ledger.len(), "{}", version.version);
    }
}

fn variants_lack_what_is_known_that_they_lack(kind: Kind) {
    let known = known(Lineage::Catalog, kind.name()).unwrap();
    for (name, lacks) in page(kind, "0.0.2").variants {
        assert_eq!(lacking(&known, "0.0.2", &name), lacks, "{name}");
    }
    for version in ["0.0.3", "0.0.4"] {
        let may_lack = page(kind, version).may_lack;
        if !may_lack.is_empty() {
            assert_eq!(lacking(&known, "0.0.2", "0.0.2-b"), may_lack, "{version}");
        }
    }
}

/// Columns of a version that a variant of it has not.
fn lacking(known: &Known, version: &str, variant: &str) -> BTreeMap<String, Vec<String>> {
    let whole = known.schema_of(version).unwrap();
    let part = known.schema_of(variant).unwrap_or_else(|| panic!("no variant {variant}"));
    let mut lacking: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // In the order of the page: what a table gained last comes last there.
    let order = ["index_id", "table_class", "sse_specification", "on_demand_throughput"];
    for (table, t) in &whole.tables {
        for column in
            order.iter().filter(|c| t.columns.contains_key(**c) && !part.tables[table].columns.contains_key(**c))
        {
            lacking.entry(table.clone()).or_default().push((*column).to_owned());
        }
    }
    assert_eq!(whole.tables.keys().collect::<Vec<_>>(), part.tables.keys().collect::<Vec<_>>());
    lacking
}

#[test]
fn golden_schemas_of_sqlite_are_what_is_known() {
    golden_is_what_is_known(Kind::Sqlite);
    the_ledger_rows_are_what_is_known(Kind::Sqlite);
}

#[test]
fn golden_schemas_of_postgres_are_what_is_known() {
    golden_is_what_is_known(Kind::Postgres);
    the_ledger_rows_are_what_is_known(Kind::Postgres);
    variants_lack_what_is_known_that_they_lack(Kind::Postgres);
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DataTable {
    columns: BTreeMap<String, String>,
    primary_key: Vec<String>,
    #[serde(default)]
    indexes: BTreeMap<String, Vec<String>>,
}

#[test]
fn golden_schemas_of_the_data_are_what_is_known() {
    let steps: BTreeMap<String, BTreeMap<String, DataTable>> =
        serde_yaml::from_str(&read(Kind::Postgres, "data.yaml")).unwrap();
    let known = known(Lineage::Data, "postgres").unwrap();
    let versions: Vec<_> = known.versions.iter().map(|v| &v.version).collect();
    assert_eq!(versions, steps.keys().collect::<Vec<_>>());
    let mut expected: BTreeMap<&String, &DataTable> = BTreeMap::new();
    for (version, tables) in &steps {
        expected.extend(tables);
        let golden = known.schema_of(version).unwrap();
        assert_eq!(golden.tables.keys().collect::<Vec<_>>(), expected.keys().copied().collect::<Vec<_>>());
        assert_eq!(golden.sequences.keys().collect::<Vec<_>>(), ["stream_seq"]);
        for (name, table) in &expected {
            let found = &golden.tables[*name];
            let columns: BTreeMap<String, String> = found
                .columns
                .iter()
                .map(|(name, c)| (name.clone(), format!("{}{}", c.kind, if c.nullable { "" } else { "!" })))
                .collect();
            assert_eq!(columns, table.columns, "{name} of {version}");
            assert_eq!(found.primary_key, table.primary_key, "{name} of {version}");
            let indexes: BTreeMap<String, Vec<String>> = found
                .indexes
                .iter()
                .map(|(name, i)| (name.clone(), i.columns.iter().map(|c| c.name.clone()).collect()))
                .collect();
            assert_eq!(indexes, table.indexes, "{name} of {version}");
        }
    }
    let shards = &known.newest().unwrap().schema.tables["stream_shards"];
    assert!(shards.foreign_keys.is_empty(), "the shards of the data refer to no table");
    assert_eq!(known.newest().unwrap().schema.tables["stream_records"].foreign_keys.len(), 1);
}
