//! `tests/vectors/x1k/run/flow.txt` through the flow-control machine; the file explains its lines.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::x1k::flow::{Condition, Machine};
use ctm_exec::{Fault, FaultKind};
use ctm_isa::x1k::formats::{CmnInst, FcAddr, FcInst};
use ctm_isa::x1k::inst::FcInstruction;
use ctm_isa::x1k::ops::{AOp, BOp, FcOp};
use std::collections::BTreeSet;

struct Step {
    fc: FcInstruction,
    pc: u32,
    boolean: bool,
    integer: [u8; 4],
    conditions: Vec<Condition>,
}

fn digits(text: &str) -> Vec<bool> {
    text.chars().map(|c| c == '1').collect()
}

fn parse(head: &str, votes: &str, lanes: usize) -> Step {
    let mut words = head.split_whitespace();
    let pc = words.next().unwrap().parse().unwrap();
    let mut inst = FcInst::decode(0).unwrap();
    let mut addr = FcAddr::decode(0).unwrap();
    inst.op = FcOp::from_name(words.next().unwrap()).unwrap();
    inst.jump_func = u8::from_str_radix(words.next().unwrap(), 16).unwrap();
    let (mut boolean, mut integer) = (false, [0; 4]);
    for flag in words {
        match flag.split_once('=').unwrap_or((flag, "")) {
            ("any", _) => inst.jump_any = true,
            ("push", _) => inst.a_op = AOp::Push,
            ("pop", _) => inst.a_op = AOp::Pop,
            ("b0", name) => inst.b_op0 = BOp::from_name(name).unwrap(),
            ("b1", name) => inst.b_op1 = BOp::from_name(name).unwrap(),
            ("cnt", n) => inst.b_pop_cnt = n.parse().unwrap(),
            ("else", _) => inst.b_else = true,
            ("ignore", _) => inst.ignore_uncovered = true,
            ("to", n) => addr.jump_addr = n.parse().unwrap(),
            ("bool", _) => boolean = true,
            ("int", values) => values.split(',').enumerate().for_each(|(i, v)| integer[i] = v.parse().unwrap()),
            _ => panic!("unknown flag `{flag}`"),
        }
    }
    let mut conditions = vec![Condition { alu_result: false, predicate: false, covered: true }; lanes];
    for vote in votes.split_whitespace() {
        let (key, text) = vote.split_once('=').unwrap();
        assert_eq!(text.len(), lanes, "`{vote}`");
        for (condition, set) in conditions.iter_mut().zip(digits(text)) {
            match key {
                "res" => condition.alu_result = set,
                "pred" => condition.predicate = set,
                "cov" => condition.covered = set,
                _ => panic!("unknown vote `{vote}`"),
            }
        }
    }
    let cmn = CmnInst::decode(2).unwrap();
    Step { fc: FcInstruction { cmn, inst, addr }, pc, boolean, integer, conditions }
}

fn code(kind: FaultKind) -> &'static str {
    Fault { kind, pc: 0, position: None }.code()
}

#[test]
fn every_step_is_as_written() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/x1k/run/flow.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let (mut machine, mut lanes) = (Machine::new(0, true), 0);
    let mut truth = "";
    let mut rows = BTreeSet::new();
    for (number, line) in text.lines().enumerate() {
        let at = format!("flow.txt:{}: {line}\ntruth: {truth}", number + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        } else if let Some(citation) = line.strip_prefix("truth ") {
            truth = citation;
            continue;
        } else if let Some(words) = line.strip_prefix("machine ") {
            let (mode, count) = words.split_once(' ').unwrap();
            lanes = count.parse().unwrap();
            machine = Machine::new(lanes, mode == "full");
            continue;
        }
        let (head, rest) = line.split_once(" :").unwrap();
        let (votes, expected) = rest.split_once(" = ").unwrap();
        let step = parse(head, votes, lanes);
        rows.extend([
            format!("FcOp {}", step.fc.inst.op.name()),
            format!("AOp {}", step.fc.inst.a_op.name()),
            format!("BOp {}", step.fc.inst.b_op0.name()),
        ]);
        let before = machine.clone();
        let result = machine.execute(&step.fc, step.pc, step.boolean, step.integer, &step.conditions);
        let got = match result {
            Ok(next) => {
                let running: String = (0..lanes).map(|lane| if machine.is_running(lane) { '1' } else { '0' }).collect();
                let al = machine.loop_variable().map_or(String::new(), |al| format!(" al={al}"));
                format!("{next} {running}{al}")
            }
            Err(fault) => {
                // A fault ends the program; the next line goes on from before it.
                machine = before;
                format!("fault {}", code(fault.kind))
            }
        };
        assert_eq!(got, expected.trim(), "{at}");
    }
    for row in FcOp::ALL {
        assert!(rows.contains(&format!("FcOp {}", row.name())), "no line for {}", row.name());
    }
    for row in AOp::ALL {
        assert!(rows.contains(&format!("AOp {}", row.name())), "no line for {}", row.name());
    }
    for row in BOp::ALL {
        assert!(rows.contains(&format!("BOp {}", row.name())), "no line for {}", row.name());
    }
}
