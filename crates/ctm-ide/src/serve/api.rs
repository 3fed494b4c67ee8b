//! The page's requests. Each question is a JSON object, each answer too; `{"error": ...}` has the reason of a refusal.

use super::entries::{self, Directory, Opened, PageEntry, said};
use super::memory::{Memory, Share};
use super::pictures::{self, shown};
use super::question::Question;
use super::{cost, steps, wire};
use crate::language::{Document, Language, findings, shown_findings};
use ctm::Drawing;
use ctm::EngineKind;
use ctm::array::{Array, Values};
use ctm::job::{Folders, Job};
use ctm::render;
use ctm::trace::observe::Isa;
use ctm::trace::{
    Choice, Chosen, DrawStage, Draws, LaunchOutputs, Limits, Profile, Subject, Trace, TraceError, launch_outputs,
    targets_behind,
};
use ctm_exec::{Control, GroupSize, Position};
use ctm_isa::diag::Severity;
use serde_json::json;
use std::cell::RefCell;
use std::collections::BTreeMap;
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

type Answer<T> = Result<T, Refusal>;

impl AnswerContext<'_> {
    /// Reserves memory for more bytes.
    fn take(&self, bytes: u64) -> Result<(), Refusal> {
        let share = self.memory.take(bytes, self.deadline, &|| !self.control.is_over());
        self.shares.borrow_mut().push(share.map_err(Refusal::Memory)?);
        Ok(())
    }
}

