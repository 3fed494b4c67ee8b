//! `ctm glsl`: starts itself as a client in which a Radeon appears, and takes the programs out of the capture.

use crate::args::programs::GlslArgs;
use crate::args::streams::RadeonArgs;
use crate::asm::encode;
use crate::console::{Console, Ending, Exit, Failure};
use crate::radeon;
use crate::values::IsaName;
use ctm::job::read_file;
use ctm_files::FileKind;
use ctm_glsl::{Pair, Pixel, ShaderSources};
use ctm_ide::folder::TemporaryFolder;
use ctm_image::hex;
use ctm_image::r700::gfd;
use ctm_isa::diag::Diagnostic;
use ctm_isa::pvs;
use ctm_isa::x1k::program::SymbolKind;
use ctm_isa::x1k::text;
use ctm_radeon::environment::Chip;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

pub(crate) fn run(console: &Console, args: &GlslArgs) -> Ending {
    let wanted = ShaderSources { vertex: shader(&args.vertex)?, fragment: shader(&args.fragment)? };
    if args.client {
        // One line for the process that started this one.
        let told = match ctm_glsl::reflect(&wanted) {
            Ok(told) => told,
            Err(failed) => json!({ "failed": failed.to_string() }),
        };
        console.print(&format!("{told}\n"))?;
        return Ok(Exit::Done);
    }
    if matches!(args.isa, IsaName::X1k) {
        for (path, text) in [(&args.vertex, &wanted.vertex), (&args.fragment, &wanted.fragment)] {
            within_x1k(path, text)?;
        }
    }
    let folder = folder()?;
    let captures = folder.path().join("captures");
    let told = told(args, &captures)?;
    if let Some(failed) = told["failed"].as_str() {
        return Err(Failure::wrong("glsl", failed));
    }
    let capture = capture(&captures)?;
    let open = || ctm_files::open(&capture, FileKind::Capture).map(BufReader::new).map_err(io::Error::other);
    let wrong = |e: ctm_glsl::PairError| Failure::wrong("glsl", e.to_string());
    let remark = |remarks: &[String]| {
        for remark in remarks {
            console.report(&ctm::render::Report::bare(Diagnostic::warning("glsl", remark.as_str())));
        }
    };
    match args.isa {
        IsaName::R700 => {
            let pair = ctm_glsl::pair(open, &told).map_err(wrong)?;
            remark(&pair.remarks);
            write(console, args, pair)
        }
        IsaName::X1k => {
            let pixel = ctm_glsl::pixel(open, &told).map_err(wrong)?;
            remark(&pixel.remarks);
            write_x1k(console, args, &pixel)
        }
    }
}

fn shader(path: &Path) -> Result<String, Failure> {
    let bytes = read_file(path, FileKind::Shader, None)?;
    String::from_utf8(bytes).map_err(|_| Failure::wrong("wrong-file", format!("{} is no text", path.display())))
}

/// The last version of GLSL that Mesa's r300 driver takes.
const LAST_VERSION_X1K: u32 = 120;

/// Refuses shaders of a version that the X1K's driver does not take.
fn within_x1k(path: &Path, shader: &str) -> Result<(), Failure> {
    let directive =
        shader.lines().map(str::trim).find_map(|line| line.strip_prefix('#')?.trim_start().strip_prefix("version"));
    let Some(version) = directive.and_then(|rest| rest.split_whitespace().next()?.parse::<u32>().ok()) else {
        return Ok(());
    };
    if version <= LAST_VERSION_X1K {
        return Ok(());
    }
    let message = format!(
        "{} is of #version {version}; with --isa x1k shaders go up to #version {LAST_VERSION_X1K}, which is the last that a driver has for that chip. Without --isa x1k R700 programs are made of it",
        path.display()
    );
    Err(Failure::wrong("glsl-version", message))
}

/// A folder of this process, which goes with it.
fn folder() -> Result<TemporaryFolder, Failure> {
    TemporaryFolder::new("ctm-glsl")
        .map_err(|e| Failure::wrong("cannot-write", format!("a temporary folder cannot be made: {e}")))
}

