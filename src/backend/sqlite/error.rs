//! Maps the driver's errors to the seam's.

use rusqlite::ErrorCode;

use crate::backend::{Error, ErrorKind};
use crate::domain::catalog_row::RowError;

/// Turns a driver error into one of the seam.
pub fn driver(operation: &'static str, error: rusqlite::Error) -> Error {
    let (kind, temporary) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (ErrorKind::Busy, true),
        Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly | ErrorCode::AuthorizationForStatementDenied) => {
            (ErrorKind::PermissionDenied, false)
        }
        Some(ErrorCode::CannotOpen) => (ErrorKind::NotInitialized, false),
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => (ErrorKind::Damaged, false),
        Some(ErrorCode::ConstraintViolation) => (ErrorKind::Conflict, false),
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => (ErrorKind::Unavailable, false),
        Some(_) => (ErrorKind::Internal, false),
        None => match error {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => (ErrorKind::Damaged, false),
            _ => (ErrorKind::Internal, false),
        },
    };
    let error = Error::new(kind, operation, error.to_string());
    if temporary { error.temporary() } else { error }
}

/// A catalog row that breaks its rules.
pub fn damaged_row(operation: &'static str, error: &RowError) -> Error {
    Error::new(ErrorKind::Damaged, operation, error.to_string())
}

/// A value of a row that breaks its rules; `row` names the row.
pub fn damaged(operation: &'static str, row: impl Into<String>, problem: impl Into<String>) -> Error {
    Error::new(ErrorKind::Damaged, operation, problem).with("row", row)
}