/// Answers one question, in JSON.
type Answering = fn(&Question, &AnswerContext<'_>) -> Answer<String>;

macro_rules! questions {
    ($($name:literal: $type:ty = $answer:expr;)*) => {
        /// The questions by name.
        const QUESTIONS: &[(&str, Answering)] = &[$(($name, |question, context| {
            let answer: fn(&Question, &AnswerContext<'_>) -> Answer<$type> = $answer;
            Ok(serde_json::to_string(&answer(question, context)?).map_err(|e| e.to_string())?)
        }),)*];

        /// The type of each answer in TypeScript.
        #[cfg(test)]
        pub(super) fn types() -> String {
            let mut out = String::from("\nexport interface Answers {\n");
            $(out.push_str(&format!("  {}: {};\n", $name, <$type as wire::Typed>::name()));)*
            out.push_str("}\n");
            out
        }
    };
}

questions! {
    "entries": wire::Entries = |_, context| {
        Ok(wire::Entries { entries: context.entries.iter().map(PageEntry::described).collect() })
    };
    "open": wire::Opened = |question, context| {
        Ok(entry(question, context)?.open(context.folders).map_err(|e| said(&e))?)
    };
    "check": wire::Findings = check;
    "hover": wire::MaybeText = |question, context| {
        let document = document(question, context)?;
        Ok(wire::MaybeText { text: document.hover(byte(question)).map(|hover| hover.markdown) })
    };
    "complete": wire::Completions = |question, context| {
        let document = document(question, context)?;
        let found = document.completions(byte(question)).into_iter();
        let items = found.map(|c| wire::Completion { label: c.text.to_string(), detail: c.detail.to_string() });
        Ok(wire::Completions { items: items.collect() })
    };
    "definition": wire::Definition = |question, context| {
        let (document, offset) = (document(question, context)?, byte(question));
        let symbol = document.symbol_at(offset).map(|symbol| symbol.span);
        let span = symbol.or_else(|| document.register_places(offset).first().copied());
        Ok(wire::Definition { offset: span.map(|span| Utf16Offsets::of(&document.text).before(span.start as usize)) })
    };
    "format": wire::Page = |question, context| {
        context.take(cost::of_layout(question.text()))?;
        Ok(wire::Page { text: read(question).formatted() })
    };
    "words": BTreeMap<String, Vec<(String, String)>> = |_, _| Ok(words());
    "manual": wire::Page = manual;
    "launches": wire::Launches = launches;
    "run": wire::Run = run;
    "thumbnail": wire::Thumbnail = thumbnail;
    "trace": wire::Trace = |question, context| Ok(steps::trace(&traced(question, context)?.0));
    "why": wire::Why = why;
    "profile": wire::ProfileCounts = profile;
}

/// The name of a question, if there is such a question.
pub(super) fn question(name: &str) -> Option<&'static str> {
    QUESTIONS.iter().map(|question| question.0).find(|&known| known == name)
}

/// Answers a question, in JSON.
///
/// # Errors
/// In words: there is no memory for it.
pub(super) fn answer(name: &str, question: &Question, context: &AnswerContext<'_>) -> Result<String, String> {
    let known = QUESTIONS.iter().find(|known| known.0 == name);
    let result =
        known.map_or_else(|| Err(format!("`{name}` is no question").into()), |known| known.1(question, context));
    match result {
        Ok(answer) => Ok(answer),
        Err(Refusal::Said(why)) => Ok(json!({ "error": why }).to_string()),
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

/// Findings of a program, or of the job file of an entry with the page's texts.
fn check(question: &Question, context: &AnswerContext<'_>) -> Answer<wire::Findings> {
    context.take(cost::of_check(question.text()))?;
    if question.language.as_deref() == Some(entries::TOML) {
        return check_job(question, context);
    }
    let found = findings(language(question), question.text());
    let (shown, more) = shown_findings(&found);
    let mut units = Utf16Offsets::of(question.text());
    let mut told: Vec<wire::PageFinding> = shown.iter().map(|finding| page_finding(finding, &mut units)).collect();
    if let Some(more) = more {
        let end = units.before(question.text().len());
        let (rule, message) = (more.rule.to_string(), more.message.clone());
        told.push(wire::PageFinding { from: end, to: end, severity: "error", rule, message });
    }
    Ok(wire::Findings { findings: told })
}

/// Findings of the job file; those of its programs are with their texts.
fn check_job(question: &Question, context: &AnswerContext<'_>) -> Answer<wire::Findings> {
    let entry = entry(question, context)?;
    let name = question.name.as_deref().unwrap_or("");
    let mut texts = question.files.0.clone();
    texts.insert(name.to_owned(), question.text().to_owned());
    let Err(error) = entry.opened(&texts, context.folders, context.control) else {
        return Ok(wire::Findings { findings: Vec::new() });
    };
    let mut units = Utf16Offsets::of(question.text());
    let reports = error.reports();
    let own =
        |report: &&ctm::render::Report| report.source.as_ref().is_none_or(|source| source.text() == question.text());
    let own = reports.iter().filter(own).take(100);
    Ok(wire::Findings { findings: own.map(|report| page_finding(&report.diagnostic, &mut units)).collect() })
}

fn page_finding(finding: &ctm_isa::diag::Diagnostic, units: &mut Utf16Offsets<'_>) -> wire::PageFinding {
    let span = finding.labels.first().map(|label| label.span).unwrap_or_default();
    let mut message = finding.message.clone();
    for part in [finding.cite.map(|cite| format!("see {cite}")), finding.help.clone()].into_iter().flatten() {
        message.push('\n');
        message.push_str(&part);
    }
    wire::PageFinding {
        from: units.before(span.start as usize),
        to: units.before(span.end as usize),
        severity: match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "info",
        },
        rule: finding.rule.to_string(),
        message,
    }
}

/// The words of both languages, for colouring.
fn words() -> BTreeMap<String, Vec<(String, String)>> {
    let of = |language: Language| {
        let words = language.vocabulary().into_iter();
        let words = words.map(|(kind, word)| (format!("{kind:?}").to_lowercase(), word.to_string()));
        (language.id().to_owned(), words.collect())
    };
    Language::ALL.into_iter().map(of).collect()
}

fn manual(question: &Question, _: &AnswerContext<'_>) -> Answer<wire::Page> {
    let topic = question.topic.as_deref().unwrap_or("").trim();
    let isas = match question.language.as_deref().and_then(Language::from_id) {
        Some(Language::R700) => [Language::R700, Language::X1k],
        _ => [Language::X1k, Language::R700],
    };
    if topic.is_empty() {
        return Ok(wire::Page { text: isas[0].manual().list() });
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
    Ok(wire::Page { text: pages.join("\n\n") })
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
fn launches(question: &Question, context: &AnswerContext<'_>) -> Answer<wire::Launches> {
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
    Ok(wire::Launches { launches: lines })
}

fn run(question: &Question, context: &AnswerContext<'_>) -> Answer<wire::Run> {
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
            for (stage, name) in stages {
                let subject = Subject::Drawing(Arc::clone(&draws), stage);
                let choice = Choice { pass: Some(number), launch: None };
                let Ok(chosen) = subject.choose_under(context.control, choice, None) else { continue };
                // Traces are of pixels: their listing has that name.
                let (listing, text) = Subject::program_of(&chosen);
                let name = if stage == DrawStage::Pixel { listing } else { name.to_owned() };
                answer.files.push(wire::TextFile { name, text, language: Some(Language::R700.id()) });
            }
            Ok(answer)
        }
        Opened::Recording(path) => recorded(&path, question.launch.ok_or("say which launch")?, context.control),
    }
}

/// The targets after a draw.
fn behind(draws: &dyn Draws, engine: EngineKind, number: usize) -> Answer<wire::Run> {
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
    let said = if targets.is_empty() { "the draw has no target\n" } else { "" }.to_owned();
    let domain = Some([0, 0, width.saturating_sub(1), height.saturating_sub(1)]);
    Ok(wire::Run { outputs, said, milliseconds, domain, files: Vec::new() })
}

/// The outputs of a recording's launch, and its program.
fn recorded(path: &Path, number: usize, control: &Control) -> Answer<wire::Run> {
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
    Ok(wire::Run {
        outputs,
        said: fault.map_or_else(String::new, |fault| format!("{fault}\n")),
        milliseconds,
        domain: Some([domain.i0, domain.j0, domain.i1, domain.j1]),
        files: vec![wire::TextFile { name, text, language: Some(language.id()) }],
    })
}

fn run_job(job: &Job, control: &Control) -> Answer<wire::Run> {
    let report = job.run_under(control, |_| {}).map_err(|e| said(&e))?;
    let mut outputs = Vec::new();
    for output in &report.outputs {
        let Some(array) = report.array(output.slot) else { continue };
        outputs.push(shown(&output.name, &array, output.rect.x, output.rect.y)?);
    }
    let domain = job.passes.last().map(|pass| pass.domain);
    Ok(wire::Run {
        outputs,
        said: report.reports.iter().map(|report| format!("{}\n", render::text(report, false))).collect(),
        milliseconds: report.elapsed.as_secs_f64() * 1000.0,
        domain: domain.map(|domain| [domain.i0, domain.j0, domain.i1, domain.j1]),
        files: Vec::new(),
    })
}

fn draw(drawing: &Drawing) -> Answer<wire::Run> {
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
    Ok(wire::Run {
        outputs,
        said: drawn.findings.iter().map(|finding| format!("{finding}\n")).collect(),
        milliseconds,
        domain: Some([0, 0, width.saturating_sub(1), height.saturating_sub(1)]),
        files: Vec::new(),
    })
}

/// An output of an example or of the user's job, small: the first one that looks like a picture, otherwise the first.
fn thumbnail(question: &Question, context: &AnswerContext<'_>) -> Answer<wire::Thumbnail> {
    let (opened, _directory) = opened(question, context)?;
    context.take(cost::of_run(&opened))?;
    let picture = match opened {
        Opened::Job(job) => {
            let report = job.run_under(context.control, |_| {}).map_err(|e| said(&e))?;
            let arrays: Vec<Array> = report.outputs.iter().filter_map(|output| report.array(output.slot)).collect();
            let array = arrays.iter().find(|array| pictures::is_picture(array)).or(arrays.first());
            array.and_then(pictures::thumbnail)
        }
        Opened::Drawing(drawing) => {
            let drawn = drawing.prepare().and_then(|mut prepared| prepared.draw(0.0)).map_err(|e| e.to_string())?;
            let target = drawn.targets.iter().find(|target| !target.format().number.is_integer());
            target.and_then(|target| pictures::thumbnail(&target.array()))
        }
        Opened::Capture(..) | Opened::Recording(_) => None,
    };
    Ok(wire::Thumbnail { picture })
}

/// The most lanes of a unit that is watched: a group, or a thread group of the R700.
fn lanes(subject: &Subject) -> u64 {
    let Subject::Job(job) = subject else { return GroupSize::R700.lanes() as u64 };
    let threads = job.passes.iter().filter_map(|pass| pass.r700()?.group_threads).max().unwrap_or(0);
    u64::from(threads).max(job.run.group.lanes() as u64)
}

/// The trace of a question, in memory for it and its JSON.
fn traced(question: &Question, context: &AnswerContext<'_>) -> Result<(Trace, Chosen), Refusal> {
    let [i, j] = question.at.ok_or("`at` is a processor: [35, 22]")?;
    let at = Position { i, j };
    let looked = looked(question, context, Some(at))?;
    let (step, most) = (lanes(&looked.subject) * cost::OF_STEP, context.memory.bytes() / 2);
    let instructions = usize::try_from(most / step).unwrap_or(usize::MAX).min(LONGEST_TRACE);
    context.take(instructions as u64 * step)?;
    let limits = Limits { instructions, ..Limits::default() };
    let trace = Trace::of_under(context.control, &looked.subject, &looked.chosen, at, &limits);
    let trace = trace.map_err(|e| match e {
        TraceError::Job(e) => said(&e),
        TraceError::NotRun(_) => e.to_string(),
    })?;
    Ok((trace, looked.chosen))
}

fn why(question: &Question, context: &AnswerContext<'_>) -> Answer<wire::Why> {
    let (trace, chosen) = traced(question, context)?;
    let places = chosen.places(question.value.as_deref().unwrap_or("")).map_err(|e| e.to_string())?;
    Ok(wire::Why { trees: places.into_iter().map(|place| steps::why(&trace, place, question.step)).collect() })
}

#[allow(clippy::cast_precision_loss, reason = "numbers for people")]
fn profile(question: &Question, context: &AnswerContext<'_>) -> Answer<wire::ProfileCounts> {
    let looked = looked(question, context, None)?;
    context.take(cost::of_profile(looked.chosen.domain.processors()))?;
    let profile = Profile::of_under(context.control, &looked.subject, &looked.chosen).map_err(|e| said(&e))?;
    let mut lines = Vec::new();
    for line in 1..=profile.listing.lines.len() {
        if let Some(count) = profile.of_line(line) {
            let clocks = count.cost.alu_clocks + count.cost.tex_clocks + count.cost.fc_clocks;
            lines.push(wire::LineCount {
                line,
                runs: count.executed,
                lanes: count.lanes as f64 / count.executed.max(1) as f64,
                split: count.divergent as f64 / count.executed.max(1) as f64,
                fetches: count.cost.fetches,
                clocks,
                text: profile.listing.lines[line - 1].text.clone(),
            });
        }
    }
    let map = |counts: &[u32]| {
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        #[allow(clippy::cast_possible_truncation, reason = "counts of a picture")]
        let values = counts.iter().map(|&n| (f64::from(n) / f64::from(most)) as f32).collect();
        let (width, height) = (profile.domain.width() as usize, profile.domain.height() as usize);
        pictures::picture(&Array { width, height, channels: 1, values: Values::F32(values) })
            .map(|picture| wire::CountMap { picture, most })
    };
    Ok(wire::ProfileCounts {
        lines,
        name: profile.listing.name.clone(),
        instructions: map(&profile.instructions)?,
        waited: map(&profile.waited)?,
        fault: profile.fault.as_ref().map(ToString::to_string),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// The answer to a question, with all the memory and time that it wants.
    fn asked(name: &str, question: Value, entries: &[PageEntry]) -> Value {
        // The texture of the cube is a picture of the documents.
        let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let (memory, control, folders) = (Memory::new(4 << 30), Control::new(), Folders::new(&[documents]));
        let deadline = Instant::now() + Duration::from_secs(300);
        let shares = RefCell::default();
        let context =
            AnswerContext { entries, folders: &folders, memory: &memory, control: &control, deadline, shares };
        let text = answer(name, &serde_json::from_value(question).unwrap(), &context).unwrap();
        serde_json::from_str(&text).unwrap()
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
        let nodes = why["trees"][0]["nodes"].as_array().unwrap();
        assert!(nodes.iter().any(|node| node["text"].as_str().unwrap().contains("SAMPLE")), "{why}");
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
