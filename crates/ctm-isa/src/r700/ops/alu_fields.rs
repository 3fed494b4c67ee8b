//! Values of the fields of ALU instructions: elements, output modifiers, bank swizzles, units and sources.

ops! {
    /// Element of a register.
    pub enum Chan cite "R700 §10.2" {
        /// Element x.
        X "x" 0;
        /// Element y.
        Y "y" 1;
        /// Element z.
        Z "z" 2;
        /// Element w.
        W "w" 3;
    }
}

ops! {
    /// Output modifier.
    pub enum Omod cite "R700 §10.2" {
        /// None.
        Off "OFF" 0;
        /// Times two.
        M2 "*2" 1;
        /// Times four.
        M4 "*4" 2;
        /// Divided by two.
        D2 "/2" 3;
    }
}

ops! {
    /// Which pixels execute an ALU instruction.
    pub enum PredSel cite "R700 §10.2" {
        /// All active ones.
        Off "PRED_SEL_OFF" 0;
        /// Those whose predicate is 0.
        Zero "PRED_SEL_ZERO" 2;
        /// Those whose predicate is 1.
        One "PRED_SEL_ONE" 3;
    }
}

ops! {
    /// The index that relative operands add.
    pub enum IndexMode cite "R700 §4.6.1, §10.2" {
        /// Address register x.
        ArX "AR.x" 0;
        /// Address register y for constants, x for registers.
        ArY "AR.y" 1;
        /// Address register z for constants, x for registers.
        ArZ "AR.z" 2;
        /// Address register w for constants, x for registers.
        ArW "AR.w" 3;
        /// The loop index.
        Loop "AL" 4;
        /// None; the register address is not relative to the thread.
        Global "GLOBAL" 5;
        /// Address register x; the register address is not relative to the thread.
        GlobalArX "GLOBAL+AR.x" 6;
    }
}

ops! {
    /// On which cycles x, y, z and w load their operands.
    pub enum VecSwizzle cite "R700 §4.7.7" {
        /// Operand 0 on cycle 0, 1 on 1, 2 on 2.
        Vec012 "VEC_012" 0;
        /// On cycles 0, 2, 1.
        Vec021 "VEC_021" 1;
        /// On cycles 1, 2, 0.
        Vec120 "VEC_120" 2;
        /// On cycles 1, 0, 2.
        Vec102 "VEC_102" 3;
        /// On cycles 2, 0, 1.
        Vec201 "VEC_201" 4;
        /// On cycles 2, 1, 0.
        Vec210 "VEC_210" 5;
    }
}

ops! {
    /// On which cycles t loads its operands.
    pub enum SclSwizzle cite "R700 §4.7.8, r700-encoding §10 E7" {
        /// Operand 0 on cycle 2, 1 on 1, 2 on 0.
        Scl210 "SCL_210" 0;
        /// On cycles 1, 2, 2.
        Scl122 "SCL_122" 1;
        /// On cycles 2, 1, 2.
        Scl212 "SCL_212" 2;
        /// On cycles 2, 2, 1.
        Scl221 "SCL_221" 3;
    }
}

impl VecSwizzle {
    /// The cycle of each operand.
    #[must_use]
    pub const fn cycles(self) -> [u8; 3] {
        match self {
            Self::Vec012 => [0, 1, 2],
            Self::Vec021 => [0, 2, 1],
            Self::Vec120 => [1, 2, 0],
            Self::Vec102 => [1, 0, 2],
            Self::Vec201 => [2, 0, 1],
            Self::Vec210 => [2, 1, 0],
        }
    }
}

impl SclSwizzle {
    /// The cycle of each operand.
    #[must_use]
    pub const fn cycles(self) -> [u8; 3] {
        match self {
            Self::Scl210 => [2, 1, 0],
            Self::Scl122 => [1, 2, 2],
            Self::Scl212 => [2, 1, 2],
            Self::Scl221 => [2, 2, 1],
        }
    }
}

ops! {
    /// The units of one group, in the order of its slots.
    pub enum AluUnit cite "R700 §4.3" {
        /// ALU.X.
        X "x" 0;
        /// ALU.Y.
        Y "y" 1;
        /// ALU.Z.
        Z "z" 2;
        /// ALU.W.
        W "w" 3;
        /// ALU.Trans.
        T "t" 4;
    }
}

