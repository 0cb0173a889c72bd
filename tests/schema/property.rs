//! A change of one object of a canonical schema is always found, and named.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use extenddb_admin::domain::fingerprint::Fingerprint;
use extenddb_admin::domain::schema::{
    Check, Column, ForeignKey, Index, IndexColumn, Lineage, Schema, Sequence, Table, Unique,
};
use extenddb_admin::ops::migrate::status::known;
use proptest::prelude::*;
use proptest::sample::Index as Pick;

/// What is changed, and how; the object is picked from those that there are.
#[derive(Debug, Clone, Copy)]
enum Change {
    DropTable,
    AddTable,
    DropColumn,
    AddColumn,
    ColumnType,
    ColumnNullability,
    ColumnDefault,
    ColumnCollation,
    ColumnAutoincrement,
    ColumnGenerated,
    PrimaryKey,
    DropUnique,
    AddUnique,
    NameUnique,
    DropForeignKey,
    AddForeignKey,
    ForeignKeyAction,
    ForeignKeyTarget,
    DropCheck,
    AddCheck,
    CheckText,
    CheckValidity,
    DropIndex,
    AddIndex,
    IndexOrder,
    IndexUniqueness,
    IndexPredicate,
    IndexColumns,
    IndexValidity,
    IndexCollation,
    Options,
    DropSequence,
    AddSequence,
    SequenceStep,
}

const CHANGES: &[Change] = &[
    Change::DropTable,
    Change::AddTable,
    Change::DropColumn,
    Change::AddColumn,
    Change::ColumnType,
    Change::ColumnNullability,
    Change::ColumnDefault,
    Change::ColumnCollation,
    Change::ColumnAutoincrement,
    Change::ColumnGenerated,
    Change::PrimaryKey,
    Change::DropUnique,
    Change::AddUnique,
    Change::NameUnique,
    Change::DropForeignKey,
    Change::AddForeignKey,
    Change::ForeignKeyAction,
    Change::ForeignKeyTarget,
    Change::DropCheck,
    Change::AddCheck,
    Change::CheckText,
    Change::CheckValidity,
    Change::DropIndex,
    Change::AddIndex,
    Change::IndexOrder,
    Change::IndexUniqueness,
    Change::IndexPredicate,
    Change::IndexColumns,
    Change::IndexValidity,
    Change::IndexCollation,
    Change::Options,
    Change::DropSequence,
    Change::AddSequence,
    Change::SequenceStep,
];

