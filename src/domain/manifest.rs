//! The commit record of a backup: its members, its checksum and how it is read.
//!
//! Source: backup format, sections 3, 4 and 9 (steps 2 to 6).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest as _, Sha256};

use super::arn::BackupArn;
use super::finding::{Category, Finding};
use super::json;
use super::key::KeySpec;
use super::table::SourceTable;

/// Name of the record below its prefix.
pub const OBJECT: &str = "extenddb-manifest.json";

/// The one format version that this build reads and writes.
pub const FORMAT_VERSION: u32 = 1;

/// Largest commit record that is read, in bytes.
pub const MAX_BYTES: u64 = 64 << 20;

/// How the items were read: mechanism and mark of the instant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotMeta {
    /// `postgres_repeatable_read`, `sqlite_wal_read_txn`, …
    pub kind: String,
    /// Mark of the instant; may be empty.
    pub marker: String,
}

/// One data file as the commit record lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    /// Key relative to the prefix: `data/000001.json.gz`.
    pub key: String,
    /// Items in it.
    pub item_count: u64,
    /// SHA-256 of the stored (compressed) bytes, 64 lowercase hex digits.
    pub sha256: String,
    /// Size of the stored object.
    pub bytes: u64,
}

/// The commit record. The serde order is the canonical order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// 1.
    pub format_version: u32,
    /// ARN of the backup.
    pub backup_arn: String,
    /// Name given at creation.
    pub backup_name: String,
    /// Epoch seconds, rounded to milliseconds by our writer.
    pub backup_creation_date_time: f64,
    /// Sum of the data files' sizes.
    pub backup_size_bytes: i64,
    /// `postgres`, `sqlite`, …; readers accept any.
    pub source_backend: String,
    /// The writer, informative.
    pub source_extenddb_version: String,
    /// How the items were read.
    pub snapshot: SnapshotMeta,
    /// The table.
    pub source_table: SourceTable,
    /// Data files in the order in which they are applied.
    pub data_files: Vec<DataFile>,
    /// Checksum of the record; empty before [`Manifest::seal`].
    pub manifest_sha256: String,
}

