//! The program between text and words: operations of the X1K on virtual registers.
//!
//! Every [`Alu`] is one half of an instruction slot (or both, where an operation needs both). Sources of a vector operation are at the channel that
//! they are for.

use ctm_isa::diag::Span;

/// A virtual register of four channels.
pub(crate) type V = u32;
/// Channels as bits: red 1, green 2, blue 4, alpha 8.
pub(crate) type Mask = u8;
/// The channels of the RGB unit.
pub(crate) const RGB: Mask = 7;
/// The channel of the alpha unit.
pub(crate) const ALPHA: Mask = 8;

/// The sources of an operand's component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Reg {
    Temp(V),
    /// `v[aL+n]`.
    InputRel(u8),
    Const(u8),
    ConstRel(u8),
    /// An inline constant: the bits of its value. Its channels are all the same.
    Inline(u32),
}

/// One component of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Comp {
    Absent,
    Zero,
    Half,
    One,
    Read(Reg, u8),
    /// A channel of the operand's presubtract.
    Pre(u8),
}

/// A presubtract (CTM §3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pre {
    /// `1 - 2*a`
    Bias(Reg),
    /// `a - b`
    Sub(Reg, Reg),
    /// `a + b`
    Add(Reg, Reg),
    /// `1 - a`
    Inv(Reg),
}

impl Pre {
    /// Its sources in the order of the addresses: src0, src1.
    pub fn sources(self) -> [Option<Reg>; 2] {
        match self {
            Self::Bias(a) | Self::Inv(a) => [Some(a), None],
            Self::Sub(a, b) => [Some(b), Some(a)],
            Self::Add(a, b) => [Some(b), Some(a)],
        }
    }

    pub fn map(self, mut f: impl FnMut(Reg) -> Reg) -> Self {
        match self {
            Self::Bias(a) => Self::Bias(f(a)),
            Self::Inv(a) => Self::Inv(f(a)),
            Self::Sub(a, b) => Self::Sub(f(a), f(b)),
            Self::Add(a, b) => Self::Add(f(a), f(b)),
        }
    }
}

/// A source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct VirtualOperand {
    pub comps: [Comp; 4],
    pub pre: Option<Pre>,
    pub neg: bool,
    pub abs: bool,
}

impl VirtualOperand {
    pub const ABSENT: Self = Self::all(Comp::Absent);

    pub const fn all(comp: Comp) -> Self {
        Self { comps: [comp; 4], pre: None, neg: false, abs: false }
    }

    /// All four channels of a temporary.
    pub fn temp(v: V) -> Self {
        Self { comps: std::array::from_fn(|c| Comp::Read(Reg::Temp(v), c as u8)), ..Self::ABSENT }
    }

    /// One channel everywhere.
    pub const fn scalar(reg: Reg, channel: u8) -> Self {
        Self::all(Comp::Read(reg, channel))
    }

    #[must_use]
    pub fn negated(mut self) -> Self {
        self.neg = !self.neg;
        self
    }

    #[must_use]
    pub fn absolute(mut self) -> Self {
        (self.neg, self.abs) = (false, true);
        self
    }

    /// Component i becomes component `swizzle[i]`.
    #[must_use]
    pub fn swizzled(mut self, swizzle: [u8; 4]) -> Self {
        self.comps = swizzle.map(|c| self.comps[usize::from(c)]);
        self
    }

    /// Leaves only the components of `mask`.
    #[must_use]
    pub fn masked(mut self, mask: Mask) -> Self {
        for (i, comp) in self.comps.iter_mut().enumerate() {
            if mask & 1 << i == 0 {
                *comp = Comp::Absent;
            }
        }
        self
    }

    pub fn has_modifier(&self) -> bool {
        self.neg || self.abs
    }

    /// Every register channel that is read.
    pub fn reads(&self) -> impl Iterator<Item = (Reg, u8)> + use<> {
        let pre = self.pre;
        self.comps.into_iter().flat_map(move |comp| {
            let list: [Option<(Reg, u8)>; 2] = match comp {
                Comp::Read(reg, c) => [Some((reg, c)), None],
                Comp::Pre(c) => pre.map_or([None; 2], |p| p.sources().map(|r| r.map(|r| (r, c)))),
                Comp::Absent | Comp::Zero | Comp::Half | Comp::One => [None; 2],
            };
            list.into_iter().flatten()
        })
    }
}

