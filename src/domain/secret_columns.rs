//! What of a catalog is secret: never shown, and never copied for a rehearsal.
//!
//! Source: ledgers page of PostgreSQL, sections 2 and 6.

/// Parts of a setting's key that mark its value as secret.
const SECRET_SETTINGS: [&str; 5] = ["connection_string", "password", "secret", "token", "encryption_key"];

/// Whether a setting's value is secret.
#[must_use]
pub fn is_secret_setting(key: &str) -> bool {
    SECRET_SETTINGS.iter().any(|part| key.contains(part))
}

/// What stands in a copy in place of a secret column's value; none for a column that is none. The row's number
/// keeps those apart that are keys.
#[must_use]
pub fn masked(column: &str, row: u64) -> Option<String> {
    match column {
        "secret_key_encrypted" => Some("\\x00".to_owned()),
        "password_hash" => Some("masked".to_owned()),
        "session_token" => Some(format!("masked-{row}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secrets_of_a_catalog_are_known_by_name() {
        assert!(is_secret_setting("data_database_connection_string") && is_secret_setting("encryption_key"));
        assert!(!is_secret_setting("catalog_version") && !is_secret_setting("data_database_name"));
        assert_ne!(masked("session_token", 1), masked("session_token", 2));
        assert_eq!(masked("account_id", 1), None);
    }
}