impl From<Chan> for AluUnit {
    fn from(chan: Chan) -> Self {
        match chan {
            Chan::X => Self::X,
            Chan::Y => Self::Y,
            Chan::Z => Self::Z,
            Chan::W => Self::W,
        }
    }
}

ops! {
    /// Source selects that are not a register or constant.
    pub enum SpecialSel cite "R700 §10.2" {
        /// Low dword of the double 1.0.
        OneDoubleLow "1.0_L" 244;
        /// High dword of the double 1.0.
        OneDoubleHigh "1.0_M" 245;
        /// Low dword of the double 0.5.
        HalfDoubleLow "0.5_L" 246;
        /// High dword of the double 0.5.
        HalfDoubleHigh "0.5_M" 247;
        /// 0.0, and the integer 0.
        Zero "0.0f" 248;
        /// 1.0.
        One "1.0f" 249;
        /// The integer 1.
        OneInt "1" 250;
        /// The integer -1.
        MinusOneInt "-1" 251;
        /// 0.5.
        Half "0.5f" 252;
        /// A literal of the group; the element says which dword.
        Literal "LITERAL" 253;
        /// The previous group's result of x, y, z or w.
        Pv "PV" 254;
        /// The previous group's result of t.
        Ps "PS" 255;
    }
}

/// The source that a select names (R700 §4.7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A register, 0..=127.
    Gpr(u8),
    /// A constant of the locked lines.
    Kcache {
        /// Which set of lines, 0 or 1.
        set: u8,
        /// 0..=31; 16 and up need two lines.
        index: u8,
    },
    /// A constant of the constant file, 0..=255.
    Constant(u8),
    /// An inline constant, a literal, PV or PS.
    Special(SpecialSel),
    /// A reserved number.
    Reserved(u16),
}

/// `ALU_SRC_KCACHE0_BASE` (R700 §4.7.1).
pub const KCACHE0_BASE: u16 = 128;
/// `ALU_SRC_KCACHE1_BASE`: 160, not 144 (r700-encoding §10 E10).
pub const KCACHE1_BASE: u16 = 160;
/// `ALU_SRC_CFILE_BASE` (R700 §4.7.1).
pub const CFILE_BASE: u16 = 256;
/// Constants that one set of lines can make visible.
pub const KCACHE_WINDOW: u16 = KCACHE1_BASE - KCACHE0_BASE;

impl Source {
    /// From the number of a `SRC_SEL` field (9 bits).
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "each range is narrower than its type")]
    pub fn from_sel(sel: u16) -> Self {
        if sel < KCACHE0_BASE {
            Self::Gpr(sel as u8)
        } else if sel < KCACHE1_BASE {
            Self::Kcache { set: 0, index: (sel - KCACHE0_BASE) as u8 }
        } else if sel < KCACHE1_BASE + KCACHE_WINDOW {
            Self::Kcache { set: 1, index: (sel - KCACHE1_BASE) as u8 }
        } else if sel >= CFILE_BASE {
            Self::Constant((sel - CFILE_BASE) as u8)
        } else {
            SpecialSel::from_code(u32::from(sel)).map_or(Self::Reserved(sel), Self::Special)
        }
    }

    /// The number of the `SRC_SEL` field.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "special selects are below 256")]
    pub const fn sel(self) -> u16 {
        match self {
            Self::Gpr(n) => n as u16,
            Self::Kcache { set: 0, index } => KCACHE0_BASE + index as u16,
            Self::Kcache { index, .. } => KCACHE1_BASE + index as u16,
            Self::Constant(n) => CFILE_BASE + n as u16,
            Self::Special(special) => special.code() as u16,
            Self::Reserved(sel) => sel,
        }
    }

    /// Whether the trans unit counts it as a constant: constant file, constant cache, literal or inline constant (R700 §4.7.9.5).
    #[must_use]
    pub const fn is_constant(self) -> bool {
        match self {
            Self::Gpr(_) | Self::Reserved(_) | Self::Special(SpecialSel::Pv | SpecialSel::Ps) => false,
            Self::Kcache { .. } | Self::Constant(_) | Self::Special(_) => true,
        }
    }
}
