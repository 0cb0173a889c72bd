//! The `backup` settings: keys, defaults, bounds. Source: backup stores, section 6.

use std::path::PathBuf;
use std::time::Duration;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use super::{Error, Result};
use crate::domain::quantity::{parse_duration, parse_size};

/// What one file says; every key optional.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BackupSection {
    /// Most bytes of lines in one data file.
    pub data_file_target_bytes: Option<Size>,
    /// Time between two heartbeats.
    pub heartbeat_interval_secs: Option<Secs>,
    /// Age of a heartbeat after which its holder counts as dead.
    pub stale_job_after_secs: Option<Secs>,
    /// Time a failed row is kept.
    pub failed_row_retention_secs: Option<Secs>,
    /// Time between two cycles of `reconcile`.
    pub reconcile_interval_secs: Option<Secs>,
    /// Most jobs at once.
    pub max_concurrent_jobs: Option<u32>,
    /// Directory for spooled files.
    pub spool_path: Option<PathBuf>,
}

/// Names of the keys of [`BackupSection`].
pub(super) const KEYS: &[&str] = &[
    "data_file_target_bytes",
    "heartbeat_interval_secs",
    "stale_job_after_secs",
    "failed_row_retention_secs",
    "reconcile_interval_secs",
    "max_concurrent_jobs",
    "spool_path",
];

/// What is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackupSettings {
    /// Most bytes of lines in one data file; at least 32 MiB.
    pub data_file_target_bytes: u64,
    /// Seconds between two heartbeats; at least 1. Rows that a server can see beat every 15 s at least.
    pub heartbeat_interval_secs: u64,
    /// Seconds after which a holder counts as dead; at least three heartbeats and 45.
    pub stale_job_after_secs: u64,
    /// Seconds a failed row is kept.
    pub failed_row_retention_secs: u64,
    /// Seconds between two cycles of `reconcile`; at least 1.
    pub reconcile_interval_secs: u64,
    /// Most jobs at once, 1 to 1024.
    pub max_concurrent_jobs: u32,
    /// Directory for spooled files; the system's temporary directory where it is missing.
    pub spool_path: Option<PathBuf>,
}

impl Default for BackupSettings {
    fn default() -> Self {
        Self {
            data_file_target_bytes: 64 << 20,
            heartbeat_interval_secs: 15,
            stale_job_after_secs: 300,
            failed_row_retention_secs: 604_800,
            reconcile_interval_secs: 60,
            max_concurrent_jobs: 4,
            spool_path: None,
        }
    }
}

