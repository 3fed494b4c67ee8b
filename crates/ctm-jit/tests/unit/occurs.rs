//! X1K operations without machine code, compared with a list: whole programs that cannot be lowered, and lookups that
//! are calls of the reference function (all those of programs with uncached writes are). The programs are those of the
//! corpus, of the examples and of the benchmarks.

use crate::launch::events::events;
use crate::{Backend, Jit};
use ctm_exec::arrays::Picture;
use ctm_exec::engine::MemoryFault;
use ctm_exec::x1k::{
    Arrays, Constants, Elements, Filter, Form, Input, Launch, Memory, Outputs, Plane, Sampler, Wrap, Written,
};
use ctm_exec::{Budget, Domain, Engine, GroupSize, Position};
use ctm_ir::lower::x1k::Asked;
use ctm_ir::masked::Op;
use ctm_isa::x1k::INPUTS;
use ctm_isa::x1k::program::Literal;
use ctm_isa::x1k::text::assemble;
use ctm_isa::x1k::{Program, Words};
use std::path::{Path, PathBuf};

/// The options of lowering.
const ASKED: Asked = Asked { counts: false, relies: true };

pub(crate) fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
}

pub(crate) fn program(path: &Path) -> Program {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if path.extension().is_some_and(|e| e == "x1k") {
        let assembly = assemble(&text);
        return assembly.program.unwrap_or_else(|| panic!("{}: {:?}", path.display(), assembly.diagnostics));
    }
    let number = |word: &str| u32::from_str_radix(word.trim_start_matches("0x"), 16).ok();
    let words = |line: &str| -> Option<Words> {
        line.split_whitespace().filter_map(number).collect::<Vec<_>>().try_into().ok()
    };
    Program::from_words(text.lines().map(|line| words(line).unwrap_or_else(|| panic!("{line}"))).collect())
}

/// Inputs whose bytes are elements of another form.
struct Seen {
    arrays: Arrays,
    form: Form,
}

impl Memory for Seen {
    fn schedule(&mut self, at: Position) -> Result<bool, MemoryFault> {
        self.arrays.schedule(at)
    }

    fn input(&self, index: u8) -> Option<Input> {
        self.arrays.input(index)
    }

    fn read(&self, index: u8, x: u32, y: u32, uncached: bool) -> Result<[u32; 4], MemoryFault> {
        self.arrays.read(index, x, y, uncached)
    }

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        self.arrays.commit(at, outputs)
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        self.arrays.write_uncached(x, y, bits)
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }

    fn input_arrays(&self) -> [Option<Elements<&[u8]>>; INPUTS] {
        let channels = if matches!(self.form, Form::Bytes { .. }) { 4 } else { 1 };
        self.arrays.input_arrays().map(|elements| Some(Elements { form: self.form, channels, ..elements? }))
    }
}

