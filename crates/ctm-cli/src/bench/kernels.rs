//! Kernels of `ctm bench`: programs, their arrays, and expected results.

use ctm::mc::{Format, Tiling};

/// The size of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// As published: arrays larger than the caches.
    Full,
    /// A few thousand processors: to see that everything works.
    Quick,
    /// Columns and rows of kernels with a free domain size.
    Side(u32),
}

impl Size {
    const fn of(self, full: u32, quick: u32) -> u32 {
        match self {
            Self::Full => full,
            Self::Quick => quick,
            Self::Side(side) => side,
        }
    }
}

/// An input of random numbers, four channels an element.
#[derive(Clone, Debug)]
pub(super) struct KernelInput {
    pub(super) slot: u8,
    /// Columns and rows.
    pub(super) size: [u32; 2],
    /// Lowest and highest number of each channel.
    pub(super) range: [(f32, f32); 4],
    pub(super) tiling: Tiling,
}

/// An output.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelOutput {
    pub(super) slot: u8,
    pub(super) format: Format,
}

/// How fast is given in these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorkUnit {
    /// Bytes that the kernel must read and write.
    Bytes,
    /// Floating-point operations that its definition takes.
    Operations,
    /// Elements.
    Elements,
}

/// Inputs as the check sees them: slot, column, row.
pub(super) type Texel<'a> = dyn Fn(u8, u32, u32) -> [f64; 4] + 'a;

/// A program's text, and its name for messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text {
    pub(super) text: &'static str,
    pub(super) file: &'static str,
}

/// A kernel as an X1K program.
#[derive(Clone, Debug)]
pub(super) struct X1kProgram {
    pub(super) text: Text,
    /// Floating-point constants that the text leaves open.
    pub(super) floats: Vec<(u8, [f32; 4])>,
    pub(super) ints: Vec<(u8, [u8; 4])>,
}

/// A kernel as an R700 pixel program.
#[derive(Clone, Debug)]
pub(super) struct R700Program {
    pub(super) text: Text,
    /// Constant buffer 0.
    pub(super) constants: Vec<[f32; 4]>,
    /// How often the loops of i0, i1 ... are run.
    pub(super) turns: Vec<u16>,
}

/// A kernel: programs and everything that they need.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    pub(super) name: &'static str,
    pub(super) summary: String,
    pub(super) x1k: X1kProgram,
    pub(super) r700: R700Program,
    /// Columns and rows.
    pub(super) domain: [u32; 2],
    pub(super) inputs: Vec<KernelInput>,
    pub(super) outputs: Vec<KernelOutput>,
    /// The work of one run, in units.
    pub(super) work: f64,
    pub(super) unit: WorkUnit,
    /// The expected value of output 0 of a processor, computed in double precision; `None` where rounding decides too much.
    pub(super) expected: fn(&Kernel, &Texel<'_>, u32, u32) -> Option<[f64; 4]>,
    /// How far off it may be, relative to the number or to 1.
    pub(super) tolerance: f64,
}

/// A program of the project. `programs/` has links to them, so that the package of this crate has the files.
macro_rules! text {
    ($file:literal) => {
        Text { text: include_str!(concat!("../../programs/", $file)), file: $file }
    };
}

/// Makes a kernel.
type Make = fn(Size) -> Kernel;

/// Every kernel by its name.
const KERNELS: [(&str, Make); 7] = [
    ("saxpy", saxpy),
    ("mandelbrot", mandelbrot),
    ("sgemm", sgemm),
    ("conv5x5", conv5x5),
    ("nbody", nbody),
    ("black-scholes", black_scholes),
    ("sum", sum),
];

/// The names of all kernels.
pub(super) fn names() -> Vec<&'static str> {
    KERNELS.iter().map(|&(name, _)| name).collect()
}

/// A kernel by its name.
pub(super) fn kernel(name: &str, size: Size) -> Option<Kernel> {
    KERNELS.iter().find(|&&(known, _)| known == name).map(|(_, make)| make(size))
}

fn input(slot: u8, size: [u32; 2], range: (f32, f32)) -> KernelInput {
    KernelInput { slot, size, range: [range; 4], tiling: Tiling::Linear }
}

