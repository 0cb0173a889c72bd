//! The two manifests that a backup shares with DynamoDB exports.
//!
//! Source: backup format, section 5. Neither is covered by the commit record's checksum; both are
//! compared with it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::finding::{Category, Finding};
use super::json;
use super::manifest::Manifest;
use super::timestamp::TimestampMs;

/// Name of the list of files below the prefix.
pub const FILES_OBJECT: &str = "manifest-files.json";
/// Name of the summary below the prefix.
pub const SUMMARY_OBJECT: &str = "manifest-summary.json";

const OUTPUT_FORMAT: &str = "DYNAMODB_JSON";
const FULL_EXPORT: &str = "FULL_EXPORT";

/// One line of `manifest-files.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileLine {
    /// Items in the file.
    pub item_count: u64,
    /// Base64 of the MD5 of the stored bytes.
    pub md5_checksum: String,
    /// The store's ETag; never verified.
    pub etag: String,
    /// Key of the object as the store sees it.
    pub data_file_s3_key: String,
}

impl FileLine {
    /// Key relative to the prefix: the part from the last `data/` component on.
    #[must_use]
    pub fn relative_key(&self) -> &str {
        match self.data_file_s3_key.rfind("/data/") {
            Some(at) => &self.data_file_s3_key[at + 1..],
            None => &self.data_file_s3_key,
        }
    }
}

/// `manifest-summary.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)] // the members are the service's
pub struct Summary {
    pub version: String,
    pub export_arn: String,
    pub start_time: String,
    pub end_time: String,
    pub table_arn: String,
    pub table_id: String,
    pub export_time: String,
    pub s3_bucket: String,
    pub s3_prefix: String,
    pub s3_sse_algorithm: String,
    pub s3_sse_kms_key_id: Option<String>,
    pub manifest_files_s3_key: String,
    pub billed_size_bytes: i64,
    pub item_count: i64,
    pub output_format: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub export_type: Option<String>,
}

/// Where a store puts things, as the summary names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StorePlace {
    /// Bucket; empty on a filesystem.
    pub bucket: String,
    /// Prefix of the store inside the bucket, without a slash at its end; empty on a filesystem.
    pub prefix: String,
}

impl StorePlace {
    /// The full key of an object.
    #[must_use]
    pub fn full_key(&self, key: &str) -> String {
        match self.prefix.trim_end_matches('/') {
            "" => key.to_owned(),
            prefix => format!("{prefix}/{key}"),
        }
    }
}

impl Summary {
    /// The summary of a backup whose data files are known.
    #[must_use]
    pub fn of(record: &Manifest, created: TimestampMs, ended: TimestampMs, place: &StorePlace) -> Self {
        let arn = record.arn();
        Self {
            version: "2020-06-30".to_owned(),
            export_arn: format!("{}/export/{}", record.source_table.table_arn, arn.backup_id()),
            start_time: created.to_string(),
            end_time: ended.to_string(),
            table_arn: record.source_table.table_arn.clone(),
            table_id: record.source_table.table_id.clone(),
            export_time: created.to_string(),
            s3_bucket: place.bucket.clone(),
            s3_prefix: place.prefix.clone(),
            s3_sse_algorithm: "NONE".to_owned(),
            s3_sse_kms_key_id: None,
            manifest_files_s3_key: place.full_key(&format!("{}/{FILES_OBJECT}", arn.prefix())),
            billed_size_bytes: 0,
            item_count: i64::try_from(record.item_count()).unwrap_or(i64::MAX),
            output_format: OUTPUT_FORMAT.to_owned(),
            export_type: None,
        }
    }

    /// The bytes to store.
    ///
    /// # Panics
    /// Never: plain members serialize.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("plain members serialize")
    }
}

/// The bytes of `manifest-files.json`: one line for each file.
///
/// # Panics
/// Never: plain members serialize.
#[must_use]
pub fn files_to_bytes(lines: &[FileLine]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut out, line).expect("plain members serialize into memory");
        out.push(b'\n');
    }
    out
}

