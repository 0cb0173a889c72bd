//! Backup ARNs, the prefixes they name, and new backup ids.
//!
//! Source: backup format, sections 1 and 2; backup stores, section 2.

use super::timestamp::TimestampMs;

/// Why a text is no backup ARN, or why none can be formed. Category `invalid_arn`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArnError {
    /// The text does not have the shape of a backup ARN.
    #[error("{0:?} is not a backup ARN (arn:aws:dynamodb:REGION:ACCOUNT:table/TABLE/backup/ID)")]
    Shape(String),
    /// The region breaks its rule.
    #[error("region {0:?} cannot stand in a backup ARN: it must match [a-z0-9-]+")]
    Region(String),
    /// Account, table or id break the component rule.
    #[error(
        "{what} {value:?} cannot stand in a backup ARN: 1 to 255 bytes, not only dots, no slash, backslash or control character"
    )]
    Component {
        /// `account`, `table` or `backup id`.
        what: &'static str,
        /// The value.
        value: String,
    },
}

/// `arn:aws:dynamodb:<region>:<account>:table/<table>/backup/<id>`, every part checked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BackupArn {
    region: String,
    account_id: String,
    table_name: String,
    backup_id: String,
}

impl BackupArn {
    /// Forms an ARN: the region is checked first, then account, table and id.
    ///
    /// # Errors
    /// The part that cannot stand in an ARN.
    pub fn new(region: &str, account_id: &str, table_name: &str, backup_id: &str) -> Result<Self, ArnError> {
        if region.is_empty() || !region.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
            return Err(ArnError::Region(region.to_owned()));
        }
        for (what, value) in [("account", account_id), ("table", table_name), ("backup id", backup_id)] {
            if !is_component(value) {
                return Err(ArnError::Component { what, value: value.to_owned() });
            }
        }
        Ok(Self {
            region: region.to_owned(),
            account_id: account_id.to_owned(),
            table_name: table_name.to_owned(),
            backup_id: backup_id.to_owned(),
        })
    }

    /// Region, matching `[a-z0-9-]+`.
    #[must_use]
    pub fn region(&self) -> &str {
        &self.region
    }

    /// Account.
    #[must_use]
    pub fn account_id(&self) -> &str {
        &self.account_id
    }

    /// Table name.
    #[must_use]
    pub fn table_name(&self) -> &str {
        &self.table_name
    }

    /// Backup id.
    #[must_use]
    pub fn backup_id(&self) -> &str {
        &self.backup_id
    }

    /// Where the backup lies below the store root: `<account>/<table>/<id>`.
    #[must_use]
    pub fn prefix(&self) -> String {
        format!("{}/{}/{}", self.account_id, self.table_name, self.backup_id)
    }

    /// ARN of the table that was backed up.
    #[must_use]
    pub fn table_arn(&self) -> String {
        format!("arn:aws:dynamodb:{}:{}:table/{}", self.region, self.account_id, self.table_name)
    }
}

impl std::fmt::Display for BackupArn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { region, account_id, table_name, backup_id } = self;
        write!(f, "arn:aws:dynamodb:{region}:{account_id}:table/{table_name}/backup/{backup_id}")
    }
}

impl std::str::FromStr for BackupArn {
    type Err = ArnError;

    fn from_str(text: &str) -> Result<Self, ArnError> {
        let shape = || ArnError::Shape(text.to_owned());
        let rest = text.strip_prefix("arn:aws:dynamodb:").ok_or_else(shape)?;
        let (region, rest) = rest.split_once(':').ok_or_else(shape)?;
        let (account, resource) = rest.split_once(':').ok_or_else(shape)?;
        let path = resource.strip_prefix("table/").ok_or_else(shape)?;
        let (table, id) = path.split_once("/backup/").ok_or_else(shape)?;
        Self::new(region, account, table, id)
    }
}

