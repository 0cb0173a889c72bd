//! Runs the binary as a person or a script would, with nothing of the test's own environment.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// No command of a test takes longer; one that does is killed and fails its test.
const LIMIT: Duration = Duration::from_secs(300);

/// A finished command.
#[derive(Debug)]
pub struct Run {
    pub command: String,
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// The binary with an empty environment, home and temporary folder below `home`, standing in `home`.
pub fn command(home: &Path) -> Command {
    let tmp = home.join("tmp");
    std::fs::create_dir_all(&tmp).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_extenddb-admin"));
    command.env_clear().env("HOME", home).env("XDG_CONFIG_HOME", home.join(".config")).env("TMPDIR", tmp);
    command.current_dir(home).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command to its end.
pub fn run(mut command: Command) -> Run {
    let child = command.spawn().unwrap();
    finish(child, describe(&command))
}

/// The command as somebody would type it.
pub fn describe(command: &Command) -> String {
    let args: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    format!("extenddb-admin {}", args.join(" "))
}

/// Waits for a started command.
pub fn finish(mut child: Child, command: String) -> Run {
    let mut stdout = child.stdout.take().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let out = std::thread::spawn(move || {
        let mut text = Vec::new();
        stdout.read_to_end(&mut text).map(|_| text)
    });
    let err = std::thread::spawn(move || {
        let mut text = Vec::new();
        stderr.read_to_end(&mut text).map(|_| text)
    });
    let status = wait(&mut child, &command);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    Run {
        command,
        code: status.code(),
        stdout: text(out.join().unwrap().unwrap()),
        stderr: text(err.join().unwrap().unwrap()),
    }
}

fn wait(child: &mut Child, command: &str) -> ExitStatus {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if started.elapsed() > LIMIT {
            let _ = child.kill();
            panic!("{command} ran longer than {LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl Run {
    /// Asserts exit status 0.
    #[track_caller]
    pub fn succeeds(self) -> Self {
        self.exits(0)
    }

    /// Asserts an exit status.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert!(
            self.code == Some(code),
            "`{}` ended with {:?}, expected {code}\n--- stdout\n{}--- stderr\n{}",
            self.command,
            self.code,
            self.stdout,
            self.stderr
        );
        self
    }

    /// Standard output as JSON; it must be one document and nothing else.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("`{}` printed no JSON ({e}):\n{}\n{}", self.command, self.stdout, self.stderr))
    }

    /// The error object that `-o json` puts on the last line of standard error.
    #[track_caller]
    pub fn error(&self) -> serde_json::Value {
        let line = self.stderr.lines().rev().find(|l| l.starts_with("{\"error\""));
        let line = line.unwrap_or_else(|| panic!("`{}` printed no error object:\n{}", self.command, self.stderr));
        serde_json::from_str(line).unwrap()
    }

    /// Asserts that standard error holds a text.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "`{}` does not say {text:?}:\n{}", self.command, self.stderr);
        self
    }
}
