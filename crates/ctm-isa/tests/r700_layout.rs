//! Defaults of the assembler: layout, units, literals, bank swizzles, limits.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ctm_isa::r700::inst::{AluClause, Cf, ClauseBody, Group, Slot};
use ctm_isa::r700::ops::{AluUnit, CfAluOp, CfOp, Source};
use ctm_isa::r700::program::{Chip, SymbolKind};
use ctm_isa::r700::text::{TextOptions, assemble};
use ctm_isa::r700::{Program, ports};

fn assembled(source: &str) -> Program {
    with(source, &TextOptions::default())
}

fn with(source: &str, options: &TextOptions) -> Program {
    let assembly = assemble(source, options);
    // Most of these texts are clauses without an end.
    let found: Vec<_> = assembly.diagnostics.iter().filter(|d| d.rule != "no-end").collect();
    assert!(found.is_empty(), "{found:?}\n{source}");
    assembly.program.unwrap()
}

/// The ALU clauses in the order of their instructions.
fn clauses(program: &Program) -> Vec<AluClause> {
    let decoded = program.decode();
    let alu = |body: &ClauseBody| match body {
        ClauseBody::Alu(clause) => Some((**clause).clone()),
        _ => None,
    };
    decoded.entries.iter().filter_map(|e| alu(&e.clause)).collect()
}

fn units(group: &Group) -> String {
    group.slots.iter().map(|s| s.unit.name()).collect()
}

#[test]
fn labels_become_addresses() {
    let program = assembled(
        "ALU_PUSH_BEFORE:\n x: PRED_SETGT ____, R0.x, 0.5f UPDATE_EXEC_MASK UPDATE_PRED\nJUMP POP_CNT(1) ADDR(otherwise)\n\
         ALU:\n x: MOV R1.x, 1.0f\notherwise:\nELSE POP_CNT(1) ADDR(done)\nALU_POP_AFTER:\n x: MOV R1.x, 0.0f\ndone:\n\
         EXP_DONE: PIX0, R1.xxx1\nEND_OF_PROGRAM\n",
    );
    let decoded = program.decode();
    let targets: Vec<(u32, u32)> = decoded
        .entries
        .iter()
        .filter_map(|e| match &e.cf {
            Ok(Cf::Plain(p)) if matches!(p.word1.op, CfOp::Jump | CfOp::Else) => Some((e.addr, p.word0.addr)),
            _ => None,
        })
        .collect();
    assert_eq!(targets, [(1, 3), (3, 5)]);
    assert_eq!((program.gprs, program.stack), (2, 1));
}

#[test]
fn clauses_follow_the_control_flow_and_fetches_are_aligned() {
    let program = assembled(
        "ALU:\n x: MOV R0.x, R1.x\nTEX:\n SAMPLE R0.xyzw, R0.xy__, t0, s0\nALU:\n x: MOV R0.x, R0.y\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n",
    );
    let at: Vec<_> = program.decode().entries.iter().filter_map(|e| e.cf.unwrap().clause()).collect();
    assert_eq!(at, [(4, 1), (6, 2), (8, 1)]);
}

#[test]
fn units_follow_from_operations_and_elements() {
    // R700 §4.4 with ALU_INST_PREFER_VECTOR set: the element's unit if it is free, else t.
    let program = assembled(
        "ALU:\nMUL R0.x, R1.x, R2.x\nMUL R3.x, R1.y, R2.y\nADD R4.w, R1.z, 1.0f\n\nRCP_e R5.x, R0.x\nMOV R6.x, PV.w\n\n\
         MOV ____, R1.x\nMOV ____, R1.y\n",
    );
    let clause = &clauses(&program)[0];
    let all: Vec<String> = clause.groups.iter().map(units).collect();
    assert_eq!(all, ["xwt", "xt", "xy"]);
    assert_eq!(clause.groups[0].slots[2].inst.destination().0, 3);
}

#[test]
fn groups_without_numbers_end_where_the_order_does() {
    let program = assembled(
        "ALU:\n x: MOV R0.x, R1.x\n y: MOV R0.y, R1.y\n x: MOV R0.x, R1.z\n t: SIN R0.z, PV.x\n\n w: MOV R0.w, PS\n",
    );
    let all: Vec<String> = clauses(&program)[0].groups.iter().map(units).collect();
    assert_eq!(all, ["xy", "xt", "w"]);
}

