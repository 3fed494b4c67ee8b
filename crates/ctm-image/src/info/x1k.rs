//! An X1K program's own facts, whatever file it came from.

use super::InfoValue;
use ctm_isa::x1k::program::{Literal, Preload, SymbolKind};
use ctm_isa::x1k::{Inst, Program};
use std::collections::BTreeMap;

/// A program: extent, modes, references, embedded data, and counts of uses.
pub fn program(program: &Program) -> InfoValue {
    let usage = program.usage();
    InfoValue::record([
        ("instructions", program.words.len().into()),
        ("first", InfoValue::Number(program.first.into())),
        ("last", InfoValue::Number(program.last.into())),
        ("flow control", if program.full_flow_control { "full" } else { "partial" }.into()),
        ("uncached outputs", program.uncached.into()),
        ("zero times anything is zero", program.zero_times_anything.into()),
        ("conditional value", program.conditional_value.into()),
        ("preloads", InfoValue::List(program.preloads.iter().map(preload).collect())),
        (
            "usage",
            InfoValue::record([
                ("inputs", InfoValue::numbers(usage.inputs.iter().copied())),
                ("outputs", InfoValue::numbers(usage.outputs.iter().copied())),
                ("float constants", InfoValue::numbers(usage.float_constants.iter().copied())),
                ("integer constants", InfoValue::numbers(usage.int_constants.iter().copied())),
                ("boolean constants", InfoValue::numbers(usage.bool_constants.iter().copied())),
                ("largest temporary", InfoValue::Number(usage.highest_temp.into())),
                ("conditional value", usage.conditional_value.into()),
                ("early exit", usage.early_exit.into()),
                ("needs full flow control", usage.needs_full_flow_control.into()),
            ]),
        ),
        ("symbols", InfoValue::List(program.symbols.iter().map(symbol).collect())),
        ("literals", InfoValue::List(program.literals.iter().map(literal).collect())),
        ("statistics", statistics(program)),
    ])
}

fn preload(preload: &Preload) -> InfoValue {
    match *preload {
        Preload::Position { temp } => format!("r{temp} = (i, j, 0, 0)").into(),
        Preload::Interpolant { index, temp } => format!("r{temp} = interpolant {index}").into(),
    }
}

fn symbol(symbol: &ctm_isa::x1k::program::Symbol) -> InfoValue {
    let prefix = match symbol.kind {
        SymbolKind::Input => 's',
        SymbolKind::Output => 'o',
        SymbolKind::Float => 'c',
        SymbolKind::Int => 'i',
        SymbolKind::Bool => 'b',
    };
    InfoValue::record([("name", symbol.name.as_str().into()), ("is", format!("{prefix}{}", symbol.index).into())])
}

fn literal(literal: &Literal) -> InfoValue {
    let (name, value) = match *literal {
        Literal::Float { index, bits } => {
            (format!("c{index}"), InfoValue::List(bits.iter().map(|&b| InfoValue::Float(f32::from_bits(b))).collect()))
        }
        Literal::Int { index, value } => (format!("i{index}"), InfoValue::numbers(value)),
        Literal::Bool { index, value } => (format!("b{index}"), InfoValue::Flag(value)),
    };
    InfoValue::record([("name", name.into()), ("value", value)])
}

/// How often each instruction type and each operation occurs.
fn statistics(program: &Program) -> InfoValue {
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
    InfoValue::record([("types", InfoValue::Record(types)), ("operations", InfoValue::Record(operations))])
}