/// Whether a key is `data/` + decimal digits + `.json.gz`.
fn is_data_file_key(key: &str) -> bool {
    let digits = key.strip_prefix("data/").and_then(|rest| rest.strip_suffix(".json.gz"));
    digits.is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn on_record(category: Category, message: impl Into<String>) -> Finding {
    Finding::new(category, OBJECT, message)
}

impl Manifest {
    /// Reads a commit record through steps 2 to 6 of the reading order (without the other objects).
    ///
    /// `prefix` is `<account>/<table>/<id>` of the place it was read from.
    ///
    /// # Errors
    /// The findings that refuse it, in the order of the checks: never empty. All of the last step that was
    /// reached are there.
    pub fn read(bytes: &[u8], prefix: &str) -> Result<Self, Vec<Finding>> {
        let malformed = |message: String| vec![on_record(Category::ManifestMalformed, message)];
        if bytes.len() as u64 > MAX_BYTES {
            return Err(malformed(format!("{} bytes, more than {MAX_BYTES}", bytes.len())));
        }
        let probe: VersionProbe = json::from_slice(bytes).map_err(|e| malformed(e.to_string()))?;
        if let Some(found) = probe.0.filter(|&v| v != i128::from(FORMAT_VERSION)) {
            let message = format!("format version {found}; this build reads version {FORMAT_VERSION}");
            return Err(vec![on_record(Category::UnsupportedFormatVersion, message)]);
        }
        let record: Self = json::from_slice(bytes).map_err(|e| malformed(e.to_string()))?;
        let computed = record.checksum(Exponent::Bare);
        if record.manifest_sha256 != computed && record.manifest_sha256 != record.checksum(Exponent::Signed) {
            let message = format!("recorded {}, computed {computed}", record.manifest_sha256);
            return Err(vec![on_record(Category::ManifestChecksumMismatch, message)]);
        }
        let mut findings = record.inconsistencies(prefix);
        if findings.is_empty() {
            return Ok(record);
        }
        findings.sort_by_key(|f| f.category);
        Err(findings)
    }

    /// Step 6 as far as it concerns the record itself.
    fn inconsistencies(&self, prefix: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        let table = &self.source_table;
        match self.backup_arn.parse::<BackupArn>() {
            Err(e) => findings.push(on_record(Category::InvalidArn, e.to_string())),
            Ok(arn) => {
                if arn.prefix() != prefix {
                    let message = format!("the record is for {}, the prefix is {prefix}", arn.prefix());
                    findings.push(on_record(Category::PrefixMismatch, message));
                }
                if table.table_name != arn.table_name() || table.table_arn != arn.table_arn() {
                    let message = format!(
                        "source_table is {:?} ({}), the backup ARN is of {}",
                        table.table_name,
                        table.table_arn,
                        arn.table_arn()
                    );
                    findings.push(on_record(Category::ManifestInconsistent, message));
                }
            }
        }
        if let Err(why) = check_schema(table) {
            findings.push(on_record(Category::ManifestInconsistent, why));
        }
        let mut seen = HashSet::new();
        for file in &self.data_files {
            let key = &file.key;
            if !is_data_file_key(key) {
                let message = format!("{key:?} is not data/<digits>.json.gz");
                findings.push(on_record(Category::InvalidDataFileKey, message));
            }
            if !is_sha256(&file.sha256) {
                let message = format!("sha256 of {key:?} is not 64 lowercase hex digits");
                findings.push(on_record(Category::ManifestMalformed, message));
            }
            if !seen.insert(key) {
                findings.push(on_record(Category::DuplicateDataFile, format!("{key} is listed twice")));
            }
        }
        findings
    }

    /// The canonical form: what the checksum covers, and with the checksum in it what is stored.
    fn canonical(&self, exponent: Exponent) -> Vec<u8> {
        let mut out = Vec::with_capacity(1024 + self.data_files.len() * 160);
        let mut serializer = serde_json::Serializer::with_formatter(&mut out, CanonicalFormat(exponent));
        self.serialize(&mut serializer).expect("plain members serialize into memory");
        out
    }

    fn checksum(&self, exponent: Exponent) -> String {
        let bare = Self { manifest_sha256: String::new(), ..self.clone() };
        hex(&Sha256::digest(bare.canonical(exponent)))
    }

    /// Sets the checksum and returns the bytes to store.
    pub fn seal(&mut self) -> Vec<u8> {
        self.manifest_sha256 = self.checksum(Exponent::Bare);
        self.canonical(Exponent::Bare)
    }

    /// Items over all data files.
    #[must_use]
    pub fn item_count(&self) -> u64 {
        self.data_files.iter().fold(0, |sum, file| sum.saturating_add(file.item_count))
    }

    /// The parsed ARN.
    ///
    /// # Panics
    /// Never for a record from [`Manifest::read`], which checked it.
    #[must_use]
    pub fn arn(&self) -> BackupArn {
        self.backup_arn.parse().expect("the ARN was checked when the record was read")
    }

    /// What is unusual about a record that is good.
    #[must_use]
    pub fn warnings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for time in [self.backup_creation_date_time, self.source_table.table_creation_date_time] {
            let text = float_text(time, Exponent::Bare);
            if !(0.0..1e11).contains(&time) {
                findings.push(on_record(Category::TimestampUnusual, format!("{text} is no plausible epoch time")));
            }
            if text.replace('.', "").trim_matches('0').len() > 15 {
                let message = format!("{text} has more than 15 digits: some parsers will not reproduce it");
                findings.push(on_record(Category::TimestampPrecision, message));
            }
        }
        let bytes: i128 = self.data_files.iter().map(|f| i128::from(f.bytes)).sum();
        if bytes != i128::from(self.backup_size_bytes) {
            let message = format!("backup_size_bytes is {}, the files add up to {bytes}", self.backup_size_bytes);
            findings.push(on_record(Category::SizeTotalMismatch, message));
        }
        let items: i128 = self.data_files.iter().map(|f| i128::from(f.item_count)).sum();
        if items != i128::from(self.source_table.item_count) {
            let message =
                format!("source_table.item_count is {}, the files hold {items}", self.source_table.item_count);
            findings.push(on_record(Category::SourceCountDiffers, message));
        }
        findings
    }
}

