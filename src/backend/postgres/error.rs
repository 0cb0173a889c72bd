//! Maps the driver's errors to the seam's: the only place that reads an SQLSTATE for that.

use crate::backend::{Error, ErrorKind};
use crate::domain::catalog_row::RowError;

/// Turns a driver error into one of the seam. Messages are built from fields; no URL is repeated.
pub fn driver(operation: &'static str, error: sqlx::Error) -> Error {
    match error {
        sqlx::Error::Database(db) => {
            let code = db.code().unwrap_or_default().into_owned();
            let (kind, temporary) = match code.as_str() {
                "3D000" | "42P01" => (ErrorKind::NotInitialized, false),
                "28000" | "28P01" | "42501" | "25006" => (ErrorKind::PermissionDenied, false),
                "55P03" => (ErrorKind::Busy, true),
                "57014" => (ErrorKind::Timeout, true),
                "53300" => (ErrorKind::Busy, true),
                "40001" | "40P01" => (ErrorKind::Unavailable, true),
                "23505" => (ErrorKind::Conflict, false),
                c if c.starts_with("08") || c.starts_with("57P") => (ErrorKind::Unavailable, true),
                _ => (ErrorKind::Internal, false),
            };
            let error = Error::new(kind, operation, db.message()).with("SQLSTATE", code);
            if temporary { error.temporary() } else { error }
        }
        sqlx::Error::Io(e) => Error::new(ErrorKind::Unavailable, operation, e.to_string()).temporary(),
        sqlx::Error::Tls(e) => Error::new(ErrorKind::Unavailable, operation, e.to_string()),
        sqlx::Error::Configuration(e) => Error::new(ErrorKind::Config, operation, e.to_string()),
        sqlx::Error::ColumnDecode { index, source } => {
            Error::new(ErrorKind::Damaged, operation, format!("column {index}: {source}"))
        }
        other => Error::new(ErrorKind::Internal, operation, other.to_string()),
    }
}

/// A stored row that breaks its rules.
pub fn damaged_row(operation: &'static str, error: &RowError) -> Error {
    Error::new(ErrorKind::Damaged, operation, error.to_string())
}

/// Whether the failure leaves open what the statement did: the connection broke after it was sent.
pub fn outcome_unknown(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => true,
        // The session was ended by the database: what it had sent before may have been carried out.
        sqlx::Error::Database(db) => db.code().is_some_and(|c| c.starts_with("57P") || c.starts_with("08")),
        _ => false,
    }
}