/// Every wrap, nearest and linear, and outputs that launches do not store at once.
#[test]
fn lookups_are_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    for (folder, extension) in [("tests/corpus/mesa/x1k", "hex"), ("examples", "x1k"), ("bench", "x1k")] {
        let before = paths.len();
        files(&root.join(folder), extension, &mut paths);
        assert!(paths.len() > before, "{folder} holds no programs");
    }
    let wraps = [Wrap::Clamp, Wrap::Repeat, Wrap::Mirror, Wrap::Border];
    let samplers = [Filter::Nearest, Filter::Linear].into_iter().flat_map(|filter| {
        wraps.into_iter().map(move |wrap| Sampler { filter, wrap: [wrap, Wrap::Clamp], border: [7; 4] })
    });
    let samplers: Vec<Sampler> = samplers.collect();
    for backend in Backend::available().filter(|&backend| backend != Backend::Portable) {
        let engine = Jit::with_backend(backend);
        let (mut lookups, mut lowered) = (0, Vec::new());
        for path in &paths {
            let program = program(path);
            let mut constants = Constants::default();
            for literal in &program.literals {
                match *literal {
                    Literal::Float { index, bits } => constants.float[usize::from(index)] = bits,
                    Literal::Int { index, value } => constants.int[usize::from(index)] = value,
                    Literal::Bool { index, value } => constants.bool[usize::from(index)] = value,
                }
            }
            constants.int.iter_mut().filter(|int| **int == [0; 4]).for_each(|int| *int = [3, 0, 1, 0]);
            if let Some(code) = ctm_ir::lower::x1k::lower(&program, &constants, ASKED) {
                lowered.push(path);
                lookups += u32::from(code.inputs != 0);
            }
            for (number, &sampler) in samplers.iter().enumerate() {
                let mut memory = Arrays::default();
                let picture = Picture::from_fn(7, 5, |x, y| [x as f32, y as f32, 1.5, 0.25]);
                memory.inputs = std::array::from_fn(|_| Some((picture.clone(), sampler)));
                memory.outputs = std::array::from_fn(|_| Some(Picture::filled(64, 64, [0.0; 4])));
                let time = number.is_multiple_of(2).then_some(std::time::Duration::from_secs(3600));
                let launch = Launch {
                    program: &program,
                    constants: &constants,
                    planes: &[Plane::position(0), Plane::position(1)],
                    rows: &[],
                    domain: Domain { i0: 0, j0: 0, i1: 11, j1: 5 },
                    group: GroupSize::X1K,
                    draw: ctm_exec::x1k::DrawParts::default(),
                    budget: Budget { instructions_per_group: Some(100_000), time },
                    threads: 1,
                    checks: false,
                    counters: false,
                };
                let before = events().reference_fetches;
                let outcome = engine.run_x1k(&launch, &mut memory);
                assert!(outcome.is_ok(), "{}: {outcome:?}", path.display());
                // Fetches that see uncached writes read memory element by element. Where coordinates repeat, those that
                // are not finite are calls: texproj divides by zero.
                let repeats = matches!(sampler.wrap[0], Wrap::Repeat | Wrap::Mirror);
                let divides = repeats && path.ends_with("texproj.hex");
                let as_code = || program.uncached || divides || events().reference_fetches == before;
                assert!(as_code(), "{}, {sampler:?}, {backend}", path.display());
                let forms = [Form::Square, Form::Bytes { swapped: false }, Form::Words];
                let form = forms[number % forms.len()];
                if form == Form::Square && sampler.filter == Filter::Linear {
                    continue;
                }
                let outcome = engine.run_x1k(&launch, &mut Seen { arrays: memory, form });
                assert!(outcome.is_ok(), "{}: {outcome:?}", path.display());
                assert!(as_code(), "{}, {sampler:?}, {form:?}, {backend}", path.display());
            }
        }
        let left = paths.iter().filter(|path| !lowered.contains(path)).filter_map(|path| path.file_name());
        assert_eq!(left.count(), 0, "left to the reference interpreter");
        assert!(lookups > 8, "hardly a program looks up anything");
    }
}

/// Dot products test for results that left the range only where they may have (CTM §3.6.2): not those of squares and
/// constants of moderate size.
#[test]
fn sums_of_squares_and_constants_need_no_second_look() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dots = |file: &str, relies: bool| {
        let program = program(&root.join(file));
        let constants = Constants { int: [[16, 0, 0, 0]; ctm_isa::x1k::INT_CONSTANTS], ..Constants::default() };
        let code = ctm_ir::lower::x1k::lower(&program, &constants, Asked { counts: false, relies }).expect(file);
        let is_dot = |op: &&Op| matches!(op, Op::Dot(..));
        (code.blocks.iter().flat_map(|block| &block.ops).filter(is_dot).count(), code.moderate)
    };
    for file in ["bench/x1k/mandelbrot.x1k", "examples/nbody/nbody.x1k"] {
        let (count, moderate) = dots(file, true);
        assert_eq!(count, 0, "{file}");
        assert_eq!(moderate.len(), 1, "{file}: {moderate:?}");
        // A constant of any size does not prevent lowering.
        let (count, moderate) = dots(file, false);
        assert!(count > 0 && moderate.is_empty(), "{file}");
    }
}
