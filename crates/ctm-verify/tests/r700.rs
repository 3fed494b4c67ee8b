//! R700 launches by an engine whose registers begin otherwise.

mod stores;

use ctm_exec::arrays::Picture;
use ctm_exec::r700::{Arrays, Constants, Launch, Plane, Target};
use ctm_exec::{Domain, Engine, Interp, Position};
use ctm_isa::r700::text::{TextOptions, assemble};
use ctm_testkit::changed::Begins;
use ctm_verify::Verify;
use stores::Stores;

/// By outputs that are sent, and by outputs that the engine stores where memory lends them.
#[test]
fn the_first_difference_is_found() {
    of(|| Interp);
    of(|| Stores);
}

fn of<E: Engine>(engine: impl Fn() -> E) {
    let assembly = assemble("EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n", &TextOptions::default());
    let Some(program) = assembly.program else { panic!("{:?}", assembly.diagnostics) };
    let constants = Constants::default();
    let planes = [Plane::position(0)];
    let mut launch = Launch::new(&program, &constants, Domain { i0: 0, j0: 0, i1: 15, j1: 3 });
    launch.planes = &planes;
    let mut memory = Arrays::default();
    memory.targets.insert(Target::Pixel(0), Picture::filled(16, 4, [-1.0; 4]));
    let (outcome, difference) = Verify::new(engine()).compare_r700(&launch, &mut memory);
    assert!(outcome.is_ok());
    assert_eq!(difference, None);
    // From column 1 on, y is another.
    let lie = Begins { engine: engine(), plane: Plane { di: [1.0, 2.0, 0.0, 0.0], ..planes[0] } };
    let (outcome, difference) = Verify::new(lie).compare_r700(&launch, &mut memory);
    assert!(outcome.is_ok());
    let Some(difference) = difference else { panic!("no difference found") };
    assert_eq!(difference.position, Some(Position { i: 1, j: 0 }));
    let message = "the engine gave 0x40000000 for y of Pixel(0), the reference 0x00000000";
    assert_eq!(difference.message, message);
    // Memory has the reference interpreter's writes.
    assert_eq!(memory.targets[&Target::Pixel(0)].get(1, 0), Some([1f32.to_bits(), 0, 0, 0]));
}
