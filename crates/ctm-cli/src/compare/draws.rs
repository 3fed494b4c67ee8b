//! `ctm compare` of draw jobs and captures: draw by draw, pixel by pixel, then instruction by instruction.

use super::{CompareArgs, Side, same, say_parted, two_engines};
use crate::console::{Console, Ending, Exit, Failure};
use crate::source::GivenJob;
use ctm::array::{Array, ArrayFileKind};
use ctm::job::JobError;
use ctm::trace::{
    Apart, DrawStage, Draws, Limits, TargetContents, TargetDifference, agree, apart, draws_parting, number,
    target_difference, targets_behind,
};
use ctm::{Drawing, EngineKind, Position};
use ctm_ide::captures::Capture;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// A draw job or a capture.
struct DrawSource {
    draws: Arc<dyn Draws>,
    engine: EngineKind,
    is_capture: bool,
}

impl DrawSource {
    fn read(side: &Side<'_>) -> Result<Self, Failure> {
        if side.is_capture() {
            let draws = Arc::new(Capture::read(side.file())?);
            return Ok(Self { draws, engine: EngineKind::default(), is_capture: true });
        }
        if side.is_draw()
            && let GivenJob::Draw(reader) = side.source()?
        {
            let drawing = Drawing::from_reader(reader)?;
            let engine = drawing.engine;
            return Ok(Self { draws: Arc::new(drawing), engine, is_capture: false });
        }
        let message = format!(
            "{} is no draw and no capture, as the other is; draws are compared with draws, and with a picture as B",
            side.file().display()
        );
        Err(Failure::usage("draw-flags", message))
    }

    /// The targets after the requested or the last draw, with its number.
    fn behind(&self, wanted: Option<usize>) -> Result<(usize, Vec<TargetContents>), Failure> {
        let engine = self.engine.engine().map_err(|error| Failure::wrong("no-engine", error.to_string()))?;
        Ok(targets_behind(&*self.draws, engine, wanted.filter(|_| self.is_capture))?)
    }
}

pub(super) fn run(console: &Console, args: &CompareArgs, (a_side, b_side): (&Side<'_>, Option<&Side<'_>>)) -> Ending {
    if args.program_b.is_some() {
        return Err(Failure::usage("draw-flags", "draws and captures name their own programs"));
    }
    let wanted = match args.draw {
        Some(0) => return Err(Failure::usage("no-such-launch", "there is no draw 0, draws count from 1")),
        draw => draw.map(|draw| draw - 1),
    };
    let mut a = DrawSource::read(a_side)?;
    if let Some(array) = b_side.filter(|side| side.is_array()) {
        return picture(console, args, (a_side, &a), wanted, array.file());
    }
    let mut b = DrawSource::read(b_side.unwrap_or(a_side))?;
    if wanted.is_some() && !a.is_capture && !b.is_capture {
        return Err(Failure::usage("draw-flags", "--draw is for captures, and neither is one"));
    }
    if let Some(engines) = &args.engines {
        (a.engine, b.engine) = two_engines(engines)?;
    }
    let engine =
        |source: &DrawSource| source.engine.engine().map_err(|error| Failure::wrong("no-engine", error.to_string()));
    // A draw job and a capture have other draws: their targets are compared.
    let (draws, found) = if wanted.is_some() || a.is_capture != b.is_capture {
        let ((draw_a, x), (draw_b, y)) = (a.behind(wanted)?, b.behind(wanted)?);
        match target_difference(&x, &y, args.tolerance)? {
            None => return same(console, args),
            Some(found) => ([draw_a, draw_b], found),
        }
    } else {
        match apart((&*a.draws, engine(&a)?), (&*b.draws, engine(&b)?), args.tolerance)? {
            None => return same(console, args),
            Some(Apart::Draw(draw, found)) => ([draw, draw], found),
            Some(Apart::Count { a: x, b: y }) => {
                let text = format!("the draws that both have are the same; {x} and {y} draws there are\n");
                let value = json!({ "status": "different", "draws_a": x, "draws_b": y });
                console.print(&if args.json { format!("{value}\n") } else { text })?;
                return Ok(Exit::Differs);
            }
        }
    };
    let mut value = told(&found);
    let mut text = String::new();
    if a.is_capture || draws[0] > 0 {
        text = format!("draw {}: ", draws[0] + a.draws.first());
        value["draw"] = json!(draws[0] + a.draws.first());
    }
    text += &sentence(&found);
    if args.engines.is_some() {
        let command = if a.is_capture { "replay" } else { "draw" };
        text.push_str(&format!("instructions are compared by `ctm {command} {a_side} --engine verify`\n"));
    } else {
        let limits = Limits::default();
        match draws_parting((&a.draws, draws[0]), (&b.draws, draws[1]), found.at, &limits, args.tolerance) {
            Ok(Some(parted)) => {
                let (stage, at) = (parted.stage, parted.at);
                if stage == DrawStage::Vertex {
                    text.push_str(&format!(
                        "the vertex programs part, first for vertex {} of instance {}\n",
                        at.i, at.j
                    ));
                }
                value["program"] = json!({ "stage": stage.name(), "at": [at.i, at.j] });
                say_parted(&parted.a, &parted.b, &parted.parting, args.tolerance, &mut text, &mut value);
            }
            Ok(None) => text.push_str("the programs store the same there: what differs is behind or before them\n"),
            Err(error) => text.push_str(&format!("{}\n", reason(&error))),
        }
    }
    console.print(&if args.json { format!("{value}\n") } else { text })?;
    Ok(Exit::Differs)
}