/// Runs the client; its description of the pair.
fn told(args: &GlslArgs, captures: &Path) -> Result<Value, Failure> {
    let program = std::env::current_exe()
        .map_err(|e| Failure::wrong("cannot-start", format!("this program cannot be found: {e}")))?;
    let radeon = RadeonArgs {
        capture: Some(captures.to_owned()),
        frames: None,
        show: false,
        check: false,
        stats: false,
        engine: None,
        no_execute: true,
        chip: match args.isa {
            IsaName::X1k => Chip::R580,
            IsaName::R700 => Chip::Rv770,
        },
        library: args.library.clone(),
        program: vec![program.into()],
    };
    let mut command = radeon::command(&radeon)?;
    command.args(["glsl", "--client", "-o", "-"]).arg(&args.vertex).arg(&args.fragment);
    // A shader that the driver has seen before would be compiled all the same, but its cache must stay unchanged.
    command.env("MESA_SHADER_CACHE_DISABLE", "true").stdin(Stdio::null());
    let output = command
        .output()
        .map_err(|e| Failure::wrong("cannot-start", format!("the OpenGL client cannot be started: {e}")))?;
    serde_json::from_slice(&output.stdout).map_err(|_| {
        let errors = String::from_utf8_lossy(&output.stderr);
        Failure::wrong("glsl", format!("the OpenGL client ended with {}: {}", output.status, errors.trim()))
    })
}

/// The capture in a directory.
fn capture(directory: &Path) -> Result<PathBuf, Failure> {
    let found = fs::read_dir(directory).ok().and_then(|mut all| all.next()).and_then(Result::ok);
    found.map(|entry| entry.path()).ok_or_else(|| {
        let message = "the driver has submitted nothing: OpenGL did not come from Mesa's driver of that chip, which is in Debian's libgl1-mesa-dri";
        Failure::wrong("glsl", message)
    })
}

fn write(console: &Console, args: &GlslArgs, pair: Pair) -> Ending {
    let Pair { vertex, pixel, .. } = pair;
    let output = &args.output;
    if output.extension().is_some_and(|e| e == "hex") {
        console.write(output, hex::write_words(&pixel.code.words, 2).as_bytes())?;
        return Ok(Exit::Done);
    }
    let job = output
        .extension()
        .is_some_and(|e| e == "toml")
        .then(|| job(output, [&args.vertex, &args.fragment], [&vertex, &pixel]));
    let container =
        gfd::build(&[vertex, pixel]).map_err(|e| Failure::wrong(e.name(), format!("{}: {e}", output.display())))?;
    match (output.extension().and_then(|e| e.to_str()), job) {
        _ if output == Path::new("-") => console.print(&ctm::r700::print_gfd(&container))?,
        (Some("gsh"), _) => console.write(output, &container.write())?,
        (_, Some(job)) => {
            console.write(&output.with_extension("gsh"), &container.write())?;
            console.write(output, job.as_bytes())?;
        }
        _ => {
            let message = format!("{}: .gsh, .hex and .toml can be written, and `-`", output.display());
            return Err(Failure::usage("unknown-extension", message));
        }
    }
    Ok(Exit::Done)
}

/// The name of a file in a job: relative to the job where it is in its folder or below, otherwise the whole path.
fn beside(file: &Path, job: &Path) -> String {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = job.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (file, folder) = (whole(file), whole(folder));
    Value::from(file.strip_prefix(&folder).unwrap_or(&file).to_string_lossy()).to_string()
}

