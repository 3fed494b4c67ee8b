//! Measurements.

use crate::values::IsaName;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

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
    /// With --programs: columns and rows of every domain, in place of the job's
    ///
    /// Start values of registers are stretched over the new domain, unless it counts columns or rows one by one.
    #[arg(long, value_name = "WxH", requires = "programs")]
    pub(crate) size: Option<String>,
    /// With --programs: instead of --runs, launch each program repeatedly for this number of seconds
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

/// Measurements of `ctm bench`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchEngine {
    /// The reference interpreter
    Interp,
    /// The fast engine with the back end that it chooses, or `CTM_ENGINE_ISA` names
    Jit,
    /// Its machine code for AVX-512
    Avx512,
    /// Its machine code for AVX2
    Avx2,
    /// Its machine code with vectors of 128 bits
    Cranelift,
    /// Its back end for any machine
    Portable,
}
