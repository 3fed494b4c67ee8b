//! Every subcommand and option. Help, completions and manual pages come from here.

use clap::builder::TypedValueParser;
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches, Parser, Subcommand, ValueEnum};
use ctm::EngineKind;
use ctm::job::{FLAGS, Shard};
use ctm_radeon::environment::Chip;
use std::ffi::OsString;
use std::path::PathBuf;

/// ATI's Close To the Metal device in software
///
/// Assembles, disassembles, checks and runs X1K (R5xx) and R700 programs, without a card.
#[derive(Debug, Parser)]
#[command(
    name = "ctm",
    version,
    propagate_version = true,
    max_term_width = 110,
    after_help = "\
Examples:
  ctm run gradient.x1k --size 64x64 --out o0=gradient.png
  ctm run job.toml --stats
  ctm asm gradient.x1k -o gradient.elf
  ctm dis gradient.elf
  ctm check *.x1k
  ctm isa mad

Exit codes: 0 done, 1 the program or job is wrong, 2 usage, 3 a fault while running, 4 a replay or a comparison gives something else, 130 ended by Ctrl-C."
)]
pub(crate) struct Cli {
    /// When to colour messages
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN", hide_possible_values = true)]
    pub(crate) color: When,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The instruction set, where a file does not say which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IsaName {
    /// X1K (R5xx)
    X1k,
    /// R700
    R700,
}

impl From<IsaName> for ctm::job::Isa {
    fn from(name: IsaName) -> Self {
        match name {
            IsaName::X1k => Self::X1k,
            IsaName::R700 => Self::R700,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Asm(AsmArgs),
    Compile(CompileArgs),
    Dis(DisArgs),
    Check(CheckArgs),
    Run(RunArgs),
    Merge(MergeArgs),
    Draw(Box<DrawArgs>),
    Exec(ExecArgs),
    Replay(ReplayArgs),
    Radeon(RadeonArgs),
    Glsl(GlslArgs),
    Pm4(crate::streams::Pm4Args),
    Trace(crate::trace::TraceArgs),
    Why(crate::trace::WhyArgs),
    Profile(crate::profile::ProfileArgs),
    Debug(crate::debug::DebugArgs),
    Compare(crate::compare::CompareArgs),
    Reduce(crate::reduce::ReduceArgs),
    Random(crate::random::RandomArgs),
    Lsp(crate::ide::LspArgs),
    Dap(crate::ide::DapArgs),
    Serve(crate::ide::ServeArgs),
    Isa(IsaArgs),
    Info(InfoArgs),
    Bench(BenchArgs),
    /// Put an array into the device's tiled order
    #[command(after_help = "\
Examples:
  ctm tile image.npy image.raw --format float32_4
  ctm tile image.raw tiled.raw --size 100x60 --format uint8_4
  ctm tile photo.png surface.raw --isa r700 --pipes 2")]
    Tile(TileArgs),
    /// Put an array in the device's tiled order back into rows
    #[command(after_help = "\
Examples:
  ctm untile tiled.raw image.npy --size 100x60 --format float32_4
  ctm untile tiled.raw image.png --size 100x60 --format uint8_4
  ctm untile surface.raw photo.png --isa r700 --pipes 2 --size 640x480 --element 4")]
    Untile(TileArgs),
    /// Print completions for a shell
    #[command(after_help = "\
Examples:
  ctm completions bash > ~/.local/share/bash-completion/completions/ctm
  ctm completions fish > ~/.config/fish/completions/ctm.fish")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one page per subcommand
    #[command(after_help = "\
Examples:
  ctm man | man -l -
  ctm man ~/.local/share/man/man1")]
    Man {
        /// Where the pages go; without it the page of `ctm` is printed
        directory: Option<PathBuf>,
    },
}

/// Assemble programs
///
/// Without -o the image goes beside the text, with the extension .elf.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm asm fill.x1k                   writes fill.elf
  ctm asm fill.x1k -o fill.hex       six words a line
  ctm asm fill.x1k -o -              the words to stdout
  ctm asm shader.psh -o shader.gsh   R700: a GFD container; .cal, .o, .hex and .bin as well
  ctm asm a.vsh a.psh -o a.gsh       a container of several programs
  ctm asm new.psh --into a.gsh       the pixel program of a container replaced
  ctm dis a.gsh -o a.txt && ctm asm a.txt -o b.gsh    a whole container as text, and the same bytes again
  ctm asm --explain fill.x1k         what the assembler worked out
  ctm asm *.x1k                      each beside its text")]
pub(crate) struct AsmArgs {
    /// Program texts; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Where the program goes: .elf, .hex or .bin; R700: .hex, .bin, .gsh (GFD), .cal (CAL image), .o (LLVM's ELF); `-` prints words. Only with one FILE, but several R700 programs can go into one .gsh
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// A GFD container in which the program takes the place of that of its stage; -o leaves the container alone and writes another
    #[arg(long, value_name = "CONTAINER")]
    pub(crate) into: Option<PathBuf>,
    /// Which program of the container --into, or of a container's text, by number or name
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) program: Option<String>,
    /// Print what the assembler worked out for each instruction (X1K)
    #[arg(long)]
    pub(crate) explain: bool,
    /// Make two groups of one whose operands find no read ports, where the result is the same (R700)
    #[arg(long)]
    pub(crate) split_groups: bool,
    /// Print findings as JSON, one object a line, to stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// The instruction set, where a file does not say which
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<IsaName>,
}

/// Compile Direct3D ps_3_0 assembly
///
/// Without -o the image goes beside the shader, with the extension .elf. A job takes a .ps file as its program, too.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm compile shader.ps                  writes shader.elf
  ctm compile shader.ps -o shader.x1k    X1K assembly, to read and to change
  ctm compile shader.ps -o -             the same to stdout
  ctm compile shader.ps -o shader.hex    six words a line
  ctm compile shader.ps && ctm check shader.elf && ctm run shader.elf --size 64x64 --out o0=out.png")]
pub(crate) struct CompileArgs {
    /// Shaders; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Where the program goes: .elf, .x1k, .hex or .bin; `-` prints X1K assembly. Only with one FILE
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Coordinates of lookups go from 0 to 1; otherwise they count elements, as the device's clients expect
    #[arg(long)]
    pub(crate) normalized: bool,
    /// Zero times infinity or NaN is NaN; otherwise it is zero, as in Direct3D 9
    #[arg(long)]
    pub(crate) ieee: bool,
    /// Print findings as JSON, one object a line, to stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print a program or a command buffer as text
///
/// What comes out goes into `ctm asm` unchanged, and gives the same words.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm dis fill.elf
  ctm dis fill.hex -o fill.x1k
  ctm dis shader.gsh --program 0     one of a container's R700 programs
  ctm dis commands.cmd               a command buffer (ctm run --dump-commands commands.cmd)")]
pub(crate) struct DisArgs {
    /// A program (.elf, .hex, .bin, .x1k; R700: .hex, .o, .gsh, CAL images) or a command buffer (.cmd); `-` is stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Where the text goes, instead of stdout
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Say in comments what the assembler would have worked out, where the words differ from it
    #[arg(long)]
    pub(crate) explain: bool,
    /// Repeat the words of each instruction in a comment (X1K)
    #[arg(long)]
    pub(crate) words: bool,
    /// Which program of a container, by number or name (R700; `ctm info` lists them)
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) program: Option<String>,
    /// The instruction set, where the file does not say which
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<IsaName>,
}

/// Check programs against the rules of the manual, and jobs
///
/// Of a job everything is looked at that can be found without running it: keys, programs, arrays, and the files that it writes.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm check fill.x1k
  ctm check --allow unused-result --allow dead-code *.elf
  ctm check --json fill.hex
  ctm check shader.gsh               every program of a container
  ctm check job.toml                 what a run would find before it begins
  ctm check --rules")]
pub(crate) struct CheckArgs {
    /// Programs and jobs (.toml); `-` is stdin
    #[arg(required_unless_present = "rules", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Leave a rule out; may be given several times
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// Print findings as JSON, one object a line, to stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// End with exit code 1 for warnings too
    #[arg(long)]
    pub(crate) strict: bool,
    /// List the rules; with --isa r700 those of R700 programs
    #[arg(long)]
    pub(crate) rules: bool,
    /// Which program of a container, by number or name (R700); all of them when left out
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) program: Option<String>,
    /// The instruction set, where a file does not say which
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<IsaName>,
}

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
    /// Print what the run did: instructions, lanes, fetches, bytes, clocks
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
/// Names are those of the programs' container, or of listings' settings. What is between the programs (which export goes to which
/// register, position, face, depth) follows from their registers. A job file holds several draws and all state (docs/draw-jobs.md); flags go
/// over what it says.
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
    /// The picture of the first target: .png, .npy, .pfm or .raw; without one, what the draw did is printed
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
    /// What an attribute takes, by name or location: position, normal, texcoord or colour
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
    /// How colours go over what is there: none, alpha, premultiplied, add or multiply
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
    /// Wall time of each draw, in seconds; what takes longer ends with a fault
    #[arg(long, value_name = "SECONDS")]
    pub(crate) budget_seconds: Option<f64>,
    /// Look for what does not fit together, and for what programs do that is legal but suspicious
    #[arg(long)]
    pub(crate) check: bool,
    /// Print every fragment that came to this pixel, and what happened to it
    #[arg(long, value_name = "X,Y")]
    pub(crate) at: Option<String>,
    /// Print what the draws did: vertices, primitives, pixels, overdraw
    #[arg(long)]
    pub(crate) stats: bool,
    /// Print what the draws did as JSON to stdout
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

/// Run a recording again and compare, or draw a capture
///
/// Every submission of the recorded process runs again, and what it leaves in memory is compared with what the process saw. The environment
/// variable CTM_RECORD=FILE makes a recording of any process that uses the library, `ctm run` too. A capture of a Radeon's driver is drawn instead.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  CTM_RECORD=trace ctm run job.toml    records
  ctm replay trace                     runs it again, on the engine that was recorded
  ctm replay trace --engine verify     on two engines, compared with each other too
  ctm replay trace --check             looks for mistakes in commands and programs
  ctm replay x.capture --list          a driver's capture: its draws, with what changed before each
  ctm replay x.capture --draw 7 -o at7 stops behind draw 7 and saves every bound target
  ctm replay x.capture --at 35,22      what every draw did to a pixel; with --draw 7 only that draw

Exit codes: 0 everything is as recorded, 1 the file is damaged or no recording, 3 a draw of a capture went wrong, 4 something differs.")]
pub(crate) struct ReplayArgs {
    /// The recording or the capture
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The engine: interp, jit or verify; without it, the one that was recorded
    #[arg(long, value_name = "ENGINE", value_parser = engine)]
    pub(crate) engine: Option<EngineKind>,
    /// Look for mistakes while running
    #[arg(long)]
    pub(crate) check: bool,
    /// Worker threads; 0: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=1024).map(usize::from))]
    pub(crate) threads: Option<usize>,
    /// Print what happened as JSON to stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Do not show progress
    #[arg(long)]
    pub(crate) no_progress: bool,
    /// Of a capture: stop behind this draw, counted from 1
    #[arg(long, value_name = "N")]
    pub(crate) draw: Option<u32>,
    /// Of a capture: tell what came to a pixel (column, row from the top of the picture) in each draw, or in that of --draw
    #[arg(long, value_name = "X,Y")]
    pub(crate) at: Option<String>,
    /// Of a capture: list the draws with the registers that changed
    #[arg(long)]
    pub(crate) list: bool,
    /// Of a capture: the folder that the bound targets are saved in
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// Run a program that finds a Radeon
///
/// The program runs with a preloaded library, in which the render node of an RV770 appears: drivers (Mesa's r600) find it as they find a card.
/// Programs without a window work: surfaceless EGL, and GBM on /dev/dri/renderD128. The exit code is the program's. Linux only.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm radeon -- eglinfo -B
  ctm radeon --stats -- wflinfo --platform surfaceless_egl --api gl --profile core
  ctm radeon --capture captures -- ./program      every submission with its buffers, a file for each process
  ctm radeon --no-execute --chip r580 -- ./program    compiles only, with Mesa's r300

docs/radeon.md describes environment variables, captures and what is executed.")]
pub(crate) struct RadeonArgs {
    /// Write a capture of each process into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) capture: Option<PathBuf>,
    /// Look for mistakes in submissions
    #[arg(long)]
    pub(crate) check: bool,
    /// Print what each process submitted when it ends
    #[arg(long)]
    pub(crate) stats: bool,
    /// The engine that runs programs: interp, jit or verify
    #[arg(long, value_name = "ENGINE", value_parser = engine)]
    pub(crate) engine: Option<EngineKind>,
    /// Take submissions and do nothing with them
    #[arg(long)]
    pub(crate) no_execute: bool,
    /// The chip that drivers see: rv770, or rv530 or r580, whose submissions are not executed
    #[arg(long, value_name = "CHIP", default_value = "rv770", value_parser = chip)]
    pub(crate) chip: Chip,
    /// The library, where it is not beside this program or in ../lib
    #[arg(long, value_name = "FILE")]
    pub(crate) library: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

/// Make R700 or X1K programs of GLSL, by the installed Mesa
///
/// The driver compiles and draws the pair once in a process in which a Radeon appears, and programs, registers and bindings are taken from its
/// stream. R700: textures and constants have the numbers that a console's programs have. X1K: the pixel program alone, of shaders up to version 120,
/// with the names of samplers and uniforms.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm glsl shader.vert shader.frag -o pair.gsh
  ctm draw pair.gsh --mesh cube -o cube.png
  ctm glsl shader.vert shader.frag -o pixel.hex     the words of the pixel program
  ctm glsl shader.vert shader.frag -o job.toml      a job of `ctm draw`, and the container beside it
  ctm glsl shader.vert shader.frag -o - | less      both as text
  ctm glsl shader.vert shader.frag --isa x1k -o job.toml      a job of `ctm run`, and the program beside it")]
pub(crate) struct GlslArgs {
    /// The vertex shader
    #[arg(value_name = "VERTEX")]
    pub(crate) vertex: PathBuf,
    /// The fragment shader
    #[arg(value_name = "FRAGMENT")]
    pub(crate) fragment: PathBuf,
    /// Where the programs go: .gsh, .hex (the pixel program) or .toml (a job, with a container beside it); `-` prints both as text. X1K: .x1k (text), .hex,
    /// .bin, .elf or .toml
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The instruction set
    #[arg(long, value_enum, value_name = "ISA", default_value = "r700")]
    pub(crate) isa: IsaName,
    /// The preloaded library, where it is not beside this program or in ../lib
    #[arg(long, value_name = "FILE")]
    pub(crate) library: Option<PathBuf>,
    /// Be the client that the driver compiles for
    #[arg(long, hide = true)]
    pub(crate) client: bool,
}

fn chip(text: &str) -> Result<Chip, String> {
    let found = Chip::ALL.iter().find(|(_, name)| *name == text).map(|(chip, _)| *chip);
    found.ok_or_else(|| format!("the chips are {}", Chip::ALL.map(|(_, name)| name).join(", ")))
}

/// Run command buffers on a device, without a job
#[derive(Args, Debug)]
#[command(after_help = "\
A place is an arena (gpu, gpub, sys, sysc), an arena and an offset (sys+0x1000), or an address (0x80001000).
Arenas begin at 0x10000000, 0x50000000, 0x80000000 and 0xa0000000. Command buffers are text, as `ctm dis` prints
them, or dwords (.bin). Programs in text (.x1k, .ps, .pso) go to memory as images, all other files as they are.

Examples:
  ctm exec copy.cmd --memory sys=copy.x1k --memory gpu=image.raw --dump gpu+0x100000:65536=out.raw
  ctm exec first.cmd second.bin --memory sys=program.elf --check")]
pub(crate) struct ExecArgs {
    /// The command buffers, one after the other; - is stdin
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Put a file into memory first: PLACE=FILE
    #[arg(long, value_name = "PLACE=FILE", value_parser = crate::exec::load)]
    pub(crate) memory: Vec<crate::exec::Load>,
    /// Save memory afterwards: PLACE:BYTES=FILE
    #[arg(long, value_name = "PLACE:BYTES=FILE", value_parser = crate::exec::dump)]
    pub(crate) dump: Vec<crate::exec::Dump>,
    /// Where the command buffers lie
    #[arg(long, value_name = "PLACE", default_value = "sysc", value_parser = crate::exec::place)]
    pub(crate) at: crate::exec::Place,
    /// The device: x1k (the default) or r700
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<IsaName>,
    /// The engine: interp, jit or verify
    #[arg(long, value_name = "ENGINE", value_parser = engine)]
    pub(crate) engine: Option<EngineKind>,
    /// Look for mistakes in commands and programs; caches are modelled
    #[arg(long)]
    pub(crate) check: bool,
    /// Print what happened as JSON to stdout, a line for each buffer and finding
    #[arg(long)]
    pub(crate) json: bool,
}

fn engine(name: &str) -> Result<EngineKind, String> {
    let names = || EngineKind::ALL.map(EngineKind::name).join(", ");
    EngineKind::from_name(name).ok_or_else(|| format!("there is no such engine; there are {}", names()))
}

/// The manual on the command line
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm isa                  what there is
  ctm isa mad              an operation
  ctm isa x1k US_CMN_INST  a word")]
pub(crate) struct IsaArgs {
    /// One JSON object per line for everything that has the name; without a name, one for each instruction set
    #[arg(long)]
    pub(crate) json: bool,
    /// An operation, word, field or command; with x1k or r700 in front where both have it
    #[arg(value_name = "TOPIC")]
    pub(crate) topic: Vec<String>,
}

/// Describe a file that holds a program
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm info fill.elf
  ctm info --json fill.hex")]
pub(crate) struct InfoArgs {
    /// Files; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print one JSON object a file
    #[arg(long)]
    pub(crate) json: bool,
    /// The instruction set, where a file does not say which
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<IsaName>,
}

/// Measure how fast programs run on this machine
///
/// Times the submission of one launch until its results are in memory, on a device of its own for each kernel. The first run, which
/// compiles, is listed by itself. Results are compared with a computation in double precision.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm bench                            all kernels, as a table
  ctm bench saxpy sgemm --rounds 10
  ctm bench --engine avx2 --threads 1
  ctm bench --isa r700
  ctm bench --quick --engine interp    small arrays: does everything work?
  ctm bench --launch                   what a launch of one processor costs
  ctm bench --scaling                  cost of a processor by size of the domain and number of threads
  ctm bench --programs jobs --size 1024x1024    every job file in a folder
  ctm bench --programs jobs life --seconds 20   one of them again and again, to look at with a profiler")]
pub(crate) struct BenchArgs {
    /// Kernels: saxpy, mandelbrot, sgemm, conv5x5, nbody, black-scholes, sum; with --programs names of jobs. Without one, all of them
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Measure the jobs (.toml) in this folder and the folders in it, instead of kernels
    #[arg(long, value_name = "DIR", conflicts_with_all = ["quick", "launch", "scaling"])]
    pub(crate) programs: Option<PathBuf>,
    /// With --programs: columns and rows of every domain, in place of what the job says
    ///
    /// What registers hold at the start is stretched over the new domain, unless it counts columns or rows one by one.
    #[arg(long, value_name = "WxH", requires = "programs")]
    pub(crate) size: Option<String>,
    /// With --programs: instead of --runs, launch each program again and again for so many seconds
    #[arg(long, value_name = "S", requires = "programs", conflicts_with = "runs")]
    pub(crate) seconds: Option<f64>,
    /// The instruction set; X1K without it, with --programs both
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<IsaName>,
    /// The engine, or the fast engine's back end
    #[arg(long, value_enum, default_value_t = BenchEngine::Jit, value_name = "ENGINE")]
    pub(crate) engine: BenchEngine,
    /// Worker threads; 0: one per core
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) threads: usize,
    /// How often the kernels take turns
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub(crate) rounds: u32,
    /// Timed runs of each turn
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub(crate) runs: u32,
    /// Small arrays
    #[arg(long)]
    pub(crate) quick: bool,
    /// Measure launches of one processor, 10000 of each kernel: saxpy, mandelbrot, black-scholes
    #[arg(long, conflicts_with_all = ["quick", "json", "tsv", "scaling", "rounds", "runs"])]
    pub(crate) launch: bool,
    /// Measure square domains of 64 to 4096 columns, with one thread and with all: mandelbrot, black-scholes
    #[arg(long, conflicts_with_all = ["quick", "json", "tsv", "rounds"])]
    pub(crate) scaling: bool,
    /// Print one JSON object a kernel
    #[arg(long)]
    pub(crate) json: bool,
    /// Print a line of tab-separated fields a kernel: RESULT, engine, kernel, median milliseconds
    ///
    /// With --programs also the fastest launch and the median processor time of all threads, in milliseconds.
    #[arg(long, conflicts_with = "json")]
    pub(crate) tsv: bool,
}

/// What `ctm bench` measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchEngine {
    /// The reference interpreter
    Interp,
    /// The fast engine with the back end that it would choose
    Jit,
    /// Its machine code for AVX-512
    Avx512,
    /// Its machine code for AVX2
    Avx2,
    /// Its back end for any machine
    Portable,
}

#[derive(Args, Debug)]
pub(crate) struct TileArgs {
    /// The array: .npy, .png, .pfm, or .raw
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// Where it goes
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Columns and rows; needed for .raw files
    #[arg(long, value_name = "WxH")]
    pub(crate) size: Option<String>,
    /// What an element is: uint16_1, uint8_4, float32_1, float32_2, float32_4
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// x1k (so it is): the order of the X1K's device; r700: surfaces of R6xx and R7xx
    #[arg(long, value_name = "ISA")]
    pub(crate) isa: Option<String>,
    /// r700: linear, 1d (1D_TILED_THIN1) or 2d (2D_TILED_THIN1, so it is); surfaces too small for 2D tiles have 1D tiles
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<String>,
    /// r700: bytes of an element, a texel or a compressed block: 1, 2, 4, 8 or 16
    #[arg(long, value_name = "BYTES")]
    pub(crate) element: Option<u32>,
    /// r700: pipes of the chip: 1, 2, 4 or 8 [default: 1; the console has 2]
    #[arg(long, value_name = "N")]
    pub(crate) pipes: Option<u32>,
    /// r700: banks of the memory: 4 or 8 [default: 4]
    #[arg(long, value_name = "N")]
    pub(crate) banks: Option<u32>,
    /// r700: the surface's pipe plus pipes times its bank
    #[arg(long, value_name = "N")]
    pub(crate) swizzle: Option<u32>,
    /// r700: elements have the order of depth surfaces
    #[arg(long)]
    pub(crate) depth_order: bool,
}
