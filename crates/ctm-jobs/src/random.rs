//! Random jobs with their data: a program that assembles, arrays for all that it reads, and a domain. All of them run.
//!
//! The same seed and shape give the same files on every machine. A program that ends with a fault (it may exceed its budget) is replaced by the next one of the
//! seed's sequence.

use crate::job::{EngineKind, JobError, Reader};
use ctm_files::array::Items;
use ctm_files::render::Report;
use ctm_files::save;
use ctm_isa::diag::Diagnostic;
use ctm_isa::r700::program::Stage;
use ctm_isa::{r700, x1k};
use r700::random::{FLOW_CONSTANTS, RESOURCES, Random};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The permitted contents of the program of a random job.
///
/// ```
/// use ctm::random::{RandomShape, write};
///
/// let directory = std::env::temp_dir().join(format!("ctm-random-{}", std::process::id()));
/// let job = write(&directory, 7, &RandomShape::X1k(Default::default()))?;
/// let report = ctm::job::Reader::for_file(&job)?.finish()?.run(|_| {})?;
/// assert!(!report.files.is_empty());
/// # std::fs::remove_dir_all(&directory).unwrap();
/// # Ok::<(), ctm::JobError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum RandomShape {
    /// Of a program of the X1K.
    X1k(x1k::random::TextShape),
    /// Of a program of the R700.
    R700(r700::random::RandomContents),
}

/// Programs that are tried for one seed.
const TRIES: u64 = 64;
/// Instructions that a group of a random program may issue.
const BUDGET: u64 = 200_000;
/// Bytes of scatter memory and of rings.
const MEMORY_BYTES: u32 = 65536;
/// Constants of a buffer.
const BUFFER_CONSTANTS: usize = 256;

fn cannot(path: &Path, why: impl std::fmt::Display) -> JobError {
    let message = format!("{} cannot be written: {why}", path.display());
    JobError::Wrong(vec![Report::bare(Diagnostic::error("cannot-write", message))])
}

/// A job's files while they are made.
struct Files<'a> {
    directory: &'a Path,
    random: Random,
}

impl Files<'_> {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), JobError> {
        let path = self.directory.join(name);
        save(&path, bytes).map_err(|e| cannot(&path, e))
    }

    /// An array of rows of four floats: special values, small numbers, and any bits.
    fn array(&mut self, name: &str, shape: &[usize]) -> Result<(), JobError> {
        let count: usize = shape.iter().product();
        let bytes = (0..count).flat_map(|_| number(&mut self.random).to_bits().to_le_bytes()).collect();
        self.put(name, &Items { class: b'f', item_bytes: 4, shape: shape.to_vec(), bytes }.to_npy())
    }
}

/// Mostly a number between -4 and 4 in steps of 1/64, now and then one on which arithmetic goes wrong first.
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn number(random: &mut Random) -> f32 {
    if random.one_in(8) { f32::from_bits(random.value()) } else { (random.below(512) as f32 - 256.0) / 64.0 }
}

/// Writes a random job into a directory, which is made if it is not there: `job.toml`, its program, and arrays for everything that it may read. The job file.
///
/// # Errors
/// A file cannot be written, or none of the programs of this seed runs to its end.
pub fn write(directory: &Path, seed: u64, shape: &RandomShape) -> Result<PathBuf, JobError> {
    std::fs::create_dir_all(directory).map_err(|e| cannot(directory, e))?;
    let path = directory.join("job.toml");
    let mut last = None;
    for n in 0..TRIES {
        let of_try = seed.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut files = Files { directory, random: Random::new(of_try ^ 0x00da_7a00) };
        let text = match shape {
            RandomShape::X1k(shape) => x1k_job(&mut files, of_try, shape)?,
            RandomShape::R700(shape) => r700_job(&mut files, of_try, shape)?,
        };
        files.put("job.toml", text.as_bytes())?;
        let mut job = Reader::for_file(&path)?.finish()?;
        job.run.engine = EngineKind::Interp.into();
        job.run.budget.instructions_per_group = Some(BUDGET);
        match job.run(|_| {}) {
            Ok(report) => {
                let mut text = text;
                for output in &report.outputs {
                    let name = &output.name;
                    let _ = write!(text, "\n[[output]]\nslot = \"{name}\"\nsave = \"{name}.npy\"\n");
                }
                files.put("job.toml", text.as_bytes())?;
                return Ok(path);
            }
            Err(JobError::Fault(fault)) => last = Some(JobError::Fault(fault)),
            Err(e) => return Err(e),
        }
    }
    Err(last.unwrap_or_else(|| cannot(&path, "no program was tried")))
}

