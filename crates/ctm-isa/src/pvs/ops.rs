//! Opcodes and field values of the PVS, in the order of AMD's register chapters.
//!
//! AMD gives numbers and names; results are those of pvs-encoding (`docs/manuals.md`), which says where each comes from. Mnemonics of the
//! assembly are a column of the tables.

ops! {
    /// The kind of a source register.
    pub enum SrcType cite "R5xx PVS_SRC" {
        /// A temporary.
        Temporary "PVS_SRC_REG_TEMPORARY" 0;
        /// An input vector.
        Input "PVS_SRC_REG_INPUT" 1;
        /// A constant.
        Constant "PVS_SRC_REG_CONSTANT" 2;
        /// An alternate temporary.
        AltTemporary "PVS_SRC_REG_ALT_TEMPORARY" 3;
    }
}

ops! {
    /// The kind of a destination register.
    pub enum DstType cite "R5xx PVS_OP_DST" {
        /// A temporary.
        Temporary "PVS_DST_REG_TEMPORARY" 0;
        /// The address register A0: four integers.
        A0 "PVS_DST_REG_A0" 1;
        /// An output vector.
        Output "PVS_DST_REG_OUT" 2;
        /// An output vector, every component of which receives x.
        OutputReplicateX "PVS_DST_REG_OUT_REPL_X" 3;
        /// An alternate temporary.
        AltTemporary "PVS_DST_REG_ALT_TEMPORARY" 4;
        /// An input vector.
        Input "PVS_DST_REG_INPUT" 5;
    }
}

ops! {
    /// The value of a component of a source.
    pub enum Select cite "R5xx PVS_SRC" {
        /// Component x.
        X "PVS_SRC_SELECT_X" 0;
        /// Component y.
        Y "PVS_SRC_SELECT_Y" 1;
        /// Component z.
        Z "PVS_SRC_SELECT_Z" 2;
        /// Component w.
        W "PVS_SRC_SELECT_W" 3;
        /// The value 0.
        Zero "PVS_SRC_SELECT_FORCE_0" 4;
        /// The value 1.
        One "PVS_SRC_SELECT_FORCE_1" 5;
        /// Not defined by AMD; compilers use it for components that nothing reads. Reads 0 here.
        Unused "UNUSED" 7 cite "pvs-encoding §2";
    }
}

ops! {
    /// A component of a vector.
    pub enum Component cite "R5xx PVS_SRC" {
        /// The first.
        X "X" 0;
        /// The second.
        Y "Y" 1;
        /// The third.
        Z "Z" 2;
        /// The fourth.
        W "W" 3;
    }
}

ops! {
    /// How a register's address is made.
    pub enum AddrMode cite "R5xx PVS_SRC" {
        /// The offset.
        Absolute "ABSOLUTE" 0;
        /// The offset and a component of A0.
        RelativeA0 "RELATIVE_A0" 1;
        /// The offset and the loop index aL.
        RelativeI0 "RELATIVE_I0" 2;
    }
}

ops! {
    /// The operation of a flow-control slot.
    pub enum FlowOp cite "R5xx VAP_PVS_FLOW_CNTL_OPC" {
        /// The slot does nothing.
        None "PVS_FC_OPC_NO_OP" 0;
        /// Go on elsewhere.
        Jump "PVS_FC_OPC_JUMP" 1;
        /// Begin a loop.
        Loop "PVS_FC_OPC_LOOP" 2;
        /// Call a subroutine.
        Jsr "PVS_FC_OPC_JSR" 3;
    }
}

/// The components of an operand that an operation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadComponents {
    /// None: the operand takes no part.
    Nothing,
    /// For each component that is written, the one of the same name.
    Own,
    /// These, for every write mask: bit 0 is x.
    These(u8),
    /// For each written component these: `[i]` is the mask that component i of the result needs.
    Each([u8; 4]),
}

