//! The run vectors of `tests/vectors/pvs/run`. The files' first lines describe their formats.

use ctm_exec::Fault;
use ctm_exec::pvs::{Vector, Vertex};
use ctm_isa::pvs::VertexProgram;
use ctm_isa::pvs::access::dual_operands;
use ctm_isa::pvs::ops::{Class, Op};
use ctm_isa::pvs::text::assemble;
use std::collections::BTreeSet;

/// Instructions that a vector may execute.
pub const BUDGET: u64 = 100_000;

/// An expected component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Want {
    /// These bits.
    Bits(u32),
    /// An integer of A0.
    Integer(i32),
    /// A number, with an error of 2^-20 of it, or of 2^-21: the bounds of the transcendental sequences.
    Near(f64),
    /// Any, or the value of before.
    Any,
}

impl Want {
    fn parse(text: &str) -> Self {
        if text == "_" {
            Self::Any
        } else if let Some(near) = text.strip_prefix('~') {
            Self::Near(near.parse().unwrap_or_else(|_| panic!("`{text}` is no number")))
        } else if let Some(integer) = text.strip_suffix('i') {
            Self::Integer(integer.parse().unwrap_or_else(|_| panic!("`{text}` is no integer")))
        } else {
            Self::Bits(bits(text))
        }
    }

    fn fits(self, found: u32) -> bool {
        match self {
            Self::Bits(bits) => bits == found,
            Self::Integer(integer) => integer == found.cast_signed(),
            Self::Near(near) => {
                (f64::from(f32::from_bits(found)) - near).abs() <= (near.abs() * 2f64.powi(-20)).max(2f64.powi(-21))
            }
            Self::Any => true,
        }
    }
}

/// The bits of a number, or bits.
pub fn bits(text: &str) -> u32 {
    let (text, sign) = text.strip_prefix('-').map_or((text, 0), |text| (text, 0x8000_0000));
    let magnitude = match text {
        "nan" => 0x7fff_ffff,
        "inf" => 0x7f80_0000,
        "den" => 1,
        "max" => f32::MAX.to_bits(),
        "tiny" => f32::MIN_POSITIVE.to_bits(),
        _ => match text.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16).unwrap_or_else(|_| panic!("`{text}` is no number")),
            None => text.parse::<f32>().unwrap_or_else(|_| panic!("`{text}` is no number")).to_bits(),
        },
    };
    magnitude ^ sign
}

/// A register after the run.
#[derive(Clone, Debug)]
pub struct Expected {
    pub register: String,
    pub want: [Want; 4],
}

/// One program with its registers before and after.
#[derive(Clone, Debug)]
pub struct VertexCase {
    /// File and line.
    pub at: String,
    /// Where its truth comes from.
    pub truth: String,
    pub program: VertexProgram,
    pub before: Vertex,
    pub constants: Vec<Vector>,
    pub wants: Vec<Expected>,
    pub predicate: Option<bool>,
    pub instructions: Option<u64>,
    /// The fault that ends it: code and instruction.
    pub fault: Option<(String, u32)>,
    /// The operations of the line, for the test of completeness.
    pub ops: Vec<Op>,
}

fn program(text: &str, at: &str) -> VertexProgram {
    let assembly = assemble(text);
    assert!(assembly.diagnostics.is_empty(), "{at}: {:#?}\n{text}", assembly.diagnostics);
    assembly.program.unwrap()
}

fn case(text: &str, at: String, truth: &str) -> VertexCase {
    VertexCase {
        program: program(text, &at),
        at,
        truth: truth.to_owned(),
        before: Vertex::new(&[]),
        constants: vec![[0; 4]; 256],
        wants: Vec::new(),
        predicate: None,
        instructions: None,
        fault: None,
        ops: Vec::new(),
    }
}

/// What a register holds before an operation that may not write it.
const UNTOUCHED: u32 = 0x4242_4242;

