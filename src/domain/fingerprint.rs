//! The digest of a canonical schema.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::schema::Schema;

/// SHA-256 of a schema's canonical text. `Display` is 64 lower-case hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of a schema: equal for equal schemas, whatever order they were made in.
    #[must_use]
    pub fn of(schema: &Schema) -> Self {
        Self(Sha256::digest(schema.to_yaml().as_bytes()).into())
    }

    /// The first twelve digits, for people.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
