//! Which components of which registers an instruction reads and writes.

use super::inst::{Inst, RegisterAddress};
use super::ops::{Class, Component, DstType, MathOp, Select, SrcType};

/// The kind of a written register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WrittenFile {
    /// A temporary.
    Temporary,
    /// An alternate temporary.
    AltTemporary,
    /// The address register.
    A0,
    /// An output.
    Output,
    /// An output of which every component receives x.
    OutputReplicateX,
    /// An input.
    Input,
}

impl WrittenFile {
    /// Whether it is one of the outputs.
    #[must_use]
    pub const fn is_output(self) -> bool {
        matches!(self, Self::Output | Self::OutputReplicateX)
    }
}

impl From<DstType> for WrittenFile {
    fn from(kind: DstType) -> Self {
        match kind {
            DstType::Temporary => Self::Temporary,
            DstType::A0 => Self::A0,
            DstType::Output => Self::Output,
            DstType::OutputReplicateX => Self::OutputReplicateX,
            DstType::AltTemporary => Self::AltTemporary,
            DstType::Input => Self::Input,
        }
    }
}

/// A register that an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandRead {
    /// The source, 0 to 2; 3 is the dual operation's.
    pub source: usize,
    /// The kind of the register.
    pub file: SrcType,
    /// Its address.
    pub address: RegisterAddress,
    /// The register's components that are read; bit 0 is x. May be 0: the register is fetched, and only 0 and 1 are taken.
    pub components: u8,
}

/// A register that an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// The kind of the register.
    pub file: WrittenFile,
    /// Its address.
    pub address: RegisterAddress,
    /// Its components; bit 0 is x.
    pub components: u8,
    /// Whether it may be left out: a predicated write, or one with a condition of each component.
    pub conditional: bool,
}

/// The register components that swizzled components `mask` take.
fn selected(swizzle: [Select; 4], mask: u8) -> u8 {
    (0..4).filter(|i| mask >> i & 1 == 1).fold(0, |all, i| match swizzle[i] {
        Select::X => all | 1,
        Select::Y => all | 2,
        Select::Z => all | 4,
        Select::W => all | 8,
        Select::Zero | Select::One | Select::Unused => all,
    })
}

/// The components of the operation's result that reach a register or the predicate; bit 0 is x.
#[must_use]
pub fn result_components(inst: &Inst) -> u8 {
    let info = inst.op.info();
    let written = match inst.dst.reg_type {
        // Every component receives x.
        DstType::OutputReplicateX if inst.dst.write_mask() != 0 => 1,
        _ => inst.dst.write_mask(),
    };
    match info.class {
        Class::Nothing => 0,
        // The predicate is set whatever is written.
        Class::Predicate => written | 8,
        Class::Plain | Class::Address | Class::Conditional => written,
    }
}

/// The swizzled components of source `n` that the operation reads; bit 0 is x.
#[must_use]
pub fn operand_components(inst: &Inst, n: usize) -> u8 {
    inst.op.info().reads[n].mask(result_components(inst))
}

/// Which of its two operands a dual operation reads.
#[must_use]
pub const fn dual_operands(op: MathOp) -> [bool; 2] {
    let info = op.info();
    [info.reads_source(0), info.reads_source(1) || info.reads_source(2)]
}

/// The registers that the instruction reads. Sources of which only the values 0 and 1 are taken are not among them.
#[must_use]
pub fn reads(inst: &Inst) -> Vec<OperandRead> {
    let mut list = Vec::new();
    for n in 0..3 {
        let (mask, Some(src)) = (operand_components(inst, n), inst.source(n)) else { continue };
        let components = selected(src.swizzle(), mask);
        if components != 0 {
            list.push(OperandRead { source: n, file: src.reg_type, address: src.address(), components });
        }
    }
    if let Some((op, dual)) = inst.dual() {
        let operands = dual_operands(op);
        let components = [false, true].into_iter().zip(operands).filter(|(_, used)| *used);
        let components = components.fold(0, |all, (second, _)| all | selected(dual.operand(second).swizzle(), 1));
        if components != 0 {
            list.push(OperandRead { source: 3, file: dual.reg_type, address: dual.address(), components });
        }
    }
    list
}

/// The register that the operation writes; the dual operation's is [`dual_write`].
#[must_use]
pub fn write(inst: &Inst) -> Option<Write> {
    let class = inst.op.info().class;
    let components = inst.dst.write_mask();
    if class == Class::Nothing || components == 0 {
        return None;
    }
    let file = WrittenFile::from(inst.dst.reg_type);
    let conditional = inst.dst.pred_enable || class == Class::Conditional;
    Some(Write { file, address: inst.dst.address(), components, conditional })
}

/// The alternate temporary that the dual operation writes.
#[must_use]
pub fn dual_write(inst: &Inst) -> Option<Write> {
    let (op, dual) = inst.dual()?;
    (op.info().class != Class::Nothing).then(|| Write {
        file: WrittenFile::AltTemporary,
        address: RegisterAddress::absolute(dual.dst_offset),
        components: 1 << dual.we_sel.code(),
        conditional: inst.dst.pred_enable,
    })
}

/// Whether the instruction sets the predicate.
#[must_use]
pub fn sets_predicate(inst: &Inst) -> bool {
    let dual = inst.dual().is_some_and(|(op, _)| op.info().class == Class::Predicate);
    inst.op.info().class == Class::Predicate || dual
}

/// The components of A0 that the instruction's addresses use; bit 0 is x.
#[must_use]
pub fn address_components(inst: &Inst) -> u8 {
    addresses(inst)
        .filter(|address| address.mode == super::ops::AddrMode::RelativeA0)
        .fold(0, |all, address| all | 1 << address.sel.code())
}

/// Every address that has an effect: of sources that are read, and of the destination.
pub fn addresses(inst: &Inst) -> impl Iterator<Item = RegisterAddress> {
    let sources = reads(inst).into_iter().map(|read| read.address);
    sources.chain(write(inst).map(|write| write.address))
}

/// Component `n`, 0 to 3.
#[must_use]
pub const fn component(n: usize) -> Component {
    match n & 3 {
        0 => Component::X,
        1 => Component::Y,
        2 => Component::Z,
        _ => Component::W,
    }
}
