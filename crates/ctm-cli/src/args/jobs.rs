//! Jobs: run, merge and draw. Flags of `ctm run` come from the library's table of keys.

use crate::values::IsaName;
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches};
use ctm::job::{FLAGS, Shard};
use std::ffi::OsString;
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
  ctm run job.toml --shard 2/4       the second quarter of its rows; ctm merge puts the files together
  ctm run job.toml --dump-commands job.cmd && ctm dis job.cmd")]
pub(crate) struct RunArgs {
    /// A job file (.toml) or a program (.x1k, .ps, .hex, .bin, .elf; R700: .psh, .vsh, .csh, .hex, .gsh, .o, CAL images); `-` is a program from stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) job: JobFlags,
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
  ctm draw job.toml --at 35,22       every fragment that came to a pixel, and what happened to it
  ctm draw job.toml --check          what does not fit together, and what programs do that is suspicious")]
pub(crate) struct DrawArgs {
    /// A job file (.toml); a GFD container (.gsh); a vertex and a pixel program (.vsh, .psh, .hex); or an X1K pixel program (.x1k)
    #[arg(value_name = "FILE", num_args = 1..=2, required = true)]
    pub(crate) programs: Vec<PathBuf>,
    /// The picture of the first target: .png, .npy, .pfm or .raw; without one, statistics are printed
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// triangle, quad, grid, cube, sphere, torus, or a file (.obj, .gltf, .glb, .npy) [default: quad]
    #[arg(long, value_name = "NAME")]
    pub(crate) mesh: Option<String>,
    /// Columns and rows [default: 256x256]
    #[arg(long, value_name = "WxH")]
    pub(crate) size: Option<String>,
    /// Samples of a pixel: 1, 2, 4 or 8 [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<u32>,
    /// A texture: `Texture=photo.png`, `t0=noise.dds:filter=nearest:wrap=clamp:mip=linear:aniso=8`
    #[arg(long = "in", value_name = "NAME=FILE[:KEY=VALUE]...")]
    pub(crate) inputs: Vec<String>,
    /// Constants, four numbers each: `tint=1,0,0,1`, `c3=...`, `cb0[2]=...`, `ps:c0=...`
    #[arg(long = "const", value_name = "NAME=NUMBERS", allow_hyphen_values = true)]
    pub(crate) constants: Vec<String>,
    /// The matrix of a viewer goes to these constants: `mvp`, `c0:eye=0,1,4:at=0,0,0:fov=45:turn=20,30,0:spin=0,360,0:rows`
    #[arg(long = "camera", value_name = "NAME[:KEY=VALUE]...")]
    pub(crate) cameras: Vec<String>,
    /// The source of an attribute, by name or location: position, normal, texcoord or colour
    #[arg(long = "attribute", value_name = "NAME=CHANNEL")]
    pub(crate) attributes: Vec<String>,
    /// The colour before the first draw, four numbers
    #[arg(long, value_name = "R,G,B,A", allow_hyphen_values = true)]
    pub(crate) clear: Option<String>,
    /// How often the mesh is drawn
    #[arg(long, value_name = "N")]
    pub(crate) instances: Option<u32>,
    /// Faces that are not drawn: none, front or back; front faces are counter-clockwise
    #[arg(long, value_name = "FACE")]
    pub(crate) cull: Option<String>,
    /// Farther pixels are drawn over nearer ones
    #[arg(long)]
    pub(crate) no_depth: bool,
    /// Blending of colours: none, alpha, premultiplied, add or multiply
    #[arg(long, value_name = "WAY")]
    pub(crate) blend: Option<String>,
    /// Where the depths go, as .npy or .pfm
    #[arg(long, value_name = "FILE")]
    pub(crate) depth: Option<PathBuf>,
    /// Pictures of an animation, in the course of which cameras spin; one animated .png, or a file each where the name has `%d` or `%03d`
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) frames: u32,
    /// How long each is shown, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 40)]
    pub(crate) delay: u16,
    /// The engine: jit, interp or verify
    #[arg(long, value_name = "NAME")]
    pub(crate) engine: Option<String>,
    /// 1: one thread; otherwise all cores
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Wall time of each draw, in seconds; a longer draw ends with a fault
    #[arg(long, value_name = "SECONDS")]
    pub(crate) budget_seconds: Option<f64>,
    /// Check for mismatches, and for legal but suspicious behaviour of programs
    #[arg(long)]
    pub(crate) check: bool,
    /// Print every fragment of this pixel, and its history
    #[arg(long, value_name = "X,Y")]
    pub(crate) at: Option<String>,
    /// Print statistics of the draws: vertices, primitives, pixels, overdraw
    #[arg(long)]
    pub(crate) stats: bool,
    /// Print statistics of the draws as JSON to stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// The flags that say the same as a key of the job file: the library's table.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobFlags {
    /// Flag and value, in the table's order.
    pub(crate) given: Vec<(&'static str, OsString)>,
}

impl Args for JobFlags {
    fn augment_args(mut command: clap::Command) -> clap::Command {
        for flag in FLAGS {
            let arg = Arg::new(flag.name).long(flag.name).help(flag.summary).help_heading("The job");
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

impl FromArgMatches for JobFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Vec::new();
        for flag in FLAGS {
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
        Ok(Self { given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
