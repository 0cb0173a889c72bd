//! The server's own `extenddb.toml`, as far as it concerns us. It is never written.
//!
//! `[storage] backend` names the section `[storage.<name>]`, which the backend's own code reads. The store of
//! `[backup]` is accepted in both spellings: `store = "filesystem"` with `[backup.filesystem]`, and
//! `[backup.store]` with `kind`. Source: backup stores, section 6.

use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use toml::{Table, Value};

use super::backup::KEYS;
use super::{BackupSection, Error, Result};
use crate::store::registry::StoreConfig;

/// What we take from the server's file. Its storage section may hold a password, so there is no `Debug`.
#[derive(Clone)]
pub struct ServerConfig {
    /// The file.
    pub path: PathBuf,
    /// Name of the backend.
    pub backend: String,
    /// `[storage.<backend>]`, empty where it is missing.
    pub storage: Table,
    /// `[server] region`.
    pub region: Option<String>,
    /// Settings of `[backup]`.
    pub backup: BackupSection,
    /// Store of `[backup]`, if it has one.
    pub store: Option<StoreConfig>,
    /// Keys of `[backup]` that this build does not know.
    pub unknown_keys: Vec<String>,
}

impl ServerConfig {
    /// Reads the file.
    ///
    /// # Errors
    /// A file that cannot be read or is no TOML, with its line; no `[storage] backend`.
    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| Error::new(format!("cannot read the server's configuration {}: {e}", path.display())))?;
        Self::parse(&text, path)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// As [`ServerConfig::load`].
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let fail = |message: String| Error::new(format!("server configuration {}: {message}", path.display()));
        let root: Table = text.parse().map_err(|e: toml::de::Error| {
            // The error's own text quotes the line, which may hold a password.
            let at = e.span().map(|span| {
                let before = &text[..span.start.min(text.len())];
                format!("line {}: ", before.matches('\n').count() + 1)
            });
            fail(format!("{}{}", at.unwrap_or_default(), e.message()))
        })?;
        let storage = root.get("storage").and_then(Value::as_table);
        let backend = storage
            .and_then(|s| s.get("backend"))
            .and_then(Value::as_str)
            .ok_or_else(|| fail("[storage] has no backend".to_owned()))?
            .to_owned();
        let section = storage.and_then(|s| s.get(&backend)).and_then(Value::as_table).cloned().unwrap_or_default();
        let region = root.get("server").and_then(|s| s.get("region")).and_then(Value::as_str).map(str::to_owned);
        let mut this = Self {
            path: path.to_owned(),
            backend,
            storage: section,
            region,
            backup: BackupSection::default(),
            store: None,
            unknown_keys: Vec::new(),
        };
        if let Some(backup) = root.get("backup") {
            let backup = backup.as_table().ok_or_else(|| fail("backup is no section".to_owned()))?;
            this.read_backup(backup).map_err(|message| fail(format!("[backup] {message}")))?;
        }
        Ok(this)
    }

    /// The file, for messages.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("server configuration {}", self.path.display())
    }

    fn read_backup(&mut self, backup: &Table) -> std::result::Result<(), String> {
        let mut settings = Table::new();
        for (key, value) in backup {
            if KEYS.contains(&key.as_str()) {
                settings.insert(key.clone(), value.clone());
            } else if !["store", "filesystem", "s3"].contains(&key.as_str()) {
                self.unknown_keys.push(format!("backup.{key}"));
            }
        }
        self.backup = BackupSection::deserialize(Value::Table(settings)).map_err(|e| e.message().to_owned())?;
        self.store = match backup.get("store") {
            Some(Value::Table(store)) => {
                let kind = store.get("kind").or_else(|| store.get("store")).and_then(Value::as_str);
                self.note_unknown("backup.store", store, &["kind", "store", "filesystem", "s3"]);
                Some(self.read_store(kind.unwrap_or(FILESYSTEM), store)?)
            }
            Some(Value::String(kind)) => Some(self.read_store(kind, backup)?),
            Some(_) => return Err("store is neither a word nor a section".to_owned()),
            None if backup.contains_key(FILESYSTEM) => Some(self.read_store(FILESYSTEM, backup)?),
            None => None,
        };
        Ok(())
    }

    fn read_store(&mut self, kind: &str, section: &Table) -> std::result::Result<StoreConfig, String> {
        let empty = Table::new();
        let own = section.get(kind).and_then(Value::as_table).unwrap_or(&empty);
        let text = |key: &str| own.get(key).and_then(Value::as_str).map(str::to_owned);
        let number = |key: &str| match own.get(key) {
            None => Ok(None),
            Some(value) => value
                .as_integer()
                .and_then(|n| u64::try_from(n).ok())
                .map(Some)
                .ok_or_else(|| format!("s3.{key} must be a whole number, found {value}")),
        };
        let config = match kind {
            FILESYSTEM => StoreConfig {
                kind: kind.to_owned(),
                root: Some(PathBuf::from(text("path").ok_or("the filesystem store has no filesystem.path")?)),
                ..StoreConfig::default()
            },
            S3 => StoreConfig {
                kind: kind.to_owned(),
                bucket: Some(text("bucket").ok_or("the s3 store has no s3.bucket")?),
                prefix: text("prefix"),
                region: text("region"),
                endpoint: text("endpoint"),
                path_style: own.get("force_path_style").and_then(Value::as_bool),
                upload_part_size_bytes: number("upload_part_size_bytes")?,
                max_concurrent_uploads: number("max_concurrent_uploads")?,
                ..StoreConfig::default()
            },
            other => return Err(format!("store must be filesystem or s3, found {other:?}")),
        };
        let known: &[&str] = match kind {
            FILESYSTEM => &["path"],
            _ => &[
                "bucket",
                "prefix",
                "region",
                "endpoint",
                "force_path_style",
                "upload_part_size_bytes",
                "max_concurrent_uploads",
            ],
        };
        self.note_unknown(&format!("backup.{kind}"), own, known);
        Ok(config)
    }

    fn note_unknown(&mut self, section: &str, table: &Table, known: &[&str]) {
        let unknown = table.keys().filter(|key| !known.contains(&key.as_str()));
        self.unknown_keys.extend(unknown.map(|key| format!("{section}.{key}")));
    }
}