#[test]
fn literals_share_places() {
    let program = assembled(
        "ALU:\n0 x: ADD R0.x, 2.0f, (0x40400000, 3.0f)\n  y: ADD R0.y, 2.0f, 4.0f\n  z: MOV R0.z, (0x12345678).w\n1 x: ADD_INT R0.x, 7, -7\n2 x: MOV R0.x, -2.5f\n",
    );
    let groups = &clauses(&program)[0].groups;
    assert_eq!(groups[0].literals, [0x4000_0000, 0x4040_0000, 0x4080_0000, 0x1234_5678]);
    assert_eq!((groups[1].literals[0], groups[1].literals[1]), (7, 7u32.wrapping_neg()));
    assert_eq!(groups[1].literal_dwords, 2);
    let operand = groups[2].slots[0].inst.operand(0);
    assert_eq!((groups[2].literals[0], operand.neg), (2.5f32.to_bits(), true));
}

#[test]
fn inline_constants_need_no_literals() {
    let program = assembled(
        "ALU:\n0 x: ADD R0.x, 1.0f, 0.5\n  y: ADD_INT R0.y, 1, -1\n  z: ADD R0.z, 0, -1.0f\n  t: MUL R1.x, -0.5f, 0.0f\n",
    );
    assert_eq!(clauses(&program)[0].groups[0].literal_dwords, 0);
}

#[test]
fn a_long_alu_clause_is_cut_where_nothing_is_lost() {
    // Groups of three: the second and third read the results before them, so cuts fall on multiples of three.
    let mut source = "ALU_PUSH_BEFORE: KCACHE0(CB2:0-15)\n".to_owned();
    for i in 0..60 {
        source += &format!("{} x: MOV R1.x, KC0[{}].x\n", 3 * i, i % 16);
        source += &format!("{} x: ADD R2.x, PV.x, R2.x\n", 3 * i + 1);
        source += &format!("{} x: ADD R3.x, PV.x, (0x{:08X}, 0.0f)\n", 3 * i + 2, i);
    }
    // 60 * (1 + 1 + 2) = 240 slots.
    let source =
        source.replace(", 0.0f)", ")") + "JUMP POP_CNT(1) ADDR(end)\nend:\nEXP_DONE: PIX0, R3.xxxx\nEND_OF_PROGRAM\n";
    let program = assembled(&source);
    let decoded = program.decode();
    let ops: Vec<_> = decoded
        .entries
        .iter()
        .filter_map(|e| match &e.cf {
            Ok(Cf::Alu(alu)) => Some((alu.word1.op, alu.slots(), alu.kcache()[0].bank)),
            _ => None,
        })
        .collect();
    assert_eq!(ops, [(CfAluOp::PushBefore, 128, 2), (CfAluOp::Alu, 112, 2)]);
    for clause in clauses(&program) {
        let first = clause.groups[0].slots[0].inst;
        assert!(matches!(first.operand(0).source, Source::Kcache { .. }));
    }
    let Ok(Cf::Plain(jump)) = decoded.at(2).unwrap().cf else { panic!() };
    assert_eq!(jump.word0.addr, 3, "labels move with what they name");
}

#[test]
fn a_clause_that_cannot_be_cut_is_refused() {
    let mut source = "ALU:\n0 x: MOV R1.x, R0.x\n".to_owned();
    for i in 1..140 {
        source += &format!("{i} x: ADD R1.x, PV.x, R0.x\n");
    }
    let assembly = assemble(&(source + "EXP_DONE: PIX0, R1.xxxx\nEND_OF_PROGRAM\n"), &TextOptions::default());
    assert_eq!(assembly.diagnostics.iter().map(|d| d.rule).collect::<Vec<_>>(), ["clause-size"]);
}

#[test]
fn what_a_clause_keeps_is_not_cut_off() {
    // AR, the predicate and clause temporaries do not survive a clause (R700 §3.3.1, §4.6, §9 of r700-encoding).
    for (set, used) in [
        ("x: MOVA_INT ____, R0.x", "x: MOV R1.x, R2[AR.x].x"),
        ("x: PRED_SETE ____, R0.x, 0.0f UPDATE_PRED", "x: MOV R1.x, R2.x PRED_SEL_ONE"),
        ("x: MOV R125.x, R0.x", "x: MOV R1.x, R125.x"),
    ] {
        let mut source = "ALU:\n".to_owned();
        for i in 0..100 {
            source += &format!("{i} x: ADD R1.x, R1.x, R0.x\n");
        }
        source += &format!("100 {set}\n");
        for i in 101..150 {
            source += &format!("{i} {used}\n");
        }
        let program = assembled(&(source + "EXP_DONE: PIX0, R1.xxxx\nEND_OF_PROGRAM\n"));
        let sizes: Vec<usize> = clauses(&program).iter().map(|c| c.groups.len()).collect();
        assert_eq!(sizes, [100, 50], "{set}");
    }
}