impl ReadComponents {
    /// The components that the components `written` of the result need; bit 0 is x.
    #[must_use]
    pub const fn mask(self, written: u8) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Own => written,
            Self::These(mask) => {
                if written == 0 {
                    0
                } else {
                    mask
                }
            }
            Self::Each(masks) => {
                let (mut all, mut i) = (0, 0);
                while i < 4 {
                    if written >> i & 1 == 1 {
                        all |= masks[i];
                    }
                    i += 1;
                }
                all
            }
        }
    }
}

/// The kind of an operation's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// No result.
    Nothing,
    /// A float.
    Plain,
    /// An integer, for A0.
    Address,
    /// A counter, and the predicate.
    Predicate,
    /// As `Plain`; components for which the condition does not hold are not written.
    Conditional,
}

/// The further columns of an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpInfo {
    /// The name in the assembly.
    pub mnemonic: &'static str,
    /// The components of sources 0, 1 and 2 that it reads.
    pub reads: [ReadComponents; 3],
    /// The kind of its result.
    pub class: Class,
    /// Its formula; A, B and C are the sources.
    pub formula: &'static str,
}

impl OpInfo {
    /// Whether it reads source `n`.
    #[must_use]
    pub const fn reads_source(&self, n: usize) -> bool {
        !matches!(self.reads[n], ReadComponents::Nothing)
    }
}

const NONE: [ReadComponents; 3] = [ReadComponents::Nothing; 3];
const A: [ReadComponents; 3] = [ReadComponents::Own, ReadComponents::Nothing, ReadComponents::Nothing];
const AB: [ReadComponents; 3] = [ReadComponents::Own, ReadComponents::Own, ReadComponents::Nothing];
const ABC: [ReadComponents; 3] = [ReadComponents::Own; 3];
/// The w components: operands of the math engine.
const W: ReadComponents = ReadComponents::These(0b1000);
const MATH_A: [ReadComponents; 3] = [W, ReadComponents::Nothing, ReadComponents::Nothing];
const MATH_AB: [ReadComponents; 3] = [W, W, ReadComponents::Nothing];
const MATH_AC: [ReadComponents; 3] = [W, ReadComponents::Nothing, W];
const MATH_ABC: [ReadComponents; 3] = [W, W, W];

const fn op(mnemonic: &'static str, class: Class, reads: [ReadComponents; 3], formula: &'static str) -> OpInfo {
    OpInfo { mnemonic, reads, class, formula }
}

const fn plain(mnemonic: &'static str, reads: [ReadComponents; 3], formula: &'static str) -> OpInfo {
    op(mnemonic, Class::Plain, reads, formula)
}

const fn push(mnemonic: &'static str, formula: &'static str) -> OpInfo {
    op(mnemonic, Class::Predicate, MATH_AB, formula)
}

const fn pred(mnemonic: &'static str, reads: [ReadComponents; 3], formula: &'static str) -> OpInfo {
    op(mnemonic, Class::Predicate, reads, formula)
}