const FILESYSTEM: &str = "filesystem";
const S3: &str = "s3";

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ServerConfig> {
        ServerConfig::parse(text, Path::new("extenddb.toml"))
    }

    fn store(text: &str) -> StoreConfig {
        let config = parse(&format!("[storage]\nbackend = \"sqlite\"\n{text}")).map_err(|e| e.to_string());
        config.expect("a configuration").store.expect("a store")
    }

    #[test]
    fn both_spellings_of_the_store_mean_the_same() {
        let flat = store("[backup]\nstore = \"s3\"\n[backup.s3]\nbucket = \"b\"\nforce_path_style = true\n");
        let nested =
            store("[backup.store]\nkind = \"s3\"\n[backup.store.s3]\nbucket = \"b\"\nforce_path_style = true\n");
        assert_eq!(flat, nested);
        assert_eq!((flat.bucket.as_deref(), flat.path_style), (Some("b"), Some(true)));
        assert_eq!(store("[backup.filesystem]\npath = \"/b\"\n").root, Some(PathBuf::from("/b")));
    }

    #[test]
    fn an_unknown_key_of_the_server_is_kept_for_a_warning() {
        let config = parse("[storage]\nbackend='sqlite'\n[backup]\nmax_concurrent_jobs=2\nnewer_key=1\n");
        let config = config.map_err(|e| e.to_string()).expect("a configuration");
        assert_eq!(config.unknown_keys, ["backup.newer_key"]);
        assert_eq!(config.backup.max_concurrent_jobs, Some(2));
    }

    #[test]
    fn a_broken_file_is_refused_with_its_line_and_without_its_text() {
        let Err(error) = parse("[storage]\nbackend = 'postgres'\npassword = 's3cret' oops\n") else {
            panic!("accepted");
        };
        let message = error.to_string();
        assert!(message.contains("line 3") && !message.contains("s3cret"), "{message}");
        assert!(parse("[storage]\n").is_err());
    }

    #[test]
    fn a_word_that_is_no_store_is_refused() {
        let Err(error) = parse("[storage]\nbackend='sqlite'\n[backup]\nstore='ftp'\n") else { panic!("accepted") };
        assert!(error.to_string().contains("ftp"), "{error}");
    }
}
