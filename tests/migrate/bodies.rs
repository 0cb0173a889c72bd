//! Released bodies: what of them counts, and that none is forgotten.

use extenddb_admin::domain::migration::Body;
use extenddb_admin::domain::schema::Lineage;
use extenddb_admin::migrations;

use crate::support::Kind;
use crate::support::deployment::NEWEST;

#[test]
fn the_newest_version_of_the_tests_is_the_newest_of_the_build() {
    for kind in Kind::ALL {
        assert_eq!(migrations::newest_catalog(kind.name()).unwrap().to_string(), NEWEST);
    }
}

#[test]
fn comments_whitespace_and_line_endings_are_no_change_of_a_body() {
    for migration in [Lineage::Catalog, Lineage::Data, Lineage::Admin].into_iter().flat_map(migrations::of_lineage) {
        for kind in Kind::ALL {
            let Some(body) = migration.body(kind.name()) else { continue };
            let mut edited: Body = body.clone();
            for step in &mut edited.steps {
                if let Some(sql) = &mut step.sql {
                    *sql = format!("-- why it is so\n  {} /* and more */\n", sql.replace('\n', " \r\n\t"));
                }
            }
            assert_eq!(edited.digest(), body.digest(), "{} {}", migration.name, kind.name());
            let Some(sql) = edited.steps.iter_mut().find_map(|s| s.sql.as_mut()) else { continue };
            sql.push_str("; SELECT 1");
            assert_ne!(edited.digest(), body.digest());
        }
    }
}
