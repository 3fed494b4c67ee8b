//! Tests of `src/runtime/engine/journal.rs`.

use super::*;
use crate::{Backend, Jit};
use ctm_exec::arrays::Picture;
use ctm_exec::x1k::{Arrays, Constants, Launch, Plane, Sampler};
use ctm_exec::{Budget, Domain, Engine, Fault, FaultKind, GroupSize, Interp, Outcome};
use ctm_isa::x1k::program::{Literal, SymbolKind};
use ctm_isa::x1k::text::assemble;
use std::time::Duration;

/// An image of 21 x 60 elements, and zeros that are read through input 1.
fn arrays() -> Arrays {
    let mut memory = Arrays { feedback: Some(1), ..Arrays::default() };
    let image = Picture::from_fn(21, 60, |x, y| [(x * 7 + y * 13) as f32 % 61.0 / 61.0, 0.0, 0.0, 0.0]);
    memory.inputs[0] = Some((image, Sampler::default()));
    memory.outputs[0] = Some(Picture::filled(8, 21, [0.0; 4]));
    memory
}

/// What all bins hold.
fn counted(memory: &Arrays) -> f32 {
    memory.outputs[0].clone().map_or(0.0, |bins| bins.elements.iter().map(|bin| f32::from_bits(bin[0])).sum())
}

/// The histogram of the examples: each processor reads what it has written itself.
fn count(engine: &dyn Engine, bins: f32, budget: Budget, rows: u8, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
    let program = assemble(include_str!("../../../../../../examples/histogram/count.x1k")).program.unwrap();
    let mut constants = Constants::default();
    for literal in &program.literals {
        if let Literal::Float { index, bits } = *literal {
            constants.float[usize::from(index)] = bits;
        }
    }
    let place = |kind, name| usize::from(program.symbol(kind, name).unwrap());
    constants.float[place(SymbolKind::Float, "k")] = [bins.to_bits(); 4];
    constants.int[place(SymbolKind::Int, "rows")] = [rows, 0, 0, 0];
    constants.int[place(SymbolKind::Int, "blocks")] = [3, 0, 0, 0];
    let launch = Launch {
        program: &program,
        constants: &constants,
        planes: &[Plane::position(0)],
        rows: &[],
        domain: Domain { i0: 0, j0: 0, i1: 20, j1: 0 },
        group: GroupSize::X1K,
        budget,
        threads: 0,
        checks: false,
        counters: true,
    };
    engine.run_x1k(&launch, memory)
}

/// Memory whose third uncached write takes a while.
struct Slow {
    memory: Arrays,
    writes: u32,
}

const WHILE: Duration = Duration::from_millis(60);

impl Memory for Slow {
    fn schedule(&mut self, at: Position) -> Result<bool, MemoryFault> {
        self.memory.schedule(at)
    }

    fn input(&self, index: u8) -> Option<Input> {
        self.memory.input(index)
    }

    fn read(&self, index: u8, x: u32, y: u32, uncached: bool) -> Result<[u32; 4], MemoryFault> {
        self.memory.read(index, x, y, uncached)
    }

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        self.memory.commit(at, outputs)
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        self.writes += 1;
        if self.writes == 3 {
            std::thread::sleep(WHILE);
        }
        self.memory.write_uncached(x, y, bits)
    }

    fn outputs_alias_inputs(&self) -> bool {
        true
    }
}

/// Within the journal and beyond it, with writes that memory refuses, with budgets that run out.
#[test]
fn a_group_that_is_referred_goes_on_where_it_was() {
    for rows in [2, 20] {
        for (bins, instructions) in [(8.0, None), (9.0, None), (-8.0, None), (8.0, Some(70)), (8.0, Some(300))] {
            let budget = Budget { instructions_per_group: instructions, time: None };
            let mut left = arrays();
            let expected = count(&Interp, bins, budget, rows, &mut left);
            let iterations = 3 * u64::from(rows);
            assert_eq!(expected.is_ok(), bins == 8.0 && instructions.is_none_or(|most| most > 11 * iterations));
            if expected.is_ok() {
                assert_eq!(counted(&left), 21.0 * iterations as f32, "the reference interpreter counts every element");
            }
            for backend in Backend::available() {
                let mut found = arrays();
                let outcome = count(&Jit::with_backend(backend), bins, budget, rows, &mut found);
                assert_eq!(outcome, expected, "{backend}, {rows} rows, {bins} bins, {instructions:?} instructions");
                assert_eq!(found.outputs, left.outputs, "{backend}, {rows} rows, {bins} bins");
            }
        }
    }
}

/// Nothing is written twice, and nothing after that, by a group that has written when time is over.
#[test]
fn time_ends_a_group_that_has_written() {
    // Long enough for every engine to look whether to stop.
    const ROWS: u8 = 200;
    let budget = Budget { instructions_per_group: None, time: Some(WHILE / 2) };
    let engines = Backend::available().map(|backend| -> Box<dyn Engine> { Box::new(Jit::with_backend(backend)) });
    for engine in std::iter::once::<Box<dyn Engine>>(Box::new(Interp)).chain(engines) {
        let mut memory = Slow { memory: arrays(), writes: 0 };
        let outcome = count(&*engine, 8.0, budget, ROWS, &mut memory);
        let Err(Fault { kind: FaultKind::TimeBudget { .. }, .. }) = outcome else { panic!("{outcome:?}") };
        assert!((3..21 * 3 * u32::from(ROWS)).contains(&memory.writes), "{} writes", memory.writes);
        assert_eq!(counted(&memory.memory), memory.writes as f32);
    }
}
