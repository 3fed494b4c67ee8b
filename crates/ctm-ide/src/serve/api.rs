//! The page's requests. Each question is a JSON object, each answer too; `{"error": ...}` has the reason of a refusal.

use super::context::{Answer, AnswerContext, PATIENCE, Refusal, entry, language, opened};
use super::entries::{Opened, PageEntry, said};
use super::inspect::{inspected, vertices};
use super::progress::{self, Ticket};
use super::question::Question;
use super::runs::{run, thumbnail};
use super::texts::{Utf16Offsets, byte, check, words};
use super::{cost, pictures, steps, wire};
use crate::language::{Document, Language};
use ctm::array::{Array, Values};
use ctm::trace::{Choice, Chosen, DrawStage, Draws, Limits, Profile, Subject, Trace, TraceError};
use ctm_exec::{GroupSize, Position};
use ctm_files::MemoryFolder;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Instructions of a trace for the page.
const LONGEST_TRACE: usize = 20_000;

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
    "run": wire::Run = |question, context| {
        let mut run = run(question, context)?;
        context.set_apart(&mut run.outputs);
        Ok(run)
    };
    "thumbnail": wire::Thumbnail = thumbnail;
    "trace": wire::Trace = |question, context| Ok(steps::trace(&traced(question, context)?.0));
    "why": wire::Why = why;
    "profile": wire::ProfileCounts = profile;
    "progress": wire::ProfileShare = |question, _| {
        Ok(wire::ProfileShare { share: question.ticket.and_then(progress::share) })
    };
    "inspect": wire::Inspected = inspected;
    "vertices": wire::Vertices = vertices;
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

/// The text of a question, read.
fn read(question: &Question) -> Document {
    Document::new(language(question), question.text())
}

/// The same in memory that is taken for it.
fn document(question: &Question, context: &AnswerContext<'_>) -> Result<Document, Refusal> {
    context.take(cost::of_text(question.text()))?;
    Ok(read(question))
}

fn manual(question: &Question, _: &AnswerContext<'_>) -> Answer<wire::Page> {
    let topic = question.topic.as_deref().unwrap_or("").trim();
    let isas = match question.language.as_deref().and_then(Language::from_id) {
        Some(Language::R700) => [Language::R700, Language::X1k, Language::Pvs],
        Some(Language::Pvs) => [Language::Pvs, Language::X1k, Language::R700],
        Some(Language::X1k) | None => [Language::X1k, Language::R700, Language::Pvs],
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

/// Something to look into, and the folder of its files.
struct Looked {
    subject: Subject,
    chosen: Chosen,
    _directory: Option<MemoryFolder>,
}

/// The launch of a question; of draws, of the pixel programs or of the vertex programs.
fn looked(question: &Question, context: &AnswerContext<'_>, at: Option<Position>) -> Result<Looked, Refusal> {
    let (opened, directory) = opened(question, context)?;
    context.take(cost::of_run(&opened))?;
    let stage = if question.stage.as_deref() == Some("vertex") { DrawStage::Vertex } else { DrawStage::Pixel };
    let subject = match opened {
        Opened::Job(job) => Subject::Job(job),
        Opened::Drawing(drawing) => Subject::Drawing(Arc::new(*drawing), stage),
        Opened::Capture(draws, _) => Subject::Drawing(draws, stage),
        Opened::Recording(path) => Subject::Recording(path),
    };
    let chosen = subject.choose_under(context.control, choice(question, &subject), at).map_err(|e| said(&e))?;
    Ok(Looked { subject, chosen, _directory: directory })
}

/// The pass, draw or launch that is chosen, from 0, as a choice: of recordings a launch, otherwise a pass or a draw.
fn choice(question: &Question, subject: &Subject) -> Choice {
    match subject {
        Subject::Recording(_) => Choice { pass: None, launch: question.launch.map(|n| n as u64) },
        Subject::Drawing(..) => Choice { pass: question.launch, launch: question.fragment },
        Subject::Job(_) => Choice { pass: question.launch, launch: None },
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
    let ticket = Ticket::new(question.ticket);
    let profile = Profile::of_noting(context.control, &looked.subject, &looked.chosen, &ticket.progress);
    let profile = profile.map_err(|e| said(&e))?;
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
    let graph = profile.graph();
    let blocks = graph.blocks.iter().map(|block| {
        let mut of: Vec<usize> = block.instructions.iter().filter_map(|&at| profile.listing.line(at)).collect();
        of.dedup();
        wire::GraphBlock { lines: of, runs: block.executed, lanes: block.lanes }
    });
    let edges = graph.edges.iter().map(|&(from, to, times)| wire::GraphEdge { from, to, times });
    Ok(wire::ProfileCounts {
        blocks: blocks.collect(),
        edges: edges.collect(),
        lines,
        name: profile.listing.name.clone(),
        instructions: map(&profile.instructions)?,
        waited: map(&profile.waited)?,
        fault: profile.fault.as_ref().map(ToString::to_string),
    })
}

#[cfg(test)]
mod tests {
    use super::super::memory::HostMemory;
    use super::*;
    use ctm::job::Folders;
    use ctm_exec::Control;
    use serde_json::Value;
    use std::cell::RefCell;
    use std::path::Path;
    use std::time::{Duration, Instant};

    /// The answer to a question, with all the memory and time that it wants.
    fn asked(name: &str, question: Value, entries: &[PageEntry]) -> Value {
        // The texture of the cube is a picture of the documents.
        let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let (memory, control, folders) = (HostMemory::new(4 << 30), Control::new(), Folders::new(&[documents]));
        let deadline = Instant::now() + Duration::from_secs(300);
        let shares = RefCell::default();
        let context = AnswerContext {
            entries,
            folders: &folders,
            memory: &memory,
            control: &control,
            deadline,
            shares,
            apart: None,
        };
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
        // Two faces of the cube cover the middle; the stored one is followed as the page follows it.
        let inspected = ask("inspect", json!({ "at": [160, 120] }));
        let draw = &inspected["draws"][0];
        let fragments = draw["fragments"].as_array().unwrap();
        assert_eq!((&draw["primitives"], fragments.len()), (&json!(12), 2), "{inspected}");
        let kept = fragments.iter().rfind(|fragment| fragment["kept"] == true).unwrap();
        let followed = ask("trace", json!({ "at": [160, 120], "launch": 0, "fragment": kept["run"] }));
        assert_eq!(followed["steps"], trace["steps"], "{followed}");
        let shape = draw["shapes"].as_array().unwrap().iter().find(|shape| shape["primitive"] == kept["primitive"]);
        let vertex = shape.unwrap()["vertices"][0].as_u64().unwrap();
        let vertices = ask("vertices", json!({}));
        assert!(vertices["outputs"].as_array().unwrap().contains(&json!("POS0.x")), "{vertices}");
        let rows = vertices["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["vertex"] == vertex).unwrap();
        assert!(rows.len() == 24 && row["inputs"].as_array().unwrap().iter().any(Value::is_u64), "{row}");
        let traced = ask("trace", json!({ "at": [vertex, 0], "stage": "vertex" }));
        assert!(traced["name"].as_str().unwrap().ends_with("cube.vsh"), "{traced}");
        let program = opened["files"][2]["text"].as_str().unwrap();
        assert!(program.contains("MUL "), "{program}");
        let changed = ask("run", json!({ "files": { "cube.psh": program.replacen("MUL ", "ADD ", 1) } }));
        assert!(changed["outputs"][0]["values"].is_string(), "{changed}");
        assert_ne!(changed["outputs"][0]["values"], run["outputs"][0]["values"]);
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
