//! Global flags, the list of commands, one dispatch line each.

/// Parses the command line, runs the command and returns the exit status.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