#[test]
fn a_clause_is_not_cut_behind_a_change_of_the_mask() {
    // The mask changes at the end of the clause (R700 §3.6.3): code after the predicate must stay with it.
    let mut source = "ALU_PUSH_BEFORE:\n".to_owned();
    for i in 0..150 {
        let line = if i == 100 { "PRED_SETE ____, R0.x, 0.0f UPDATE_EXEC_MASK" } else { "ADD R1.x, R1.x, R0.x" };
        source += &format!("{i} x: {line}\n");
    }
    source += "JUMP POP_CNT(1) ADDR(end)\nend:\nEXP_DONE: PIX0, R1.xxxx\nEND_OF_PROGRAM\n";
    let sizes: Vec<usize> = clauses(&assembled(&source)).iter().map(|c| c.groups.len()).collect();
    assert_eq!(sizes, [100, 50]);
    let early = source.replace("100 x: PRED_SETE ____, R0.x, 0.0f UPDATE_EXEC_MASK", "100 x: ADD R1.x, R1.x, R0.x");
    let early =
        early.replace("0 x: ADD R1.x, R1.x, R0.x\n1 x:", "0 x: PRED_SETE ____, R0.x, 0.0f UPDATE_EXEC_MASK\n1 x:");
    let assembly = assemble(&early, &TextOptions::default());
    assert_eq!(assembly.diagnostics.iter().map(|d| d.rule).collect::<Vec<_>>(), ["clause-size"]);
}

#[test]
fn seventeen_fetches_are_two_clauses() {
    let fetches: String = (0..17).map(|i| format!("SAMPLE R{i}.xyzw, R0.xy__, t0, s0\n")).collect();
    let program = assembled(&format!("TEX:\n{fetches}EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n"));
    let counts: Vec<u32> = program
        .decode()
        .entries
        .iter()
        .filter_map(|e| match &e.cf {
            Ok(Cf::Plain(p)) if p.word1.op == CfOp::Tex => Some(p.fetches()),
            _ => None,
        })
        .collect();
    assert_eq!(counts, [9, 8]);
}

#[test]
fn cutting_does_not_move_numbered_targets() {
    let fetches: String = (0..17).map(|i| format!("SAMPLE R{i}.xyzw, R0.xy__, t0, s0\n")).collect();
    let assembly = assemble(
        &format!("TEX:\n{fetches}JUMP ADDR(2)\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n"),
        &TextOptions::default(),
    );
    assert!(assembly.diagnostics.iter().any(|d| d.rule == "clause-size"), "{:?}", assembly.diagnostics);
}

#[test]
fn bank_swizzles_are_found() {
    let program = assembled(
        "ALU:\n0 x: MULADD R0.x, R1.x, R2.x, R3.x\n  y: MULADD R0.y, R3.x, R1.x, R2.x\n  z: MUL R0.z, R2.x, R3.x\n  t: RCP_e R5.w, R1.x\n",
    );
    let group = &clauses(&program)[0].groups[0];
    assert_eq!(ports::check(&group.slots), Ok(()));
    // Explicit values stay.
    let program = assembled("ALU:\n0 x: ADD R0.x, R1.x, R2.x VEC_210\n  y: ADD R0.y, R1.x, R2.x\n");
    let swizzles: Vec<u8> = clauses(&program)[0].groups[0].slots.iter().map(|s| s.inst.bank_swizzle()).collect();
    assert_eq!(swizzles[0], 5);
    assert_eq!(ports::check(&clauses(&program)[0].groups[0].slots), Ok(()));
}

