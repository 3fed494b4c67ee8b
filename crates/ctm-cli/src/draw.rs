//! `ctm draw`.

use crate::Ending;
use crate::args::DrawArgs;
use crate::console::{Console, Exit, Failure};
use ctm::EngineKind;
use ctm::array::{ItemType, Kind, npy_bytes};
use ctm::draw::{self, Camera, Channel, Cull, Drawing, Drawn, Error, Mixing, TextureBinding};
use ctm_draw::DrawError;
use ctm_exec::x1k::{Filter, Wrap};
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;

/// Most pictures of an animation.
const FRAMES: u32 = 1000;

pub(crate) fn run(console: &Console, args: &DrawArgs) -> Ending {
    let drawing = drawing(args)?;
    if !(1..=FRAMES).contains(&args.frames) {
        return Err(usage(format!("--frames {} is not among 1..={FRAMES}", args.frames)));
    }
    let kind = args.output.as_deref().map(kind_of).transpose()?;
    if args.frames > 1 && kind.is_some_and(|kind| kind != Kind::Png) {
        return Err(usage("an animation is written as .png".into()));
    }
    let mut prepared = drawing.prepare().map_err(failure)?;
    let mut frames: Vec<Drawn> = Vec::new();
    for frame in 0..args.frames {
        #[allow(clippy::cast_precision_loss, reason = "small numbers")]
        let time = frame as f32 / args.frames as f32;
        frames.push(prepared.draw(time).map_err(failure)?);
    }
    let Some(first) = frames.first() else { return Ok(Exit::Done) };
    for finding in &first.findings {
        console.note(&format!("warning: {finding}"));
    }
    if let (Some(path), Some(kind)) = (&args.output, kind) {
        let bytes = if frames.len() > 1 { draw::animation(&frames, args.delay) } else { first.to_bytes(kind) };
        console.write(path, &bytes.map_err(failure)?)?;
    }
    if let Some(path) = &args.depth {
        let bits: Vec<u32> = first.depths.iter().map(|depth| depth.to_bits()).collect();
        let [width, height] = first.size.map(|n| n as usize);
        let bytes = npy_bytes(ItemType::Float32, &[height, width], &bits);
        let bytes = bytes.map_err(|e| Failure::wrong("cannot-write", format!("{}: {e}", path.display())))?;
        console.write(path, &bytes)?;
    }
    if args.json {
        console.print(&format!("{}\n", report(first, frames.len())))?;
    } else if args.stats || args.output.is_none() {
        console.print(&statistics(first))?;
    }
    Ok(Exit::Done)
}

fn usage(message: String) -> Failure {
    Failure::usage("bad-flag", message)
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Job(error) => Failure::from(error),
        Error::Wrong { rule, message } => Failure::wrong(rule, message),
        Error::Draw(error @ DrawError::Program { .. }) => Failure::Message(Exit::Fault, "fault", error.to_string()),
        Error::Draw(error) => Failure::wrong("bad-draw", error.to_string()),
    }
}

fn kind_of(path: &Path) -> Result<Kind, Failure> {
    Kind::of(path)
        .ok_or_else(|| usage(format!("{} names no kind of picture; known are {}", path.display(), Kind::EXTENSIONS)))
}

fn drawing(args: &DrawArgs) -> Result<Drawing, Failure> {
    let mut drawing = Drawing::new(args.programs.clone());
    drawing.mesh.clone_from(&args.mesh);
    drawing.size = size(&args.size)?;
    drawing.samples = args.samples;
    if let Some(clear) = &args.clear {
        drawing.clear = four(clear, "--clear")?;
    }
    for text in &args.constants {
        let (name, values) = named(text, "--const", "NAME=NUMBERS")?;
        drawing.constants.push((name.to_owned(), numbers(values, "--const")?));
    }
    for text in &args.cameras {
        drawing.cameras.push(camera(text)?);
    }
    for text in &args.inputs {
        drawing.textures.push(texture(text)?);
    }
    for text in &args.attributes {
        let (name, channel) = named(text, "--attribute", "NAME=CHANNEL")?;
        let channel = choice("--attribute", channel, &Channel::ALL)?;
        drawing.attributes.push((name.to_owned(), channel));
    }
    let culls = [("none", Cull::None), ("front", Cull::Front), ("back", Cull::Back)];
    drawing.cull = choice("--cull", &args.cull, &culls)?;
    drawing.depth_test = !args.no_depth;
    drawing.blend = choice("--blend", &args.blend, &Mixing::ALL)?;
    drawing.engine = match &args.engine {
        Some(name) => {
            let engines = EngineKind::ALL.map(|kind| (kind.name(), kind));
            choice("--engine", name, &engines)?
        }
        None => EngineKind::preferred().map_err(|e| Failure::wrong("unknown-engine", e.to_string()))?,
    };
    drawing.one_thread = args.threads == Some(1);
    Ok(drawing)
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
    let (name, rest) = named(text, "--in", "NAME=FILE[:filter=..][:wrap=..]")?;
    let mut rest = rest.split(':');
    let file = rest.next().unwrap_or("").into();
    let mut binding = TextureBinding { name: name.to_owned(), file, filter: Filter::Linear, wrap: Wrap::Repeat };
    for part in rest {
        match part.split_once('=') {
            Some(("filter", value)) => binding.filter = choice("--in filter", value, &FILTERS)?,
            Some(("wrap", value)) => binding.wrap = choice("--in wrap", value, &WRAPS)?,
            _ => return Err(usage(format!("--in has no key `{part}`; it has filter=.. and wrap=.."))),
        }
    }
    Ok(binding)
}

/// Covered pixels for each pixel of the picture.
#[allow(clippy::cast_precision_loss, reason = "for people")]
fn overdraw(drawn: &Drawn) -> f64 {
    let [width, height] = drawn.size.map(f64::from);
    drawn.counts.pixels as f64 / (width * height)
}

#[allow(clippy::cast_precision_loss, reason = "for people")]
fn statistics(drawn: &Drawn) -> String {
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
    let counts = &drawn.counts;
    json!({
        "size": drawn.size,
        "frames": frames,
        "counts": {
            "indices": counts.indices,
            "vertices": counts.vertices,
            "primitives": counts.primitives,
            "visible": counts.visible,
            "quads": counts.quads,
            "pixels": counts.pixels,
            "samples_passed": counts.samples_passed,
            "pixels_written": counts.pixels_written,
        },
        "overdraw": overdraw(drawn),
        "findings": drawn.findings,
    })
}
