//! Receives progress and warnings of a running operation.

/// What an operation tells while it runs. Calls come from any thread and must not block for long.
pub trait Observer: Send + Sync {
    /// A phase begins: `verify`, `load`, … with the total of its unit, if known.
    fn phase(&self, name: &str, total: Option<u64>);

    /// That many more units of the phase are done (items or bytes, as the phase says), and what they weigh.
    fn advance(&self, units: u64, bytes: u64);

    /// Something the operator should know that did not stop the run.
    fn warn(&self, message: &str);

    /// Something worth a line, no warning.
    fn note(&self, message: &str);
}

/// Hears nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn phase(&self, _name: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64, _bytes: u64) {}
    fn warn(&self, _message: &str) {}
    fn note(&self, _message: &str) {}
}
