//! Progress of the running phase: bars on a terminal, a line every ten seconds elsewhere, or JSON lines.

use std::io::{self, Write as _};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::domain::quantity::{show_duration, show_size};

/// Form of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ProgressMode {
    /// Bars on a terminal, a line every 10 s elsewhere; nothing when standard error is for JSON
    #[default]
    Auto,
    /// A bar
    Bar,
    /// A line every 10 s
    Plain,
    /// One JSON object a line
    Json,
    /// Nothing
    None,
}

/// Time between two lines of the plain form.
const PLAIN_EVERY: Duration = Duration::from_secs(10);
/// Time between two lines of the JSON form.
const JSON_EVERY: Duration = Duration::from_secs(1);

/// Shows one phase at a time.
pub(super) struct Progress {
    mode: ProgressMode,
    state: Arc<(Mutex<State>, Condvar)>,
    bar: ProgressBar,
}

#[derive(Default)]
struct State {
    phase: Option<Phase>,
    ticking: bool,
}

struct Phase {
    name: String,
    total: Option<u64>,
    done: u64,
    bytes: u64,
    since: Instant,
}

impl Progress {
    /// Shows nothing before the first phase.
    pub(super) fn new(mode: ProgressMode) -> Self {
        let bar = match mode {
            ProgressMode::Bar => ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()),
            _ => ProgressBar::hidden(),
        };
        Self { mode, state: Arc::default(), bar }
    }

    /// Begins a phase; the one before ends.
    pub(super) fn phase(&self, name: &str, total: Option<u64>) {
        let mut state = lock(&self.state.0);
        if let Some(last) = &state.phase
            && matches!(self.mode, ProgressMode::Json)
        {
            last.print(self.mode);
        }
        let phase = Phase { name: name.to_owned(), total, done: 0, bytes: 0, since: Instant::now() };
        match self.mode {
            ProgressMode::Bar => {
                self.bar.reset();
                self.bar.set_style(style(total.is_some()));
                self.bar.set_length(total.unwrap_or(0));
                self.bar.set_prefix(name.to_owned());
                self.bar.set_message("");
                self.bar.enable_steady_tick(Duration::from_millis(200));
            }
            ProgressMode::Json => phase.print(self.mode),
            _ => {}
        }
        state.phase = Some(phase);
        if !state.ticking && matches!(self.mode, ProgressMode::Plain | ProgressMode::Json) {
            state.ticking = true;
            self.tick();
        }
    }

    /// Counts; called from any thread, once a block rather than once an item.
    pub(super) fn advance(&self, units: u64, bytes: u64) {
        if self.mode == ProgressMode::None {
            return;
        }
        let mut state = lock(&self.state.0);
        let Some(phase) = &mut state.phase else { return };
        phase.done = phase.done.saturating_add(units);
        phase.bytes = phase.bytes.saturating_add(bytes);
        if self.mode == ProgressMode::Bar {
            self.bar.set_position(phase.done);
            if phase.bytes > 0 {
                self.bar.set_message(phase.speed());
            }
        }
    }

    /// Runs something that writes to standard error while no bar is in its way.
    pub(super) fn suspend(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }

    /// Takes the bar away and ends the lines.
    pub(super) fn clear(&self) {
        self.bar.disable_steady_tick();
        self.bar.finish_and_clear();
        let mut state = lock(&self.state.0);
        if let Some(last) = state.phase.take()
            && self.mode == ProgressMode::Json
        {
            last.print(self.mode);
        }
        self.state.1.notify_all();
    }

    /// In the JSON form, writes one object with a message and answers true.
    pub(super) fn json_line(&self, key: &str, message: &str) -> bool {
        if self.mode == ProgressMode::Json {
            line(&serde_json::json!({ key: { "message": message } }).to_string());
        }
        self.mode == ProgressMode::Json
    }

    /// Prints the running phase now and then, from a thread that ends with the phases.
    fn tick(&self) {
        let state = self.state.clone();
        let mode = self.mode;
        let every = if mode == ProgressMode::Json { JSON_EVERY } else { PLAIN_EVERY };
        std::thread::spawn(move || {
            let mut guard = lock(&state.0);
            loop {
                let (next, timeout) = state.1.wait_timeout(guard, every).unwrap_or_else(PoisonError::into_inner);
                guard = next;
                match &guard.phase {
                    Some(phase) if timeout.timed_out() => phase.print(mode),
                    Some(_) => {}
                    None => {
                        guard.ticking = false;
                        return;
                    }
                }
            }
        });
    }
}

impl Phase {
    fn print(&self, mode: ProgressMode) {
        let elapsed = self.since.elapsed();
        if mode == ProgressMode::Json {
            let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            line(
                &serde_json::json!({ "progress": {
                    "phase": self.name, "done": self.done, "total": self.total, "bytes": self.bytes,
                    "elapsed_ms": elapsed_ms,
                }})
                .to_string(),
            );
            return;
        }
        let of = self.total.map(|total| format!(" of {total}")).unwrap_or_default();
        let bytes = if self.bytes > 0 { format!(", {}", self.speed()) } else { String::new() };
        line(&format!("{}: {}{of}{bytes}, {}", self.name, self.done, show_duration(elapsed)));
    }

    fn speed(&self) -> String {
        let ms = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
        let rate = u128::from(self.bytes) * 1000 / u128::from(ms);
        format!("{} ({}/s)", show_size(self.bytes), show_size(u64::try_from(rate).unwrap_or(u64::MAX)))
    }
}

fn style(with_total: bool) -> ProgressStyle {
    let template = if with_total {
        "{prefix:12} [{bar:30}] {human_pos}/{human_len} {msg} eta {eta}"
    } else {
        "{prefix:12} {spinner} {human_pos} {msg} {elapsed}"
    };
    ProgressStyle::with_template(template).expect("the templates are fixed").progress_chars("=> ")
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn line(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
