//! `ctm draw`.

use crate::args::jobs::DrawArgs;
use crate::console::{Console, Ending, Exit, Failure};
use crate::interrupt;
use crate::source;
use ctm::EngineKind;
use ctm::array::ArrayFileKind;
use ctm::draw::{self, Drawing, Drawn, Error, PixelEvent};
use ctm_draw::{Counts, DrawError, Fragment, Funnel, LossUnit};
use ctm_isa::number::Short;
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Most pictures of an animation.
const FRAMES: u32 = 1000;

pub(crate) fn run(console: &Console, args: &DrawArgs) -> Ending {
    let reader = source::draw_reader(&args.programs, &args.flags.given)?;
    let mut saved = args.save_job.as_ref().map(|directory| (directory, reader.saved()));
    let is_engine_open = !args.flags.has("engine");
    let mut drawing = Drawing::from_reader(reader)?;
    if is_engine_open && drawing.engine == EngineKind::default() {
        drawing.engine = EngineKind::preferred().map_err(|e| Failure::wrong("unknown-engine", e.to_string()))?;
    }
    if let Some(text) = &args.at {
        drawing.at = Some(at(text)?);
    }
    drawing.funnel |= args.funnel;
    drawing.control = interrupt::control();
    if !(1..=FRAMES).contains(&args.frames) {
        return Err(usage(format!("--frames {} is not among 1..={FRAMES}", args.frames)));
    }
    let saves = saves(args, &drawing)?;
    let mut prepared = drawing.prepare().map_err(failure)?;
    if let Some((directory, mut saved)) = saved.take() {
        if let Some(path) = &args.output {
            saved.save_target(path);
        }
        saved.write(directory, &[])?.iter().for_each(|file| console.wrote(file));
    }
    let mut frames: Vec<Drawn> = Vec::new();
    let numbered = saves.iter().any(|save| pattern(&save.path).is_some());
    let mut first: Option<Drawn> = None;
    for frame in 0..args.frames {
        #[allow(clippy::cast_precision_loss, reason = "small numbers")]
        let time = frame as f32 / args.frames as f32;
        let drawn = prepared.draw(time).map_err(failure)?;
        if frame == 0 {
            drawn.findings.iter().for_each(|finding| console.note(&format!("warning: {finding}")));
        }
        if numbered || args.frames == 1 {
            for save in &saves {
                save.write(console, &drawn, frame, args.frames)?;
            }
            first.get_or_insert(drawn);
        } else {
            frames.push(drawn);
        }
    }
    if let Some(drawn) = frames.first().cloned() {
        // Of animations the first target's pictures go into one file.
        if let Some(path) = &args.output {
            console.write(path, &draw::animation(&frames, args.delay).map_err(failure)?)?;
        }
        first = Some(drawn);
    }
    let Some(first) = &first else { return Ok(Exit::Done) };
    if args.json {
        console.print(&format!("{}\n", report(first, args.frames as usize)))?;
        return Ok(Exit::Done);
    }
    if args.at.is_some() {
        console.print(&events(first))?;
    }
    if args.funnel {
        console.print(&funnels(first))?;
    }
    if args.stats || (saves.is_empty() && args.at.is_none() && args.save_job.is_none() && !args.funnel) {
        console.print(&statistics(first))?;
    }
    Ok(Exit::Done)
}

/// The part of a picture that goes to a file.
#[derive(Clone, Copy)]
enum SavedPart {
    Target(usize),
    Depth,
    Stencil,
}

struct Save {
    what: SavedPart,
    path: PathBuf,
    kind: ArrayFileKind,
}

impl Save {
    fn write(&self, console: &Console, drawn: &Drawn, frame: u32, frames: u32) -> Result<(), Failure> {
        let bytes = match self.what {
            SavedPart::Target(n) => drawn.targets[n].to_bytes(self.kind),
            SavedPart::Depth => drawn.depth_bytes(self.kind),
            SavedPart::Stencil => drawn.stencil_bytes(self.kind),
        };
        let bytes = bytes.map_err(failure)?;
        match pattern(&self.path) {
            Some((before, width, after)) if frames > 1 => {
                console.write(Path::new(&format!("{before}{frame:0width$}{after}")), &bytes)
            }
            // Of several pictures only the first goes to a file without a number.
            _ if frame > 0 => Ok(()),
            _ => console.write(&self.path, &bytes),
        }
    }
}

/// Where the number of a picture goes in a name: prefix, minimal digits, suffix.
fn pattern(path: &Path) -> Option<(&str, usize, &str)> {
    let (before, rest) = path.to_str()?.split_once('%')?;
    let end = rest.find('d')?;
    let digits = &rest[..end];
    let width = if digits.is_empty() { 0 } else { digits.parse().ok().filter(|&n: &usize| n < 20)? };
    Some((before, width, &rest[end + 1..]))
}