impl BackupSettings {
    /// Takes each key from the first section that has it, and checks the bounds. Sections come with the name
    /// of their file, for messages.
    ///
    /// # Errors
    /// Names the key, its file, the bound and what was found.
    pub fn resolve(sections: &[(&str, &BackupSection)]) -> Result<Self> {
        let default = Self::default();
        let mut origins: Vec<(&'static str, &str)> = Vec::new();
        macro_rules! first {
            ($key:ident) => {
                sections.iter().find_map(|(origin, section)| {
                    section.$key.clone().inspect(|_| origins.push((stringify!($key), origin)))
                })
            };
        }
        let settings = Self {
            data_file_target_bytes: first!(data_file_target_bytes).map_or(default.data_file_target_bytes, |v| v.0),
            heartbeat_interval_secs: first!(heartbeat_interval_secs).map_or(default.heartbeat_interval_secs, |v| v.0),
            stale_job_after_secs: first!(stale_job_after_secs).map_or(default.stale_job_after_secs, |v| v.0),
            failed_row_retention_secs: first!(failed_row_retention_secs)
                .map_or(default.failed_row_retention_secs, |v| v.0),
            reconcile_interval_secs: first!(reconcile_interval_secs).map_or(default.reconcile_interval_secs, |v| v.0),
            max_concurrent_jobs: first!(max_concurrent_jobs).unwrap_or(default.max_concurrent_jobs),
            spool_path: first!(spool_path),
        };
        settings.check().map_err(|(key, bound, found)| {
            let origin = origins.iter().find(|(k, _)| *k == key).map_or("the defaults", |(_, origin)| origin);
            Error::new(format!("{origin}: backup.{key} must be {bound}, found {found}"))
        })?;
        Ok(settings)
    }

    /// The first bound that is violated: key, bound, what was found.
    fn check(&self) -> std::result::Result<(), (&'static str, String, u64)> {
        let at_least = |key, found: u64, least: u64, why: &str| {
            if found < least { Err((key, format!("at least {least}{why}"), found)) } else { Ok(()) }
        };
        at_least("data_file_target_bytes", self.data_file_target_bytes, 32 << 20, " bytes (32 MiB)")?;
        at_least("heartbeat_interval_secs", self.heartbeat_interval_secs, 1, "")?;
        let stale = 3 * self.heartbeat_interval_secs.clamp(15, u64::MAX / 3);
        let why = " (three times the larger of heartbeat_interval_secs and 15)";
        at_least("stale_job_after_secs", self.stale_job_after_secs, stale, why)?;
        at_least("reconcile_interval_secs", self.reconcile_interval_secs, 1, "")?;
        if !(1..=1024).contains(&self.max_concurrent_jobs) {
            return Err(("max_concurrent_jobs", "from 1 to 1024".to_owned(), self.max_concurrent_jobs.into()));
        }
        Ok(())
    }

    /// Age after which a holder counts as dead.
    #[must_use]
    pub fn stale_after(&self) -> Duration {
        Duration::from_secs(self.stale_job_after_secs)
    }

    /// Where spooled files go.
    #[must_use]
    pub fn spool_dir(&self) -> PathBuf {
        self.spool_path.clone().unwrap_or_else(std::env::temp_dir)
    }
}

/// Bytes: a number, or text with a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

/// Whole seconds: a number, or text with a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Secs(pub u64);

struct QuantityVisitor(&'static str, fn(&str) -> std::result::Result<u64, String>);

impl Visitor<'_> for QuantityVisitor {
    type Value = u64;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> std::result::Result<u64, E> {
        Ok(value)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> std::result::Result<u64, E> {
        u64::try_from(value).map_err(|_| E::custom(format!("{value} is negative, expected {}", self.0)))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> std::result::Result<u64, E> {
        (self.1)(value).map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityVisitor("a size such as 64MiB", parse_size)).map(Size)
    }
}

impl<'de> Deserialize<'de> for Secs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        fn whole_seconds(text: &str) -> std::result::Result<u64, String> {
            let duration = parse_duration(text)?;
            if duration.subsec_millis() != 0 {
                return Err(format!("{text:?} is not a whole number of seconds"));
            }
            Ok(duration.as_secs())
        }
        deserializer.deserialize_any(QuantityVisitor("a duration such as 15s", whole_seconds)).map(Secs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(yaml: &str) -> BackupSection {
        serde_yaml::from_str(yaml).expect("a section")
    }

    #[test]
    fn the_first_section_that_has_a_key_wins() {
        let (ours, servers) =
            (section("{ max_concurrent_jobs: 7 }"), section("{ max_concurrent_jobs: 2, reconcile_interval_secs: 5m }"));
        let settings = BackupSettings::resolve(&[("ours", &ours), ("theirs", &servers)]).expect("within bounds");
        assert_eq!((settings.max_concurrent_jobs, settings.reconcile_interval_secs), (7, 300));
        assert_eq!(settings.failed_row_retention_secs, 604_800);
    }

    #[test]
    fn every_bound_is_kept_and_its_file_named() {
        for (yaml, key) in [
            ("{ data_file_target_bytes: 33554431 }", "data_file_target_bytes"),
            ("{ heartbeat_interval_secs: 0 }", "heartbeat_interval_secs"),
            ("{ stale_job_after_secs: 44 }", "stale_job_after_secs"),
            ("{ heartbeat_interval_secs: 101 }", "stale_job_after_secs"),
            ("{ reconcile_interval_secs: 0 }", "reconcile_interval_secs"),
            ("{ max_concurrent_jobs: 0 }", "max_concurrent_jobs"),
            ("{ max_concurrent_jobs: 1025 }", "max_concurrent_jobs"),
        ] {
            let message = BackupSettings::resolve(&[("f.toml", &section(yaml))]).expect_err(yaml).to_string();
            assert!(message.contains(key), "{yaml}: {message}");
        }
        for yaml in
            ["{ data_file_target_bytes: 32MiB }", "{ stale_job_after_secs: 45 }", "{ max_concurrent_jobs: 1024 }"]
        {
            assert!(BackupSettings::resolve(&[("f.toml", &section(yaml))]).is_ok(), "{yaml}");
        }
    }

    #[test]
    fn negative_numbers_and_fractions_of_a_second_are_refused() {
        assert!(serde_yaml::from_str::<BackupSection>("{ stale_job_after_secs: -1 }").is_err());
        assert!(serde_yaml::from_str::<BackupSection>("{ heartbeat_interval_secs: 1500ms }").is_err());
    }
}
