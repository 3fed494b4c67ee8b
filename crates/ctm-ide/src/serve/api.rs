//! The page's requests. Each question is a JSON object, each answer too; `{"error": ...}` has the reason of a refusal.

use super::cost;
use super::entries::{Directory, Opened, PageEntry, said};
use super::memory::{Memory, Share};
use super::question::Question;
use crate::language::{Document, Language, findings, shown_findings};
use ctm::Drawing;
use ctm::EngineKind;
use ctm::array::{Array, Kind, Values};
use ctm::job::{Folders, Job};
use ctm::render;
use ctm::trace::observe::{Isa, Place};
use ctm::trace::{
    Ancestry, Choice, Chosen, DrawStage, Draws, LaunchOutputs, Limits, Profile, Subject, Trace, TraceError,
    launch_outputs, targets_behind,
};
use ctm_exec::{Control, GroupSize, Position};
use ctm_isa::diag::Severity;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The wall time of a launch that the page starts.
const PATIENCE: Duration = Duration::from_secs(20);
/// Instructions of a trace for the page.
const LONGEST_TRACE: usize = 20_000;

/// Context of an answer.
pub(super) struct AnswerContext<'a> {
    pub(super) entries: &'a [PageEntry],
    pub(super) folders: &'a Folders,
    pub(super) memory: &'a Arc<Memory>,
    pub(super) control: &'a Control,
    pub(super) deadline: Instant,
    /// Memory reserved by the answer: held until the answer has been written as text.
    pub(super) shares: RefCell<Vec<Share>>,
}

/// Why there is no answer.
enum Refusal {
    /// Reported to the page.
    Said(String),
    /// There is no memory for it.
    Memory(String),
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self::Said(why)
    }
}

impl From<&str> for Refusal {
    fn from(why: &str) -> Self {
        Self::Said(why.to_owned())
    }
}

type Answer = Result<Value, Refusal>;

impl AnswerContext<'_> {
    /// Reserves memory for more bytes.
    fn take(&self, bytes: u64) -> Result<(), Refusal> {
        let share = self.memory.take(bytes, self.deadline, &|| !self.control.is_over());
        self.shares.borrow_mut().push(share.map_err(Refusal::Memory)?);
        Ok(())
    }
}

/// Answers one question.
type Answering = fn(&Question, &AnswerContext<'_>) -> Answer;

/// The questions by name.
const QUESTIONS: [(&str, Answering); 14] = [
    ("entries", |_, context| {
        Ok(json!({ "entries": context.entries.iter().map(|entry| &entry.name).collect::<Vec<_>>() }))
    }),
    ("open", |question, context| Ok(entry(question, context)?.open(context.folders).map_err(|e| said(&e))?)),
    ("check", check),
    ("hover", |question, context| {
        let document = document(question, context)?;
        Ok(json!({ "text": document.hover(byte(question)).map(|hover| hover.markdown) }))
    }),
    ("complete", |question, context| {
        let document = document(question, context)?;
        let found = document.completions(byte(question));
        let items: Vec<Value> = found.iter().map(|c| json!({ "label": c.text, "detail": c.detail })).collect();
        Ok(json!({ "items": items }))
    }),
    ("definition", |question, context| {
        let (document, offset) = (document(question, context)?, byte(question));
        let symbol = document.symbol_at(offset).map(|symbol| symbol.span);
        let span = symbol.or_else(|| document.register_places(offset).first().copied());
        Ok(json!({ "offset": span.map(|span| Utf16Offsets::of(&document.text).before(span.start as usize)) }))
    }),
    ("format", |question, context| {
        context.take(cost::of_layout(question.text()))?;
        Ok(json!({ "text": read(question).formatted() }))
    }),
    ("words", |_, _| Ok(words())),
    ("manual", |question, _| manual(question)),
    ("launches", launches),
    ("run", run),
    ("trace", |question, context| Ok(traced(question, context)?.page_data())),
    ("why", why),
    ("profile", profile),
];

/// The name of a question, if there is such a question.
pub(super) fn question(name: &str) -> Option<&'static str> {
    QUESTIONS.iter().map(|question| question.0).find(|&known| known == name)
}