fn elements(domain: [u32; 2]) -> f64 {
    f64::from(domain[0]) * f64::from(domain[1])
}

const WHOLE: [KernelOutput; 1] = [KernelOutput { slot: 0, format: Format::Float32x4 }];
const NUMBER: [KernelOutput; 1] = [KernelOutput { slot: 0, format: Format::Float32x1 }];

fn saxpy(size: Size) -> Kernel {
    let domain = [size.of(2048, 64); 2];
    let factor = [1.7, 0.0, 0.0, 0.0];
    Kernel {
        name: "saxpy",
        summary: format!("a*x + y, {} numbers", 4.0 * elements(domain)),
        x1k: X1kProgram { text: text!("examples/saxpy/saxpy.x1k"), floats: vec![(0, factor)], ints: Vec::new() },
        r700: R700Program { text: text!("examples/r700/saxpy/saxpy.psh"), constants: vec![factor], turns: Vec::new() },
        domain,
        inputs: vec![input(0, domain, (0.0, 1.0)), input(1, domain, (0.0, 1.0))],
        outputs: WHOLE.to_vec(),
        work: 3.0 * 16.0 * elements(domain),
        unit: WorkUnit::Bytes,
        expected: |_, texel, i, j| {
            let (x, y) = (texel(0, i, j), texel(1, i, j));
            Some(std::array::from_fn(|c| f64::from(1.7f32) * x[c] + y[c]))
        },
        tolerance: 1e-6,
    }
}

fn mandelbrot(size: Size) -> Kernel {
    let side = size.of(1024, 64);
    let domain = [side; 2];
    let view = match size {
        Size::Full | Size::Quick => [-2.0, -1.5, 3.0 / side as f32, 0.0],
        // Inside of the set, where every processor takes all turns whatever their number.
        Size::Side(_) => [-0.1, -0.1, 0.2 / side as f32, 0.0],
    };
    Kernel {
        name: "mandelbrot",
        summary: format!("{side} x {side} points, at most 256 turns"),
        x1k: X1kProgram { text: text!("bench/x1k/mandelbrot.x1k"), floats: vec![(0, view)], ints: Vec::new() },
        r700: R700Program { text: text!("bench/r700/mandelbrot.psh"), constants: vec![view], turns: vec![256] },
        domain,
        inputs: Vec::new(),
        outputs: NUMBER.to_vec(),
        work: elements(domain),
        unit: WorkUnit::Elements,
        expected: |kernel, _, i, j| {
            let width = 3.0 / f64::from(kernel.domain[0]);
            let c = (-2.0 + f64::from(i) * width, -1.5 + f64::from(j) * width);
            let (mut z, mut turns) = ((0.0, 0.0), 0);
            while turns < 256 {
                z = (z.0 * z.0 - z.1 * z.1 + c.0, 2.0 * z.0 * z.1 + c.1);
                turns += 1;
                let norm = z.0 * z.0 + z.1 * z.1;
                if norm >= 4.0 {
                    break;
                }
            }
            // Long orbits near the border of the set hang on the last bits of single precision.
            (turns < 32 || turns == 256 && c.0.hypot(c.1) < 0.2).then(|| [f64::from(turns), 0.0, 0.0, 0.0])
        },
        tolerance: 0.0,
    }
}

fn sgemm(size: Size) -> Kernel {
    let n = size.of(1024, 64);
    let domain = [n / 4, n];
    let steps = n / 4;
    let blocks = steps.min(16);
    Kernel {
        name: "sgemm",
        summary: format!("C = A * B, {n} x {n}, four numbers of C a processor"),
        x1k: X1kProgram {
            text: text!("examples/matmul/matmul.x1k"),
            floats: Vec::new(),
            ints: vec![(0, [blocks as u8, 0, 0, 0]), (1, [(steps / blocks) as u8, 0, 0, 0])],
        },
        r700: R700Program {
            text: text!("examples/r700/matmul/matmul.psh"),
            constants: Vec::new(),
            turns: vec![steps as u16],
        },
        domain,
        inputs: vec![input(0, domain, (-1.0, 1.0)), input(1, domain, (-1.0, 1.0))],
        outputs: WHOLE.to_vec(),
        work: 2.0 * f64::from(n).powi(3),
        unit: WorkUnit::Operations,
        expected: |kernel, texel, i, j| {
            let mut sum = [0.0; 4];
            for k in 0..kernel.domain[0] {
                let a = texel(0, k, j);
                for (m, a) in (0..).zip(a) {
                    let b = texel(1, i, 4 * k + m);
                    sum.iter_mut().zip(b).for_each(|(s, b)| *s += a * b);
                }
            }
            Some(sum)
        },
        tolerance: 1e-4,
    }
}

