//! Maps the driver's errors to the seam's.

use rusqlite::ErrorCode;

use crate::backend::{Error, ErrorKind};

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
        _ => (ErrorKind::Internal, false),
    };
    let error = Error::new(kind, operation, error.to_string());
    if temporary { error.temporary() } else { error }
}
