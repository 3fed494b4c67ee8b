//! Launches: budgets, faults, scheduling, threads, counters, findings.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::arrays::Picture;
use ctm_exec::engine::MemoryFault;
use ctm_exec::x1k::checks::RULES;
use ctm_exec::x1k::{Arrays, Input, Memory, Outputs, Sampler, Written};
use ctm_exec::{Budget, Domain, FaultKind, Position};
use ctm_isa::x1k::inst::Source;
use ctm_isa::x1k::ops::{AOp, AlphaOp, CompareOp, FcOp, Imod, PredSel, RgbOp, Swizzle, TexOp};
use ctm_testkit::x1k::build::{Build, Setup, add, at, c, copy, fc, op, out, program, r, tex, to};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// An output of the size of the default domain, all -1.
fn memory() -> Arrays {
    let mut memory = Arrays::default();
    memory.outputs[0] = Some(Picture::filled(4, 4, [-1.0; 4]));
    memory
}

/// Sets predicate bit R for columns up to `limit`.
fn columns_below(limit: u8) -> ctm_isa::x1k::inst::AluInst {
    add(r(0), c(limit)).with(|alu| {
        (alu.rgba.rgb_imod_c, alu.rgba.alpha_imod_c) = (Imod::Neg, Imod::Neg);
        alu.cmn.rgb_omask = 1;
        alu.rgb.target = CompareOp::Less.code() as u8;
    })
}

fn position(i: u32, j: u32) -> Option<Position> {
    Some(Position { i, j })
}

#[test]
fn budgets_end_endless_loops() {
    let endless = program(vec![fc(FcOp::Jump, 0xff, 0).words(), out(copy(c(1))).words()]);
    let mut setup = Setup::default();
    let fault = setup.run(&endless, &mut memory()).unwrap_err();
    assert_eq!((fault.kind, fault.pc), (FaultKind::InstructionBudget { limit: 10_000 }, 0));
    let limit = Duration::from_millis(20);
    setup.budget = Budget { instructions_per_group: None, time: Some(limit) };
    let start = Instant::now();
    let fault = setup.run(&endless, &mut memory()).unwrap_err();
    assert_eq!(fault.kind, FaultKind::TimeBudget { limit });
    assert!(start.elapsed() < Duration::from_secs(5));
    // The budget counts issued instructions: a program of two instructions fits one of two.
    setup.budget = Budget { instructions_per_group: Some(2), time: None };
    let two = program(vec![to(copy(c(1)), 1).words(), out(copy(r(1))).words()]);
    setup.run(&two, &mut memory()).unwrap();
    setup.budget.instructions_per_group = Some(1);
    let fault = setup.run(&two, &mut memory()).unwrap_err();
    assert_eq!((fault.kind, fault.pc), (FaultKind::InstructionBudget { limit: 1 }, 1));
}

#[test]
fn what_cannot_be_decoded_or_reached_is_a_fault() {
    let setup = Setup::default();
    let bad = [0x0000_0000, 0, 0, 0, 0, 15];
    // RGB_OP 15 has no meaning; it matters only if it is executed.
    let fault = setup.run(&program(vec![bad, out(copy(c(1))).words()]), &mut memory()).unwrap_err();
    assert_eq!((fault.code(), fault.pc), ("undecodable-instruction", 0));
    let skipped = program(vec![fc(FcOp::Jump, 0xff, 2).words(), bad, out(copy(c(1))).words()]);
    setup.run(&skipped, &mut memory()).unwrap();
    let away = program(vec![fc(FcOp::Jump, 0xff, 300).words(), out(copy(c(1))).words()]);
    let fault = setup.run(&away, &mut memory()).unwrap_err();
    assert_eq!((fault.kind, fault.pc), (FaultKind::PcOutOfRange { target: 300, slots: 2 }, 0));
    let mut through = program(vec![to(copy(c(1)), 1).words(); 3]);
    through.last = 7;
    let fault = setup.run(&through, &mut memory()).unwrap_err();
    assert_eq!((fault.kind, fault.pc), (FaultKind::PcOutOfRange { target: 3, slots: 3 }, 2));
    let fault = setup.run(&program(vec![]), &mut memory()).unwrap_err();
    assert_eq!(fault.code(), "pc-out-of-range");
    // The instruction at `last` ends the program even if it is a jump.
    let mut ends = program(vec![out(copy(c(1))).words(), fc(FcOp::Jump, 0xff, 0).words()]);
    ends.last = 1;
    setup.run(&ends, &mut memory()).unwrap();
    // ... and stack faults name their instruction.
    let mut pop = fc(FcOp::Jump, 0xff, 0);
    pop.inst.a_op = AOp::Pop;
    let fault = setup.run(&program(vec![pop.words(), out(copy(c(1))).words()]), &mut memory()).unwrap_err();
    assert_eq!((fault.kind, fault.pc), (FaultKind::StackUnderflow { stack: "address" }, 0));
}