/// Region of any DynamoDB ARN, unchecked.
#[must_use]
pub fn region_of(arn: &str) -> Option<&str> {
    arn.strip_prefix("arn:aws:dynamodb:")?.split(':').next()
}

/// Whether a text can be one component of a backup's prefix: 1 to 255 bytes, not made of dots
/// only, without slash, backslash or control characters.
#[must_use]
pub fn is_component(text: &str) -> bool {
    (1..=255).contains(&text.len())
        && text.bytes().any(|b| b != b'.')
        && !text.contains(|c: char| c == '/' || c == '\\' || c.is_control())
}

/// A new backup id: 14 digits of milliseconds since the epoch, `-`, 8 random hex digits.
#[must_use]
pub fn new_backup_id(now: TimestampMs, random: u32) -> String {
    format!("{:014}-{random:08x}", now.0)
}

/// The creation time that an id carries, if it has the usual form. Readers treat ids as opaque: this is for display.
#[must_use]
pub fn id_timestamp(backup_id: &str) -> Option<TimestampMs> {
    let (ms, hex) = backup_id.split_once('-')?;
    let usual = hex.len() == 8 && hex.bytes().all(|b| b.is_ascii_hexdigit()) && ms.bytes().all(|b| b.is_ascii_digit());
    usual.then(|| ms.parse().ok().map(TimestampMs))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arn_survives_parsing_and_printing() {
        let text = "arn:aws:dynamodb:eu-west-1:000000000000:table/Pets/backup/01767229200123-0a0b0c01";
        let arn: BackupArn = text.parse().expect("valid");
        assert_eq!(arn.to_string(), text);
        assert_eq!(arn.prefix(), "000000000000/Pets/01767229200123-0a0b0c01");
        assert_eq!(arn.table_arn(), "arn:aws:dynamodb:eu-west-1:000000000000:table/Pets");
        assert_eq!(id_timestamp(arn.backup_id()), Some(TimestampMs(1_767_229_200_123)));
    }

    #[test]
    fn the_resource_is_cut_at_the_first_backup() {
        assert!("arn:aws:dynamodb:r:a:table/t/backup/x/backup/y".parse::<BackupArn>().is_err());
        assert!("arn:aws:dynamodb:r:a:table/t/u/backup/x".parse::<BackupArn>().is_err());
        // Colons beyond the fifth belong to the resource.
        assert!("arn:aws:dynamodb:r:a:table/t:u/backup/x".parse::<BackupArn>().is_ok());
    }

    #[test]
    fn wrong_parts_are_refused_region_first() {
        for bad in [
            "arn:aws:dynamodb::a:table/t/backup/x",
            "arn:aws:dynamodb:r::table/t/backup/x",
            "arn:aws:dynamodb:r:a:table//backup/x",
            "arn:aws:dynamodb:r:a:table/t/backup/",
            "arn:aws:dynamodb:R:a:table/t/backup/x",
            "arn:aws:dynamodb:r:a:table/../backup/x",
            "arn:aws:dynamodb:r:a:table/t/backup/x\n",
            "arn:aws-cn:dynamodb:r:a:table/t/backup/x",
            "arn:aws:dynamodb:r:a:index/t/backup/x",
        ] {
            assert!(bad.parse::<BackupArn>().is_err(), "{bad}");
        }
        let long = "t".repeat(256);
        assert!(matches!(BackupArn::new("BAD", "a", &long, "x"), Err(ArnError::Region(_))));
        assert!(matches!(BackupArn::new("r", "a", &long, "x"), Err(ArnError::Component { what: "table", .. })));
        assert!(BackupArn::new("r", "a", &"t".repeat(255), "x").is_ok());
    }

    #[test]
    fn new_ids_are_padded_to_fourteen_digits() {
        assert_eq!(new_backup_id(TimestampMs(1_767_229_200_123), 0x0a0b_0c01), "01767229200123-0a0b0c01");
    }
}
