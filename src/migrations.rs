//! The migrations and golden schemas of this build: sole reader of the trees that `build.rs` embeds.
//!
//! `migrations/<lineage>/<number>_<name>/migration.yaml` describes a version, `<backend>.yaml` beside it is
//! the body for a backend; `golden/<lineage>/<version>/<backend>.yaml` is the schema it ends on.

use std::sync::LazyLock;

use crate::domain::migration::{Body, CatalogVersion, Header, Lineage, Migration};

/// Every embedded file, by its path in the project, in byte order.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

static ALL: LazyLock<Vec<Migration>> = LazyLock::new(|| match parse_all() {
    Ok(all) => all,
    Err(problem) => panic!("an embedded migration is malformed, which the tests rule out: {problem}"),
});

/// The migrations of a lineage, oldest first.
pub fn of_lineage(lineage: Lineage) -> impl DoubleEndedIterator<Item = &'static Migration> + Clone {
    ALL.iter().filter(move |m| m.lineage == lineage)
}

/// The migration that leads to a version.
#[must_use]
pub fn by_version(lineage: Lineage, version: &str) -> Option<&'static Migration> {
    of_lineage(lineage).find(|m| m.version() == version)
}

/// The newest catalog version that this build can make on a backend.
#[must_use]
pub fn newest_catalog(backend: &str) -> Option<CatalogVersion> {
    of_lineage(Lineage::Catalog).filter(|m| m.body(backend).is_some()).filter_map(Migration::catalog_version).max()
}

/// The expected schema of a version on a backend, as YAML.
#[must_use]
pub fn golden(lineage: Lineage, version: &str, backend: &str) -> Option<&'static str> {
    file(&format!("golden/{}/{version}/{backend}.yaml", lineage.word()))
}

/// What is known of a lineage's versions beside their golden schemas, as YAML.
#[must_use]
pub fn recognition(lineage: Lineage) -> Option<&'static str> {
    file(&format!("golden/{}/recognition.yaml", lineage.word()))
}

/// The versions and variants that have a golden schema on a backend, in byte order.
#[must_use]
pub fn golden_versions(lineage: Lineage, backend: &str) -> Vec<&'static str> {
    let prefix = format!("golden/{}/", lineage.word());
    let suffix = format!("/{backend}.yaml");
    FILES.iter().filter_map(|(path, _)| path.strip_prefix(&*prefix)?.strip_suffix(&*suffix)).collect()
}

fn file(path: &str) -> Option<&'static str> {
    FILES.binary_search_by_key(&path, |(name, _)| name).ok().map(|at| FILES[at].1)
}

fn parse_all() -> Result<Vec<Migration>, String> {
    let mut all = Vec::new();
    for (path, text) in FILES {
        let Some(folder) = path.strip_prefix("migrations/").and_then(|p| p.strip_suffix("/migration.yaml")) else {
            continue;
        };
        let wrong = |what: String| format!("{path}: {what}");
        let (lineage, folder_name) = folder.split_once('/').ok_or_else(|| wrong("not in a lineage".into()))?;
        let lineage: Lineage = lineage.parse().map_err(wrong)?;
        let (number, name) = folder_name.split_once('_').ok_or_else(|| wrong("folder without a number".into()))?;
        let number = number.parse().map_err(|_| wrong(format!("{number:?} is no number")))?;
        let header: Header = serde_yaml::from_str(text).map_err(|e| wrong(e.to_string()))?;
        let bodies = bodies(folder)?;
        let migration = Migration { lineage, number, name: name.to_owned(), header, bodies };
        if lineage == Lineage::Catalog && migration.catalog_version().is_none() {
            return Err(wrong(format!("{:?} is no catalog version", migration.version())));
        }
        all.push(migration);
    }
    all.sort_by_key(|m| (m.lineage, m.number));
    Ok(all)
}

fn bodies(folder: &str) -> Result<Vec<(String, Body)>, String> {
    let prefix = format!("migrations/{folder}/");
    let mut bodies = Vec::new();
    for (path, text) in FILES {
        let Some(backend) = path.strip_prefix(&*prefix).and_then(|p| p.strip_suffix(".yaml")) else { continue };
        if backend == "migration" {
            continue;
        }
        let body: Body = serde_yaml::from_str(text).map_err(|e| format!("{path}: {e}"))?;
        for step in body.steps.iter().chain(body.down.iter().flat_map(|d| &d.steps)) {
            if step.sql.is_some() == step.operation.is_some() {
                return Err(format!("{path}: step {:?} needs either sql or an operation", step.name));
            }
        }
        bodies.push((backend.to_owned(), body));
    }
    Ok(bodies)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_embedded_migration_is_well_formed() {
        let all = parse_all().expect("the embedded tree parses");
        assert!(!all.is_empty());
        for migration in &all {
            for (backend, body) in &migration.bodies {
                let names: BTreeSet<_> = body.steps.iter().map(|s| &s.name).collect();
                assert_eq!(names.len(), body.steps.len(), "{} {backend}: a step name twice", migration.name);
            }
        }
    }
}
