//! `ctm run --batch`: many jobs in one process.

use crate::args::jobs::RunArgs;
use crate::console::{Console, Ending, Exit, Failure, exit_of, failure_json};
use crate::interrupt;
use crate::source::{GivenFlag, job_reader};
use crate::values::IsaName;
use clap::ValueEnum;
use ctm::Control;
use ctm::job::{EngineKind, FLAGS, Job, JobError};
use ctm::render::Report;
use ctm_files::FileKind;
use ctm_isa::diag::Diagnostic;
use serde_json::json;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// A line of a list: a job file or a program, with flags.
#[derive(Debug, PartialEq, Eq)]
struct BatchLine {
    /// Its number in the list, from 1.
    number: usize,
    text: String,
}

fn usage(message: String) -> JobError {
    JobError::Usage(vec![Report::bare(Diagnostic::error("bad-batch", message))])
}

/// The words of a line: separated by spaces, in quotes where they hold some.
fn words(line: &str) -> Result<Vec<String>, JobError> {
    let (mut all, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => all.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    all.extend(word);
    match quote {
        None => Ok(all),
        Some(open) => Err(usage(format!("a word begins with {open} and does not end"))),
    }
}

/// The file and the flags of a line.
fn parsed(line: &str) -> Result<(PathBuf, Option<IsaName>, Vec<GivenFlag>), JobError> {
    let mut words = words(line)?.into_iter();
    let (mut file, mut isa, mut flags) = (None, None, Vec::new());
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix("--") else {
            if let Some(first) = file.replace(PathBuf::from(&word)) {
                return Err(usage(format!("a line names one file, and this one {} and {word}", first.display())));
            }
            continue;
        };
        let (name, attached) =
            flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value.to_owned())));
        let mut value = |form: &str| {
            attached.clone().or_else(|| words.next()).ok_or_else(|| usage(format!("--{name} takes {form}")))
        };
        if name == "isa" {
            let given = value("ISA")?;
            let known = IsaName::from_str(&given, false);
            isa = Some(known.map_err(|_| usage(format!("--isa {given}: allowed is x1k, r700")))?);
            continue;
        }
        let Some(row) = FLAGS.iter().find(|row| row.name == name) else {
            return Err(usage(format!("lines take flags that are keys of jobs, and --{name} is none")));
        };
        let value = if row.value.is_empty() { String::new() } else { value(row.value)? };
        flags.push((row.name, OsString::from(value)));
    }
    let file = file.ok_or_else(|| usage("a line names a job file or a program".to_owned()))?;
    Ok((file, isa, flags))
}

/// The interpreter runs so many processors in less time than their program takes to compile.
const FEW_PROCESSORS: u64 = 128;

/// Whether all launches of a job that names no engine have few processors together.
fn is_small(job: &Job) -> bool {
    let is_open = job.run.engine.place.is_none() && std::env::var_os(EngineKind::ENVIRONMENT).is_none();
    let processors: u64 = job.passes.iter().map(|pass| pass.domain.processors()).sum();
    is_open && processors.saturating_mul(job.repeat.into()) <= FEW_PROCESSORS
}

/// Runs the job of a line; its object as text, and its exit code.
fn run_line(line: &BatchLine, directory: &Path, args: &RunArgs, control: &Control) -> (String, Exit) {
    let report = parsed(&line.text).and_then(|(file, isa, flags)| {
        let file = directory.join(file);
        let all: Vec<GivenFlag> = flags.into_iter().chain(args.job.given.iter().cloned()).collect();
        let mut job = job_reader(&file, isa.or(args.isa), &all)?.finish()?;
        (job.run.counters, job.run.threads) = (args.stats, 1);
        if is_small(&job) {
            job.run.engine = EngineKind::Interp.into();
        }
        job.run_under(control, |_| {})
    });
    let about = [("line", json!(line.number)), ("job", json!(line.text))];
    match report {
        Ok(report) => (format!("{}\n", report.json(&about)), Exit::Done),
        Err(e) => {
            let mut failure = failure_json(&e);
            for (key, value) in about {
                failure[key] = value;
            }
            (format!("{failure}\n"), exit_of(&e))
        }
    }
}

/// Runs the jobs of a list on all cores, each on one, and prints an object a job in the order of the list.
pub(crate) fn run(console: &Console, args: &RunArgs, list: &Path) -> Ending {
    let text = if list == Path::new("-") {
        let bytes = ctm_files::read_argument(list, FileKind::Script);
        let bytes = bytes.map_err(|e| Failure::wrong("cannot-read", e.to_string()))?;
        String::from_utf8(bytes).map_err(|_| Failure::wrong("wrong-file", "the list is no text"))?
    } else {
        ctm_files::read_text(list, FileKind::Script).map_err(|e| Failure::wrong("cannot-read", e.to_string()))?
    };
    let directory = list.parent().filter(|_| list != Path::new("-")).unwrap_or(Path::new(""));
    let lines: Vec<BatchLine> = (1..)
        .zip(text.lines())
        .map(|(number, text)| BatchLine { number, text: text.trim().to_owned() })
        .filter(|line| !line.text.is_empty() && !line.text.starts_with('#'))
        .collect();
    let control = interrupt::control();
    let threads =
        std::thread::available_parallelism().map_or(1, |n| n.get()).min(args.jobs.unwrap_or(usize::MAX)).max(1);
    let next = AtomicUsize::new(0);
    let (sender, results) = mpsc::channel::<(usize, String, Exit)>();
    let mut exit = Exit::Done;
    std::thread::scope(|scope| {
        for _ in 0..threads.min(lines.len()) {
            let (sender, lines, next, control) = (sender.clone(), &lines, &next, &control);
            scope.spawn(move || {
                while let Some((n, line)) = {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    lines.get(n).map(|line| (n, line))
                } {
                    let (object, exit) = run_line(line, directory, args, control);
                    if sender.send((n, object, exit)).is_err() || control.is_cancelled() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        // Objects that came before their turn.
        let mut early: BTreeMap<usize, (String, Exit)> = BTreeMap::new();
        let mut printed = 0;
        let mut text = String::new();
        for (n, object, ended) in results {
            early.insert(n, (object, ended));
            text.clear();
            while let Some((object, ended)) = early.remove(&printed) {
                text.push_str(&object);
                printed += 1;
                if ended.code() > exit.code() {
                    exit = ended;
                }
            }
            if !text.is_empty() {
                console.print(&text)?;
            }
        }
        Ok(exit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_as_a_shell_does() {
        let (file, isa, flags) =
            parsed("'a b.x1k' --size 4x4 --isa=x1k --const c0=1,2 --check --in \"s0=with space.npy\"").unwrap();
        assert_eq!((file.as_path(), isa), (Path::new("a b.x1k"), Some(IsaName::X1k)));
        let names: Vec<&str> = flags.iter().map(|flag| flag.0).collect();
        assert_eq!(names, ["size", "const", "check", "in"]);
        assert_eq!(flags[3].1, "s0=with space.npy");
        for (line, says) in [
            ("a.x1k b.x1k", "a line names one file"),
            ("--size 4x4", "names a job file"),
            ("a.x1k --stats", "--stats is none"),
            ("a.x1k --size", "--size takes WxH"),
            ("'a.x1k", "does not end"),
            ("a.x1k --isa r600", "allowed is x1k, r700"),
        ] {
            let error = parsed(line).unwrap_err().to_string();
            assert!(error.contains(says), "{line}: {error}");
        }
    }
}
