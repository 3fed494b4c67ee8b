//! What the page asks for. Each question is a JSON object, each answer too; `{"error": ...}` says why there is none.

use super::entries::{Directory, Entry, Opened, said};
use crate::language::{Document, Language};
use ctm::Drawing;
use ctm::EngineKind;
use ctm::array::{Array, Kind, Values};
use ctm::job::Job;
use ctm::render;
use ctm::trace::observe::{Isa, Place};
use ctm::trace::{
    Ancestry, Choice, DrawStage, Draws, LaunchOutputs, Limits, Profile, Subject, Trace, TraceError, launch_outputs,
    targets_behind,
};
use ctm_exec::{Control, Position};
use ctm_isa::diag::Severity;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The wall time of a launch that the page starts.
const PATIENCE: Duration = Duration::from_secs(20);
/// Instructions of a trace for the page.
const LONGEST_TRACE: usize = 20_000;

/// Answers a question.
pub(super) fn answer(name: &str, question: &Value, entries: &[Entry], control: &Control) -> Value {
    let result = match name {
        "entries" => Ok(json!({ "entries": entries.iter().map(|entry| &entry.name).collect::<Vec<_>>() })),
        "open" => entry(question, entries).and_then(|entry| entry.open().map_err(|e| said(&e))),
        "check" => Ok(check(&document(question))),
        "hover" => {
            let (document, offset) = (document(question), byte(question));
            Ok(json!({ "text": document.hover(offset).map(|hover| hover.markdown) }))
        }
        "complete" => {
            let found = document(question).completions(byte(question));
            let items: Vec<Value> = found.iter().map(|c| json!({ "label": c.text, "detail": c.detail })).collect();
            Ok(json!({ "items": items }))
        }
        "definition" => {
            let (document, offset) = (document(question), byte(question));
            let symbol = document.symbol_at(offset).map(|symbol| symbol.span);
            let span = symbol.or_else(|| document.register_places(offset).first().copied());
            Ok(json!({ "offset": span.map(|span| units(&document.text, span.start as usize)) }))
        }
        "format" => Ok(json!({ "text": document(question).formatted() })),
        "words" => Ok(words()),
        "manual" => manual(question),
        "launches" => launches(question, entries, control),
        "run" => run(question, entries, control),
        "trace" => trace(question, entries),
        "why" => why(question, entries),
        "profile" => profile(question, entries),
        other => Err(format!("`{other}` is no question")),
    };
    result.unwrap_or_else(|why| json!({ "error": why }))
}

fn entry<'e>(question: &Value, entries: &'e [Entry]) -> Result<&'e Entry, String> {
    let name = question["entry"].as_str().unwrap_or("");
    entries.iter().find(|entry| entry.name == name).ok_or_else(|| format!("there is no job `{name}`"))
}

fn texts(question: &Value) -> BTreeMap<String, String> {
    let files = question["files"].as_object().into_iter().flatten();
    files.filter_map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned()))).collect()
}

fn document(question: &Value) -> Document {
    let text = question["text"].as_str().unwrap_or("");
    let language = question["language"].as_str().and_then(Language::from_id);
    Document::new(language.unwrap_or_else(|| Language::of_text(text)), text)
}

/// Units of UTF-16 before a byte: how browsers count.
fn units(text: &str, byte: usize) -> usize {
    let mut end = byte.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].encode_utf16().count()
}

/// The byte of `offset`, which counts units of UTF-16.
fn byte(question: &Value) -> usize {
    let (text, mut left) = (question["text"].as_str().unwrap_or(""), question["offset"].as_u64().unwrap_or(0));
    for (at, c) in text.char_indices() {
        if left == 0 {
            return at;
        }
        left = left.saturating_sub(c.len_utf16() as u64);
    }
    text.len()
}

fn check(document: &Document) -> Value {
    let findings: Vec<Value> = document
        .findings
        .iter()
        .map(|finding| {
            let span = finding.labels.first().map(|label| label.span).unwrap_or_default();
            let mut message = finding.message.clone();
            for part in [finding.cite.map(|cite| format!("see {cite}")), finding.help.clone()].into_iter().flatten() {
                message.push('\n');
                message.push_str(&part);
            }
            json!({
                "from": units(&document.text, span.start as usize),
                "to": units(&document.text, span.end as usize),
                "severity": match finding.severity {
                    Severity::Error => "error",
                    Severity::Warning => "warning",
                    Severity::Note => "info",
                },
                "rule": finding.rule,
                "message": message,
            })
        })
        .collect();
    json!({ "findings": findings })
}

