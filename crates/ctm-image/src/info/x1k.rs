//! An X1K program's own facts, whatever file it came from.

use super::Value;
use ctm_isa::x1k::program::{Literal, Preload, SymbolKind};
use ctm_isa::x1k::{Inst, Program};
use std::collections::BTreeMap;

/// A program: extent, modes, references, embedded data, and counts of uses.
pub fn program(program: &Program) -> Value {
    let usage = program.usage();
    Value::record([
        ("instructions", program.words.len().into()),
        ("first", Value::Number(program.first.into())),
        ("last", Value::Number(program.last.into())),
        ("flow control", if program.full_flow_control { "full" } else { "partial" }.into()),
        ("uncached outputs", program.uncached.into()),
        ("zero times anything is zero", program.zero_times_anything.into()),
        ("conditional value", program.conditional_value.into()),
        ("preloads", Value::List(program.preloads.iter().map(preload).collect())),
        (
            "usage",
            Value::record([
                ("inputs", Value::numbers(usage.inputs.iter().copied())),
                ("outputs", Value::numbers(usage.outputs.iter().copied())),
                ("float constants", Value::numbers(usage.float_constants.iter().copied())),
                ("integer constants", Value::numbers(usage.int_constants.iter().copied())),
                ("boolean constants", Value::numbers(usage.bool_constants.iter().copied())),
                ("largest temporary", Value::Number(usage.highest_temp.into())),
                ("conditional value", usage.conditional_value.into()),
                ("early exit", usage.early_exit.into()),
                ("needs full flow control", usage.needs_full_flow_control.into()),
            ]),
        ),
        ("symbols", Value::List(program.symbols.iter().map(symbol).collect())),
        ("literals", Value::List(program.literals.iter().map(literal).collect())),
        ("statistics", statistics(program)),
    ])
}

fn preload(preload: &Preload) -> Value {
    match *preload {
        Preload::Position { temp } => format!("r{temp} = (i, j, 0, 0)").into(),
        Preload::Interpolant { index, temp } => format!("r{temp} = interpolant {index}").into(),
    }
}

fn symbol(symbol: &ctm_isa::x1k::program::Symbol) -> Value {
    let prefix = match symbol.kind {
        SymbolKind::Input => 's',
        SymbolKind::Output => 'o',
        SymbolKind::Float => 'c',
        SymbolKind::Int => 'i',
        SymbolKind::Bool => 'b',
    };
    Value::record([("name", symbol.name.as_str().into()), ("is", format!("{prefix}{}", symbol.index).into())])
}

fn literal(literal: &Literal) -> Value {
    let (name, value) = match *literal {
        Literal::Float { index, bits } => {
            (format!("c{index}"), Value::List(bits.iter().map(|&b| Value::Float(f32::from_bits(b))).collect()))
        }
        Literal::Int { index, value } => (format!("i{index}"), Value::numbers(value)),
        Literal::Bool { index, value } => (format!("b{index}"), Value::Flag(value)),
    };
    Value::record([("name", name.into()), ("value", value)])
}

/// How often each instruction type and each operation occurs.
fn statistics(program: &Program) -> Value {
    let mut types: BTreeMap<&str, usize> = BTreeMap::new();
    let mut operations: BTreeMap<String, usize> = BTreeMap::new();
    for words in &program.words {
        let Ok(inst) = Inst::decode(words) else {
            *types.entry("undecodable").or_default() += 1;
            continue;
        };
        *types.entry(inst.cmn().kind.name()).or_default() += 1;
        let mut count = |name: String| *operations.entry(name).or_default() += 1;
        match inst {
            Inst::Alu(alu) => {
                count(format!("RGB {}", alu.rgba.op.name()));
                count(format!("ALPHA {}", alu.alpha.op.name()));
            }
            Inst::Tex(tex) => count(format!("TEX {}", tex.inst.op.name())),
            Inst::Fc(fc) => count(format!("FC {}", fc.inst.op.name())),
        }
    }
    let types = types.into_iter().map(|(name, n)| (name.to_owned(), n.into())).collect();
    let operations = operations.into_iter().map(|(name, n)| (name, n.into())).collect();
    Value::record([("types", Value::Record(types)), ("operations", Value::Record(operations))])
}
