//! From the arguments of the process to its exit status: parsing, signals, the last error.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use super::exit::{Exit, Failure};
use super::{Cli, Command, Context, dispatch, signals};
use crate::ops::cancel::{Cancel, Stop};
use crate::ui::{Format, ProgressMode, Ui, UiOptions};

/// Parses the command line, runs the command and returns the exit status.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    // The flag is looked for by hand, as it also rules the color of help and usage errors.
    let color = match value_of(&args, &["--color"]) {
        Some("always") => clap::ColorChoice::Always,
        Some("never") => clap::ColorChoice::Never,
        _ => clap::ColorChoice::Auto,
    };
    let parsed = Cli::command().color(color).try_get_matches_from(&args).and_then(|m| Cli::from_arg_matches(&m));
    match parsed {
        Ok(cli) => run(cli).into(),
        Err(error) => usage(&error, &args).into(),
    }
}

fn run(cli: Cli) -> Exit {
    let globals = cli.globals;
    let ui = Ui::new(UiOptions {
        format: globals.output,
        progress: globals.progress,
        color: globals.color,
        yes: globals.yes,
        no_input: globals.no_input,
        quiet: globals.quiet,
        verbose: globals.verbose,
    });
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => {
            ui.error("FAILED", &format!("cannot start the threads of this process: {e}"), None);
            return Exit::Failed;
        }
    };
    let cancel = Cancel::new();
    let ctx = Context::new(globals, ui, cancel);
    let result = runtime.block_on(supervise(cli.command, &ctx));
    let exit = match result {
        Ok(exit) => {
            ctx.ui().finish();
            exit
        }
        Err(error) => {
            let failure = Failure::of(&error);
            ctx.ui().error(failure.code, &failure.message, failure.hint.as_deref());
            failure.exit
        }
    };
    // A dropped command may have left a thread in a blocking call; nobody waits for it.
    runtime.shutdown_background();
    exit
}

/// Runs the command beside the signals. The first one asks it to stop: a command that wrote nothing is
/// dropped, one that undertook to end by itself is waited for. The second one ends the process.
async fn supervise(command: Command, ctx: &Context) -> anyhow::Result<Exit> {
    let mut signals = signals::listen(ctx.ui().asking())?;
    let work = dispatch(command, ctx);
    tokio::pin!(work);
    let name = tokio::select! {
        result = &mut work => return result,
        name = signals.next() => name,
    };
    ctx.cancel().stop(Stop::Signal);
    if !ctx.cancel().is_undertaken() {
        let message = format!("{name}: stopped; nothing was changed");
        return Err(Failure::new(Exit::Interrupted, "INTERRUPTED", message).into());
    }
    ctx.ui().note(&format!("{name}: stopping at the next safe point; once more stops at once"));
    tokio::select! {
        result = &mut work => result,
        name = signals.next() => Err(Failure::new(
            Exit::Interrupted,
            "INTERRUPTED",
            format!("{name}: stopped at once; what was running is left as a kill leaves it"),
        )
        .hint("run the same command again: it takes up or clears what was left")
        .into()),
    }
}

/// Prints a usage error, help or the version. `-o json` is looked for by hand, as parsing failed.
fn usage(error: &clap::Error, args: &[OsString]) -> Exit {
    if !error.use_stderr() {
        return match error.print() {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Exit::Failed,
            _ => Exit::Done,
        };
    }
    if value_of(args, &["--output", "-o"]) != Some("json") {
        let _ = error.print();
        return Exit::Usage;
    }
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let (message, rest) = text.split_once("\n\n").unwrap_or((text, ""));
    let hint = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    let ui = Ui::new(UiOptions { format: Format::Json, progress: ProgressMode::None, ..UiOptions::default() });
    ui.error("USAGE", message.trim(), (!hint.is_empty()).then_some(hint.as_str()));
    Exit::Usage
}

/// The value of a flag on a command line that may be wrong: the last one that is given.
fn value_of<'a>(args: &'a [OsString], names: &[&str]) -> Option<&'a str> {
    let words: Vec<_> = args.iter().skip(1).take_while(|a| *a != "--").map(|a| a.to_str().unwrap_or("")).collect();
    let given = |(at, word): (usize, &&'a str)| {
        names.iter().find_map(|name| {
            let rest = word.strip_prefix(name)?;
            match rest.strip_prefix('=') {
                Some(value) => Some(value),
                None if rest.is_empty() => words.get(at + 1).copied(),
                None if name.starts_with("--") => None,
                None => Some(rest),
            }
        })
    };
    words.iter().enumerate().filter_map(given).next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_flag_is_found_in_every_spelling_and_the_last_one_counts() {
        let value = |line: &str| {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            value_of(&args, &["--output", "-o"]).map(str::to_owned)
        };
        for line in ["x -o json", "x -ojson", "x -o=json", "x --output json", "x --output=json y", "x -o yaml -o json"]
        {
            assert_eq!(value(line).as_deref(), Some("json"), "{line}");
        }
        for line in ["x", "x -- -o json", "x --outputjson", "x -o"] {
            assert_eq!(value(line), None, "{line}");
        }
    }
}