/// Key attributes have one definition each, and every key schema lists HASH before RANGE.
fn check_schema(table: &SourceTable) -> Result<(), String> {
    let mut types = HashMap::new();
    for definition in &table.attribute_definitions {
        let name = definition.attribute_name.as_str();
        if *types.entry(name).or_insert(definition.attribute_type) != definition.attribute_type {
            return Err(format!("attribute {name:?} is defined with two types"));
        }
    }
    KeySpec::new(&table.key_schema, &table.attribute_definitions)?;
    let global = table.global_secondary_indexes.iter().flatten().map(|ix| (&ix.index_name, &ix.key_schema));
    let local = table.local_secondary_indexes.iter().flatten().map(|ix| (&ix.index_name, &ix.key_schema));
    for (index, schema) in global.chain(local) {
        KeySpec::new(schema, &table.attribute_definitions).map_err(|e| format!("index {index:?}: {e}"))?;
    }
    Ok(())
}

/// The version alone, looked at before the rest of the record's shape. `None` when it is no integer.
struct VersionProbe(Option<i128>);

impl<'de> Deserialize<'de> for VersionProbe {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = VersionProbe;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<VersionProbe, A::Error> {
                let mut version = None;
                while let Some(name) = members.next_key::<Cow<'de, str>>()? {
                    if name == "format_version" {
                        version = members.next_value::<MaybeInteger>()?.0;
                    } else {
                        members.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(VersionProbe(version))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

struct MaybeInteger(Option<i128>);

impl<'de> Deserialize<'de> for MaybeInteger {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Value;
        impl<'de> Visitor<'de> for Value {
            type Value = MaybeInteger;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("anything")
            }

            fn visit_u64<E>(self, value: u64) -> Result<MaybeInteger, E> {
                Ok(MaybeInteger(Some(value.into())))
            }

            fn visit_i64<E>(self, value: i64) -> Result<MaybeInteger, E> {
                Ok(MaybeInteger(Some(value.into())))
            }

            fn visit_f64<E>(self, _: f64) -> Result<MaybeInteger, E> {
                Ok(MaybeInteger(None))
            }

            fn visit_bool<E>(self, _: bool) -> Result<MaybeInteger, E> {
                Ok(MaybeInteger(None))
            }

            fn visit_str<E>(self, _: &str) -> Result<MaybeInteger, E> {
                Ok(MaybeInteger(None))
            }

            fn visit_unit<E>(self) -> Result<MaybeInteger, E> {
                Ok(MaybeInteger(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<MaybeInteger, A::Error> {
                while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(MaybeInteger(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<MaybeInteger, A::Error> {
                while elements.next_element::<IgnoredAny>()?.is_some() {}
                Ok(MaybeInteger(None))
            }
        }
        deserializer.deserialize_any(Value)
    }
}

/// How a positive exponent is spelled: writers of several versions differ outside the plain range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exponent {
    /// `1e16`
    Bare,
    /// `1e+16`
    Signed,
}

/// Compact JSON whose floats are spelled by our own rule, whatever serde_json's is.
struct CanonicalFormat(Exponent);

impl serde_json::ser::Formatter for CanonicalFormat {
    fn write_f64<W: ?Sized + std::io::Write>(&mut self, writer: &mut W, value: f64) -> std::io::Result<()> {
        writer.write_all(float_text(value, self.0).as_bytes())
    }
}

/// The shortest decimal text that reads back to the value, always with a fraction; plain for decimal exponents
/// from 1e-5 to below 1e16.
fn float_text(value: f64, exponent: Exponent) -> String {
    let scientific = format!("{:e}", value.abs());
    let (mantissa, power) = scientific.split_once('e').expect("the form of {:e}");
    let digits = mantissa.replace('.', "");
    let power: i32 = power.parse().expect("the form of {:e}");
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let len = i32::try_from(digits.len()).expect("at most 17 digits");
    // Where the point stands among the digits.
    let point = power + 1;
    let text = if value == 0.0 {
        "0.0".to_owned()
    } else if point >= len && point <= 16 {
        format!("{digits}{}.0", zeros(point - len))
    } else if (1..=16).contains(&point) {
        let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or(0));
        format!("{whole}.{fraction}")
    } else if (-4..=0).contains(&point) {
        format!("0.{}{digits}", zeros(-point))
    } else {
        let plus = if exponent == Exponent::Signed && power >= 0 { "+" } else { "" };
        format!("{mantissa}e{plus}{power}")
    };
    if value.is_sign_negative() { format!("-{text}") } else { text }
}

/// Lowercase hex digits of bytes.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|&b| [digit(b >> 4), digit(b & 15)]).collect()
}

#[cfg(test)]
mod tests;
