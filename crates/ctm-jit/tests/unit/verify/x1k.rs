//! Tests of `src/verify/x1k.rs`.

use super::*;
use crate::Jit;
use ctm_exec::arrays::Picture;
use ctm_exec::x1k::{Arrays, Constants, Plane, Sampler};
use ctm_exec::{Budget, Domain, Fault, GroupSize, Outcome};
use ctm_isa::x1k::text::assemble;

/// The fast engine, with registers that begin as given.
struct Other(Jit, Plane);

impl Engine for Other {
    fn name(&self) -> &'static str {
        "other"
    }

    fn run_x1k_under(&self, control: &Control, launch: &Launch<'_>, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
        self.0.run_x1k_under(control, &Launch { planes: &[self.1], ..*launch }, memory)
    }

    fn run_r700_under(
        &self,
        control: &Control,
        launch: &ctm_exec::r700::Launch<'_>,
        memory: &mut dyn ctm_exec::r700::Memory,
    ) -> Result<Outcome, Fault> {
        self.0.run_r700_under(control, launch, memory)
    }
}

/// What is found when the processor's row begins as `j` of each column instead of 0.
fn found(text: &str, memory: &Arrays, j: f64) -> Option<Difference> {
    let program = assemble(text).program.unwrap();
    let domain = Domain { i0: 0, j0: 0, i1: 63, j1: 31 };
    let planes = [Plane::position(0)];
    let launch = Launch {
        program: &program,
        constants: &Constants::default(),
        planes: &planes,
        rows: &[],
        domain,
        group: GroupSize::X1K,
        budget: Budget::default(),
        threads: 1,
        checks: false,
        counters: false,
    };
    let (mut left, mut expected) = (memory.clone(), memory.clone());
    let plane = Plane { di: [1.0, j, 0.0, 0.0], ..planes[0] };
    let (outcome, difference) = compare(&Other(Jit::new(), plane), &Control::none(), &launch, &mut left);
    assert_eq!(outcome, Interp.run_x1k(&launch, &mut expected));
    assert_eq!(left.outputs, expected.outputs, "memory has what the reference interpreter sent");
    difference
}

fn memory() -> Arrays {
    let mut memory = Arrays::default();
    memory.inputs[0] = Some((Picture::from_fn(64, 64, |x, y| [x as f32, y as f32, 2.0, 3.0]), Sampler::default()));
    memory.outputs[0] = Some(Picture::filled(64, 64, [-1.0; 4]));
    memory
}

const MOVES: &str = ".output o = o0\nmad r1.rgb, r0, r0, 1\nmad o, r0, 1, r1\nend\n";

#[test]
fn memory_that_is_lent_is_compared() {
    assert_eq!(found(MOVES, &memory(), 0.0), None);
    let difference = found(MOVES, &memory(), 2.0).unwrap();
    // The instruction that comes first has the register for a factor.
    assert_eq!((difference.pc, difference.position), (Some(0), Some(Position { i: 1, j: 0 })));
    assert_eq!(difference.message, "the engine gave 0x40a00000 for g of output 0, the reference 0x3f800000");
}

#[test]
fn what_is_read_back_is_as_it_was() {
    let aliased = Arrays { feedback: Some(1), ..memory() };
    let text = ".input i = s1\n.output o = o0\ntex r1, i, r0.rg\nadd o, r1, r0\nend\n";
    assert_eq!(found(text, &aliased, 0.0), None);
    let difference = found(text, &aliased, 1.0).unwrap();
    // The other lanes of the group have read (1, 1).
    assert_eq!(difference.message, "the engine read element (1, 2) of input 1, the reference did not");
}

#[test]
fn uncached_writes_are_compared() {
    let text = ".uncached\nmov r1, r0.rrg0\nmov umrt[each], r1\nend\n";
    for feedback in [None, Some(1)] {
        let memory = Arrays { feedback, ..memory() };
        assert_eq!(found(text, &memory, 0.0), None);
        let difference = found(text, &memory, 1.0).unwrap();
        let [found, expected] = ["(1, 1)", "(1, 0)"].map(|at| format!("0x3f800000 uncached to element {at}"));
        assert_eq!(difference.message, format!("the engine sent {found}, the reference {expected}"));
    }
}
