//! `ctm random`.

use crate::console::{Console, Ending, Exit, Failure};
use crate::values::IsaName;
use clap::Args;
use ctm::random::RandomShape;
use ctm_isa::r700::program::Stage;
use ctm_isa::{r700, x1k};
use std::path::{Path, PathBuf};

/// Print a random program that assembles, checks without errors and runs
///
/// The same seed and shape give the same program on every machine. A program says in a comment how it is run where it needs inputs or memory, which it has only
/// if the shape has them.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm random --isa x1k --seed 7 -o test.x1k && ctm run test.x1k --size 8x8
  ctm random --isa r700 --seed 7 --shape clauses=4,flow=no
  ctm random --isa r700 --seed 7 --shape stage=compute,fetches=yes,memory=yes
  ctm random --isa r700 --seed 7 --job -o seven && ctm run seven/job.toml     a whole job with its data
  ctm random --isa x1k --job --count 1000 -o jobs && ctm run --batch jobs/list.txt
  ctm random --isa x1k --seed 1 --shape hostile=yes,flow=raw      every field at random, as tests of engines have it

Shapes of X1K: instructions=N, flow=none|statements, inputs=N, idle=yes|no, relative=yes|no. With hostile=yes every field of every word is random: such programs
need not run, and have lines that only .word can say; flow=compiled and flow=raw are of these.
Shapes of R700: stage=pixel|vertex|geometry|export|fetch|copy|compute, clauses=N, groups=N, and yes or no for flow, fetches, relative, doubles,
memory, kills, sharing, compiled.")]
pub(crate) struct RandomArgs {
    /// The instruction set
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: IsaName,
    /// The seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Permitted contents: key=value, separated by commas
    #[arg(long, value_name = "SHAPE", default_value = "")]
    pub(crate) shape: String,
    /// Where it goes, instead of stdout; with --job the directory
    #[arg(short, long, value_name = "OUT", required_if_eq("job", "true"))]
    pub(crate) output: Option<PathBuf>,
    /// A whole job with arrays for everything that the program reads, which runs without a fault: job.toml and its files in the directory of -o
    #[arg(long)]
    pub(crate) job: bool,
    /// With --job: N jobs, of this seed and those after it, each in a directory with its seed's number, and list.txt for `ctm run --batch`
    #[arg(long, value_name = "N", requires = "job")]
    pub(crate) count: Option<u64>,
}

pub(crate) fn run(console: &Console, args: &RandomArgs) -> Ending {
    let bad = |why: String| Failure::usage("bad-shape", why);
    if let (true, Some(directory)) = (args.job, &args.output) {
        return jobs(console, args, directory, &shape_of_job(args).map_err(bad)?);
    }
    let text = match args.isa {
        IsaName::X1k => x1k_program(args).map_err(bad)?,
        IsaName::R700 => r700_program(args).map_err(bad)?,
    };
    match &args.output {
        Some(path) => console.write(path, text.as_bytes())?,
        None => console.print(&text)?,
    }
    Ok(Exit::Done)
}

/// The shape of the program of a job.
fn shape_of_job(args: &RandomArgs) -> Result<RandomShape, String> {
    match args.isa {
        IsaName::X1k => match x1k_shape(args)? {
            X1kShape::Text(shape) => Ok(RandomShape::X1k(shape)),
            X1kShape::Hostile(_) => {
                Err("programs whose every field is random need not run; --job has none of them".into())
            }
        },
        IsaName::R700 => r700_shape(args).map(RandomShape::R700),
    }
}

/// Writes one job, or several with their list.
fn jobs(console: &Console, args: &RandomArgs, directory: &Path, shape: &RandomShape) -> Ending {
    let Some(count) = args.count else {
        console.wrote(&ctm::random::write(directory, args.seed, shape)?);
        return Ok(Exit::Done);
    };
    let mut list = String::new();
    for seed in args.seed..args.seed.saturating_add(count) {
        console.wrote(&ctm::random::write(&directory.join(seed.to_string()), seed, shape)?);
        list.push_str(&format!("{seed}/job.toml\n"));
    }
    console.write(&directory.join("list.txt"), list.as_bytes())?;
    Ok(Exit::Done)
}

fn pairs(shape: &str) -> Result<Vec<(&str, &str)>, String> {
    let parts = shape.split(',').filter(|part| !part.trim().is_empty());
    parts.map(|part| part.trim().split_once('=').ok_or_else(|| format!("`{part}` is no key=value"))).collect()
}

fn yes(value: &str) -> Result<bool, String> {
    match value {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(format!("`{value}` is neither yes nor no")),
    }
}

fn count(value: &str, most: usize) -> Result<usize, String> {
    value.parse().ok().filter(|&n| n <= most).ok_or_else(|| format!("`{value}` is no number from 0 to {most}"))
}

/// The shape of an X1K program.
enum X1kShape {
    /// A text that people read.
    Text(x1k::random::TextShape),
    /// Every field of every word is random.
    Hostile(x1k::random::RandomContents),
}