/// Saved targets, by flags and by the job.
fn saves(args: &DrawArgs, drawing: &Drawing) -> Result<Vec<Save>, Failure> {
    let mut all = Vec::new();
    let mut add = |what: SavedPart, path: &Path| -> Result<(), Failure> {
        let (path, kind) = (path.to_owned(), kind_of(path)?);
        all.push(Save { what, path, kind });
        Ok(())
    };
    if let Some(path) = &args.output {
        let kind = kind_of(path)?;
        if args.frames > 1 && kind != ArrayFileKind::Png && pattern(path).is_none() {
            return Err(usage(
                "an animation is written as .png, or to a name with %d as a file for each picture".into(),
            ));
        }
        if drawing.targets.is_empty() {
            return Err(usage("-o saves the first target, and the job has none".into()));
        }
        add(SavedPart::Target(0), path)?;
    }
    for (n, target) in drawing.targets.iter().enumerate() {
        for path in &target.saves {
            add(SavedPart::Target(n), path)?;
        }
    }
    let depth = drawing.depth.as_ref();
    if let Some(path) = depth.and_then(|depth| depth.save.as_ref()) {
        add(SavedPart::Depth, path)?;
    }
    if let Some(path) = depth.and_then(|depth| depth.save_stencil.as_ref()) {
        add(SavedPart::Stencil, path)?;
    }
    Ok(all)
}

fn usage(message: String) -> Failure {
    Failure::usage("bad-flag", message)
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Job(error) => Failure::from(error),
        Error::Wrong { rule, message } => Failure::wrong(rule, message),
        Error::Draw(_, DrawError::Program { .. }) => Failure::Message(Exit::Fault, "fault", error.to_string()),
        Error::Draw(..) => Failure::wrong("bad-draw", error.to_string()),
    }
}

fn kind_of(path: &Path) -> Result<ArrayFileKind, Failure> {
    ArrayFileKind::of(path).ok_or_else(|| {
        usage(format!("{} names no kind of picture; known are {}", path.display(), ArrayFileKind::EXTENSIONS))
    })
}

/// A pixel, `X,Y`.
pub(crate) fn at(text: &str) -> Result<[u32; 2], Failure> {
    let at = text.split_once(',').and_then(|(x, y)| Some([x.trim().parse().ok()?, y.trim().parse().ok()?]));
    at.ok_or_else(|| usage(format!("--at `{text}` is not X,Y, such as 35,22")))
}

/// The fragments of the requested pixel.
fn events(drawn: &Drawn) -> String {
    let mut text = String::new();
    if drawn.events.is_empty() {
        return "nothing came to this pixel\n".into();
    }
    for (n, PixelEvent { draw, fragment, .. }) in drawn.events.iter().enumerate() {
        text.push_str(&fragment_text(&format!("{n}: draw {draw}"), fragment));
    }
    text
}

/// The funnel of each draw.
fn funnels(drawn: &Drawn) -> String {
    let of = |((name, _), (funnel, _)): (&(String, Counts), &(Funnel, _))| format!("draw {name}\n{funnel}");
    drawn.draws.iter().zip(&drawn.funnels).map(of).collect()
}

pub(crate) fn funnel_json(funnel: &Funnel) -> serde_json::Value {
    let lost = funnel.lost.iter().map(|lost| {
        let unit = match lost.loss.unit() {
            LossUnit::Primitive => "primitives",
            LossUnit::Pixel => "pixels",
        };
        json!({ "stage": lost.loss.key(), "unit": unit, "count": lost.count, "state": lost.state })
    });
    json!({
        "primitives": funnel.primitives,
        "rasterised": funnel.rasterised,
        "covered": funnel.covered,
        "stored": funnel.stored,
        "lost": lost.collect::<Vec<_>>(),
    })
}

/// The history of a fragment, in lines.
pub(crate) fn fragment_text(heading: &str, fragment: &Fragment) -> String {
    let mut text = String::new();
    let face = if fragment.is_front { "front" } else { "back" };
    let _ = write!(text, "{heading}, primitive {}", fragment.primitive);
    if fragment.instance > 0 {
        let _ = write!(text, ", instance {}", fragment.instance);
    }
    if let Some(sample) = fragment.sample {
        let _ = write!(text, ", sample {sample}");
    }
    let _ = writeln!(text, ", {face} face, samples {:#x}: {}", fragment.covered, fragment.ending.name());
    for test in &fragment.tests {
        let passes = |passes: bool| if passes { "passes" } else { "fails" };
        let _ = writeln!(
            text,
            "   sample {}: depth {} against {}: {}; stencil {} there: {}",
            test.sample,
            test.depth,
            test.stored_depth,
            passes(test.depth_passes),
            test.stored_stencil,
            passes(test.stencil_passes)
        );
    }
    for (output, value) in &fragment.exported {
        let _ = writeln!(text, "   exported to {output}: {}", four_numbers(*value));
    }
    for stored in &fragment.stored {
        let (before, after) = (four_numbers(stored.before), four_numbers(stored.after));
        let _ = writeln!(text, "   target {}, sample {}: {before} became {after}", stored.target, stored.sample);
    }
    text
}