/// An operation of the ALU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Mov,
    Mad,
    Min,
    Max,
    Cmp,
    Frc,
    Mdh,
    Mdv,
    Dp3,
    Dp4,
    D2a,
    Ex2,
    Ln2,
    Rcp,
    Rsq,
    Sin,
    Cos,
}

/// Which units an operation runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnitKind {
    /// Channel by channel, in either unit.
    Wide,
    /// The RGB unit computes; the alpha unit can copy.
    Dot,
    /// The alpha unit computes; the RGB unit can copy.
    Scalar,
}

impl Op {
    pub const fn kind(self) -> UnitKind {
        match self {
            Self::Mov | Self::Mad | Self::Min | Self::Max | Self::Cmp | Self::Frc | Self::Mdh | Self::Mdv => {
                UnitKind::Wide
            }
            Self::Dp3 | Self::Dp4 | Self::D2a => UnitKind::Dot,
            Self::Ex2 | Self::Ln2 | Self::Rcp | Self::Rsq | Self::Sin | Self::Cos => UnitKind::Scalar,
        }
    }

    pub const fn operands(self) -> usize {
        match self {
            Self::Mad | Self::Cmp | Self::D2a => 3,
            Self::Min | Self::Max | Self::Mdh | Self::Mdv | Self::Dp3 | Self::Dp4 => 2,
            Self::Mov | Self::Frc | Self::Ex2 | Self::Ln2 | Self::Rcp | Self::Rsq | Self::Sin | Self::Cos => 1,
        }
    }

    /// The components of operand `n` that a Dot or Scalar operation reads.
    pub const fn fixed_components(self, n: usize) -> Mask {
        match (self, n) {
            (Self::Dp4, _) => 15,
            (Self::Dp3, _) => 7,
            (Self::D2a, 2) => 4,
            (Self::D2a, _) => 3,
            _ => ALPHA,
        }
    }
}

/// A comparison with zero that the machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ZeroTest {
    Eq,
    Lt,
    Ge,
    Ne,
}

/// Which predicate bits guard a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Guard {
    pub not: bool,
    /// `None`: each channel its own.
    pub channel: Option<u8>,
}

/// Output modifiers as powers of two: -3..=3.
pub(crate) type Omod = i8;

/// Where a half writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dest {
    pub temp: Option<V>,
    /// Where alpha goes, if not to `temp`.
    pub alpha_temp: Option<V>,
    pub out: Option<u8>,
    /// The conditional value (alpha).
    pub w: bool,
    /// Predicate bits.
    pub pred: Option<ZeroTest>,
    /// The ALU result (alpha).
    pub result: Option<ZeroTest>,
    /// The channels of temporary, output and predicate.
    pub mask: Mask,
}

impl Dest {
    /// The temporary that a channel goes to.
    pub fn temp_of(&self, channel: u8) -> Option<V> {
        if channel == 3 { self.alpha_temp.or(self.temp) } else { self.temp }
    }
}

/// One half of an ALU instruction, or both.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Alu {
    pub op: Op,
    pub dest: Dest,
    pub src: [VirtualOperand; 3],
    pub sat: bool,
    pub omod: Omod,
    pub guard: Option<Guard>,
    pub span: Span,
}

impl Alu {
    pub fn uses_rgb(&self) -> bool {
        self.op.kind() == UnitKind::Dot || self.dest.mask & RGB != 0
    }

    pub fn uses_alpha(&self) -> bool {
        match self.op.kind() {
            UnitKind::Scalar => true,
            UnitKind::Dot => self.op == Op::Dp4 || self.dest.mask & ALPHA != 0,
            UnitKind::Wide => self.dest.mask & ALPHA != 0,
        }
    }

    /// The components of operand `n` that matter.
    pub fn components(&self, n: usize) -> Mask {
        if n >= self.op.operands() {
            0
        } else if self.op.kind() == UnitKind::Wide {
            self.dest.mask
        } else {
            self.op.fixed_components(n)
        }
    }