/// The words of both languages, for colouring.
fn words() -> Value {
    let of = |language: Language| {
        let words: Vec<Value> = language
            .vocabulary()
            .iter()
            .map(|(kind, word)| json!([format!("{kind:?}").to_lowercase(), word]))
            .collect();
        (language.id().to_owned(), Value::from(words))
    };
    Value::Object(Language::ALL.into_iter().map(of).collect())
}

fn manual(question: &Value) -> Result<Value, String> {
    let topic = question["topic"].as_str().unwrap_or("").trim();
    let isas = match question["language"].as_str().and_then(Language::from_id) {
        Some(Language::R700) => [Language::R700, Language::X1k],
        _ => [Language::X1k, Language::R700],
    };
    if topic.is_empty() {
        return Ok(json!({ "text": isas[0].manual().list() }));
    }
    let pages = isas.iter().filter_map(|isa| Some((isa.title(), isa.manual().describe(topic)?)));
    let pages: Vec<String> = pages.map(|(title, text)| format!("{title}\n\n{text}")).collect();
    if pages.is_empty() {
        let near = isas[0].manual().suggest(topic).join(", ");
        return Err(format!(
            "nothing is called `{topic}`{}",
            if near.is_empty() { String::new() } else { format!("; there is {near}") }
        ));
    }
    Ok(json!({ "text": pages.join("\n\n") }))
}

/// What a question is about, with less patience than a job may have.
fn opened(question: &Value, entries: &[Entry]) -> Result<(Opened, Option<Directory>), String> {
    let (mut opened, directory) = entry(question, entries)?.opened(&texts(question)).map_err(|e| said(&e))?;
    let time = match &mut opened {
        Opened::Job(job) => Some(&mut job.run.budget.time),
        Opened::Drawing(drawing) => Some(&mut drawing.budget.time),
        Opened::Capture(_) | Opened::Recording(_) => None,
    };
    if let Some(time) = time {
        *time = Some(time.map_or(PATIENCE, |time| time.min(PATIENCE)));
    }
    Ok((opened, directory))
}

/// The same, to look into: of draws, the pixel programs.
fn subject(question: &Value, entries: &[Entry]) -> Result<(Subject, Option<Directory>), String> {
    let (opened, directory) = opened(question, entries)?;
    let subject = match opened {
        Opened::Job(job) => Subject::Job(job),
        Opened::Drawing(drawing) => Subject::Drawing(Arc::new(*drawing), DrawStage::Pixel),
        Opened::Capture(draws) => Subject::Drawing(draws, DrawStage::Pixel),
        Opened::Recording(path) => Subject::Recording(path),
    };
    Ok((subject, directory))
}

/// The pass, draw or launch that is chosen, from 0.
fn chosen_number(question: &Value) -> Option<usize> {
    question["launch"].as_u64().and_then(|n| usize::try_from(n).ok())
}

/// The same as a choice: of recordings a launch, otherwise a pass or a draw.
fn choice(question: &Value, subject: &Subject) -> Choice {
    let number = chosen_number(question);
    match subject {
        Subject::Recording(_) => Choice { pass: None, launch: number.map(|n| n as u64) },
        Subject::Job(_) | Subject::Drawing(..) => Choice { pass: number, launch: None },
    }
}

/// What there is to choose from, in lines: passes, draws, or launches.
fn launches(question: &Value, entries: &[Entry], control: &Control) -> Result<Value, String> {
    let (opened, _directory) = opened(question, entries)?;
    let lines = match opened {
        Opened::Job(job) => {
            let line = |(n, pass): (usize, &ctm::job::Pass)| {
                let name = pass.name.as_ref().map_or_else(String::new, |name| format!(" {}", name.value));
                let program = pass.program.value.file_name().unwrap_or_default().to_string_lossy();
                format!("pass {n}{name}: {program}")
            };
            job.passes.iter().enumerate().map(line).collect()
        }
        Opened::Drawing(drawing) => drawing.list().map_err(|e| said(&e))?,
        Opened::Capture(draws) => draws.list().map_err(|e| said(&e))?,
        Opened::Recording(path) => ctm::trace::launches(&path, Some(PATIENCE), control).map_err(|e| said(&e))?,
    };
    Ok(json!({ "launches": lines }))
}