/// Answers a question.
///
/// # Errors
/// In words: there is no memory for it.
pub(super) fn answer(name: &str, question: &Question, context: &AnswerContext<'_>) -> Result<Value, String> {
    let known = QUESTIONS.iter().find(|known| known.0 == name);
    let result =
        known.map_or_else(|| Err(format!("`{name}` is no question").into()), |known| known.1(question, context));
    match result {
        Ok(answer) => Ok(answer),
        Err(Refusal::Said(why)) => Ok(json!({ "error": why })),
        Err(Refusal::Memory(why)) => Err(why),
    }
}

fn entry<'e>(question: &Question, context: &AnswerContext<'e>) -> Result<&'e PageEntry, Refusal> {
    let name = question.entry.as_deref().unwrap_or("");
    let found = context.entries.iter().find(|entry| entry.name == name);
    found.ok_or_else(|| format!("there is no job `{name}`").into())
}

/// The language of the text of a question.
fn language(question: &Question) -> Language {
    let language = question.language.as_deref().and_then(Language::from_id);
    language.unwrap_or_else(|| Language::of_text(question.text()))
}

/// The text of a question, read.
fn read(question: &Question) -> Document {
    Document::new(language(question), question.text())
}

/// The same in memory that is taken for it.
fn document(question: &Question, context: &AnswerContext<'_>) -> Result<Document, Refusal> {
    context.take(cost::of_text(question.text()))?;
    Ok(read(question))
}

/// Counts units of UTF-16, as browsers do. Places that follow each other cost the text between them.
struct Utf16Offsets<'t> {
    text: &'t str,
    /// A byte, and the units before it.
    known: (usize, usize),
}

impl<'t> Utf16Offsets<'t> {
    const fn of(text: &'t str) -> Self {
        Self { text, known: (0, 0) }
    }

    /// Units before a byte.
    fn before(&mut self, byte: usize) -> usize {
        let mut end = byte.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let (at, units) = self.known;
        let count = |from: usize, to: usize| self.text[from..to].encode_utf16().count();
        let units = if end < at { units - count(end, at) } else { units + count(at, end) };
        self.known = (end, units);
        units
    }
}

/// The byte of `offset`, which counts units of UTF-16.
fn byte(question: &Question) -> usize {
    let (text, mut left) = (question.text(), question.offset.unwrap_or(0));
    for (at, c) in text.char_indices() {
        if left == 0 {
            return at;
        }
        left = left.saturating_sub(c.len_utf16() as u64);
    }
    text.len()
}

