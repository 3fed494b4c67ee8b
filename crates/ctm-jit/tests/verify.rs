//! `Verify` over random programs of all kinds: no difference, the results of the reference interpreter, and memory as
//! that leaves it.

use ctm_exec::arrays::Picture;
use ctm_exec::x1k::{Arrays, Constants, Launch, Plane};
use ctm_exec::{Budget, Domain, GroupSize, Interp, r700};
use ctm_isa::x1k;
use ctm_jit::{Backend, Jit, StreamLimits};
use ctm_testkit::changed::Begins;
use ctm_testkit::tries::{on_all_cores, seeds};
use ctm_testkit::x1k::case::KINDS;
use ctm_verify::Verify;

/// Programs of each kind, times `CTM_RANDOM`.
const PROGRAMS: u64 = 25;

#[test]
fn engines_agree_however_memory_is_reached() {
    let verifiers = || -> Vec<Verify<Jit>> {
        let limits = StreamLimits { processors: 1, past_caches_bytes: 8 << 20 };
        Backend::available().map(|backend| Verify::new(Jit::with_backend(backend).with_stream_limits(limits))).collect()
    };
    let cases: Vec<_> = KINDS.iter().flat_map(|kind| seeds(PROGRAMS).map(move |seed| (kind, seed))).collect();
    on_all_cores(0..cases.len() as u64, verifiers, |verifiers, number, differences| {
        let (kind, seed) = cases[number as usize];
        let (program, case) = kind.make(seed);
        let expected = case.run(&program, &Interp, 1);
        for verify in verifiers {
            let (outcome, left) = case.run(&program, verify, 1);
            if outcome != expected.0 {
                differences.add(seed, format!("{}: {outcome:?} instead of {:?}", kind.name, expected.0));
            }
            if let Some(text) = left.first_difference(&expected.1) {
                differences.add(seed, format!("{}: memory was changed: {text}", kind.name));
            }
        }
    });
}

fn assembled(text: &str) -> x1k::Program {
    let assembly = x1k::text::assemble(text);
    assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics))
}

/// Code whose registers begin otherwise, where it stores outputs by itself.
#[test]
fn the_first_difference_is_found() {
    let planes = [Plane::position(0)];
    let verify = || {
        // From column 1 on, the second channel is another.
        let plane = Plane { di: [1.0, 2.0, 0.0, 0.0], ..planes[0] };
        Verify::new(Begins { engine: Jit::new(), plane })
    };
    let domain = Domain { i0: 0, j0: 0, i1: 63, j1: 31 };
    let program = assembled(".output o = o0\nmov o, r0\nend\n");
    let launch = Launch {
        program: &program,
        constants: &Constants::default(),
        planes: &planes,
        rows: &[],
        domain,
        group: GroupSize::X1K,
        draw: ctm_exec::x1k::DrawParts::default(),
        budget: Budget::default(),
        threads: 1,
        checks: false,
        counters: false,
    };
    let mut memory = Arrays::default();
    memory.outputs[0] = Some(Picture::filled(64, 32, [-1.0; 4]));
    let (_, found) = verify().compare(&launch, &mut memory);
    let text = "the engine gave 0x40000000 for g of output 0, the reference 0x00000000, processor (1, 0)";
    assert_eq!(found.map(|found| found.to_string()).as_deref(), Some(text));

    // Where no array is mapped: written elements that are read back, and uncached writes.
    let reads = ".input i = s1\n.output o = o0\ntex r1, i, r0.rg\nadd o, r1, r0\nend\n";
    let uncached = ".uncached\nmov r1, r0.rrg0\nmov umrt[each], r1\nend\n";
    for (text, feedback, message) in [
        (reads, Some(1), "the engine read element (1, 2) of input 1, the reference did not"),
        (
            uncached,
            None,
            "the engine sent 0x3f800000 uncached to element (1, 2), the reference 0x3f800000 uncached to element (1, 0)",
        ),
    ] {
        let program = assembled(text);
        let mut memory = Arrays { feedback, ..memory.clone() };
        let (_, found) = verify().compare(&Launch { program: &program, ..launch }, &mut memory);
        assert_eq!(found.map(|found| found.message).as_deref(), Some(message));
    }

    let assembly = ctm_isa::r700::text::assemble("EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n", &Default::default());
    let Some(program) = assembly.program else { panic!("{:?}", assembly.diagnostics) };
    let constants = r700::Constants::default();
    let launch = r700::Launch { planes: &planes, ..r700::Launch::new(&program, &constants, domain) };
    let mut memory = r700::Arrays::default();
    memory.targets.insert(r700::Target::Pixel(0), Picture::filled(64, 32, [-1.0; 4]));
    let (_, found) = verify().compare_r700(&launch, &mut memory);
    let text = "the engine gave 0x40000000 for y of Pixel(0), the reference 0x00000000, processor (1, 0)";
    assert_eq!(found.map(|found| found.to_string()).as_deref(), Some(text));
}