fn picture(array: &Array) -> Result<String, String> {
    let bytes = array.to_bytes(Kind::Png).map_err(|e| e.to_string())?;
    Ok(format!("data:image/png;base64,{}", base64(&bytes)))
}

/// An output as the page shows it; column and row of its first element.
fn shown(name: &str, array: &Array, left: u32, top: u32) -> Result<Value, String> {
    Ok(json!({
        "name": name,
        "width": array.width,
        "height": array.height,
        "channels": array.channels,
        "left": left,
        "top": top,
        "picture": picture(array)?,
    }))
}

fn run(question: &Value, entries: &[Entry], control: &Control) -> Result<Value, String> {
    let (opened, _directory) = opened(question, entries)?;
    match opened {
        Opened::Job(job) => run_job(&job, control),
        Opened::Drawing(mut drawing) => {
            drawing.control = control.clone();
            match chosen_number(question) {
                Some(number) => behind(&*drawing, drawing.engine, number),
                None => draw(&drawing),
            }
        }
        Opened::Capture(draws) => {
            let number = chosen_number(question).ok_or("say which draw")?;
            let mut answer = behind(&*draws, EngineKind::default(), number)?;
            let stages = [(DrawStage::Pixel, "pixel program"), (DrawStage::Vertex, "vertex program")];
            answer["files"] = stages
                .into_iter()
                .filter_map(|(stage, name)| {
                    let subject = Subject::Drawing(Arc::clone(&draws), stage);
                    let chosen = subject.choose(Choice { pass: Some(number), launch: None }, None).ok()?;
                    // Traces are of pixels: their listing has that name.
                    let (listing, text) = Subject::program_of(&chosen);
                    let name = if stage == DrawStage::Pixel { listing } else { name.to_owned() };
                    Some(json!({ "name": name, "text": text, "language": Language::R700.id() }))
                })
                .collect();
            Ok(answer)
        }
        Opened::Recording(path) => recorded(&path, chosen_number(question).ok_or("say which launch")?, control),
    }
}

/// The targets behind a draw.
fn behind(draws: &dyn Draws, engine: EngineKind, number: usize) -> Result<Value, String> {
    let since = Instant::now();
    let engine = engine.engine().map_err(|e| e.to_string())?;
    let (_, targets) = targets_behind(draws, engine, Some(number)).map_err(|e| said(&e))?;
    let milliseconds = since.elapsed().as_secs_f64() * 1000.0;
    let mut outputs = Vec::new();
    for target in targets.iter().filter(|target| !target.integers) {
        let name = target.name.replacen("colour", "target ", 1);
        outputs.push(shown(&name, &target.array(), 0, 0)?);
    }
    let [width, height] = targets.first().map_or([0, 0], |target| target.size);
    let said = if targets.is_empty() { "the draw has no target\n" } else { "" };
    Ok(json!({
        "outputs": outputs,
        "said": said,
        "milliseconds": milliseconds,
        "domain": [0, 0, width.saturating_sub(1), height.saturating_sub(1)],
    }))
}

/// What a launch of a recording leaves, and its program.
fn recorded(path: &Path, number: usize, control: &Control) -> Result<Value, String> {
    let since = Instant::now();
    let left = launch_outputs(path, number as u64, Some(PATIENCE), control).map_err(|e| said(&e))?;
    let milliseconds = since.elapsed().as_secs_f64() * 1000.0;
    let LaunchOutputs { chosen, outputs: arrays, fault } = left;
    let mut outputs = Vec::new();
    for (name, array) in arrays {
        let (i, j) = if name.contains("uncached") { (0, 0) } else { (chosen.domain.i0, chosen.domain.j0) };
        outputs.push(shown(&name, &array, i, j)?);
    }
    let (name, text) = Subject::program_of(&chosen);
    let language = if chosen.isa() == Isa::X1k { Language::X1k } else { Language::R700 };
    let domain = chosen.domain;
    Ok(json!({
        "outputs": outputs,
        "said": fault.map_or_else(String::new, |fault| format!("{fault}\n")),
        "milliseconds": milliseconds,
        "domain": [domain.i0, domain.j0, domain.i1, domain.j1],
        "files": [{ "name": name, "text": text, "language": language.id() }],
    }))
}