    /// Every register channel that is read.
    pub fn reads(&self) -> impl Iterator<Item = (Reg, u8)> + '_ {
        (0..3).flat_map(|n| self.src[n].masked(self.components(n)).reads())
    }

    /// Whether it only copies bits.
    pub fn is_copy(&self) -> bool {
        self.op == Op::Mov && !self.sat && self.omod == 0
    }
}

/// A lookup. `project` divides the coordinates by the fourth.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tex {
    pub dest: V,
    pub mask: Mask,
    /// Which channel of the element arrives in each channel.
    pub swizzle: [u8; 4],
    pub coord: V,
    /// Channels of S, T and Q.
    pub channels: [u8; 3],
    pub project: bool,
    pub sampler: u8,
    pub guard: Option<Guard>,
    pub span: Span,
}

impl Tex {
    pub fn reads(&self) -> impl Iterator<Item = (V, u8)> + '_ {
        self.channels.iter().take(if self.project { 3 } else { 2 }).map(|&c| (self.coord, c))
    }
}

/// The condition of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BranchCond {
    /// The ALU result.
    Result,
    Predicate {
        channel: u8,
        not: bool,
    },
    Bool {
        index: u8,
        not: bool,
    },
}

/// Flow control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlowStatement {
    If(BranchCond),
    Else,
    Endif,
    Loop {
        rep: bool,
        int: u8,
    },
    Endloop {
        rep: bool,
    },
    Break(Option<BranchCond>),
    Call(u16, Option<BranchCond>),
    /// End of the main program.
    End,
    Label(u16),
    Ret,
}

/// One statement.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "nearly all of them are of the large kind")]
pub(crate) enum VirtualStatement {
    Alu(Alu),
    Tex(Tex),
    Kill { temp: V, mask: Mask, guard: Option<Guard>, span: Span },
    Flow(FlowStatement, Span),
}

impl VirtualStatement {
    pub fn span(&self) -> Span {
        match self {
            Self::Alu(alu) => alu.span,
            Self::Tex(tex) => tex.span,
            Self::Kill { span, .. } | Self::Flow(_, span) => *span,
        }
    }

    pub fn guard(&self) -> Option<Guard> {
        match self {
            Self::Alu(Alu { guard, .. }) | Self::Tex(Tex { guard, .. }) | Self::Kill { guard, .. } => *guard,
            Self::Flow(..) => None,
        }
    }

    /// The channels of temporaries that are written.
    pub fn writes(&self) -> impl Iterator<Item = (V, u8)> + use<> {
        let (temps, mask) = match self {
            Self::Alu(alu) => ([alu.dest.temp_of(0), alu.dest.temp_of(3)], alu.dest.mask),
            Self::Tex(tex) => ([Some(tex.dest); 2], tex.mask),
            Self::Kill { .. } | Self::Flow(..) => ([None; 2], 0),
        };
        channels(mask).filter_map(move |c| temps[usize::from(c == 3)].map(|v| (v, c)))
    }
}

/// Where a register that is loaded before the start gets its value from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    Position,
    Interpolant(u8),
}

/// A program of virtual registers.
#[derive(Clone, Debug, Default)]
pub(crate) struct VirtualProgram {
    pub insts: Vec<VirtualStatement>,
    /// Names of virtual registers are below this.
    pub temps: u32,
    /// Start values.
    pub loads: Vec<(V, Load)>,
    /// The registers of v0 to v9, if the shader reads inputs relative to aL: they lie one after the other.
    pub array: Option<[Option<V>; 10]>,
    /// Values of constants that the text defines.
    pub floats: std::collections::BTreeMap<u8, [u32; 4]>,
    pub ints: std::collections::BTreeMap<u8, [u8; 4]>,
    pub bools: std::collections::BTreeMap<u8, bool>,
    /// Names of constants (`c`, `i`, `b`) and inputs (`s`) that have others than those of their registers.
    pub names: std::collections::BTreeMap<(char, u8), String>,
}

impl VirtualProgram {
    pub fn fresh(&mut self) -> V {
        self.temps += 1;
        self.temps - 1
    }
}

/// The channels of a mask.
pub(crate) fn channels(mask: Mask) -> impl Iterator<Item = u8> {
    (0..4).filter(move |c| mask & 1 << c != 0)
}