#[test]
fn solving_agrees_with_trying_everything() {
    let mut state = 5u32;
    let mut below = |n: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % n
    };
    let (mut solved, mut impossible) = (0, 0);
    for _ in 0..400 {
        let mut source = "ALU:\n".to_owned();
        for (i, unit) in ["x", "y", "z"].iter().enumerate() {
            let mut operand = || match below(8) {
                0 => format!("KC0[{}].{}", below(3), ["x", "z"][below(2) as usize]),
                _ => format!("R{}.{}", 1 + below(4), ["x", "y"][below(2) as usize]),
            };
            let (a, b, c) = (operand(), operand(), operand());
            source += &format!("{} {unit}: MULADD R0.{unit}, {a}, {b}, {c} VEC_012\n", if i == 0 { "0" } else { "" });
        }
        // Unchecked keeps the written swizzles whatever they are.
        let slots: Vec<Slot> = clauses(&assembled(&format!(".unchecked\n{source}")))[0].groups[0].slots.clone();
        let exhaustive = (0..216u32).find_map(|n| {
            let mut slots = slots.clone();
            for (slot, swizzle) in slots.iter_mut().zip([n / 36, n / 6 % 6, n % 6]) {
                slot.inst.set_bank_swizzle(u8::try_from(swizzle).unwrap());
            }
            ports::check(&slots).is_ok().then(|| slots.iter().map(|s| s.inst.bank_swizzle()).collect::<Vec<_>>())
        });
        assert_eq!(ports::solve(&slots, &[]).ok(), exhaustive, "{source}");
        if exhaustive.is_some() { solved += 1 } else { impossible += 1 }
    }
    assert!(solved > 20 && impossible > 20, "{solved} {impossible}");
}

#[test]
fn a_group_without_ports_becomes_two_when_asked() {
    let source = "ALU:\n0 x: MULADD R0.x, R1.x, R2.x, R3.x\n  y: MULADD R0.y, R4.x, R5.x, R6.x\n  z: MOV R0.z, 2.0f\n1 x: MOV R7.x, R0.y\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n";
    let refused = assemble(source, &TextOptions::default());
    assert_eq!(refused.diagnostics.iter().map(|d| d.rule).collect::<Vec<_>>(), ["read-port"]);
    let program = with(source, &TextOptions { split_groups: true, ..TextOptions::default() });
    let all: Vec<String> = clauses(&program)[0].groups.iter().map(units).collect();
    assert_eq!(all, ["xz", "y", "x"]);
    for group in &clauses(&program)[0].groups {
        assert_eq!(ports::check(&group.slots), Ok(()));
    }
    // An exchange reads both registers before it writes either: it cannot be two groups.
    let exchange = "ALU:\n0 x: MULADD R1.x, R2.y, R3.x, R4.x\n  y: MULADD R2.y, R1.x, R5.x, R6.x\n";
    let assembly = assemble(exchange, &TextOptions { split_groups: true, ..TextOptions::default() });
    assert_eq!(assembly.diagnostics.iter().map(|d| d.rule).collect::<Vec<_>>(), ["read-port"]);
    // The next group may not read results that the first part alone has.
    let assembly = assemble(
        &source.replace("R7.x, R0.y", "R7.x, PV.x"),
        &TextOptions { split_groups: true, ..TextOptions::default() },
    );
    assert!(assembly.diagnostics.iter().any(|d| d.rule == "read-port"), "{:?}", assembly.diagnostics);
}

#[test]
fn names_stand_for_registers_constants_and_resources() {
    let program = assembled(
        ".stage pixel\n.reg colour R3\n.reg where R1\n.const tint KC0[5]\n.const bias C7\n.resource picture t18\n.sampler nearest s2\n.buffer table b160\n\
         TEX:\n SAMPLE colour.xyzw, where.xy__, picture, nearest\n FETCH R2.xyzw, where.x, table\nALU: KCACHE0(CB0:0-15)\n\
         0 x: MUL colour.x, colour.x, tint.w\n  y: ADD colour.y, colour[AL].y, bias.z\nEXP_DONE: PIX0, colour.xyzw\nEND_OF_PROGRAM\n",
    );
    let plain = assembled(
        "TEX:\n SAMPLE R3.xyzw, R1.xy__, t18, s2\n FETCH R2.xyzw, R1.x, b160\nALU: KCACHE0(CB0:0-15)\n\
         0 x: MUL R3.x, R3.x, KC0[5].w\n  y: ADD R3.y, R3[AL].y, C7.z\nEXP_DONE: PIX0, R3.xyzw\nEND_OF_PROGRAM\n",
    );
    assert_eq!(program.words, plain.words);
    assert_eq!(program.symbol(SymbolKind::Resource, "picture"), Some(18));
    assert_eq!(program.stage.map(|s| s.name()), Some("pixel"));
}

#[test]
fn relative_operands_have_two_spellings() {
    let one = assembled(
        "ALU: KCACHE0(CB0:0-31)\n0 x: ADD R5[AR.x].x, C3[AR.x].y, R2.x\n1 x: ADD R0.x, KC0[4][AL].x, R7[AL].x\n2 x: MOV R1[GLOBAL].x, R2.x\n3 x: MOV R1.x, R2[GLOBAL+AR.x].x\n",
    );
    let other = assembled(
        "ALU: KCACHE0(CB0:0-31)\n0 x: ADD R[AR.x+5].x, C[3+AR.x].y, R2.x\n1 x: ADD R0.x, KC0[AL+4].x, R[AL+7].x\n2 x: MOV R[1+GLOBAL].x, R2.x\n3 x: MOV R1.x, R[2+GLOBAL+AR.x].x\n",
    );
    assert_eq!(one.words, other.words);
}

