//! What a check of a backup can find: stable categories, their severity and order.
//!
//! Source: backup format, section 9. The declaration order of [`Category`] is the order in which
//! a reader looks, so the smallest error of a report is its refusal.

use serde::Serialize;

/// Kind of a finding. `Ord` is the order of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the words are the documentation: backup format, section 9
pub enum Category {
    IncompleteBackup,
    SymlinkRefused,
    ManifestMalformed,
    UnsupportedFormatVersion,
    ManifestChecksumMismatch,
    InvalidArn,
    PrefixMismatch,
    ManifestInconsistent,
    InvalidDataFileKey,
    DuplicateDataFile,
    FilesManifestMissing,
    FilesManifestMalformed,
    FilesManifestMismatch,
    SummaryMissing,
    SummaryMalformed,
    SummaryMismatch,
    UnlistedDataObject,
    MissingDataFile,
    DataFileSizeMismatch,
    DataFileChecksumMismatch,
    DataFileUndecodable,
    LineTooLong,
    LineMalformed,
    ItemInvalid,
    DuplicateItemKey,
    ItemCountMismatch,
    /// Of a restore only: backup operations, section 10.
    TargetCannotRepresent,
    TemporaryLeft,
    UnexpectedObject,
    SizeTotalMismatch,
    SourceCountDiffers,
    TimestampPrecision,
    TimestampUnusual,
    ItemLarge,
    ItemDeep,
    DuplicateAttributeName,
    ExtraLineMember,
}

/// Whether a finding refuses the backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The backup is refused.
    Error,
    /// Worth knowing; the backup is good.
    Warning,
}

impl Category {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::IncompleteBackup => "incomplete_backup",
            Self::SymlinkRefused => "symlink_refused",
            Self::ManifestMalformed => "manifest_malformed",
            Self::UnsupportedFormatVersion => "unsupported_format_version",
            Self::ManifestChecksumMismatch => "manifest_checksum_mismatch",
            Self::InvalidArn => "invalid_arn",
            Self::PrefixMismatch => "prefix_mismatch",
            Self::ManifestInconsistent => "manifest_inconsistent",
            Self::InvalidDataFileKey => "invalid_data_file_key",
            Self::DuplicateDataFile => "duplicate_data_file",
            Self::FilesManifestMissing => "files_manifest_missing",
            Self::FilesManifestMalformed => "files_manifest_malformed",
            Self::FilesManifestMismatch => "files_manifest_mismatch",
            Self::SummaryMissing => "summary_missing",
            Self::SummaryMalformed => "summary_malformed",
            Self::SummaryMismatch => "summary_mismatch",
            Self::UnlistedDataObject => "unlisted_data_object",
            Self::MissingDataFile => "missing_data_file",
            Self::DataFileSizeMismatch => "data_file_size_mismatch",
            Self::DataFileChecksumMismatch => "data_file_checksum_mismatch",
            Self::DataFileUndecodable => "data_file_undecodable",
            Self::LineTooLong => "line_too_long",
            Self::LineMalformed => "line_malformed",
            Self::ItemInvalid => "item_invalid",
            Self::DuplicateItemKey => "duplicate_item_key",
            Self::ItemCountMismatch => "item_count_mismatch",
            Self::TargetCannotRepresent => "target_cannot_represent",
            Self::TemporaryLeft => "temporary_left",
            Self::UnexpectedObject => "unexpected_object",
            Self::SizeTotalMismatch => "size_total_mismatch",
            Self::SourceCountDiffers => "source_count_differs",
            Self::TimestampPrecision => "timestamp_precision",
            Self::TimestampUnusual => "timestamp_unusual",
            Self::ItemLarge => "item_large",
            Self::ItemDeep => "item_deep",
            Self::DuplicateAttributeName => "duplicate_attribute_name",
            Self::ExtraLineMember => "extra_line_member",
        }
    }

    /// Whether such a finding refuses the backup.
    #[must_use]
    pub fn severity(self) -> Severity {
        if self >= Self::TemporaryLeft { Severity::Warning } else { Severity::Error }
    }

    /// Findings that do not stop a restore that was asked to ignore them; they always fail a verification.
    #[must_use]
    pub fn may_be_ignored(self) -> bool {
        matches!(self, Self::SummaryMissing | Self::SummaryMalformed | Self::SummaryMismatch | Self::UnlistedDataObject)
    }
}

impl std::fmt::Display for Category {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// One finding about one object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its kind.
    pub category: Category,
    /// Error or warning.
    pub severity: Severity,
    /// What it is about, relative to the prefix: `data/000001.json.gz line 7`.
    pub object: String,
    /// Expected and found, in words.
    pub message: String,
}

impl Finding {
    /// A finding of the severity that its category has.
    pub fn new(category: Category, object: impl Into<String>, message: impl Into<String>) -> Self {
        Self { category, severity: category.severity(), object: object.into(), message: message.into() }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} [{}]", self.category, self.message, self.object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_what_serde_writes() {
        for category in [Category::IncompleteBackup, Category::TargetCannotRepresent, Category::ExtraLineMember] {
            assert_eq!(serde_json::to_string(&category).expect("plain"), format!("\"{category}\""));
        }
    }

    #[test]
    fn warnings_come_after_every_error() {
        assert_eq!(Category::ItemCountMismatch.severity(), Severity::Error);
        assert_eq!(Category::TargetCannotRepresent.severity(), Severity::Error);
        assert_eq!(Category::TemporaryLeft.severity(), Severity::Warning);
    }
}