/// A job of `ctm draw` with every constant and texture that is to be filled in.
fn job(output: &Path, shaders: [&Path; 2], programs: [&gfd::NewProgram; 2]) -> String {
    use gfd::header::VariableKind::{Sampler, Uniform};
    let container = output.with_extension("gsh");
    let picture = output.with_extension("png");
    let name = |path: &Path| Value::from(path.file_name().unwrap_or_default().to_string_lossy()).to_string();
    let mut out = format!(
        "size = [320, 240]\nprograms = [{}]\nglsl = [{}, {}]\nmesh = \"cube\"\n\n[[target]]\nsave = {}\n",
        name(&container),
        beside(shaders[0], output),
        beside(shaders[1], output),
        name(&picture)
    );
    let variables = |wanted| {
        let all = programs.iter().flat_map(|p| &p.variables).filter(move |v| v.kind == wanted);
        let mut names: Vec<&str> = all.map(|v| v.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let uniforms = variables(Uniform);
    if !uniforms.is_empty() {
        out.push_str("\n# Numbers of each uniform; a matrix can be a [[camera]] instead.\n[constants]\n");
        for name in uniforms {
            out.push_str(&format!("# {} = [0.0, 0.0, 0.0, 0.0]\n", Value::from(name)));
        }
    }
    for sampler in variables(Sampler) {
        out.push_str(&format!("\n# [[texture]]\n# name = {}\n# data = \"picture.png\"\n", Value::from(sampler)));
    }
    out
}

/// Writes an X1K program.
fn write_x1k(console: &Console, args: &GlslArgs, pixel: &Pixel) -> Ending {
    let output = &args.output;
    let listing = || text::disassemble(&pixel.program, &text::ListingOptions::default());
    let vertex = || pvs::text::disassemble(&pixel.vertex, &pvs::text::ListingOptions::default());
    match output.extension().and_then(|e| e.to_str()) {
        _ if output == Path::new("-") => console.print(&format!("{}\n{}", vertex(), listing()))?,
        Some("x1k") => {
            console.write(output, listing().as_bytes())?;
            console.write(&output.with_extension("pvs"), vertex().as_bytes())?;
        }
        Some("toml") => {
            console.write(&output.with_extension("x1k"), listing().as_bytes())?;
            console.write(&output.with_extension("pvs"), vertex().as_bytes())?;
            console.write(output, job_x1k(output, pixel).as_bytes())?;
        }
        Some("hex" | "bin" | "elf") => console.write(output, &encode(&pixel.program, output)?)?,
        _ => {
            let message = format!(
                "{}: an X1K program can be written as .x1k, .hex, .bin, .elf and .toml, and `-`",
                output.display()
            );
            return Err(Failure::usage("unknown-extension", message));
        }
    }
    Ok(Exit::Done)
}

/// Columns and rows of the job's picture.
const PICTURE: [u16; 2] = [320, 240];

/// A job of `ctm draw` with every constant and texture that is to be filled in.
fn job_x1k(output: &Path, pixel: &Pixel) -> String {
    let file = |extension: &str| output.with_extension(extension);
    let name = |path: &Path| Value::from(path.file_name().unwrap_or_default().to_string_lossy()).to_string();
    let [columns, rows] = PICTURE;
    let mut out = format!(
        "size = [{columns}, {rows}]\nprograms = [{}, {}]\nmesh = \"cube\"\n",
        name(&file("pvs")),
        name(&file("x1k")),
    );
    for slot in pixel.program.usage().outputs {
        let to = if slot == 0 { String::new() } else { format!("-{slot}") };
        let to = output.with_file_name(format!("{}{to}.png", output.file_stem().unwrap_or_default().to_string_lossy()));
        out.push_str(&format!("\n[[target]]\nnumber = {slot}\nsave = {}\n", name(&to)));
    }
    let symbols = |kind| pixel.program.symbols.iter().filter(move |symbol| symbol.kind == kind);
    let is_of_target = |index| pixel.of_target.iter().any(|&(of, _)| of == index);
    // Columns of a matrix and elements of an array go by one name.
    let bare = |name: &str| name.split('[').next().unwrap_or(name).to_owned();
    let of_pixels = symbols(SymbolKind::Float).filter(|symbol| !is_of_target(symbol.index));
    let of_vertices = pixel.vertex.symbols.iter().filter(|symbol| symbol.kind == pvs::program::SymbolKind::Constant);
    let mut names: Vec<String> = of_pixels.map(|symbol| bare(&symbol.name)).collect();
    names.extend(of_vertices.map(|symbol| bare(&symbol.name)));
    names.sort_unstable();
    names.dedup();
    if !names.is_empty() || !pixel.of_target.is_empty() {
        out.push_str("\n# Numbers of each uniform; a matrix can be a [[camera]] instead.\n[constants]\n");
    }
    for name in names {
        out.push_str(&format!("# {} = [0.0, 0.0, 0.0, 0.0]\n", Value::from(name)));
    }
    for (index, of) in &pixel.of_target {
        let value = of.value(f32::from(columns), f32::from(rows));
        out.push_str(&format!("# of the picture's size\n\"ps:c{index}\" = {value:?}\n"));
    }
    for symbol in symbols(SymbolKind::Input) {
        out.push_str(&format!("\n# [[texture]]\n# name = {}\n# data = \"picture.png\"\n", Value::from(&*symbol.name)));
    }
    out
}
