//! Tests of `src/verify/r700.rs`.

use super::*;
use ctm_exec::Domain;
use ctm_exec::arrays::Picture;
use ctm_exec::r700::{Arrays, Constants, Plane};
use ctm_isa::r700::text::{Options, assemble};
use ctm_testkit::changed::{Changed, Run};

/// By outputs that are sent, and by outputs that the engine stores where memory lends them.
#[test]
fn the_first_difference_is_found() {
    let assembly = assemble("EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n", &Options::default());
    let Some(program) = assembly.program else { panic!("{:?}", assembly.diagnostics) };
    let constants = Constants::default();
    let planes = [Plane::position(0)];
    let mut launch = Launch::new(&program, &constants, Domain { i0: 0, j0: 0, i1: 15, j1: 3 });
    launch.planes = &planes;
    // From column 1 on, y is another.
    let lie = Plane { di: [1.0, 2.0, 0.0, 0.0], ..planes[0] };
    // Engines whose registers begin as given.
    let engines = |plane: Plane| -> [Box<dyn Engine>; 2] {
        let change = move |launch: &Launch<'_>, run: Run<'_>| run(&Launch { planes: &[plane], ..*launch });
        [Box::new(Changed { engine: Interp, change }), Box::new(Changed { engine: crate::Jit::new(), change })]
    };
    for (engine, liar) in engines(planes[0]).into_iter().zip(engines(lie)) {
        let mut memory = Arrays::default();
        memory.targets.insert(Target::Pixel(0), Picture::filled(16, 4, [-1.0; 4]));
        let (outcome, difference) = compare(&*engine, &Control::none(), &launch, &mut memory);
        assert!(outcome.is_ok());
        assert_eq!(difference, None);
        let (outcome, difference) = compare(&*liar, &Control::none(), &launch, &mut memory);
        assert!(outcome.is_ok());
        let Some(difference) = difference else { panic!("no difference found") };
        assert_eq!(difference.position, Some(Position { i: 1, j: 0 }));
        let message = "the engine gave 0x40000000 for y of Pixel(0), the reference 0x00000000";
        assert_eq!(difference.message, message);
        // Memory has what the reference interpreter sent.
        assert_eq!(memory.targets[&Target::Pixel(0)].get(1, 0), Some([1f32.to_bits(), 0, 0, 0]));
    }
}
