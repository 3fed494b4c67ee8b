//! Everything of a random case that is not the program: constants, planes, domain, inputs. Shared by the tests of this crate.

use ctm_exec::x1k::arrays::Picture;
use ctm_exec::x1k::{Arrays, Constants, Filter, Launch, Memory, Plane, Sampler, Wrap};
use ctm_exec::{Budget, Domain, Engine, Fault, GroupSize, Outcome};
use ctm_isa::x1k::Program;
use ctm_isa::x1k::random::{CONSTANTS, INTS, Random};

/// Everything of one case that is not the program.
pub struct Case {
    pub constants: Constants,
    pub planes: Vec<Plane>,
    pub domain: Domain,
    pub group: GroupSize,
    pub budget: Budget,
    pub memory: Arrays,
}

impl Case {
    /// The case of this number.
    pub fn new(seed: u64) -> Self {
        let mut r = Random::new(seed ^ 0x5eed);
        let mut constants = Constants::default();
        for constant in constants.float.iter_mut().take(CONSTANTS as usize + 8) {
            *constant = std::array::from_fn(|_| r.value());
        }
        for int in constants.int.iter_mut().take(INTS as usize) {
            // Count, initial aL, step.
            *int = [r.below(5) as u8, r.below(4) as u8, r.of(&[0, 1, 2, 255]), 0];
        }
        constants.bool = std::array::from_fn(|_| r.one_in(2));
        let mut plane = |temp| Plane {
            temp,
            origin: std::array::from_fn(|_| f64::from(r.below(33)) / 8.0 - 2.0),
            di: std::array::from_fn(|_| f64::from(r.below(17)) / 32.0 - 0.25),
            dj: std::array::from_fn(|_| f64::from(r.below(17)) / 16.0 - 0.5),
            bits: false,
        };
        let mut planes = vec![Plane::position(0), plane(1), plane(2), plane(3)];
        if r.one_in(4) {
            // Special values as bits: every lane another denormal, then NaNs.
            planes.push(Plane { temp: 4, origin: [8e6, 4.29e9, 3e9, 5.0], di: [1.0; 4], dj: [1e5; 4], bits: true });
        }
        let sampler = |r: &mut Random| Sampler {
            filter: if r.one_in(3) { Filter::Linear } else { Filter::Nearest },
            wrap: std::array::from_fn(|_| r.of(&[Wrap::Clamp, Wrap::Clamp, Wrap::Repeat, Wrap::Mirror, Wrap::Border])),
            border: std::array::from_fn(|_| r.value()),
        };
        let mut memory = Arrays::default();
        for (index, (w, h)) in [(8, 8), (5, 3)].into_iter().enumerate() {
            let elements = (0..w * h).map(|_| std::array::from_fn(|_| r.value())).collect();
            let sampler = if index == 0 { Sampler::default() } else { sampler(&mut r) };
            memory.inputs[index] = Some((Picture { width: w, height: h, elements }, sampler));
        }
        let (i0, j0) = (r.below(4), r.below(4));
        let domain = Domain { i0, j0, i1: i0 + r.below(20), j1: j0 + r.below(9) };
        for output in &mut memory.outputs {
            *output = Some(Picture::filled(32, 16, [-3.0; 4]));
        }
        let group = GroupSize::new(r.of(&[16, 16, 16, 4, 8, 12])).unwrap_or(GroupSize::X1K);
        let instructions_per_group = Some(if r.one_in(8) { u64::from(r.below(200)) } else { 5000 });
        Self { constants, planes, domain, group, budget: Budget { instructions_per_group, time: None }, memory }
    }

    /// Runs a program over memory with these constants.
    pub fn run_on(
        &self,
        program: &Program,
        engine: &dyn Engine,
        threads: usize,
        constants: &Constants,
        memory: &mut dyn Memory,
    ) -> Result<Outcome, Fault> {
        let launch = Launch {
            program,
            constants,
            planes: &self.planes,
            domain: self.domain,
            group: self.group,
            budget: self.budget,
            threads,
            checks: false,
        };
        engine.run_x1k(&launch, memory)
    }

    /// Runs a program over a copy of the case's memory.
    pub fn run(&self, program: &Program, engine: &dyn Engine, threads: usize) -> (Result<Outcome, Fault>, Arrays) {
        let mut memory = self.memory.clone();
        let outcome = self.run_on(program, engine, threads, &self.constants, &mut memory);
        (outcome, memory)
    }
}

/// Random numbers of tests: seeds, `count` times `CTM_RANDOM`, or the one that `CTM_SEED` names.
pub fn seeds(count: u64) -> std::ops::Range<u64> {
    match std::env::var("CTM_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => seed..seed + 1,
        // `CTM_RANDOM=n` tries n times as many.
        None => 0..count * std::env::var("CTM_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(1),
    }
}

/// The first element of an output that differs.
pub fn first_difference(found: &Arrays, expected: &Arrays) -> Option<String> {
    for (target, (found, expected)) in found.outputs.iter().zip(&expected.outputs).enumerate() {
        let (found, expected) = (found.as_ref()?, expected.as_ref()?);
        for (index, (f, e)) in found.elements.iter().zip(&expected.elements).enumerate() {
            if f != e {
                let (x, y) = (index as u32 % found.width, index as u32 / found.width);
                return Some(format!("output {target} ({x}, {y}): {f:08x?} instead of {e:08x?}"));
            }
        }
    }
    None
}
