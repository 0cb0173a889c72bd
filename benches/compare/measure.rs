//! Running a command, timing it, and putting what came out into words.

use std::fmt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What one run took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    pub wall: Duration,
    /// High-water mark of the process's memory, where it is ours.
    pub peak_bytes: u64,
}

/// Runs a command to its end; it must succeed. Returns its standard output too.
pub fn run(mut command: Command) -> (Cost, String) {
    let started = Instant::now();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut stdout, &mut text).map(|_| text)
    });
    let peak_bytes = watch(&mut child);
    let wall = started.elapsed();
    let status = child.wait().unwrap();
    let text = reader.join().unwrap().unwrap();
    assert!(status.success(), "{command:?} ended with {status}\n{text}");
    (Cost { wall, peak_bytes }, text)
}

/// Waits for the end of a process, reading its high-water mark meanwhile.
fn watch(child: &mut Child) -> u64 {
    let path = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        if let Some(kib) = std::fs::read_to_string(&path).ok().as_deref().and_then(high_water) {
            peak = peak.max(kib * 1024);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    peak
}

fn high_water(status: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// Times something of this process.
pub fn time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let started = Instant::now();
    let value = work();
    (started.elapsed(), value)
}

/// The middle of several.
pub fn median(mut of: Vec<Duration>) -> Duration {
    of.sort();
    of[of.len() / 2]
}

/// One comparison.
#[derive(Debug)]
struct Line {
    what: String,
    ours: Duration,
    theirs: Option<(String, Duration)>,
    peak_bytes: u64,
    /// The ratio that is asked for.
    floor: Option<f64>,
    note: String,
}

/// Everything that was measured.
#[derive(Debug, Default)]
pub struct Report(Vec<Line>);

impl Report {
    /// Adds a comparison of medians.
    pub fn compare(&mut self, what: &str, ours: &[Cost], rival: &str, theirs: Vec<Duration>, floor: f64, note: String) {
        let peak_bytes = ours.iter().map(|c| c.peak_bytes).max().unwrap_or_default();
        let line = Line {
            what: what.into(),
            ours: median(ours.iter().map(|c| c.wall).collect()),
            theirs: Some((rival.into(), median(theirs))),
            peak_bytes,
            floor: Some(floor),
            note,
        };
        eprintln!("{line}");
        self.0.push(line);
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "| {} | {:.2} s |", self.what, self.ours.as_secs_f64())?;
        match &self.theirs {
            Some((rival, theirs)) => {
                let ratio = theirs.as_secs_f64() / self.ours.as_secs_f64();
                write!(f, " {rival}: {:.2} s | {ratio:.2} |", theirs.as_secs_f64())?;
            }
            None => write!(f, " | |")?,
        }
        match self.floor {
            Some(floor) => write!(f, " {floor:.2} |")?,
            None => write!(f, " |")?,
        }
        write!(f, " {} MiB | {} |", self.peak_bytes >> 20, self.note)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| what | ours | instead | times as fast | asked for | peak memory of ours | note |")?;
        writeln!(f, "|---|---|---|---|---|---|---|")?;
        self.0.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// Size of a file or of everything below a folder.
pub fn size_of(path: &std::path::Path) -> u64 {
    let meta = std::fs::metadata(path).unwrap();
    if meta.is_file() {
        return meta.len();
    }
    std::fs::read_dir(path).unwrap().map(|entry| size_of(&entry.unwrap().path())).sum()
}