#[test]
fn a_lookup_without_an_input() {
    let words = vec![tex(TexOp::Lookup, 6, 0, 1).words(), out(copy(r(1))).words()];
    let fault = Setup::default().run(&program(words.clone()), &mut memory()).unwrap_err();
    assert_eq!((fault.code(), fault.pc, fault.position), ("memory", 0, position(0, 0)));
    assert!(fault.to_string().starts_with("input 6: no input is bound there"), "{fault}");
    let setup = Setup { checks: true, ..Setup::default() };
    let mut memory = memory();
    let outcome = setup.run(&program(words), &mut memory).unwrap();
    assert_eq!(outcome.findings[0].rule, "unbound-input");
    assert_eq!(at(&memory, 0, 0), [0.0; 4]);
}

/// Memory that logs accesses.
#[derive(Default)]
struct Watched {
    inner: Arrays,
    scheduled: Vec<Position>,
    committed: Vec<Position>,
    /// Columns that are not to run.
    refused_columns: BTreeSet<u32>,
    /// A place at which commits fail.
    broken: Option<Position>,
}

impl Memory for Watched {
    fn schedule(&mut self, at: Position) -> Result<bool, MemoryFault> {
        self.scheduled.push(at);
        Ok(!self.refused_columns.contains(&at.i))
    }
    fn input(&self, index: u8) -> Option<Input> {
        self.inner.input(index)
    }
    fn read(&self, index: u8, x: u32, y: u32, uncached: bool) -> Result<[u32; 4], MemoryFault> {
        self.inner.read(index, x, y, uncached)
    }
    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        if self.broken == Some(at) {
            return Err(MemoryFault { what: "output 0".into(), address: Some(64), reason: "broken".into() });
        }
        self.committed.push(at);
        self.inner.commit(at, outputs)
    }
    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        self.inner.write_uncached(x, y, bits)
    }
    fn outputs_alias_inputs(&self) -> bool {
        false
    }
}

/// Quads row by row, 2 x 2 processors each, aligned to even index pairs; groups go across row ends.
#[test]
fn processors_come_in_quads() {
    let setup = Setup { domain: Domain { i0: 1, j0: 1, i1: 4, j1: 2 }, group: 8, ..Setup::default() };
    let mut memory = Watched { refused_columns: [3].into(), ..Watched::default() };
    let outcome = setup.run(&program(vec![out(copy(r(0))).words()]), &mut memory).unwrap();
    let order = [(1, 1), (2, 1), (3, 1), (4, 1), (1, 2), (2, 2), (3, 2), (4, 2)].map(|(i, j)| Position { i, j });
    assert_eq!(memory.scheduled, order);
    let committed: Vec<_> = order.into_iter().filter(|at| at.i != 3).collect();
    assert_eq!(memory.committed, committed);
    // 3 x 2 quads in groups of two.
    assert_eq!((outcome.counters.groups, outcome.counters.processors, outcome.counters.total_lanes), (3, 6, 24));
    // No lane is covered: no group runs.
    let mut memory = Watched { refused_columns: (0..9).collect(), ..Watched::default() };
    let outcome = setup.run(&program(vec![out(copy(r(0))).words()]), &mut memory).unwrap();
    assert_eq!((outcome.counters.groups, memory.committed.len()), (0, 0));
    // An empty domain does nothing.
    let setup = Setup { domain: Domain { i0: 3, j0: 0, i1: 2, j1: 5 }, ..Setup::default() };
    assert_eq!(setup.run(&program(vec![]), &mut memory).unwrap().counters.groups, 0);
}