const BINOMIAL: [f32; 5] = [1.0, 4.0, 6.0, 4.0, 1.0];

fn conv5x5(size: Size) -> Kernel {
    let side = size.of(2048, 64);
    let domain = [side; 2];
    let weights: Vec<[f32; 4]> = (0..25).map(|n| [BINOMIAL[n / 5] * BINOMIAL[n % 5] / 256.0, 0.0, 0.0, 0.0]).collect();
    Kernel {
        name: "conv5x5",
        summary: format!("{side} x {side} pixels of four channels, 25 weights"),
        x1k: X1kProgram {
            text: text!("examples/conv5x5/conv5x5.x1k"),
            floats: (1..).zip(weights.iter().copied()).collect(),
            ints: Vec::new(),
        },
        r700: R700Program { text: text!("bench/r700/conv5x5.psh"), constants: weights, turns: Vec::new() },
        domain,
        inputs: vec![input(0, domain, (0.0, 1.0))],
        outputs: WHOLE.to_vec(),
        work: 2.0 * 25.0 * 4.0 * elements(domain),
        unit: WorkUnit::Operations,
        expected: |kernel, texel, i, j| {
            let last = kernel.domain[0] - 1;
            let mut sum = [0.0; 4];
            for (dj, wj) in (0..).zip(BINOMIAL) {
                for (di, wi) in (0..).zip(BINOMIAL) {
                    let (x, y) = ((i + di).saturating_sub(2).min(last), (j + dj).saturating_sub(2).min(last));
                    let p = texel(0, x, y);
                    (0..4).for_each(|c| sum[c] += f64::from(wi * wj) / 256.0 * p[c]);
                }
            }
            Some(sum)
        },
        tolerance: 1e-5,
    }
}

fn nbody(size: Size) -> Kernel {
    let side = size.of(64, 16);
    let domain = [side; 2];
    let bodies = side * side;
    let step = [0.01, 0.1, 0.0, 0.0];
    Kernel {
        name: "nbody",
        summary: format!("one step of {bodies} bodies"),
        x1k: X1kProgram {
            text: text!("examples/nbody/nbody.x1k"),
            floats: vec![(0, step)],
            ints: vec![(0, [side as u8, 0, 0, 0]), (1, [side as u8, 0, 0, 0])],
        },
        r700: R700Program {
            text: text!("examples/r700/nbody/nbody.psh"),
            constants: vec![step],
            turns: vec![side as u16; 2],
        },
        domain,
        inputs: vec![
            KernelInput {
                slot: 0,
                size: domain,
                range: [(-1.0, 1.0), (-1.0, 1.0), (-1.0, 1.0), (0.5, 1.0)],
                tiling: Tiling::Linear,
            },
            input(1, domain, (0.0, 0.0)),
        ],
        outputs: vec![
            KernelOutput { slot: 0, format: Format::Float32x4 },
            KernelOutput { slot: 1, format: Format::Float32x4 },
        ],
        // The usual count: twenty operations for each pair.
        work: 20.0 * f64::from(bodies) * f64::from(bodies),
        unit: WorkUnit::Operations,
        expected: |kernel, texel, i, j| {
            let [width, height] = kernel.domain;
            let (x, v) = (texel(0, i, j), texel(1, i, j));
            let mut acceleration = [0.0; 3];
            for row in 0..height {
                for column in 0..width {
                    let q = texel(0, column, row);
                    let d: [f64; 3] = std::array::from_fn(|c| q[c] - x[c]);
                    let r2 = d.iter().map(|d| d * d).sum::<f64>() + 0.01;
                    (0..3).for_each(|c| acceleration[c] += q[3] * d[c] / (r2 * r2.sqrt()));
                }
            }
            let moved = |c: usize| x[c] + 0.01 * (v[c] + 0.01 * acceleration[c]);
            Some([moved(0), moved(1), moved(2), x[3]])
        },
        tolerance: 1e-4,
    }
}

