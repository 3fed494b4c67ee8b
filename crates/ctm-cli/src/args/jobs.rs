//! Jobs: run, merge and draw. Flags that are keys of jobs come from the library's tables.

use crate::values::IsaName;
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches};
use ctm::draw::{DRAW_FLAGS, DrawFlag};
use ctm::job::{FLAGS, Flag, Shard};
use std::ffi::OsString;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::path::PathBuf;

/// Run a job file or a program
///
/// Every key of a job file exists as a flag; flags override the file. Without any saved output, small outputs are printed.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm run job.toml
  ctm run job.toml --group 64 --stats
  ctm run gradient.x1k --size 64x64 --out o0=gradient.png
  ctm run blur.x1k --size 512x512 --in s0=photo.png --const c0=1,2,3,4 --out o0=result.png
  ctm run life.x1k --size 64x64 --in s0=start.npy:output=0 --repeat 100 --out o0=end.png
  ctm run fill.hex --size 4x4 --program-info last=14 --check
  ctm run job.toml --compare o0=reference.npy --tolerance 1e-4
  ctm run fire.x1k --size 64x64 --repeat 100 --out o0=frame-%03d.png
  ctm run --batch jobs.txt           many jobs in one process: a line each, such as `blur.x1k --size 8x8 --const c0=1,2,3,4`
  ctm run job.toml --shard 2/4       the second quarter of its rows; ctm merge puts the files together
  ctm run blur.x1k --size 512x512 --in s0=photo.png --const c0=1,2,3,4 --save-job blur && ctm why blur/job.toml --at 3,3
  ctm run job.toml --dump-commands job.cmd && ctm dis job.cmd")]
pub(crate) struct RunArgs {
    /// A job file (.toml) or a program (.x1k, .ps, .hex, .bin, .elf; R700: .psh, .vsh, .csh, .hex, .gsh, .o, CAL images); `-` is a program from stdin
    #[arg(value_name = "FILE", required_unless_present = "batch")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) job: Flags<OfJobs>,
    /// The instruction set, where the program does not say which
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<IsaName>,
    /// Print statistics of the run: instructions, lanes, fetches, bytes, clocks
    #[arg(long)]
    pub(crate) stats: bool,
    /// Print results and findings as JSON to stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the command buffers: .cmd or .bin as words, .txt as text
    #[arg(long, value_name = "FILE")]
    pub(crate) dump_commands: Option<PathBuf>,
    /// Compare an output with a file afterwards: `o0=reference.npy`; may be given several times. Where values differ, the exit code is 4
    #[arg(long, value_name = "NAME=FILE", value_parser = reference)]
    pub(crate) compare: Vec<(String, PathBuf)>,
    /// How far apart values of --compare may be
    #[arg(long, value_name = "T", default_value_t = 0.0, requires = "compare")]
    pub(crate) tolerance: f64,
    /// Write the job with copies of all files that it reads into this directory, as job.toml, which runs again with the same results
    #[arg(long, value_name = "DIR")]
    pub(crate) save_job: Option<PathBuf>,
    /// Run the jobs of a list in one process and print one JSON object a job, in the order of the list: a job file or a program a line, with its flags; `#` begins a comment. Flags of the command are for all of them
    #[arg(long, value_name = "LIST", conflicts_with_all = ["file", "dump_commands", "compare", "shard", "save_job"])]
    pub(crate) batch: Option<PathBuf>,
    /// With --batch: how many jobs run at a time, each on one thread [default: as many as there are cores]
    #[arg(long, value_name = "N", requires = "batch")]
    pub(crate) jobs: Option<usize>,
    /// Do not show progress
    #[arg(long)]
    pub(crate) no_progress: bool,
    /// Run part K of N of the domain's rows; files get the part's name: sum.npy is sum.2-of-4.npy. Of jobs of one pass whose processors write their own elements only
    #[arg(long, value_name = "K/N", value_parser = shard)]
    pub(crate) shard: Option<Shard>,
}

fn shard(text: &str) -> Result<Shard, String> {
    Shard::parse(text).ok_or_else(|| "a part and a number of parts are wanted, from 1/N to N/N: 2/4".to_owned())
}

/// Put the files of shards together
///
/// `ctm run --shard K/N` writes sum.1-of-4.npy to sum.4-of-4.npy; `ctm merge sum.npy` writes sum.npy, the same file as a run of the whole. Parts stay.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  for k in 1 2 3 4; do ctm run job.toml --shard $k/4; done; ctm merge sum.npy
  sbatch --array=1-4 --wrap 'ctm run job.toml --shard $SLURM_ARRAY_TASK_ID/4'
  ctm merge sum.npy mask.png")]