/// Why programs cannot be compared, in a line.
fn reason(error: &JobError) -> String {
    let messages: Vec<String> = error.reports().iter().map(|report| report.diagnostic.message.clone()).collect();
    format!("the programs cannot be compared: {}", messages.join("; "))
}

/// A target as people and as tools call it.
fn names(target: &str) -> (String, String) {
    match target.strip_prefix("colour") {
        Some(number) => (format!("target {number}"), format!("pix{number}")),
        None => (target.to_owned(), target.to_owned()),
    }
}

fn bits(found: &TargetDifference, bits: u32) -> String {
    if found.integers { bits.to_string() } else { number(bits) }
}

fn sentence(found: &TargetDifference) -> String {
    format!(
        "{} differs in {} values, first at pixel ({}, {}) channel {}: {} and {}\n",
        names(&found.target).0,
        found.count,
        found.at.i,
        found.at.j,
        found.channel,
        bits(found, found.a),
        bits(found, found.b)
    )
}

fn told(found: &TargetDifference) -> serde_json::Value {
    json!({
        "status": "different",
        "output": names(&found.target).1,
        "position": [found.at.i, found.at.j],
        "channel": found.channel,
        "a": format!("0x{:08x}", found.a),
        "b": format!("0x{:08x}", found.b),
        "count": found.count,
    })
}

/// The first colour target against an array: all of its channels, or red, green and blue.
fn picture(
    console: &Console,
    args: &CompareArgs,
    (side, a): (&Side<'_>, &DrawSource),
    wanted: Option<usize>,
    path: &Path,
) -> Ending {
    let wrong = |message: String| Failure::wrong("no-comparison", message);
    if args.engines.is_some() {
        return Err(wrong("two engines are compared with each other, not with a picture".into()));
    }
    if wanted.is_some() && !a.is_capture {
        return Err(Failure::usage("draw-flags", format!("--draw is for captures, which {side} is not")));
    }
    let kind = ArrayFileKind::of(path).ok_or_else(|| wrong(format!("{} is no array", path.display())))?;
    let file = ctm_files::read(path, ArrayFileKind::file_kind(path)).map_err(|e| wrong(e.to_string()))?;
    let expected = Array::from_bytes(kind, &file, None).map_err(|e| wrong(format!("{}: {e}", path.display())))?;
    let (draw, targets) = a.behind(wanted)?;
    let Some(target) = targets.iter().find(|target| target.name.starts_with("colour")) else {
        return Err(wrong(format!("draw {} has no colour target", draw + a.draws.first())));
    };
    let found = target.array();
    if [found.width, found.height] != [expected.width, expected.height] || !matches!(expected.channels, 3 | 4) {
        let shape = |a: &Array| [a.width, a.height, a.channels];
        return Err(wrong(format!(
            "{} is {:?}, {} is {:?} (columns, rows, channels)",
            names(&target.name).0,
            shape(&found),
            path.display(),
            shape(&expected)
        )));
    }
    let (mut first, mut count) = (None, 0u64);
    let channels = expected.channels;
    // The range of an integer picture.
    let held = |value: f32| if kind == ArrayFileKind::Png && !value.is_nan() { value.clamp(0.0, 1.0) } else { value };
    for n in 0..found.width * found.height * channels {
        let (pixel, channel) = (n / channels, n % channels);
        let (p, q) = (held(found.value(pixel * found.channels + channel)), expected.value(n));
        if !agree(p, q, args.tolerance) {
            count += 1;
            first.get_or_insert((pixel, channel, p.to_bits(), q.to_bits()));
        }
    }
    let Some((pixel, channel, p, q)) = first else { return same(console, args) };
    let place = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let at = Position { i: place(pixel % found.width), j: place(pixel / found.width) };
    let target = target.name.clone();
    let found = TargetDifference { target, at, channel, a: p, b: q, integers: false, count };
    let number = draw + a.draws.first();
    let mut value = told(&found);
    let mut text = String::new();
    let mut which = String::new();
    if a.is_capture {
        text = format!("draw {number}: ");
        which = format!(" --draw {number}");
        value["draw"] = json!(number);
    }
    text += &sentence(&found);
    text += &format!("`ctm why {side}{which} --at {},{}` shows what made it\n", at.i, at.j);
    console.print(&if args.json { format!("{value}\n") } else { text })?;
    Ok(Exit::Differs)
}