/// Compares `manifest-files.json` with the commit record. Returns the MD5 checksum of each data file, by key,
/// as far as the list can be trusted.
#[must_use]
pub fn check_files(bytes: &[u8], record: &Manifest) -> (BTreeMap<String, String>, Vec<Finding>) {
    let refuse = |category, message: String| (BTreeMap::new(), vec![Finding::new(category, FILES_OBJECT, message)]);
    let mut listed: BTreeMap<String, FileLine> = BTreeMap::new();
    for (index, text) in bytes.split(|&b| b == b'\n').enumerate() {
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let line: FileLine = match json::from_slice(text) {
            Ok(line) => line,
            Err(e) => return refuse(Category::FilesManifestMalformed, format!("line {}: {e}", index + 1)),
        };
        let key = line.relative_key().to_owned();
        if listed.contains_key(&key) {
            return refuse(Category::FilesManifestMismatch, format!("{key} is listed twice"));
        }
        listed.insert(key, line);
    }
    let wanted: BTreeSet<&str> = record.data_files.iter().map(|f| f.key.as_str()).collect();
    let found: BTreeSet<&str> = listed.keys().map(String::as_str).collect();
    if wanted != found {
        let some = |set: Vec<&&str>| {
            let shown: Vec<&str> = set.iter().take(4).map(|s| **s).collect();
            if set.is_empty() { "none".to_owned() } else { format!("{} ({})", set.len(), shown.join(", ")) }
        };
        let missing = some(wanted.difference(&found).collect());
        let surplus = some(found.difference(&wanted).collect());
        let message = format!("data files of the commit record not listed: {missing}; listed beside them: {surplus}");
        return refuse(Category::FilesManifestMismatch, message);
    }
    let mut findings = Vec::new();
    for file in &record.data_files {
        let line = &listed[&file.key];
        if line.item_count != file.item_count {
            let message =
                format!("{}: itemCount {}, the commit record says {}", file.key, line.item_count, file.item_count);
            findings.push(Finding::new(Category::FilesManifestMismatch, FILES_OBJECT, message));
        }
    }
    (listed.into_iter().map(|(key, line)| (key, line.md5_checksum)).collect(), findings)
}

/// Compares `manifest-summary.json` with the commit record.
#[must_use]
pub fn check_summary(bytes: &[u8], record: &Manifest) -> Vec<Finding> {
    let summary: Summary = match json::from_slice(bytes) {
        Ok(summary) => summary,
        Err(e) => return vec![Finding::new(Category::SummaryMalformed, SUMMARY_OBJECT, e.to_string())],
    };
    let table = &record.source_table;
    let items: i128 = record.data_files.iter().map(|f| i128::from(f.item_count)).sum();
    let mut findings = Vec::new();
    let mut differs = |message: String| findings.push(Finding::new(Category::SummaryMismatch, SUMMARY_OBJECT, message));
    if i128::from(summary.item_count) != items {
        differs(format!("itemCount is {}, the commit record's files hold {items}", summary.item_count));
    }
    for (name, found, wanted) in [
        ("tableArn", &summary.table_arn, table.table_arn.as_str()),
        ("tableId", &summary.table_id, table.table_id.as_str()),
        ("outputFormat", &summary.output_format, OUTPUT_FORMAT),
    ] {
        if found != wanted {
            differs(format!("{name} is {found:?}, expected {wanted:?}"));
        }
    }
    if let Some(kind) = summary.export_type.as_deref().filter(|&kind| kind != FULL_EXPORT) {
        differs(format!("exportType {kind:?} is not a full export"));
    }
    if !summary.manifest_files_s3_key.ends_with(FILES_OBJECT) {
        differs(format!("manifestFilesS3Key {:?} does not name {FILES_OBJECT}", summary.manifest_files_s3_key));
    }
    findings
}