pub(crate) struct MergeArgs {
    /// Files whose parts lie beside them
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

fn reference(text: &str) -> Result<(String, PathBuf), String> {
    let (name, file) = text.split_once('=').ok_or("an output and a file are wanted: o0=reference.npy")?;
    Ok((name.to_owned(), file.into()))
}

/// Draw pictures with vertex and pixel programs
///
/// Names are those of the programs' container, or of listings' settings. The linkage of the programs (which export goes to which
/// register, position, face, depth) follows from their registers. A job file holds several draws and all state (docs/draw-jobs.md); flags go
/// which override it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm draw shader.gsh -o picture.png
  ctm draw job.toml                  saves what the job says
  ctm draw cube.vsh cube.psh --mesh cube --camera mvp --in colour=photo.png -o cube.png --size 640x480
  ctm draw cube.vsh cube.psh --mesh cube --camera mvp:eye=0,1,4:fov=45 --frames 60 -o cube.png
  ctm draw cube.vsh cube.psh --mesh cube --camera mvp --frames 60 -o cube%03d.png   a file for each picture
  ctm draw menu.gsh --const ProjMtx=1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1 --in Texture=font.png:filter=nearest -o menu.png
  ctm draw a.vsh a.psh --mesh teapot.obj --samples 4 --cull back --stats -o teapot.png
  ctm draw plasma.x1k --mesh torus --camera mvp -o plasma.png   a pixel program of the X1K; vertices come transformed
  ctm draw cube.vsh cube.psh --mesh cube --camera mvp --save-job cube   cube/job.toml, for ctm why, trace, compare ...
  ctm draw job.toml --at 35,22       every fragment that came to a pixel, and what happened to it
  ctm draw job.toml --funnel         where primitives and pixels ended: culled, clipped, scissor, depth, killed, masked
  ctm draw job.toml --check          what does not fit together, and what programs do that is suspicious")]
pub(crate) struct DrawArgs {
    /// A job file (.toml); a GFD container (.gsh); a vertex and a pixel program (.vsh, .psh, .hex); or an X1K pixel program (.x1k)
    #[arg(value_name = "FILE", num_args = 1..=2, required = true)]
    pub(crate) programs: Vec<PathBuf>,
    /// The picture of the first target: .png, .npy, .pfm or .raw; without one, statistics are printed
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) flags: Flags<OfDraws>,
    /// Pictures of an animation, in the course of which cameras spin; one animated .png, or a file each where the name has `%d` or `%03d`
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) frames: u32,
    /// How long each is shown, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 40)]
    pub(crate) delay: u16,
    /// Write the job with copies of all files that it reads into this directory, as job.toml, which draws the same again
    #[arg(long, value_name = "DIR")]
    pub(crate) save_job: Option<PathBuf>,
    /// Print every fragment of this pixel, and its history
    #[arg(long, visible_alias = "history", value_name = "X,Y")]
    pub(crate) at: Option<String>,
    /// Print why nothing is drawn: of each draw, how many primitives and pixels ended at which stage, and the state that ended them
    #[arg(long)]
    pub(crate) funnel: bool,
    /// Print statistics of the draws: vertices, primitives, pixels, overdraw
    #[arg(long)]
    pub(crate) stats: bool,
    /// Print statistics of the draws as JSON to stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// A flag that says the same as a key of a job file.
#[derive(Clone, Copy)]
pub(crate) struct FlagRow {
    name: &'static str,
    value: &'static str,
    summary: &'static str,
    many: bool,
    heading: &'static str,
}

/// A table of such flags.
pub(crate) trait FlagSet: Clone + Debug + Default + Send + Sync + 'static {
    fn rows() -> Vec<FlagRow>;
}

/// Flags of `ctm run`.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfJobs;
/// Flags of `ctm draw`.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfDraws;
/// Flags of commands that take jobs and draws; those that only say where results go are left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfBoth;

impl FlagSet for OfJobs {
    fn rows() -> Vec<FlagRow> {
        let row = |flag: &Flag| {
            let Flag { name, value, summary, many, .. } = *flag;
            FlagRow { name, value, summary, many, heading: "The job" }
        };
        FLAGS.iter().map(row).collect()
    }
}

impl FlagSet for OfDraws {
    fn rows() -> Vec<FlagRow> {
        let row = |flag: &DrawFlag| {
            let DrawFlag { name, value, summary, many, .. } = *flag;
            FlagRow { name, value, summary, many, heading: "The draw" }
        };
        DRAW_FLAGS.iter().map(row).collect()
    }
}

impl FlagSet for OfBoth {
    fn rows() -> Vec<FlagRow> {
        let mut rows = OfJobs::rows();
        let saves = |name: &str| DRAW_FLAGS.iter().any(|flag| flag.name == name && flag.saves());
        for row in OfDraws::rows().into_iter().filter(|row| !saves(row.name)) {
            match rows.iter_mut().find(|known| known.name == row.name) {
                Some(known) => known.many |= row.many,
                None => rows.push(row),
            }
        }
        rows
    }
}

/// The flags that say the same as a key of the job file: the library's tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags<S: FlagSet> {
    /// Flag and value, in the table's order.
    pub(crate) given: Vec<(&'static str, OsString)>,
    set: PhantomData<S>,
}

impl<S: FlagSet> Flags<S> {
    /// Whether a flag is given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(flag, _)| *flag == name)
    }
}

impl<S: FlagSet> Args for Flags<S> {
    fn augment_args(mut command: clap::Command) -> clap::Command {
        for flag in S::rows() {
            let arg = Arg::new(flag.name).long(flag.name).help(flag.summary).help_heading(flag.heading);
            command = command.arg(if flag.value.is_empty() {
                arg.action(ArgAction::SetTrue)
            } else {
                let action = if flag.many { ArgAction::Append } else { ArgAction::Set };
                // File names need not be text.
                let value = clap::builder::OsStringValueParser::new();
                arg.value_name(flag.value).action(action).allow_hyphen_values(true).value_parser(value)
            });
        }
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl<S: FlagSet> FromArgMatches for Flags<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Vec::new();
        for flag in S::rows() {
            if flag.value.is_empty() {
                if matches.get_flag(flag.name) {
                    given.push((flag.name, OsString::new()));
                }
            } else {
                given.extend(
                    matches.get_many::<OsString>(flag.name).into_iter().flatten().map(|v| (flag.name, v.clone())),
                );
            }
        }
        Ok(Self { given, set: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