fn check(question: &Question, context: &AnswerContext<'_>) -> Answer {
    context.take(cost::of_check(question.text()))?;
    let found = findings(language(question), question.text());
    let (shown, more) = shown_findings(&found);
    let mut units = Utf16Offsets::of(question.text());
    let mut told: Vec<Value> = shown
        .iter()
        .map(|finding| {
            let span = finding.labels.first().map(|label| label.span).unwrap_or_default();
            let mut message = finding.message.clone();
            for part in [finding.cite.map(|cite| format!("see {cite}")), finding.help.clone()].into_iter().flatten() {
                message.push('\n');
                message.push_str(&part);
            }
            json!({
                "from": units.before(span.start as usize),
                "to": units.before(span.end as usize),
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
    if let Some(more) = more {
        let end = units.before(question.text().len());
        told.push(json!({ "from": end, "to": end, "severity": "error", "rule": more.rule, "message": more.message }));
    }
    Ok(json!({ "findings": told }))
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

fn manual(question: &Question) -> Answer {
    let topic = question.topic.as_deref().unwrap_or("").trim();
    let isas = match question.language.as_deref().and_then(Language::from_id) {
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
        )
        .into());
    }
    Ok(json!({ "text": pages.join("\n\n") }))
}

/// The subject of a question, with a lower time limit than a job's.
fn opened(question: &Question, context: &AnswerContext<'_>) -> Result<(Opened, Option<Directory>), Refusal> {
    let entry = entry(question, context)?;
    context.take(entry.capture_bytes())?;
    let opened = entry.opened(&question.files.0, context.folders, context.control);
    let (mut opened, directory) = opened.map_err(|e| said(&e))?;
    let time = match &mut opened {
        Opened::Job(job) => Some(&mut job.run.budget.time),
        Opened::Drawing(drawing) => Some(&mut drawing.budget.time),
        Opened::Capture(..) | Opened::Recording(_) => None,
    };
    if let Some(time) = time {
        *time = Some(time.map_or(PATIENCE, |time| time.min(PATIENCE)));
    }
    Ok((opened, directory))
}

/// Something to look into, and the folder of its files.
struct Looked {
    subject: Subject,
    chosen: Chosen,
    _directory: Option<Directory>,
}

/// The launch of a question; of draws, of the pixel programs.
fn looked(question: &Question, context: &AnswerContext<'_>, at: Option<Position>) -> Result<Looked, Refusal> {
    let (opened, directory) = opened(question, context)?;
    context.take(cost::of_run(&opened))?;
    let subject = match opened {
        Opened::Job(job) => Subject::Job(job),
        Opened::Drawing(drawing) => Subject::Drawing(Arc::new(*drawing), DrawStage::Pixel),
        Opened::Capture(draws, _) => Subject::Drawing(draws, DrawStage::Pixel),
        Opened::Recording(path) => Subject::Recording(path),
    };
    let chosen = subject.choose_under(context.control, choice(question, &subject), at).map_err(|e| said(&e))?;
    Ok(Looked { subject, chosen, _directory: directory })
}

/// The pass, draw or launch that is chosen, from 0, as a choice: of recordings a launch, otherwise a pass or a draw.
fn choice(question: &Question, subject: &Subject) -> Choice {
    match subject {
        Subject::Recording(_) => Choice { pass: None, launch: question.launch.map(|n| n as u64) },
        Subject::Job(_) | Subject::Drawing(..) => Choice { pass: question.launch, launch: None },
    }
}

/// The choices, in lines: passes, draws, or launches.
fn launches(question: &Question, context: &AnswerContext<'_>) -> Answer {
    let (opened, _directory) = opened(question, context)?;
    if matches!(opened, Opened::Capture(..) | Opened::Recording(_)) {
        context.take(cost::of_run(&opened))?;
    }
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
        Opened::Capture(draws, _) => draws.list().map_err(|e| said(&e))?,
        Opened::Recording(path) => {
            ctm::trace::launches(&path, Some(PATIENCE), context.control).map_err(|e| said(&e))?
        }
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

fn run(question: &Question, context: &AnswerContext<'_>) -> Answer {
    let (opened, _directory) = opened(question, context)?;
    context.take(cost::of_run(&opened))?;
    match opened {
        Opened::Job(job) => run_job(&job, context.control),
        Opened::Drawing(drawing) => match question.launch {
            Some(number) => behind(&*drawing, drawing.engine, number),
            None => draw(&drawing),
        },
        Opened::Capture(draws, _) => {
            let number = question.launch.ok_or("say which draw")?;
            let mut answer = behind(&*draws, EngineKind::default(), number)?;
            let stages = [(DrawStage::Pixel, "pixel program"), (DrawStage::Vertex, "vertex program")];
            answer["files"] = stages
                .into_iter()
                .filter_map(|(stage, name)| {
                    let subject = Subject::Drawing(Arc::clone(&draws), stage);
                    let choice = Choice { pass: Some(number), launch: None };
                    let chosen = subject.choose_under(context.control, choice, None).ok()?;
                    // Traces are of pixels: their listing has that name.
                    let (listing, text) = Subject::program_of(&chosen);
                    let name = if stage == DrawStage::Pixel { listing } else { name.to_owned() };
                    Some(json!({ "name": name, "text": text, "language": Language::R700.id() }))
                })
                .collect();
            Ok(answer)
        }
        Opened::Recording(path) => recorded(&path, question.launch.ok_or("say which launch")?, context.control),
    }
}

/// The targets after a draw.
fn behind(draws: &dyn Draws, engine: EngineKind, number: usize) -> Answer {
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

/// The outputs of a recording's launch, and its program.
fn recorded(path: &Path, number: usize, control: &Control) -> Answer {
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

fn run_job(job: &Job, control: &Control) -> Answer {
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

fn draw(drawing: &Drawing) -> Answer {
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

/// The most lanes of a unit that is watched: a group, or a thread group of the R700.
fn lanes(subject: &Subject) -> u64 {
    let Subject::Job(job) = subject else { return GroupSize::R700.lanes() as u64 };
    let threads = job.passes.iter().filter_map(|pass| pass.r700.as_ref()?.group_threads).max().unwrap_or(0);
    u64::from(threads).max(job.run.group.lanes() as u64)
}

/// The trace of a question, in memory for it and its JSON.
fn traced(question: &Question, context: &AnswerContext<'_>) -> Result<Trace, Refusal> {
    let [i, j] = question.at.ok_or("`at` is a processor: [35, 22]")?;
    let at = Position { i, j };
    let looked = looked(question, context, Some(at))?;
    let (step, most) = (lanes(&looked.subject) * cost::OF_STEP, context.memory.bytes() / 2);
    let instructions = usize::try_from(most / step).unwrap_or(usize::MAX).min(LONGEST_TRACE);
    context.take(instructions as u64 * step)?;
    let limits = Limits { instructions, ..Limits::default() };
    let trace = Trace::of_under(context.control, &looked.subject, &looked.chosen, at, &limits);
    Ok(trace.map_err(|e| match e {
        TraceError::Job(e) => said(&e),
        TraceError::NotRun(_) => e.to_string(),
    })?)
}

fn why(question: &Question, context: &AnswerContext<'_>) -> Answer {
    let trace = traced(question, context)?;
    let mut out = String::new();
    let places = Place::parse(trace.isa, question.value.as_deref().unwrap_or(""));
    for place in places.map_err(|e| e.to_string())? {
        match Ancestry::of(&trace, trace.lane, place, None) {
            Some(tree) => out.push_str(&tree.text(&trace, 6, 200)),
            None => out.push_str(&format!("{place}: no instruction wrote it\n")),
        }
    }
    Ok(json!({ "text": out }))
}

#[allow(clippy::cast_precision_loss, reason = "numbers for people")]
fn profile(question: &Question, context: &AnswerContext<'_>) -> Answer {
    let looked = looked(question, context, None)?;
    context.take(cost::of_profile(looked.chosen.domain.processors()))?;
    let profile = Profile::of_under(context.control, &looked.subject, &looked.chosen).map_err(|e| said(&e))?;
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

    /// The answer to a question, with all the memory and time that it wants.
    fn asked(name: &str, question: Value, entries: &[PageEntry]) -> Value {
        // The texture of the cube is a picture of the documents.
        let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let (memory, control, folders) = (Memory::new(4 << 30), Control::new(), Folders::new(&[documents]));
        let deadline = Instant::now() + Duration::from_secs(300);
        let shares = RefCell::default();
        let context =
            AnswerContext { entries, folders: &folders, memory: &memory, control: &control, deadline, shares };
        answer(name, &serde_json::from_value(question).unwrap(), &context).unwrap()
    }

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
        assert_eq!(byte(&serde_json::from_value(question).unwrap()), 6);
        let mut units = Utf16Offsets::of("ü😀x");
        assert_eq!([6, 7, 2, 3, 0, 99].map(|byte| units.before(byte)), [3, 4, 1, 1, 0, 4]);
    }

    /// A draw job of the user's: its picture, a pixel's steps, counts, and a program that the page has changed.
    #[test]
    fn draws_are_answered() {
        let job = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/draw/cube/job.toml");
        let entries = super::super::entries::all(std::slice::from_ref(&job));
        let name = entries[0].name.clone();
        let ask = |what: &str, mut question: Value| {
            question["entry"] = name.as_str().into();
            asked(what, question, &entries)
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
        let ask = |name: &str, question: Value| asked(name, question, &entries);
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
