//! The clock model of R700 launches (`docs/clocks.md`), by hand.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::r700::{Arrays, Constants, Launch};
use ctm_exec::{Domain, Engine, GroupSize, Interp};
use ctm_isa::r700::program::Stage;
use ctm_isa::r700::text::{TextOptions, assemble};

/// Clocks of ALU, texture and flow control of a body with an end after it.
fn clocks(body: &str, lanes: u16, threads: u32) -> (u64, u64, u64) {
    let assembly = assemble(&format!("{body}NOP\nEND_OF_PROGRAM\n"), &TextOptions::default());
    let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
    let constants = Constants::default();
    let domain = Domain { i0: 0, j0: 0, i1: threads - 1, j1: 0 };
    let wavefront = GroupSize::new(lanes).unwrap();
    let launch = Launch { stage: Stage::Compute, wavefront, ..Launch::new(&program, &constants, domain) };
    let counters = Interp.run_r700(&launch, &mut Arrays::default()).unwrap().counters;
    (counters.alu_clocks, counters.tex_clocks, counters.fc_clocks)
}

#[test]
fn groups_fetches_and_control_flow() {
    let two = "ALU:\n 0 x: MOV R1.x, R0.x\n 1 x: MOV R1.x, R0.x\n";
    assert_eq!(clocks(two, 64, 64), (8, 0, 8));
    assert_eq!(clocks(two, 16, 64), (8, 0, 32));
    // The last wavefront holds 6 threads.
    assert_eq!(clocks(two, 64, 70), (8 + 2, 0, 16));
    let share = "TEX:\n LOCAL_DS_WRITE LDS[0], R0.xyzw STRIDE(4)\n LOCAL_DS_READ R1.xyzw, R0.xy\n";
    assert_eq!(clocks(share, 64, 64), (0, 32, 8));
    assert_eq!(clocks("TEX:\n LOCAL_DS_READ R1.xyzw, R0.xy WATERFALL\n", 64, 64), (0, 64, 8));
}

#[test]
fn the_address_register_is_waited_for() {
    let (mova, use_it) = ("x: MOVA_INT ____, R0.x", "x: MOV R1.x, C[AR.x+3].x");
    let between = "x: MOV R2.x, R0.x";
    let body = |lines: &[&str]| {
        let numbered: String = lines.iter().enumerate().map(|(n, line)| format!(" {n} {line}\n")).collect();
        format!("ALU:\n{numbered}")
    };
    let groups = |lines: &[&str]| clocks(&body(lines), 16, 16).0;
    assert_eq!(groups(&[mova, use_it]), 4);
    assert_eq!(groups(&[mova, between, use_it]), 4);
    assert_eq!(groups(&[mova, between, between, use_it]), 4);
    // The second use need not wait any more; an index in a destination counts as well.
    assert_eq!(groups(&[mova, use_it, use_it]), 5);
    assert_eq!(groups(&[mova, "x: MOV R1[AR.x].x, R0.x"]), 4);
    assert_eq!(groups(&[mova, use_it, mova, use_it]), 8);
    assert_eq!(groups(&[mova, between]), 2);
}