ops! {
    /// Operation of the vector engine: components are computed side by side.
    pub enum VectorOp cite "pvs-encoding §4" info OpInfo {
        /// Nothing is written.
        NoOp "VECTOR_NO_OP" 0 => op("nop", Class::Nothing, NONE, "");
        /// Dot product of four components, to every component.
        DotProduct "VE_DOT_PRODUCT" 1 => plain("dp4", [ReadComponents::These(15), ReadComponents::These(15), ReadComponents::Nothing],
            "A.x*B.x + A.y*B.y + A.z*B.z + A.w*B.w");
        /// Product.
        Multiply "VE_MULTIPLY" 2 => plain("mul", AB, "A * B");
        /// Sum.
        Add "VE_ADD" 3 => plain("add", AB, "A + B");
        /// Multiply and add.
        MultiplyAdd "VE_MULTIPLY_ADD" 4 => plain("mad", ABC, "A * B + C");
        /// Distance vector.
        DistanceVector "VE_DISTANCE_VECTOR" 5 => plain("dst",
            [ReadComponents::Each([0, 2, 4, 0]), ReadComponents::Each([0, 2, 0, 8]), ReadComponents::Nothing], "(1, A.y*B.y, A.z, B.w)");
        /// Fraction.
        Fraction "VE_FRACTION" 6 => plain("frc", A, "A - floor(A)");
        /// The larger of two.
        Maximum "VE_MAXIMUM" 7 => plain("max", AB, "A >= B ? A : B");
        /// The smaller of two.
        Minimum "VE_MINIMUM" 8 => plain("min", AB, "A < B ? A : B");
        /// Comparison, as a number.
        SetGreaterThanEqual "VE_SET_GREATER_THAN_EQUAL" 9 => plain("sge", AB, "A >= B ? 1 : 0");
        /// Comparison, as a number.
        SetLessThan "VE_SET_LESS_THAN" 10 => plain("slt", AB, "A < B ? 1 : 0");
        /// Multiply by two and add.
        MultiplyX2Add "VE_MULTIPLYX2_ADD" 11 => plain("m2a", ABC, "2 * A * B + C");
        /// Product, clamped to 0..C. UNVERIFIED: an older emulator's reading; no document and no compiler says.
        MultiplyClamp "VE_MULTIPLY_CLAMP" 12 => plain("mulc", ABC, "min(max(A * B, 0), C)");
        /// The largest integer that is not larger.
        Flt2FixDx "VE_FLT2FIX_DX" 13 => op("arl", Class::Address, A, "floor(A)");
        /// The nearest integer.
        Flt2FixDxRnd "VE_FLT2FIX_DX_RND" 14 => op("arr", Class::Address, A, "floor(A + 0.5)");
        /// Nested condition: counter A.w, condition on B.w.
        PredSetEqPush "VE_PRED_SET_EQ_PUSH" 15 cite "pvs-encoding §5" => push("pseq_push", "A.w == 0 && B.w == 0 ? 0 : A.w + 1");
        /// Nested condition: counter A.w, condition on B.w.
        PredSetGtPush "VE_PRED_SET_GT_PUSH" 16 cite "pvs-encoding §5" => push("psgt_push", "A.w == 0 && B.w > 0 ? 0 : A.w + 1");
        /// Nested condition: counter A.w, condition on B.w.
        PredSetGtePush "VE_PRED_SET_GTE_PUSH" 17 cite "pvs-encoding §5" => push("psge_push", "A.w == 0 && B.w >= 0 ? 0 : A.w + 1");
        /// Nested condition: counter A.w, condition on B.w.
        PredSetNeqPush "VE_PRED_SET_NEQ_PUSH" 18 cite "pvs-encoding §5" => push("psne_push", "A.w == 0 && B.w != 0 ? 0 : A.w + 1");
        /// Writes B where A is zero, component by component. UNVERIFIED, by its name.
        CondWriteEq "VE_COND_WRITE_EQ" 19 => op("cweq", Class::Conditional, AB, "B where A == 0");
        /// Writes B where A is positive, component by component. UNVERIFIED, by its name.
        CondWriteGt "VE_COND_WRITE_GT" 20 => op("cwgt", Class::Conditional, AB, "B where A > 0");
        /// Writes B where A is not negative, component by component. UNVERIFIED, by its name.
        CondWriteGte "VE_COND_WRITE_GTE" 21 => op("cwge", Class::Conditional, AB, "B where A >= 0");
        /// Writes B where A is not zero, component by component. UNVERIFIED, by its name.
        CondWriteNeq "VE_COND_WRITE_NEQ" 22 => op("cwne", Class::Conditional, AB, "B where A != 0");
        /// Choice by comparison with zero.
        CondMuxEq "VE_COND_MUX_EQ" 23 => plain("cmeq", ABC, "A == 0 ? B : C");
        /// Choice by comparison with zero.
        CondMuxGt "VE_COND_MUX_GT" 24 => plain("cmgt", ABC, "A > 0 ? B : C");
        /// Choice by comparison with zero.
        CondMuxGte "VE_COND_MUX_GTE" 25 => plain("cmge", ABC, "A >= 0 ? B : C");
        /// Comparison, as a number.
        SetGreaterThan "VE_SET_GREATER_THAN" 26 => plain("sgt", AB, "A > B ? 1 : 0");
        /// Comparison, as a number.
        SetEqual "VE_SET_EQUAL" 27 => plain("seq", AB, "A == B ? 1 : 0");
        /// Comparison, as a number.
        SetNotEqual "VE_SET_NOT_EQUAL" 28 => plain("sne", AB, "A != B ? 1 : 0");
    }
}