/// Columns and rows, and the key of the domain.
fn domain(random: &mut Random) -> ([usize; 2], String) {
    let [columns, rows] = [1 + random.below(16), 1 + random.below(16)];
    ([columns as usize, rows as usize], format!("domain = [0, 0, {}, {}]\n", columns - 1, rows - 1))
}

fn x1k_job(files: &mut Files<'_>, seed: u64, shape: &x1k::random::TextShape) -> Result<String, JobError> {
    files.put("program.x1k", x1k::random::text(seed, shape).as_bytes())?;
    let ([columns, rows], domain) = domain(&mut files.random);
    let mut out = format!("isa = \"x1k\"\nprogram = \"program.x1k\"\n{domain}");
    for input in 0..shape.inputs {
        files.array(&format!("s{input}.npy"), &[rows, columns, 4])?;
        let filter = files.random.of(&["nearest", "linear"]);
        let wrap = files.random.of(&["repeat", "mirror", "clamp", "border"]);
        let _ = write!(
            out,
            "\n[[texture]]\nslot = {input}\ndata = \"s{input}.npy\"\nfilter = \"{filter}\"\nwrap = [\"{wrap}\", \"{wrap}\"]\n"
        );
    }
    Ok(out)
}

fn r700_job(files: &mut Files<'_>, seed: u64, shape: &r700::random::RandomContents) -> Result<String, JobError> {
    let program = r700::random::program(seed, shape);
    let name = match shape.stage {
        Stage::Vertex | Stage::Copy | Stage::Export | Stage::Fetch => "program.vsh",
        Stage::Geometry => "program.gsh",
        Stage::Compute => "program.csh",
        Stage::Pixel => "program.psh",
    };
    let listing = r700::text::disassemble(&program, &r700::text::TextOptions::default());
    files.put(name, listing.as_bytes())?;
    let ([columns, rows], domain) = domain(&mut files.random);
    let stage = shape.stage.name();
    let mut out = format!("isa = \"r700\"\nprogram = \"{name}\"\nstage = \"{stage}\"\n{domain}");
    let uses = ctm_files::r700::uses::Uses::of(&program.decode());
    let random = &mut files.random;
    let mut constants = String::new();
    let named: Vec<u8> = uses.constants.iter().copied().collect();
    if !named.is_empty() {
        let four = |random: &mut Random| [(); 4].map(|()| format!("\"0x{:08X}\"", number(random).to_bits())).join(", ");
        let all: Vec<String> = named.iter().map(|n| format!("{n} = [{}]", four(random))).collect();
        let _ = writeln!(constants, "float = {{ {} }}", all.join(", "));
    }
    if shape.flow {
        let loops: Vec<String> = (0..FLOW_CONSTANTS)
            .map(|n| format!("{n} = [{}, {}, {}]", 1 + random.below(4), random.below(3), 1 + random.below(2)))
            .collect();
        let bools: Vec<String> = (0..FLOW_CONSTANTS).map(|n| format!("{n} = {}", random.one_in(2))).collect();
        let _ = writeln!(constants, "int = {{ {} }}\nbool = {{ {} }}", loops.join(", "), bools.join(", "));
    }
    if !constants.is_empty() {
        let _ = write!(out, "\n[constants]\n{constants}");
    }
    for bank in uses.banks.iter().filter(|bank| **bank < 16) {
        files.array(&format!("cb{bank}.npy"), &[BUFFER_CONSTANTS, 4])?;
        let _ = write!(out, "\n[[constant_buffer]]\nbank = {bank}\ndata = \"cb{bank}.npy\"\n");
    }
    if shape.fetches {
        for resource in 0..RESOURCES {
            files.array(&format!("t{resource}.npy"), &[rows, columns, 4])?;
            files.array(&format!("b{resource}.npy"), &[rows * columns, 4])?;
            let _ = write!(
                out,
                "\n[[texture]]\nslot = {resource}\nsampler = {resource}\ndata = \"t{resource}.npy\"\n\
                 \n[[buffer]]\nslot = {resource}\ndata = \"b{resource}.npy\"\nstride_bytes = 16\n"
            );
        }
    }
    let mut memory = |kind: &str| {
        let _ = write!(out, "\n[[memory]]\nkind = \"{kind}\"\nsize_bytes = {MEMORY_BYTES}\nsave = \"{kind}.npy\"\n");
    };
    if shape.memory || shape.stage == Stage::Compute {
        memory("scatter");
    }
    if matches!(shape.stage, Stage::Geometry | Stage::Export) {
        memory("ring");
    }
    Ok(out)
}