fn x1k_program(args: &RandomArgs) -> Result<String, String> {
    match x1k_shape(args)? {
        X1kShape::Hostile(shape) => {
            let program = x1k::random::program(args.seed, &shape);
            Ok(x1k::text::disassemble(&program, &x1k::text::ListingOptions::default()))
        }
        X1kShape::Text(shape) => {
            let inputs: String = (0..shape.inputs).map(|input| format!(" --in s{input}=FILE")).collect();
            Ok(format!("{}{}", needs(&inputs), x1k::random::text(args.seed, &shape)))
        }
    }
}

fn x1k_shape(args: &RandomArgs) -> Result<X1kShape, String> {
    use x1k::random::{FlowControl, RandomContents, TextShape};
    let mut shape = TextShape::default();
    let (mut flow, mut hostile) = (None, false);
    for (key, value) in pairs(&args.shape)? {
        match key {
            "instructions" => shape.instructions = count(value, 400)?,
            "inputs" => shape.inputs = u32::try_from(count(value, 16)?).unwrap_or(0),
            "idle" => shape.watches_idle_lanes = yes(value)?,
            "relative" => shape.relative = yes(value)?,
            "hostile" => hostile = yes(value)?,
            "flow" => {
                flow = Some(match value {
                    "none" => FlowControl::None,
                    "statements" => FlowControl::Statements,
                    "compiled" => FlowControl::Compiled,
                    "raw" => FlowControl::Raw,
                    _ => return Err(format!("`{value}` is no flow; there are none, statements, compiled, raw")),
                });
            }
            _ => {
                return Err(format!(
                    "there is no shape `{key}`; there are instructions, flow, inputs, idle, relative, hostile"
                ));
            }
        }
    }
    let flow = flow.unwrap_or(FlowControl::Statements);
    if hostile {
        let TextShape { instructions, inputs, watches_idle_lanes, relative, .. } = shape;
        return Ok(X1kShape::Hostile(RandomContents { instructions, flow, inputs, watches_idle_lanes, relative }));
    }
    shape.flow = match flow {
        FlowControl::None => false,
        FlowControl::Statements => true,
        FlowControl::Compiled | FlowControl::Raw => {
            return Err("flow=compiled and flow=raw are of hostile programs; write hostile=yes,flow=raw".into());
        }
    };
    Ok(X1kShape::Text(shape))
}

/// A comment on the needs of a run.
fn needs(flags: &str) -> String {
    if flags.is_empty() { String::new() } else { format!("; ctm run FILE --size 8x8{flags}\n") }
}

fn r700_program(args: &RandomArgs) -> Result<String, String> {
    let shape = r700_shape(args)?;
    let program = r700::random::program(args.seed, &shape);
    let listing = r700::text::disassemble(&program, &r700::text::TextOptions::default());
    Ok(format!("{}{listing}", needs(&r700_flags(&shape))))
}

fn r700_shape(args: &RandomArgs) -> Result<r700::random::RandomContents, String> {
    let mut shape = r700::random::RandomContents {
        fetches: false,
        memory: false,
        ..r700::random::RandomContents::all(Stage::Pixel)
    };
    for (key, value) in pairs(&args.shape)? {
        match key {
            "stage" => {
                let names = || Stage::ALL.iter().map(|stage| stage.name()).collect::<Vec<_>>().join(", ");
                shape.stage =
                    Stage::from_name(value).ok_or_else(|| format!("`{value}` is no stage; there are {}", names()))?;
            }
            "clauses" => shape.clauses = count(value, 200)?,
            "groups" => shape.groups = count(value, 32)?.max(1),
            "flow" => shape.flow = yes(value)?,
            "fetches" => shape.fetches = yes(value)?,
            "relative" => shape.relative = yes(value)?,
            "doubles" => shape.doubles = yes(value)?,
            "memory" => shape.memory = yes(value)?,
            "kills" => shape.kills = yes(value)?,
            "sharing" => shape.sharing = yes(value)?,
            "compiled" => shape.compiled = yes(value)?,
            _ => {
                return Err(format!(
                    "there is no shape `{key}`; there are stage, clauses, groups, flow, fetches, relative, doubles, memory, kills, sharing, compiled"
                ));
            }
        }
    }
    Ok(shape)
}

/// The flags that a run of such a program needs: for everything that it may fetch from, and the memories that it may write.
fn r700_flags(shape: &r700::random::RandomContents) -> String {
    let mut flags = String::new();
    if shape.stage != Stage::Pixel {
        flags.push_str(&format!(" --stage {}", shape.stage.name()));
    }
    if shape.fetches {
        for resource in 0..r700::random::RESOURCES {
            flags.push_str(&format!(" --in t{resource}=FILE --buffer b{resource}=FILE"));
        }
    }
    let ring = matches!(shape.stage, Stage::Geometry | Stage::Export);
    if shape.memory || shape.stage == Stage::Compute {
        flags.push_str(" --memory scatter:size_bytes=65536");
    }
    if ring {
        flags.push_str(" --memory ring:size_bytes=65536");
    }
    flags
}