ops! {
    /// Macro: a vector operation that takes two clocks, and may read three different temporaries.
    pub enum MacroOp cite "pvs-encoding §4" info OpInfo {
        /// Multiply and add.
        TwoClockMadd "PVS_MACRO_OP_2CLK_MADD" 0 => plain("mad2", ABC, "A * B + C");
        /// Multiply by two and add.
        TwoClockM2xAdd "PVS_MACRO_OP_2CLK_M2X_ADD" 1 => plain("m2a2", ABC, "2 * A * B + C");
    }
}

ops! {
    /// Operation of the math engine: one scalar, of the w components of the sources (of x and y in a dual operation).
    pub enum MathOp cite "pvs-encoding §5" info OpInfo {
        /// Nothing is written.
        NoOp "MATH_NO_OP" 0 => op("mnop", Class::Nothing, NONE, "");
        /// Two to the power of A in parts.
        ExpBase2Dx "ME_EXP_BASE2_DX" 1 => plain("exp", MATH_A, "(2^floor(A.w), A.w - floor(A.w), 2^A.w, 1)");
        /// Logarithm to base two in parts.
        LogBase2Dx "ME_LOG_BASE2_DX" 2 => plain("log", MATH_A, "(exponent of |A.w|, mantissa of |A.w|, log2 |A.w|, 1)");
        /// e to the power of A.
        ExpBaseEFf "ME_EXP_BASEE_FF" 3 => plain("expe", MATH_A, "e ^ A.w");
        /// Lighting coefficients.
        LightCoeffDx "ME_LIGHT_COEFF_DX" 4 => plain("lit", MATH_ABC, "(1, max(B.w, 0), B.w > 0 ? max(A.w, 0)^C.w : 0, 1)");
        /// Power.
        PowerFuncFf "ME_POWER_FUNC_FF" 5 => plain("pow", MATH_AC, "A.w ^ C.w");
        /// Reciprocal; the largest number for infinity.
        RecipDx "ME_RECIP_DX" 6 => plain("rcp", MATH_A, "1 / A.w");
        /// Reciprocal; zero for infinity.
        RecipFf "ME_RECIP_FF" 7 => plain("rcpf", MATH_A, "1 / A.w");
        /// Reciprocal square root of the magnitude; the largest number for infinity.
        RecipSqrtDx "ME_RECIP_SQRT_DX" 8 => plain("rsq", MATH_A, "1 / sqrt |A.w|");
        /// Reciprocal square root of the magnitude; zero for infinity.
        RecipSqrtFf "ME_RECIP_SQRT_FF" 9 => plain("rsqf", MATH_A, "1 / sqrt |A.w|");
        /// Product.
        Multiply "ME_MULTIPLY" 10 => plain("mmul", MATH_AB, "A.w * B.w");
        /// Two to the power of A.
        ExpBase2FullDx "ME_EXP_BASE2_FULL_DX" 11 => plain("ex2", MATH_A, "2 ^ A.w");
        /// Logarithm to base two of the magnitude; the most negative number for -infinity.
        LogBase2FullDx "ME_LOG_BASE2_FULL_DX" 12 => plain("lg2", MATH_A, "log2 |A.w|");
        /// Power, zero where the base is less than B.
        PowerFuncFfClampB "ME_POWER_FUNC_FF_CLAMP_B" 13 => plain("powb", MATH_ABC, "A.w < B.w ? 0 : A.w ^ C.w");
        /// Power, zero where the base is less than B, one where it is more than one.
        PowerFuncFfClampB1 "ME_POWER_FUNC_FF_CLAMP_B1" 14 => plain("powb1", MATH_ABC, "A.w < B.w ? 0 : A.w > 1 ? 1 : A.w ^ C.w");
        /// Power of a base clamped to 0..1.
        PowerFuncFfClamp01 "ME_POWER_FUNC_FF_CLAMP_01" 15 => plain("pow01", MATH_AC, "A.w <= 0 ? 0 : A.w > 1 ? 1 : A.w ^ C.w");
        /// Sine of A radians.
        Sin "ME_SIN" 16 => plain("sin", MATH_A, "sin(A.w)");
        /// Cosine of A radians.
        Cos "ME_COS" 17 => plain("cos", MATH_A, "cos(A.w)");
        /// Logarithm to base two, as IEEE has it.
        LogBase2Ieee "ME_LOG_BASE2_IEEE" 18 => plain("lg2i", MATH_A, "log2(A.w)");
        /// Reciprocal, as IEEE has it.
        RecipIeee "ME_RECIP_IEEE" 19 => plain("rcpi", MATH_A, "1 / A.w");
        /// Reciprocal square root, as IEEE has it.
        RecipSqrtIeee "ME_RECIP_SQRT_IEEE" 20 => plain("rsqi", MATH_A, "1 / sqrt(A.w)");
        /// Outermost condition.
        PredSetEq "ME_PRED_SET_EQ" 21 => pred("pseq", MATH_A, "A.w == 0 ? 0 : 1");
        /// Outermost condition.
        PredSetGt "ME_PRED_SET_GT" 22 => pred("psgt", MATH_A, "A.w > 0 ? 0 : 1");
        /// Outermost condition.
        PredSetGte "ME_PRED_SET_GTE" 23 => pred("psge", MATH_A, "A.w >= 0 ? 0 : 1");
        /// Outermost condition.
        PredSetNeq "ME_PRED_SET_NEQ" 24 => pred("psne", MATH_A, "A.w != 0 ? 0 : 1");
        /// No instruction of any level writes.
        PredSetClr "ME_PRED_SET_CLR" 25 => pred("psclr", NONE, "the largest number");
        /// The other branch of the innermost condition.
        PredSetInv "ME_PRED_SET_INV" 26 => pred("psinv", MATH_A, "A.w == 1 ? 0 : A.w == 0 ? 1 : A.w");
        /// The end of the innermost condition.
        PredSetPop "ME_PRED_SET_POP" 27 => pred("pspop", MATH_A, "max(A.w - 1, 0)");
        /// The predicate of a counter.
        PredSetRestore "ME_PRED_SET_RESTORE" 28 => pred("psres", MATH_A, "A.w");
    }
}