/// Groups before the faulty one have written their outputs, those after it nothing.
#[test]
fn faults_come_in_domain_order() {
    // Processors of columns 64 and more take a jump to nowhere.
    let words = vec![
        columns_below(64).words(),
        fc(FcOp::Jump, 0x33, 400).with(|fc| fc.cmn.rgb_pred_sel = PredSel::Rrrr).words(),
        out(copy(c(3))).words(),
    ];
    for threads in [0, 1, 2, 3] {
        let setup = Setup { domain: Domain { i0: 0, j0: 0, i1: 127, j1: 1 }, threads, ..Setup::default() };
        let mut memory = Watched::default();
        let fault = setup.run(&program(words.clone()), &mut memory).unwrap_err();
        assert_eq!((fault.code(), fault.pc), ("pc-out-of-range", 1));
        assert_eq!(memory.committed.len(), 128, "threads {threads}");
    }
    let setup = Setup { domain: Domain { i0: 0, j0: 0, i1: 127, j1: 1 }, ..Setup::default() };
    let mut memory = Watched { broken: position(9, 0), ..Watched::default() };
    let fault = setup.run(&program(vec![out(copy(c(3))).words()]), &mut memory).unwrap_err();
    assert_eq!((fault.code(), fault.pc, fault.position), ("memory", 0, position(9, 0)));
    assert!(fault.to_string().ends_with("(address 0x00000040), at instruction 0 for processor (9, 0)"), "{fault}");
}

/// Thread counts change nothing: outputs, counters, findings.
#[test]
fn threads_change_nothing() {
    let words = vec![
        to(op(RgbOp::Sop, AlphaOp::Sin, &[r(0)]).with(|alu| alu.alpha.swiz_a = Swizzle::R), 1).words(),
        tex(TexOp::Lookup, 0, 1, 2).with(|tex| tex.inst.unscaled = false).words(),
        out(add(r(2), r(3))).words(),
    ];
    let run = |threads| {
        let setup =
            Setup { domain: Domain { i0: 3, j0: 5, i1: 260, j1: 190 }, threads, checks: true, ..Setup::default() };
        let mut memory = Arrays::default();
        memory.inputs[0] = Some((Picture::from_fn(16, 16, |x, y| [x as f32, y as f32, 0.0, 1.0]), Sampler::default()));
        memory.outputs[0] = Some(Picture::filled(300, 200, [-1.0; 4]));
        let outcome = setup.run(&program(words.clone()), &mut memory).unwrap();
        (outcome, memory.outputs[0].take().unwrap())
    };
    let one = run(1);
    assert!(!one.0.findings.is_empty());
    for threads in [0, 2, 5] {
        assert_eq!(one, run(threads), "threads {threads}");
    }
}