fn run_job(job: &Job, control: &Control) -> Result<Value, String> {
    let report = job.run_under(control, |_| {}).map_err(|e| said(&e))?;
    let mut outputs = Vec::new();
    for output in &report.outputs {
        let Some(array) = report.array(output.slot) else { continue };
        outputs.push(shown(&output.name, &array, output.rect.x, output.rect.y)?);
    }
    let reports: String = report.reports.iter().map(|report| format!("{}\n", render::text(report, false))).collect();
    let domain = job.passes.last().map(|pass| pass.domain);
    Ok(json!({
        "outputs": outputs,
        "said": reports,
        "milliseconds": report.elapsed.as_secs_f64() * 1000.0,
        "domain": domain.map(|domain| [domain.i0, domain.j0, domain.i1, domain.j1]),
    }))
}

fn draw(drawing: &Drawing) -> Result<Value, String> {
    let since = Instant::now();
    let drawn = drawing.prepare().and_then(|mut prepared| prepared.draw(0.0)).map_err(|error| match error {
        ctm::draw::Error::Job(error) => said(&error),
        error => error.to_string(),
    })?;
    let milliseconds = since.elapsed().as_secs_f64() * 1000.0;
    let mut outputs = Vec::new();
    for target in drawn.targets.iter().filter(|target| !target.format().number.is_integer()) {
        outputs.push(shown(&format!("target {}", target.number), &target.array(), 0, 0)?);
    }
    let [width, height] = drawn.size;
    Ok(json!({
        "outputs": outputs,
        "said": drawn.findings.iter().map(|finding| format!("{finding}\n")).collect::<String>(),
        "milliseconds": milliseconds,
        "domain": [0, 0, width.saturating_sub(1), height.saturating_sub(1)],
    }))
}

fn at(question: &Value) -> Result<Position, String> {
    let number = |n: usize| question["at"][n].as_u64().and_then(|n| u32::try_from(n).ok());
    let (Some(i), Some(j)) = (number(0), number(1)) else { return Err("`at` is a processor: [35, 22]".into()) };
    Ok(Position { i, j })
}

fn traced(question: &Value, entries: &[Entry]) -> Result<Trace, String> {
    let (subject, _directory) = subject(question, entries)?;
    let (limits, at) = (Limits { instructions: LONGEST_TRACE, ..Limits::default() }, at(question)?);
    let chosen = subject.choose(choice(question, &subject), Some(at)).map_err(|e| said(&e))?;
    Trace::of(&subject, &chosen, at, &limits).map_err(|e| match e {
        TraceError::Job(e) => said(&e),
        TraceError::NotRun(_) => e.to_string(),
    })
}

fn trace(question: &Value, entries: &[Entry]) -> Result<Value, String> {
    Ok(traced(question, entries)?.page_data())
}

fn why(question: &Value, entries: &[Entry]) -> Result<Value, String> {
    let trace = traced(question, entries)?;
    let mut out = String::new();
    for place in Place::parse(trace.isa, question["value"].as_str().unwrap_or("")).map_err(|e| e.to_string())? {
        match Ancestry::of(&trace, trace.lane, place, None) {
            Some(tree) => out.push_str(&tree.text(&trace, 6, 200)),
            None => out.push_str(&format!("{place}: no instruction wrote it\n")),
        }
    }
    Ok(json!({ "text": out }))
}