/// The operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Of the vector engine.
    Vector(VectorOp),
    /// Of the math engine.
    Math(MathOp),
    /// A macro.
    Macro(MacroOp),
}

impl Op {
    /// The further columns of its row.
    #[must_use]
    pub const fn info(self) -> OpInfo {
        match self {
            Self::Vector(op) => op.info(),
            Self::Math(op) => op.info(),
            Self::Macro(op) => op.info(),
        }
    }

    /// AMD's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vector(op) => op.name(),
            Self::Math(op) => op.name(),
            Self::Macro(op) => op.name(),
        }
    }

    /// Every operation: vector, macro, math, each in the order of its table.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        let vector = VectorOp::ALL.iter().map(|&op| Self::Vector(op));
        let macros = MacroOp::ALL.iter().map(|&op| Self::Macro(op));
        vector.chain(macros).chain(MathOp::ALL.iter().map(|&op| Self::Math(op)))
    }

    /// The operation with this mnemonic.
    #[must_use]
    pub fn from_mnemonic(mnemonic: &str) -> Option<Self> {
        Self::all().find(|op| op.info().mnemonic == mnemonic)
    }

    /// Whether it is one of the math engine.
    #[must_use]
    pub const fn is_math(self) -> bool {
        matches!(self, Self::Math(_))
    }
}
