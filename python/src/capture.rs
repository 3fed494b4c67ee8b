//! Captures of Radeons' drivers: command streams, their checks, and their draws.

use crate::drive::drive;
use crate::error::{self, findings};
use crate::run::engine;
use ctm::{Control, Diagnostic, EngineKind, Report};
use ctm_radeon::capture::{ReadError, Submission};
use ctm_radeon::execute::{DrawOptions, Next, TargetPicture};
use ctm_radeon::replay::Replay;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A submission: its number, its words, their text.
type Stream<'py> = (u64, Bound<'py, PyArray1<u32>>, String);
/// A target: its name, rows, columns and channels, whether its numbers are integers, its bits.
type Target<'py> = (String, (u32, u32, usize), bool, Bound<'py, PyArray1<u32>>);
/// Targets, draws as JSON, problems (submission, dword, draw, rule, message), how many submissions ran.
type Answer<'py> = (Vec<Target<'py>>, String, Vec<(u64, usize, Option<u32>, String, String)>, u32);

fn damaged(py: Python<'_>, error: &ReadError) -> PyErr {
    error::raise(py, "argument", &error.to_string(), "bad-capture", &[], (None, None))
}

fn opened<'a>(py: Python<'_>, data: &'a [u8], kind: EngineKind) -> PyResult<Replay<&'a [u8]>> {
    let engine = kind.engine().map_err(|e| error::argument(py, &e.to_string()))?;
    Replay::new(data, engine).map_err(|e| damaged(py, &e))
}

/// The submissions of a capture.
#[pyfunction]
pub(crate) fn capture_streams<'py>(py: Python<'py>, data: &Bound<'py, PyBytes>) -> PyResult<Vec<Stream<'py>>> {
    let mut replay = opened(py, data.as_bytes(), EngineKind::Interp)?;
    let mut streams = Vec::new();
    while let Some(submission) = replay.read().map_err(|e| damaged(py, &e))? {
        let shown = replay.text(&submission);
        let Submission { number, words, .. } = submission;
        streams.push((number, words.into_pyarray(py), shown));
    }
    Ok(streams)
}

/// Violations of the kernel's rules in a capture, and mismatches: findings as JSON.
#[pyfunction]
pub(crate) fn check_capture(py: Python<'_>, data: &Bound<'_, PyBytes>) -> PyResult<String> {
    let mut replay = opened(py, data.as_bytes(), EngineKind::Interp)?;
    let mut reports = Vec::new();
    while let Some(submission) = replay.read().map_err(|e| damaged(py, &e))? {
        for finding in replay.findings(&submission) {
            let message = format!("submission {}, {finding}", submission.number);
            reports.push(Report::bare(Diagnostic::new(finding.severity, finding.rule, message)));
        }
    }
    Ok(findings(&reports))
}

/// Runs a capture to its end, or to a draw.
#[pyfunction]
pub(crate) fn replay_capture<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyBytes>,
    until: Option<u32>,
    engine_name: Option<&str>,
) -> PyResult<Answer<'py>> {
    let mut replay = opened(py, data.as_bytes(), engine(py, engine_name)?)?;
    let control = Control::new();
    replay.device().set_options(DrawOptions { control: control.clone(), ..DrawOptions::default() });
    let ran = drive(py, &control, None, || {
        let (mut draws, mut problems, mut submissions) = (Vec::new(), Vec::new(), 0);
        loop {
            let mut step = |stepped: &ctm_radeon::execute::Stepped<'_>| {
                let number = draws.len() as u32 + 1;
                draws.push(stepped.outline.json(number));
                if until == Some(number) || control.is_cancelled() { Next::Stop } else { Next::Continue }
            };
            let Some(replayed) = replay.step(&mut step)? else { break };
            submissions += 1;
            let of = replayed.submission.number;
            problems.extend(replayed.submitted.problems.into_iter().map(|problem| {
                (of, problem.dword, problem.draw, problem.error.kind.to_owned(), problem.error.message)
            }));
            if replayed.submitted.stopped {
                break;
            }
        }
        Ok::<_, ReadError>((draws, problems, submissions, replay.targets()))
    })?;
    let (draws, problems, submissions, targets) = ran.map_err(|e| damaged(py, &e))?;
    if let Some(wanted) = until.filter(|&wanted| wanted == 0 || wanted as usize > draws.len()) {
        return Err(error::argument(py, &format!("the capture has {} draws, {wanted} is asked for", draws.len())));
    }
    let targets = targets.map_err(|e| error::raise(py, "error", &e.message, e.kind, &[], (None, None)))?;
    let flat = |picture: TargetPicture| {
        let channels = if picture.name.starts_with("colour") { 4 } else { 1 };
        let bits: Vec<u32> = picture.pixels.iter().flat_map(|pixel| pixel.iter().take(channels).copied()).collect();
        let [columns, rows] = picture.size;
        (picture.name, (rows, columns, channels), picture.integers, bits.into_pyarray(py))
    };
    let draws = json_array(&draws);
    Ok((targets.into_iter().map(flat).collect(), draws, problems, submissions))
}

fn json_array(values: &[impl std::fmt::Display]) -> String {
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    format!("[{}]", values.join(","))
}
