//! The binary: hands over to [`extenddb_admin::cli`] and exits with its status.

fn main() -> std::process::ExitCode {
    extenddb_admin::cli::main()
}