/// The clock model of `docs/clocks.md`.
#[test]
fn counters() {
    let words = vec![
        to(copy(c(1)), 1).with(|alu| alu.cmn.nop = true).words(),
        tex(TexOp::Nop, 0, 0, 0).words(),
        tex(TexOp::Lookup, 0, 0, 2).words(),
        fc(FcOp::Jump, 0xff, 4).words(),
        out(copy(r(2))).words(),
    ];
    let setup = Setup { domain: Domain { i0: 0, j0: 0, i1: 8, j1: 1 }, ..Setup::default() };
    let mut memory = Arrays::default();
    memory.inputs[0] = Some((Picture::filled(4, 4, [1.0; 4]), Sampler::default()));
    let counters = setup.run(&program(words), &mut memory).unwrap().counters;
    // Five quads: one group of four, one of one. The last quad has two processors outside the domain.
    assert_eq!((counters.groups, counters.processors), (2, 18));
    assert_eq!((counters.alu, counters.output, counters.tex, counters.fc), (2, 2, 4, 2));
    assert_eq!(
        (counters.alu_clocks, counters.tex_clocks, counters.fc_clocks),
        (4 + 1 + 4 + 1 + 1 + 1, 1 + 4 + 1 + 1, 2)
    );
    assert_eq!((counters.active_lanes, counters.total_lanes), (18 * 5, 20 * 5));
    assert_eq!((counters.fetches, counters.fetch_bytes), (18, 18 * 16));
    assert_eq!((counters.instructions(), counters.clocks()), (10, 12));
}

/// Every check of a checked run, and that a clean program has no findings.
#[test]
fn findings() {
    let jump_any = |fc: &mut ctm_isa::x1k::inst::FcInstruction| fc.inst.jump_any = true;
    let relative = Source::Const { index: 3, relative: true };
    let setup = Setup { checks: true, ..Setup::default() };
    let mut found = BTreeSet::new();
    let mut check = |wanted: &str, words: Vec<[u32; 6]>, uncached: bool| {
        let mut program = program(words);
        program.uncached = uncached;
        program.conditional_value = false;
        let mut memory = memory();
        memory.inputs[0] = Some((Picture::filled(2, 2, [0.0; 4]), Sampler::default()));
        let outcome = setup.run(&program, &mut memory).unwrap();
        let rules: Vec<_> = outcome.findings.iter().map(|f| f.rule).collect();
        assert_eq!(rules.join(" "), wanted, "{:?}", outcome.findings);
        found.extend(rules);
    };
    let end = out(copy(c(1))).words();
    check("", vec![columns_below(2).words(), to(copy(r(0)), 1).words(), out(copy(r(1))).words()], false);
    check("uninitialised-temporary", vec![out(copy(r(1))).words()], false);
    check(
        "uninitialised-predicate",
        vec![to(copy(c(1)), 1).with(|alu| alu.cmn.rgb_pred_sel = PredSel::Gggg).words(), end],
        false,
    );
    check("undefined-alu-result", vec![fc(FcOp::Jump, 0x0f, 1).words(), end], false);
    check("loop-variable-outside-loop", vec![to(copy(relative), 1).words(), end], false);
    check("fetch-out-of-bounds", vec![tex(TexOp::Lookup, 0, 0, 1).words(), end], false);
    check("unbound-input", vec![tex(TexOp::Lookup, 1, 0, 1).words(), end], false);
    // All processors write 0 to the element (0.25, 0.5).
    let same_place = vec![out(copy(c(0))).with(|alu| alu.rgb.target = 2).words()];
    check("umrt-alpha umrt-index racing-writes", same_place, true);
    check("umrt-partial-mask", vec![out(copy(c(0))).with(|alu| alu.cmn.alpha_omask = false).words()], true);
    check("conditional-value-not-exported", vec![out(copy(c(0))).with(|alu| alu.alpha.w_omask = true).words()], false);
    let mut rep = fc(FcOp::Rep, 0x00, 3);
    rep.addr.int_addr = 1;
    let mut with_loop = Setup { checks: true, ..Setup::default() };
    with_loop.constants.int[1] = [1, 0, 0, 0];
    let words = vec![rep.words(), to(copy(c(1)), 1).words(), fc(FcOp::EndLoop, 0xff, 1).with(jump_any).words(), end];
    let outcome = with_loop.run(&program(words), &mut memory()).unwrap();
    assert_eq!(outcome.findings.iter().map(|f| (f.rule, f.pc)).collect::<Vec<_>>(), [("loop-kind", 2)]);
    found.insert("loop-kind");
    // These depend on a device's memory; its tests have them.
    found.extend(["cached-read", "umrt-conditional"]);
    assert_eq!(found, RULES.iter().map(|rule| rule.name).collect());
}