/// The cases of one line of `alu.txt`.
fn alu_line(line: &str, at: &str, truth: &str) -> Vec<VertexCase> {
    let (left, right) = line.split_once('=').unwrap_or_else(|| panic!("{at}: no `=`"));
    let (head, operands) = left.split_once(':').unwrap_or_else(|| panic!("{at}: no `:`"));
    let head: Vec<&str> = head.split_whitespace().collect();
    let op = Op::from_mnemonic(head[0]).unwrap_or_else(|| panic!("{at}: `{}` is no operation", head[0]));
    let sat = if head.get(1) == Some(&"sat") { "_sat" } else { "" };
    let vector = |text: &str| -> Vec<String> {
        let parts: Vec<String> = text.split(',').map(str::to_owned).collect();
        if parts.len() == 1 { vec![parts[0].clone(); 4] } else { parts }
    };
    let operand =
        |text: &str| -> Vector { vector(text).iter().map(|t| bits(t)).collect::<Vec<_>>().try_into().unwrap() };
    let operands: Vec<Vector> = operands.split_whitespace().map(operand).collect();
    let right: Vec<&str> = right.split_whitespace().collect();
    let want: Vec<Want> = vector(right[0]).iter().map(|t| Want::parse(t)).collect();
    let want: [Want; 4] = want.try_into().unwrap();
    let predicate = right.get(1).map(|p| *p == "p1");
    let info = op.info();
    let sources: Vec<&str> = ["v0", "r1", "c2"]
        .into_iter()
        .enumerate()
        .filter(|(n, _)| info.reads_source(*n))
        .map(|(_, name)| name)
        .collect();
    let registers = match info.class {
        Class::Nothing => Vec::new(),
        Class::Address => vec!["a0"],
        Class::Plain | Class::Predicate | Class::Conditional => vec!["r3"],
    };
    let integer = info.class == Class::Address;
    let operand_list = registers.iter().copied().chain(sources).collect::<Vec<_>>().join(", ");
    let mut plain = case(&format!("{}{sat} {operand_list}", info.mnemonic), at.to_owned(), truth);
    let at_operand = |n: usize| operands.get(n).copied().unwrap_or_default();
    plain.before.inputs[0] = at_operand(0);
    plain.before.temporaries[1] = at_operand(1);
    plain.constants[2] = at_operand(2);
    plain.before.temporaries[3] = [UNTOUCHED; 4];
    let unchanged = |want: Want| if want == Want::Any { Want::Bits(UNTOUCHED) } else { want };
    let register = if integer { "a0" } else { "r3" };
    plain
        .wants
        .push(Expected { register: register.to_owned(), want: if integer { want } else { want.map(unchanged) } });
    plain.predicate = predicate;
    plain.ops.push(op);
    let mut cases = vec![plain];
    if let Op::Math(math) = op {
        let three = (0..3).all(|n| info.reads_source(n));
        if !three {
            // Each component of the result, beside a copy.
            for (n, letter) in "xyzw".chars().enumerate() {
                let sources: String = dual_operands(math)
                    .into_iter()
                    .zip(["r7.x", "r7.y"])
                    .filter(|(used, _)| *used)
                    .map(|(_, s)| format!(", {s}"))
                    .collect();
                let target = if info.class == Class::Nothing { String::new() } else { format!(" at2.{letter}") };
                let text = format!("mov r9, v0 + {}{sat}{target}{sources}", info.mnemonic);
                let mut dual = case(&text, at.to_owned(), truth);
                let second = if info.reads_source(1) { at_operand(1) } else { at_operand(2) };
                dual.before.temporaries[7] = [at_operand(0)[3], second[3], 0, 0];
                dual.before.alternates[2] = [UNTOUCHED; 4];
                let mut wants = [Want::Bits(UNTOUCHED); 4];
                wants[n] = unchanged(want[n]);
                dual.wants.push(Expected { register: "at2".to_owned(), want: wants });
                dual.predicate = predicate;
                cases.push(dual);
            }
        }
    }
    cases
}

/// The cases of `alu.txt`.
pub fn alu() -> Vec<VertexCase> {
    let text = crate::run_vectors("pvs/run/alu.txt");
    let (mut cases, mut truth) = (Vec::new(), "");
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let at = format!("alu.txt:{}", n + 1);
        match line.strip_prefix("truth ") {
            Some(rest) => truth = rest,
            None => {
                assert!(!truth.is_empty(), "{at} has no truth");
                cases.extend(alu_line(line, &at, truth));
            }
        }
    }
    cases
}

fn vector_of(text: &str) -> Vector {
    text.split_whitespace().map(bits).collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("`{text}` is no vector"))
}

/// A register by its name.
fn register(vertex: &Vertex, name: &str) -> Vector {
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let n: usize = name[letters.len()..].parse().unwrap();
    match letters {
        "v" => vertex.inputs[n],
        "r" => vertex.temporaries[n],
        "at" => vertex.alternates[n],
        "o" => vertex.outputs[n],
        "a" => vertex.address.map(i32::cast_unsigned),
        _ => panic!("`{name}` is no register"),
    }
}