fn black_scholes(size: Size) -> Kernel {
    let domain = [size.of(2048, 64); 2];
    let range = [(5.0, 30.0), (1.0, 100.0), (0.25, 10.0), (0.0, 0.0)];
    let market = [0.02, 0.3, 0.065, 1.0 / 0.3];
    Kernel {
        name: "black-scholes",
        summary: format!("{} options", elements(domain)),
        x1k: X1kProgram {
            text: text!("examples/black-scholes/black-scholes.x1k"),
            floats: vec![(0, market)],
            ints: Vec::new(),
        },
        r700: R700Program {
            text: text!("examples/r700/black-scholes/black-scholes.psh"),
            constants: vec![
                market,
                [std::f32::consts::LN_2, std::f32::consts::LOG2_E, -0.721_347_5, 0.398_942_3],
                [0.319_381_53, -0.356_563_78, 1.781_477_9, -1.821_256],
                [1.330_274_4, 0.231_641_9, 0.0, 0.0],
            ],
            turns: Vec::new(),
        },
        domain,
        inputs: vec![KernelInput { slot: 0, size: domain, range, tiling: Tiling::Linear }],
        outputs: vec![KernelOutput { slot: 0, format: Format::Float32x2 }],
        work: elements(domain),
        unit: WorkUnit::Elements,
        expected: |_, texel, i, j| {
            let [price, strike, years, _] = texel(0, i, j);
            let (rate, volatility) = (0.02, f64::from(0.3f32));
            let root = years.sqrt();
            let d1 = ((price / strike).ln() + (rate + volatility * volatility / 2.0) * years) / (volatility * root);
            let d2 = d1 - volatility * root;
            let paid = strike * (-rate * years).exp();
            let call = price * normal(d1) - paid * normal(d2);
            Some([call, call - price + paid, 0.0, 0.0])
        },
        tolerance: 5e-4,
    }
}

/// The normal distribution, by Simpson's rule over its density.
fn normal(d: f64) -> f64 {
    const STEPS: u32 = 400;
    let density = |x: f64| (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let end = d.clamp(-8.0, 8.0);
    let step = end / f64::from(STEPS);
    let weight = |n| match n {
        0 | STEPS => 1.0,
        n if n % 2 == 1 => 4.0,
        _ => 2.0,
    };
    0.5 + step / 3.0 * (0..=STEPS).map(|n| weight(n) * density(step * f64::from(n))).sum::<f64>()
}

fn sum(size: Size) -> Kernel {
    let side = size.of(2048, 128);
    let values = [side; 2];
    let turns = side / 64;
    Kernel {
        name: "sum",
        summary: format!("the sum of {} numbers, as 16 partial sums a row", 4.0 * elements(values)),
        x1k: X1kProgram {
            text: text!("bench/x1k/sum.x1k"),
            floats: Vec::new(),
            ints: vec![(0, [turns as u8, 0, 0, 0])],
        },
        r700: R700Program { text: text!("bench/r700/sum.psh"), constants: Vec::new(), turns: vec![turns as u16] },
        domain: [16, side],
        inputs: vec![input(0, values, (0.0, 1.0))],
        outputs: NUMBER.to_vec(),
        work: 16.0 * elements(values),
        unit: WorkUnit::Bytes,
        expected: |kernel, texel, i, j| {
            let columns = kernel.inputs[0].size[0];
            let sum = (i..columns).step_by(16).flat_map(|x| texel(0, x, j)).sum();
            Some([sum, 0.0, 0.0, 0.0])
        },
        tolerance: 1e-5,
    }
}