#[test]
fn an_alu_clause_cannot_end_a_program() {
    let program = assembled("ALU:\n x: MOV R0.x, R1.x\nEND_OF_PROGRAM\n");
    let decoded = program.decode();
    assert!(matches!(decoded.entries[1].cf, Ok(Cf::Plain(p)) if p.word1.op == CfOp::Nop && p.word1.end_of_program));
}

#[test]
fn settings_in_comments_are_kept() {
    let program = assembled(
        "; $MODE = \"UniformRegister\"\n;  $NUM_SPI_PS_INPUT_CNTL= 1\nEXP_DONE: PIX0, R0 ; not $a = setting\nEND_OF_PROGRAM\n",
    );
    let settings: Vec<_> = program.settings.iter().map(|s| (s.name.as_str(), s.value.as_str())).collect();
    assert_eq!(settings, [("MODE", "\"UniformRegister\""), ("NUM_SPI_PS_INPUT_CNTL", "1")]);
}

#[test]
fn a_wrong_count_lays_the_clauses_out_anew() {
    // As other assemblers' listings have it: their literals are not counted.
    let source = "00 ALU: ADDR(32) CNT(1)\n  0 x: MOV R0.x, (0x40000000, 2.0f).x\n01 EXP_DONE: PIX0, R0\n02 ALU: ADDR(33) CNT(1)\n  1 x: NOP ____\n03 NOP NO_BARRIER\nEND_OF_PROGRAM\n";
    let assembly = assemble(source, &TextOptions::default());
    assert_eq!(assembly.diagnostics.iter().map(|d| d.rule).collect::<Vec<_>>(), ["count"]);
    let program = assembly.program.unwrap();
    let at: Vec<_> = program.decode().entries.iter().filter_map(|e| e.cf.unwrap().clause()).collect();
    assert_eq!(at, [(4, 2), (6, 1)]);
}

#[test]
fn stack_entries_depend_on_the_chip() {
    // A loop and five nested pushes: 1 entry and 5 + 2 subentries (R700 §3.6.5).
    let mut source = "LOOP_START_DX10 ADDR(out)\ninside:\n".to_owned();
    for _ in 0..5 {
        source += "PUSH ADDR(out)\n";
    }
    source += "POP POP_CNT(5)\nLOOP_END ADDR(inside)\nout:\nEXP_DONE: PIX0, R0\nEND_OF_PROGRAM\n";
    for (chip, entries) in [(Chip::Rv770, 3), (Chip::Rv740, 3), (Chip::Rv730, 2), (Chip::Rv710, 2)] {
        assert_eq!(with(&source, &TextOptions { chip, ..TextOptions::default() }).stack, entries, "{}", chip.name());
    }
}

/// R700 table 3.7 says "No" push of ALU_ELSE_AFTER, and a compiled program closes each with one pop.
#[test]
fn else_after_needs_no_stack() {
    let clause = |op: &str| format!("{op}:\n x: MOV R1.x, 1.0f\n");
    let (begin, end) = (["ALU_PUSH_BEFORE", "ALU_ELSE_AFTER"].map(clause).concat(), clause("ALU_POP_AFTER"));
    let source = format!("{}{}EXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n", begin.repeat(5), end.repeat(5));
    let program = with(&source, &TextOptions { chip: Chip::Rv770, ..TextOptions::default() });
    // Five pushes and two subentries more, four to an entry.
    assert_eq!(program.stack, 2);
    let rules: Vec<_> = ctm_isa::r700::check::check(&program).into_iter().map(|found| found.rule).collect();
    assert!(!rules.iter().any(|rule| rule.contains("stack") || *rule == "ends-within"), "{rules:?}");
}

#[test]
fn spans_lead_back_to_the_text() {
    let source = "ALU:\n x: MOV R0.x, R1.x\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n";
    let program = assembled(source);
    let at = |slot: usize| &source[program.spans[slot].start as usize..program.spans[slot].end as usize];
    assert_eq!((at(0), at(1), at(2)), ("ALU:", "EXP_DONE: PIX0, R0.xyzw", "x: MOV R0.x, R1.x"));
    assert_eq!(AluUnit::ALL.len(), 5);
}