/// The cases of `flow.txt`.
pub fn flow() -> Vec<VertexCase> {
    let text = crate::run_vectors("pvs/run/flow.txt");
    let lines: Vec<&str> = text.lines().collect();
    let (mut cases, mut truth): (Vec<VertexCase>, &str) = (Vec::new(), "");
    let mut n = 0;
    while n < lines.len() {
        let (line, at) = (lines[n], format!("flow.txt:{}", n + 1));
        n += 1;
        if let Some(rest) = line.strip_prefix("truth ") {
            truth = rest;
        } else if line == "vector" {
            let start = n;
            while n < lines.len() && (lines[n].starts_with("  ") || lines[n].ends_with(':')) {
                n += 1;
            }
            assert!(!truth.is_empty(), "{at} has no truth");
            cases.push(case(&lines[start..n].join("\n"), at, truth));
        } else if !line.is_empty() && !line.starts_with('#') {
            let case = cases.last_mut().unwrap_or_else(|| panic!("{at}: no vector"));
            property(case, line, &at);
        }
    }
    cases
}

fn property(case: &mut VertexCase, line: &str, at: &str) {
    if let Some(rest) = line.strip_prefix("fault ") {
        let (code, pc) = rest.split_once(" at ").unwrap();
        case.fault = Some((code.to_owned(), pc.parse().unwrap()));
        return;
    }
    let (left, right) = line.split_once(" = ").unwrap_or_else(|| panic!("{at}: `{line}`"));
    let (word, name) = left.split_once(' ').unwrap();
    match (word, name.trim()) {
        ("want", "predicate") => case.predicate = Some(right == "1"),
        ("want", "instructions") => case.instructions = Some(right.parse().unwrap()),
        ("want", "a0") => {
            let want = right.split_whitespace().map(|t| Want::parse(&format!("{t}i"))).collect::<Vec<_>>();
            case.wants.push(Expected { register: "a0".to_owned(), want: want.try_into().unwrap() });
        }
        ("want", name) => {
            let want: Vec<Want> = right.split_whitespace().map(Want::parse).collect();
            case.wants.push(Expected { register: name.to_owned(), want: want.try_into().unwrap() });
        }
        ("given", name) => {
            let value = vector_of(right);
            let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
            let index: usize = name[letters.len()..].parse().unwrap();
            match letters {
                "v" => case.before.inputs[index] = value,
                "r" => case.before.temporaries[index] = value,
                "at" => case.before.alternates[index] = value,
                "c" => case.constants[index] = value,
                _ => panic!("{at}: `{name}` is not given"),
            }
        }
        _ => panic!("{at}: `{line}`"),
    }
}

/// The difference between a case and a run of it, if there is one. `run` executes a program on constants and a vertex within a budget.
pub fn difference(
    case: &VertexCase,
    run: impl Fn(&VertexProgram, &[Vector], &mut Vertex, u64) -> Result<u64, Fault>,
) -> Option<String> {
    let mut vertex = case.before.clone();
    let executed = match (run(&case.program, &case.constants, &mut vertex, BUDGET), &case.fault) {
        (Ok(executed), None) => executed,
        (Ok(_), Some((code, _))) => return Some(format!("it ended, without the fault {code}")),
        (Err(fault), Some((code, pc))) if fault.code() == code && fault.pc == *pc => return None,
        (Err(fault), _) => return Some(format!("{} at {}: {:?}", fault.code(), fault.pc, fault.kind)),
    };
    for Expected { register: name, want } in &case.wants {
        let found = register(&vertex, name);
        if !want.iter().zip(found).all(|(want, found)| want.fits(found)) {
            let shown = found.map(|bits| format!("{bits:#010x} ({})", f32::from_bits(bits)));
            return Some(format!("{name} is {}, and not {want:?}", shown.join(" ")));
        }
    }
    if let Some(predicate) = case.predicate
        && vertex.predicate != predicate
    {
        return Some(format!("the predicate is {}", vertex.predicate));
    }
    if let Some(instructions) = case.instructions
        && executed != instructions
    {
        return Some(format!("{executed} instructions, and not {instructions}"));
    }
    None
}

/// The operations that vectors of `alu.txt` name.
pub fn operations(cases: &[VertexCase]) -> BTreeSet<&'static str> {
    cases.iter().flat_map(|case| &case.ops).map(|op| op.info().mnemonic).collect()
}