fn four_numbers(bits: [u32; 4]) -> String {
    bits.map(|bits| Short(f32::from_bits(bits)).to_string()).join(", ")
}

/// Covered pixels for each pixel of the picture.
#[allow(clippy::cast_precision_loss, reason = "for people")]
fn overdraw(drawn: &Drawn) -> f64 {
    let [width, height] = drawn.size.map(f64::from);
    drawn.counts.pixels as f64 / (width * height)
}

fn statistics(drawn: &Drawn) -> String {
    let mut text = String::new();
    if drawn.draws.len() > 1 {
        for (name, counts) in &drawn.draws {
            let _ = writeln!(text, "draw {name}: {} primitives, {} pixels shaded", counts.primitives, counts.pixels);
        }
    }
    text + &whole(drawn)
}

#[allow(clippy::cast_precision_loss, reason = "for people")]
fn whole(drawn: &Drawn) -> String {
    let counts = &drawn.counts;
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<22}{value}");
    };
    line("indices", counts.indices.to_string());
    line("vertices run", counts.vertices.to_string());
    line("primitives", counts.primitives.to_string());
    line("primitives visible", counts.visible.to_string());
    line("quads shaded", counts.quads.to_string());
    line("pixels shaded", counts.pixels.to_string());
    line("lanes that count", format!("{:.1} %", 25.0 * counts.pixels as f64 / counts.quads.max(1) as f64));
    line("samples passed", counts.samples_passed.to_string());
    line("pixels written", counts.pixels_written.to_string());
    line("overdraw", format!("{:.3}", overdraw(drawn)));
    text
}

fn report(drawn: &Drawn, frames: usize) -> serde_json::Value {
    let mut draws: Vec<serde_json::Value> =
        drawn.draws.iter().map(|(name, counts)| json!({ "draw": name, "counts": counts_json(counts) })).collect();
    for (draw, (funnel, _)) in draws.iter_mut().zip(&drawn.funnels) {
        draw["funnel"] = funnel_json(funnel);
    }
    let events: Vec<serde_json::Value> = drawn.events.iter().map(event_json).collect();
    json!({
        "size": drawn.size,
        "frames": frames,
        "counts": counts_json(&drawn.counts),
        "draws": draws,
        "overdraw": overdraw(drawn),
        "findings": drawn.findings,
        "fragments": events,
    })
}

fn counts_json(counts: &Counts) -> serde_json::Value {
    json!({
        "indices": counts.indices,
        "vertices": counts.vertices,
        "primitives": counts.primitives,
        "invocations": counts.invocations,
        "emitted": counts.emitted,
        "visible": counts.visible,
        "quads": counts.quads,
        "pixels": counts.pixels,
        "samples_passed": counts.samples_passed,
        "pixels_written": counts.pixels_written,
    })
}

fn event_json(event: &PixelEvent) -> serde_json::Value {
    let mut all = fragment_json(&event.fragment);
    all["draw"] = json!(event.draw);
    all
}

pub(crate) fn fragment_json(fragment: &Fragment) -> serde_json::Value {
    let numbers = |bits: [u32; 4]| {
        bits.map(|bits| {
            let value = f32::from_bits(bits);
            if value.is_finite() { json!(value) } else { json!(value.to_string()) }
        })
    };
    let tests: Vec<serde_json::Value> = fragment
        .tests
        .iter()
        .map(|test| {
            json!({
                "sample": test.sample,
                "depth": test.depth,
                "stored_depth": test.stored_depth,
                "stored_stencil": test.stored_stencil,
                "depth_passes": test.depth_passes,
                "stencil_passes": test.stencil_passes,
            })
        })
        .collect();
    let exported: Vec<serde_json::Value> =
        fragment.exported.iter().map(|(output, value)| json!({ "output": output, "value": numbers(*value) })).collect();
    let stored: Vec<serde_json::Value> = fragment
        .stored
        .iter()
        .map(|stored| {
            let (before, after) = (numbers(stored.before), numbers(stored.after));
            json!({ "target": stored.target, "sample": stored.sample, "before": before, "after": after })
        })
        .collect();
    json!({
        "primitive": fragment.primitive,
        "instance": fragment.instance,
        "front": fragment.is_front,
        "layer": fragment.layer,
        "sample": fragment.sample,
        "covered": fragment.covered,
        "passed": fragment.passed,
        "tests": tests,
        "exported": exported,
        "stored": stored,
        "ending": fragment.ending.name(),
    })
}