#[allow(clippy::cast_precision_loss, reason = "numbers for people")]
fn profile(question: &Value, entries: &[Entry]) -> Result<Value, String> {
    let (subject, _directory) = subject(question, entries)?;
    let chosen = subject.choose(choice(question, &subject), None).map_err(|e| said(&e))?;
    let profile = Profile::of(&subject, &chosen).map_err(|e| said(&e))?;
    let mut lines = Vec::new();
    for line in 1..=profile.listing.lines.len() {
        if let Some(count) = profile.of_line(line) {
            let clocks = count.cost.alu_clocks + count.cost.tex_clocks + count.cost.fc_clocks;
            lines.push(json!({
                "line": line,
                "runs": count.executed,
                "lanes": count.lanes as f64 / count.executed.max(1) as f64,
                "split": count.divergent as f64 / count.executed.max(1) as f64,
                "fetches": count.cost.fetches,
                "clocks": clocks,
                "text": profile.listing.lines[line - 1].text,
            }));
        }
    }
    let map = |counts: &[u32]| {
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        #[allow(clippy::cast_possible_truncation, reason = "counts of a picture")]
        let values = counts.iter().map(|&n| (f64::from(n) / f64::from(most)) as f32).collect();
        let (width, height) = (profile.domain.width() as usize, profile.domain.height() as usize);
        picture(&Array { width, height, channels: 1, values: Values::F32(values) })
            .map(|p| json!({ "picture": p, "most": most }))
    };
    Ok(json!({
        "lines": lines,
        "name": profile.listing.name,
        "instructions": map(&profile.instructions)?,
        "waited": map(&profile.waited)?,
        "fault": profile.fault.as_ref().map(ToString::to_string),
    }))
}

/// RFC 4648 §4.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for n in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * n) & 63) as usize];
            out.push(if n <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_letters() {
        let pairs =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("\u{ff}", "w78=")];
        for (bytes, letters) in pairs {
            assert_eq!(base64(bytes.as_bytes()), letters);
        }
    }

    #[test]
    fn places_count_as_browsers_count() {
        let question = json!({ "text": "ü😀x", "offset": 3 });
        assert_eq!(byte(&question), 6);
        assert_eq!(units("ü😀x", 6), 3);
    }

    /// A draw job of the user's: its picture, a pixel's steps, counts, and a program that the page has changed.
    #[test]
    fn draws_are_answered() {
        let job = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/draw/cube/job.toml");
        let entries = super::super::entries::all(std::slice::from_ref(&job));
        let name = entries[0].name.clone();
        let ask = |what: &str, mut question: Value| {
            question["entry"] = name.as_str().into();
            answer(what, &question, &entries, &Control::none())
        };
        let opened = ask("open", json!({}));
        let names: Vec<&str> =
            opened["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["job.toml", "cube.vsh", "cube.psh"]);
        let run = ask("run", json!({}));
        assert_eq!((&run["outputs"][0]["width"], &run["domain"]), (&json!(320), &json!([0, 0, 319, 239])), "{run}");
        let trace = ask("trace", json!({ "at": [160, 120] }));
        assert!(trace["error"].is_null(), "{trace}");
        let why = ask("why", json!({ "at": [160, 120], "value": "PIX0.x" }));
        assert!(why["text"].as_str().unwrap().contains("SAMPLE"), "{why}");
        assert!(ask("trace", json!({ "at": [0, 0] }))["error"].as_str().unwrap().contains("does not run for pixel"));
        let profile = ask("profile", json!({}));
        assert!(profile["lines"].as_array().unwrap().len() > 3, "{profile}");
        let program = opened["files"][2]["text"].as_str().unwrap();
        assert!(program.contains("MUL "), "{program}");
        let changed = ask("run", json!({ "files": { "cube.psh": program.replacen("MUL ", "ADD ", 1) } }));
        assert!(changed["outputs"][0]["picture"].is_string(), "{changed}");
        assert_ne!(changed["outputs"][0]["picture"], run["outputs"][0]["picture"]);
        let wrong = ask("run", json!({ "files": { "cube.psh": "MUUL" } }));
        assert!(wrong["error"].is_string(), "{wrong}");
    }

    #[test]
    fn questions_that_are_none_are_refused() {
        let entries = super::super::entries::all(&[]);
        let ask = |name: &str, question: Value| answer(name, &question, &entries, &Control::none());
        for (name, question) in [
            ("frob", json!({})),
            ("open", json!({ "entry": "none" })),
            ("open", json!([])),
            ("run", json!({ "entry": "saxpy", "files": { "job.toml": "x =" } })),
            ("trace", json!({ "entry": "mandelbrot" })),
            ("trace", json!({ "entry": "mandelbrot", "at": [9999, 1] })),
            ("why", json!({ "entry": "saxpy", "at": [0, 0], "value": "q" })),
            ("manual", json!({ "topic": "no such thing" })),
        ] {
            assert!(ask(name, question.clone())["error"].is_string(), "{name} {question}");
        }
        assert!(ask("manual", json!({ "topic": "rcp" }))["text"].as_str().unwrap().contains("1 / A"));
    }
}
