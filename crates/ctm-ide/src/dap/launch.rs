//! The launch to debug: the arguments of `launch`.

use super::said;
use super::variables::{self, Scope};
use crate::captures::Capture;
use crate::debugger::position;
use ctm::job::{AnyProgram, Isa, Job, Reader, read_file};
use ctm::trace::{Choice, Chosen, DrawStage, Listing, Subject};
use ctm_exec::Position;
use ctm_files::FileKind;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The launch to debug.
#[derive(Clone)]
pub(super) struct PreparedLaunch {
    pub(super) subject: Subject,
    pub(super) chosen: Chosen,
    pub(super) at: Position,
    pub(super) listing: Arc<Listing>,
    pub(super) scopes: Vec<Scope>,
    /// The program's file, where the listing is its text.
    pub(super) file: Option<PathBuf>,
}

/// The job that `launch` names.
fn job(path: &Path, arguments: &Value) -> Result<Job, String> {
    let mut reader = if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml")) {
        Reader::for_file(path).map_err(|e| said(&e))?
    } else {
        read_file(path, FileKind::Program, None).map_err(|e| said(&e))?;
        Reader::for_program(path)
    };
    match arguments["isa"].as_str() {
        Some("x1k") => reader.isa(Isa::X1k),
        Some("r700") => reader.isa(Isa::R700),
        Some(other) => return Err(format!("`isa` is `{other}`; there are x1k and r700")),
        None => {}
    }
    for (name, values) in arguments["flags"].as_object().into_iter().flatten() {
        let values = values.as_array().map_or(vec![values], |list| list.iter().collect());
        for value in values {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            reader.flag(name, &value);
        }
    }
    reader.finish().map_err(|e| said(&e))
}

/// Reads the arguments of `launch`.
pub(super) fn prepare(arguments: &Value) -> Result<PreparedLaunch, String> {
    let program = arguments["program"].as_str().ok_or("`program` is missing: a job file or a program")?;
    let path = match arguments["cwd"].as_str() {
        Some(directory) => Path::new(directory).join(program),
        None => PathBuf::from(program),
    };
    let number = |name: &str| match &arguments[name] {
        Value::Null => Ok(None),
        value => value.as_u64().map(Some).ok_or(format!("`{name}` is a number from 0 up")),
    };
    let pass = number("pass")?.and_then(|n| usize::try_from(n).ok());
    let at = match &arguments["at"] {
        Value::Null => None,
        Value::String(text) => Some(position(text)?),
        Value::Array(pair) => {
            let text: Vec<String> = pair.iter().map(Value::to_string).collect();
            Some(position(&text.join(","))?)
        }
        _ => return Err("`at` is a processor: \"35,22\"".into()),
    };
    let stage = match arguments["stage"].as_str() {
        None => DrawStage::default(),
        Some(name) => DrawStage::ALL
            .iter()
            .find(|row| row.0 == name)
            .map(|row| row.1)
            .ok_or_else(|| format!("`stage` is \"{name}\"; there are pixel and vertex"))?,
    };
    let draw = match number("draw")? {
        Some(0) => return Err("`draw` counts from 1".into()),
        draw => draw.and_then(|n| usize::try_from(n - 1).ok()),
    };
    let subject = if Subject::is_recording(&path) {
        Subject::Recording(path)
    } else if Subject::is_drawing(&path) {
        Subject::Drawing(Arc::new(ctm::Drawing::read(&path).map_err(|e| said(&e))?), stage)
    } else if Capture::is_one(&path) {
        Subject::Drawing(Arc::new(Capture::read(&path).map_err(|e| said(&e))?), stage)
    } else {
        Subject::Job(Box::new(job(&path, arguments)?))
    };
    let pass = pass.or(draw);
    let drawn = matches!(subject, Subject::Drawing(..));
    // Of draws, some pixel is meant.
    let at = at.or(drawn.then(Position::default));
    let chosen = subject.choose(Choice { pass, launch: number("launch")? }, at).map_err(|e| said(&e))?;
    let at = at.unwrap_or(Position { i: chosen.domain.i0, j: chosen.domain.j0 });
    let program = &chosen.program;
    let listing = Arc::new(chosen.listing());
    let scopes = match &program.program {
        AnyProgram::X1k(program) => {
            let usage = program.usage();
            let constants: Vec<u8> = usage.float_constants.iter().copied().collect();
            variables::scopes(listing.isa, usage.highest_temp.saturating_add(1), &constants)
        }
        AnyProgram::R700(program) => variables::scopes(listing.isa, program.gprs.min(128), &[]),
    };
    let file = Path::new(&listing.name).canonicalize().ok().filter(|file| {
        let text = ctm_files::read_text(file, FileKind::Program).unwrap_or_default();
        text.lines().eq(listing.lines.iter().map(|line| line.text.as_str()))
    });
    Ok(PreparedLaunch { subject, chosen, at, listing, scopes, file })
}
