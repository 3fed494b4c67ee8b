//! Instructions chosen for a program, before register allocation: their assumptions are known then.

use super::facts::Facts;
use super::ins::{Call, Ins};
use super::select::{Select, SelectInputs};
use crate::codegen::target::Target;
use crate::codegen::x86::lir::Vector;
use ctm_exec::r700::resources::Wrap;
use ctm_ir::masked::{ChannelOp, Code, Op, RegisterFile, Value, Var, indexed};

/// Facts about launches that code may rely on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Assumed<'a> {
    /// Uniform values that are numbers other than zero, in order.
    pub ordinary: &'a [u16],
    /// Of each fetch, the wrap modes beyond the edges, if it is known to read the nearest plain texels.
    pub plain: &'a [Option<[Wrap; 2]>],
}

/// The instructions of a program, before register allocation.
#[derive(Default)]
pub struct SelectedCode {
    /// The instructions of each block.
    pub lists: Vec<Vec<Ins>>,
    /// The vectors of variables that are read, written or exported.
    pub vars: Vec<Option<Vector>>,
    /// These variables, by the numbers of their vectors.
    pub used: Vec<Var>,
    /// The first of the variables that an index can name: they lie in rows, in this order.
    pub in_rows: Option<usize>,
    /// Exported elements that are one number wherever they are written, and have no vector: their rows hold it from the
    /// start.
    pub fixed: Vec<(Var, u32)>,
    /// Vectors.
    pub vectors: usize,
    pub calls: Vec<Call>,
    /// The fetches that are inlined.
    pub plain: Vec<usize>,
}

impl SelectedCode {
    /// Selects them. `start`: variables with start values.
    pub fn new(code: &Code, start: &[Var], target: &'static Target, Assumed { ordinary, plain }: Assumed<'_>) -> Self {
        let facts = Facts::of(code, start);
        Self::choose(code, SelectInputs { target, facts: &facts, ordinary, plain, streams: false })
    }

    /// Selects those of a stream.
    pub fn of_stream(code: &Code, start: &[Var], target: &'static Target) -> Self {
        let facts = Facts::of(code, start);
        Self::choose(code, SelectInputs { target, facts: &facts, ordinary: &[], plain: &[], streams: true })
    }

    fn choose(code: &Code, given: SelectInputs<'_>) -> Self {
        let mut vars: Vec<Option<Vector>> = vec![None; Var::COUNT];
        let mut used = Vec::new();
        let note = |var: Var, vars: &mut [Option<Vector>], used: &mut Vec<Var>| {
            if vars[var.index()].is_none() {
                vars[var.index()] = Some(Vector(used.len() as u32));
                used.push(var);
            }
        };
        let ops = || code.blocks.iter().flat_map(|block| &block.ops);
        let fixed = if given.streams { Vec::new() } else { fixed(code) };
        for op in ops() {
            if let Op::GetRelative { file: RegisterFile::Gprs(gprs), element, .. }
            | Op::SetRelative { gprs, element, .. } = *op
            {
                indexed(gprs, element).for_each(|var| note(var, &mut vars, &mut used));
            }
        }
        let in_rows = (!used.is_empty()).then_some(used.len());
        for op in ops() {
            if let Op::Get(var) | Op::Set { var, .. } | Op::Mark(var, _) = op
                && !fixed.iter().any(|(fixed, _)| fixed == var)
            {
                note(*var, &mut vars, &mut used);
            }
        }
        let mut select = Select::new(given, code, &vars, used.len());
        let lists = (0..).zip(&code.blocks).map(|(index, block)| select.block(index, block)).collect();
        let vectors = select.vectors as usize;
        let calls = std::mem::take(&mut select.calls);
        let plain = std::mem::take(&mut select.plain);
        Self { lists, vars, used, in_rows, fixed, vectors, calls, plain }
    }
}

/// See [`SelectedCode::fixed`].
fn fixed(code: &Code) -> Vec<(Var, u32)> {
    let mut found: Vec<(Var, Option<u32>)> = Vec::new();
    for block in &code.blocks {
        let bits = |value: Value| if let Op::Bits(bits) = block.ops[value.index()] { Some(bits) } else { None };
        found.extend(block.ops.iter().filter_map(|op| match *op {
            Op::Set { var, value, .. } if var.export_index().is_some() => Some((var, bits(value))),
            Op::Get(var) if var.export_index().is_some() => Some((var, None)),
            _ => None,
        }));
    }
    found.sort_unstable();
    found.dedup();
    let alike = found.chunk_by(|a, b| a.0 == b.0);
    alike.filter_map(|of| if let [(var, Some(bits))] = *of { Some((var, bits)) } else { None }).collect()
}

/// Uniform values that are factors where zero times anything may be zero, and that are numbers other than zero, in
/// order.
pub fn ordinary(code: &Code, uniforms: &[u32]) -> Vec<u16> {
    let mut found = Vec::new();
    for block in &code.blocks {
        for op in &block.ops {
            let factors = match *op {
                Op::Unit(ChannelOp::Mad { zero_wins: true, .. }, [a, b, _]) => [a, b],
                _ => continue,
            };
            for factor in factors {
                if let Op::Uniform(index) = block.ops[block.bare(factor).index()] {
                    found.push(index);
                }
            }
        }
    }
    found.retain(|&index| are_ordinary(&[index], uniforms));
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether these uniform values are numbers other than zero.
pub fn are_ordinary(factors: &[u16], uniforms: &[u32]) -> bool {
    factors.iter().all(|&index| uniforms.get(usize::from(index)).is_some_and(|&bits| f32::from_bits(bits).is_normal()))
}