/// Applies a change and answers the name of the object, or nothing where there is none of its kind.
fn apply(schema: &mut Schema, change: Change, pick: &Pick, second: &Pick) -> Option<String> {
    use Change as C;
    match change {
        C::AddTable => {
            schema.tables.insert("zz_new".into(), Table::default());
            return Some("table zz_new".into());
        }
        C::AddSequence => {
            schema.sequences.insert("zz_seq".into(), Sequence { kind: "bigint".into(), increment: 1, cycle: false });
            return Some("sequence zz_seq".into());
        }
        C::DropSequence | C::SequenceStep => {
            let name = one(schema.sequences.keys(), pick)?;
            match change {
                C::DropSequence => drop(schema.sequences.remove(&name)),
                _ => schema.sequences.get_mut(&name)?.increment += 1,
            }
            return Some(format!("sequence {name}"));
        }
        _ => {}
    }
    let fits = |t: &Table| match change {
        C::DropUnique | C::NameUnique => !t.unique.is_empty(),
        C::DropForeignKey | C::ForeignKeyAction | C::ForeignKeyTarget => !t.foreign_keys.is_empty(),
        C::DropCheck | C::CheckText | C::CheckValidity => !t.checks.is_empty(),
        C::DropIndex
        | C::IndexOrder
        | C::IndexUniqueness
        | C::IndexPredicate
        | C::IndexColumns
        | C::IndexValidity
        | C::IndexCollation => !t.indexes.is_empty(),
        _ => true,
    };
    let table = one(schema.tables.iter().filter(|(_, t)| fits(t)).map(|(name, _)| name), pick)?;
    if matches!(change, C::DropTable) {
        schema.tables.remove(&table);
        return Some(format!("table {table}"));
    }
    let t = schema.tables.get_mut(&table)?;
    let column_name = one(t.columns.keys(), second)?;
    Some(match change {
        C::DropColumn => {
            t.columns.remove(&column_name);
            format!("column {table}.{column_name}")
        }
        C::AddColumn => {
            t.columns.insert("zz_new".into(), Column { kind: "text".into(), nullable: true, ..Column::default() });
            format!("column {table}.zz_new")
        }
        C::ColumnType
        | C::ColumnNullability
        | C::ColumnDefault
        | C::ColumnCollation
        | C::ColumnAutoincrement
        | C::ColumnGenerated => {
            let c = t.columns.get_mut(&column_name)?;
            match change {
                C::ColumnType => c.kind.push_str("(3)"),
                C::ColumnNullability => c.nullable = !c.nullable,
                C::ColumnDefault => c.default = c.default.take().is_none().then(|| "'x'".to_owned()),
                C::ColumnCollation => c.collation = c.collation.take().is_none().then(|| "C".to_owned()),
                C::ColumnAutoincrement => c.autoincrement = !c.autoincrement,
                _ => c.generated = Some("1 stored".into()),
            }
            format!("column {table}.{column_name}")
        }
        C::PrimaryKey => {
            if t.primary_key.pop().is_none() {
                t.primary_key.push(column_name);
            }
            format!("primary key of {table}")
        }
        C::AddUnique => {
            t.unique.insert(Unique { columns: vec![column_name.clone(), "zz".into()], name: None });
            format!("unique ({column_name}, zz) of {table}")
        }
        C::DropUnique | C::NameUnique => {
            let unique = take(&mut t.unique, second)?;
            if matches!(change, C::NameUnique) {
                t.unique.insert(Unique { name: Some("zz".into()), ..unique.clone() });
            }
            format!("unique ({}) of {table}", unique.columns.join(", "))
        }
        C::AddForeignKey => {
            t.foreign_keys.insert(ForeignKey {
                columns: vec![column_name.clone()],
                references: "zz".into(),
                referenced_columns: vec!["id".into()],
                on_delete: "cascade".into(),
                on_update: "no action".into(),
                name: None,
                deferred: false,
                not_valid: false,
            });
            format!("foreign key ({column_name}) of {table}")
        }
        C::DropForeignKey | C::ForeignKeyAction | C::ForeignKeyTarget => {
            let mut key = take(&mut t.foreign_keys, second)?;
            let name = format!("foreign key ({}) of {table}", key.columns.join(", "));
            match change {
                C::ForeignKeyAction => key.on_delete = "restrict".into(),
                C::ForeignKeyTarget => key.references.push('x'),
                _ => return Some(name),
            }
            t.foreign_keys.insert(key);
            name
        }
        C::AddCheck => {
            t.checks.insert(Check { name: Some("zz".into()), expression: "1 = 1".into(), ..Check::default() });
            format!("check zz of {table}")
        }
        C::DropCheck | C::CheckText | C::CheckValidity => {
            let mut check = take(&mut t.checks, second)?;
            let label = check.name.clone().unwrap_or_else(|| format!("({})", check.columns.join(", ")));
            match change {
                C::CheckText => check.expression.push_str(" or 1 = 1"),
                C::CheckValidity => check.not_valid = true,
                _ => return Some(format!("check {label} of {table}")),
            }
            t.checks.insert(check);
            format!("check {label} of {table}")
        }
        C::AddIndex => {
            let columns = vec![IndexColumn { name: column_name, ..IndexColumn::default() }];
            t.indexes.insert("zz_new".into(), Index { columns, ..Index::default() });
            format!("index zz_new on {table}")
        }
        C::Options => {
            if !t.options.remove("strict") {
                t.options.insert("strict".into());
            }
            format!("options of {table}")
        }
        _ => {
            let name = one(t.indexes.keys(), second)?;
            let index = t.indexes.get_mut(&name)?;
            match change {
                C::DropIndex => drop(t.indexes.remove(&name)),
                C::IndexOrder => index.columns.last_mut()?.desc ^= true,
                C::IndexUniqueness => index.unique ^= true,
                C::IndexPredicate => index.predicate = index.predicate.take().is_none().then(|| "a is null".to_owned()),
                C::IndexColumns => drop(index.columns.pop()),
                C::IndexValidity => index.invalid = true,
                _ => index.columns.last_mut()?.collation = Some("zz".into()),
            }
            format!("index {name} on {table}")
        }
    })
}

fn one<'a>(names: impl Iterator<Item = &'a String>, pick: &Pick) -> Option<String> {
    let names: Vec<&String> = names.collect();
    (!names.is_empty()).then(|| names[pick.index(names.len())].clone())
}

fn take<T: Ord + Clone>(set: &mut BTreeSet<T>, pick: &Pick) -> Option<T> {
    let value = set.iter().nth(pick.index(set.len().max(1)))?.clone();
    set.take(&value)
}

/// The golden schemas, read once.
static GOLDEN: LazyLock<Vec<(Schema, Fingerprint)>> = LazyLock::new(|| {
    let of = |backend| known(Lineage::Catalog, backend).unwrap().versions;
    let schemas = ["sqlite", "postgres"].into_iter().flat_map(of).map(|v| v.schema);
    schemas.map(|schema| (schema.clone(), Fingerprint::of(&schema))).collect()
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_change_of_one_object_is_found_and_named(
        change in prop::sample::select(CHANGES),
        version in any::<Pick>(),
        pick in any::<Pick>(),
        second in any::<Pick>(),
    ) {
        let (golden, fingerprint) = &GOLDEN[version.index(GOLDEN.len())];
        let mut changed = golden.clone();
        let Some(object) = apply(&mut changed, change, &pick, &second) else { return Ok(()) };
        for (a, b) in [(golden, &changed), (&changed, golden)] {
            let found = Schema::diff(a, b);
            prop_assert_eq!(found.len(), 1, "{:?} of {}: {:?}", change, object, found);
            prop_assert_eq!(&found[0].object, &object);
            prop_assert!(found[0].to_string().contains(&object));
        }
        prop_assert_ne!(*fingerprint, Fingerprint::of(&changed));
        prop_assert!(Schema::diff(&changed, &changed).is_empty());
    }
}

/// Every kind of change occurs on some golden schema, so that none of the above is never tried.
#[test]
fn every_kind_of_change_is_possible() {
    use proptest::strategy::{Strategy as _, ValueTree as _};
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let pick = any::<Pick>().new_tree(&mut runner).unwrap().current();
    for change in CHANGES {
        let possible = GOLDEN.iter().any(|(schema, _)| apply(&mut schema.clone(), *change, &pick, &pick).is_some());
        assert!(possible, "{change:?}");
    }
}
