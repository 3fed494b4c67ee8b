//! `ctm draw`.

use crate::args::jobs::DrawArgs;
use crate::console::{Console, Ending, Exit, Failure};
use crate::interrupt;
use ctm::EngineKind;
use ctm::array::Kind;
use ctm::draw::{self, Camera, Channel, Cull, DrawPlan, Drawing, Drawn, Error, Mixing, PixelEvent, TextureBinding};
use ctm_draw::{Counts, DrawError, Fragment};
use ctm_exec::r700::resources::MipFilter;
use ctm_exec::x1k::{Filter, Wrap};
use ctm_isa::number::Short;
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Most pictures of an animation.
const FRAMES: u32 = 1000;

pub(crate) fn run(console: &Console, args: &DrawArgs) -> Ending {
    let is_job = args.programs.first().and_then(|path| path.extension()).is_some_and(|e| e == "toml");
    let mut drawing = match args.programs.as_slice() {
        [job] if is_job => Drawing::read(job).map_err(Failure::from)?,
        programs => Drawing::new(programs.to_vec()),
    };
    apply(args, &mut drawing)?;
    if !(1..=FRAMES).contains(&args.frames) {
        return Err(usage(format!("--frames {} is not among 1..={FRAMES}", args.frames)));
    }
    let saves = saves(args, &drawing)?;
    let mut prepared = drawing.prepare().map_err(failure)?;
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
    if args.stats || (saves.is_empty() && args.at.is_none()) {
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
    kind: Kind,
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
        if args.frames > 1 && kind != Kind::Png && pattern(path).is_none() {
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
    for path in args.depth.iter().chain(depth.and_then(|depth| depth.save.as_ref())) {
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

fn kind_of(path: &Path) -> Result<Kind, Failure> {
    Kind::of(path)
        .ok_or_else(|| usage(format!("{} names no kind of picture; known are {}", path.display(), Kind::EXTENSIONS)))
}

/// Flags, which override the job.
fn apply(args: &DrawArgs, drawing: &mut Drawing) -> Result<(), Failure> {
    if let Some(text) = &args.size {
        drawing.size = size(text)?;
    }
    if let Some(samples) = args.samples {
        drawing.samples = samples;
    }
    if let Some(clear) = &args.clear {
        let clear = four(clear, "--clear")?;
        drawing.targets.iter_mut().take(1).for_each(|target| target.clear = clear);
    }
    if let Some(name) = &args.engine {
        let engines = EngineKind::ALL.map(|kind| (kind.name(), kind));
        drawing.engine = choice("--engine", name, &engines)?;
    } else if drawing.engine == EngineKind::default() {
        drawing.engine = EngineKind::preferred().map_err(|e| Failure::wrong("unknown-engine", e.to_string()))?;
    }
    drawing.one_thread |= args.threads == Some(1);
    drawing.check |= args.check;
    if let Some(seconds) = args.budget_seconds {
        let time = Duration::try_from_secs_f64(seconds);
        let time = time.map_err(|_| usage(format!("--budget-seconds {seconds} is no time")))?;
        drawing.budget.time = Some(time).filter(|time| !time.is_zero());
    }
    if let Some(text) = &args.at {
        drawing.at = Some(at(text)?);
    }
    drawing.control = interrupt::control();
    for plan in &mut drawing.draws {
        apply_to_draw(args, plan)?;
    }
    Ok(())
}

/// A pixel, `X,Y`.
pub(crate) fn at(text: &str) -> Result<[u32; 2], Failure> {
    let at = text.split_once(',').and_then(|(x, y)| Some([x.trim().parse().ok()?, y.trim().parse().ok()?]));
    at.ok_or_else(|| usage(format!("--at `{text}` is not X,Y, such as 35,22")))
}

fn apply_to_draw(args: &DrawArgs, plan: &mut DrawPlan) -> Result<(), Failure> {
    if let Some(mesh) = &args.mesh {
        plan.mesh = mesh.as_str().into();
    }
    if let Some(instances) = args.instances {
        plan.instances = instances;
    }
    for text in &args.constants {
        let (name, values) = named(text, "--const", "NAME=NUMBERS")?;
        plan.constants.retain(|(other, _)| other != name);
        plan.constants.push((name.to_owned(), numbers(values, "--const")?));
    }
    for text in &args.cameras {
        let (name, viewer) = camera(text)?;
        plan.cameras.retain(|(other, _)| *other != name);
        plan.cameras.push((name, viewer));
    }
    for text in &args.inputs {
        let binding = texture(text)?;
        plan.textures.retain(|other| other.name != binding.name);
        plan.textures.push(binding);
    }
    for text in &args.attributes {
        let (name, channel) = named(text, "--attribute", "NAME=CHANNEL")?;
        let channel = choice("--attribute", channel, &Channel::ALL)?;
        plan.attributes.push((name.to_owned(), channel));
    }
    if let Some(cull) = &args.cull {
        choice("--cull", cull, &Cull::ALL)?.of(&mut plan.raster);
    }
    if args.no_depth {
        (plan.depth.test, plan.depth.write) = (None, false);
    }
    if let Some(blend) = &args.blend {
        plan.mix(choice("--blend", blend, &Mixing::ALL)?);
    }
    Ok(())
}

fn choice<T: Copy>(flag: &str, text: &str, allowed: &[(&str, T)]) -> Result<T, Failure> {
    allowed.iter().find(|row| row.0 == text).map(|row| row.1).ok_or_else(|| {
        let names: Vec<&str> = allowed.iter().map(|row| row.0).collect();
        usage(format!("{flag} `{text}`: allowed is {}", names.join(", ")))
    })
}

fn size(text: &str) -> Result<[u32; 2], Failure> {
    let parts = text.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    parts.ok_or_else(|| usage(format!("--size `{text}` is not WxH, such as 640x480")))
}

fn named<'t>(text: &'t str, flag: &str, form: &str) -> Result<(&'t str, &'t str), Failure> {
    text.split_once('=').ok_or_else(|| usage(format!("{flag} `{text}` is not {form}")))
}

fn numbers(text: &str, flag: &str) -> Result<Vec<f32>, Failure> {
    let number = |word: &str| {
        let word = word.trim();
        match word.strip_prefix("0x") {
            Some(bits) => u32::from_str_radix(bits, 16).ok().map(f32::from_bits),
            None => word.parse().ok(),
        }
        .ok_or_else(|| usage(format!("{flag}: `{word}` is no number")))
    };
    text.split(',').map(number).collect()
}

fn four(text: &str, flag: &str) -> Result<[f32; 4], Failure> {
    let values = numbers(text, flag)?;
    values.try_into().map_err(|_| usage(format!("{flag} `{text}` is not four numbers")))
}

fn three(text: &str, flag: &str) -> Result<[f32; 3], Failure> {
    let values = numbers(text, flag)?;
    values.try_into().map_err(|_| usage(format!("{flag} `{text}` is not three numbers")))
}

/// `NAME[:key=value]...`; a prefix `vs:` or `ps:` belongs to the name.
fn parts(text: &str) -> (&str, Vec<&str>) {
    let prefix = if text.starts_with("vs:") || text.starts_with("ps:") { 3 } else { 0 };
    let end = text[prefix..].find(':').map_or(text.len(), |at| prefix + at);
    let (name, rest) = text.split_at(end);
    (name, rest.split(':').filter(|part| !part.is_empty()).collect())
}

fn camera(text: &str) -> Result<(String, Camera), Failure> {
    let (name, rest) = parts(text);
    let mut camera = Camera::default();
    for part in rest {
        match part.split_once('=').unwrap_or((part, "")) {
            ("eye", value) => camera.eye = three(value, "--camera eye")?,
            ("at", value) => camera.at = three(value, "--camera at")?,
            ("turn", value) => camera.turn = three(value, "--camera turn")?,
            ("spin", value) => camera.spin = three(value, "--camera spin")?,
            ("fov", value) => {
                let found = numbers(value, "--camera fov")?;
                let degrees = found.first().copied().filter(|fov| *fov > 0.0 && *fov < 180.0);
                camera.fov = degrees.ok_or_else(|| usage(format!("--camera fov {value} is not between 0 and 180")))?;
            }
            ("rows", "") => camera.rows = true,
            (key, _) => {
                return Err(usage(format!("--camera has no key `{key}`; it has eye, at, fov, turn, spin and rows")));
            }
        }
    }
    Ok((name.to_owned(), camera))
}

fn texture(text: &str) -> Result<TextureBinding, Failure> {
    const FILTERS: [(&str, Filter); 2] = [("nearest", Filter::Nearest), ("linear", Filter::Linear)];
    const WRAPS: [(&str, Wrap); 4] =
        [("repeat", Wrap::Repeat), ("mirror", Wrap::Mirror), ("clamp", Wrap::Clamp), ("border", Wrap::Border)];
    const MIPS: [(&str, MipFilter); 3] =
        [("none", MipFilter::None), ("nearest", MipFilter::Nearest), ("linear", MipFilter::Linear)];
    let (name, rest) = named(text, "--in", "NAME=FILE[:filter=..][:wrap=..][:mip=..][:aniso=..]")?;
    let mut rest = rest.split(':');
    let mut binding = TextureBinding::file(name, rest.next().unwrap_or(""));
    let sampler = &mut binding.sampler;
    for part in rest {
        match part.split_once('=') {
            Some(("filter", value)) => {
                let filter = choice("--in filter", value, &FILTERS)?;
                (sampler.magnify, sampler.minify) = (filter, filter);
            }
            Some(("wrap", value)) => sampler.wrap = [choice("--in wrap", value, &WRAPS)?; 3],
            Some(("mip", value)) => sampler.mip = choice("--in mip", value, &MIPS)?,
            Some(("aniso", value)) => {
                let most = value.parse().ok().filter(|most| (1..=16).contains(most));
                sampler.max_anisotropy =
                    most.ok_or_else(|| usage(format!("--in aniso={value} is not among 1..=16")))?;
            }
            _ => {
                let message = format!("--in has no key `{part}`; it has filter=.., wrap=.., mip=.. and aniso=..");
                return Err(usage(message));
            }
        }
    }
    Ok(binding)
}

/// The fragments of the requested pixel.
fn events(drawn: &Drawn) -> String {
    let mut text = String::new();
    if drawn.events.is_empty() {
        return "nothing came to this pixel\n".into();
    }
    for (n, PixelEvent { draw, fragment }) in drawn.events.iter().enumerate() {
        text.push_str(&fragment_text(&format!("{n}: draw {draw}"), fragment));
    }
    text
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
    let draws: Vec<serde_json::Value> =
        drawn.draws.iter().map(|(name, counts)| json!({ "draw": name, "counts": counts_json(counts) })).collect();
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
