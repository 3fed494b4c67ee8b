//! Opcodes and field values of the X1K, in the order of the CTM Guide.
//!
//! Numbers are AMD's ("R5xx Acceleration" register text); the Guide names them without numbers.

ops! {
    /// What kind of instruction the slot holds.
    pub enum InstType cite "CTM §3.1" {
        /// Arithmetic and logic; may set predicate bits.
        Alu "ALU" 0;
        /// Arithmetic and logic; may write the output registers.
        Output "OUTPUT" 1;
        /// Flow control.
        Fc "FC" 2;
        /// Texture: reads an input, or kills processors.
        Tex "TEX" 3;
    }
}

ops! {
    /// Which predicate bits are ANDed with a write mask, or take part in a jump condition.
    pub enum PredSel cite "CTM §3.3.6" {
        /// No predication.
        None "NONE" 0;
        /// Each channel its own bit.
        Rgba "RGBA" 1;
        /// The R bit for every channel.
        Rrrr "RRRR" 2;
        /// The G bit for every channel.
        Gggg "GGGG" 3;
        /// The B bit for every channel.
        Bbbb "BBBB" 4;
        /// The A bit for every channel.
        Aaaa "AAAA" 5;
    }
}

ops! {
    /// Which channel of an instruction's result becomes the ALU result.
    pub enum AluResultSel cite "CTM §3.3.10" {
        /// The red channel of the RGB unit.
        Red "RED" 0;
        /// The alpha unit.
        Alpha "ALPHA" 1;
    }
}

ops! {
    /// Comparison of a channel with zero: sets a predicate bit (TARGET field of an ALU instruction) or the ALU result.
    pub enum CompareOp cite "CTM §3.3.9" {
        /// Set when the channel is zero.
        Equal "EQUAL" 0;
        /// Set when the channel is negative.
        Less "LESS" 1;
        /// Set when the channel is not negative.
        GreaterEqual "GREATER_EQUAL" 2;
        /// Set when the channel is not zero.
        NotEqual "NOT_EQUAL" 3;
    }
}

ops! {
    /// Presubtract operation of one unit.
    pub enum SrcpOp cite "CTM §3.3.2" {
        /// `1 - 2*src0`
        Bias "BIAS" 0;
        /// `src1 - src0`
        Sub "SUB" 1;
        /// `src1 + src0`
        Add "ADD" 2;
        /// `1 - src0`
        Inv "INV" 3;
    }
}

ops! {
    /// Which source an operand selects.
    pub enum Sel cite "CTM §3.3.3" {
        /// `{rgb_addr0.rgb, alpha_addr0.a}`
        Src0 "SRC0" 0;
        /// `{rgb_addr1.rgb, alpha_addr1.a}`
        Src1 "SRC1" 1;
        /// `{rgb_addr2.rgb, alpha_addr2.a}`
        Src2 "SRC2" 2;
        /// The presubtract results of both units.
        Srcp "SRCP" 3;
    }
}

ops! {
    /// What one component of an operand reads from the selected source.
    pub enum Swizzle cite "CTM §3.3.3" {
        /// Red.
        R "R" 0;
        /// Green.
        G "G" 1;
        /// Blue.
        B "B" 2;
        /// Alpha.
        A "A" 3;
        /// The value 0.
        Zero "ZERO" 4;
        /// The value 0.5.
        Half "HALF" 5;
        /// The value 1.
        One "ONE" 6;
        /// Not documented by AMD; compilers use it for "do not care". Reads 0 here.
        Unused "UNUSED" 7 cite "x1k-encoding §1.3";
    }
}

ops! {
    /// Input modifier of one operand.
    pub enum Imod cite "CTM §3.3.3" {
        /// No modification.
        Off "OFF" 0;
        /// Negate.
        Neg "NEG" 1;
        /// Absolute value.
        Abs "ABS" 2;
        /// Negative of the absolute value.
        Nab "NAB" 3;
    }
}

ops! {
    /// Output modifier of one unit.
    pub enum Omod cite "CTM §3.3.5" {
        /// Multiply by 1.
        U1 "U1" 0;
        /// Multiply by 2.
        U2 "U2" 1;
        /// Multiply by 4.
        U4 "U4" 2;
        /// Multiply by 8.
        U8 "U8" 3;
        /// Divide by 2.
        D2 "D2" 4;
        /// Divide by 4.
        D4 "D4" 5;
        /// Divide by 8.
        D8 "D8" 6;
        /// No modification at all, no clamp: the bits of the chosen operand. MIN, MAX, CND and CMP only.
        Disabled "DISABLED" 7;
    }
}

ops! {
    /// TARGET of an OUTPUT instruction in a program with cached writes.
    pub enum RenderTarget cite "CTM §3.3.8" {
        /// Output 0.
        A "A" 0;
        /// Output 1.
        B "B" 1;
        /// Output 2.
        C "C" 2;
        /// Output 3.
        D "D" 3;
    }
}

ops! {
    /// TARGET (of the RGB unit) of an OUTPUT instruction in a program with uncached writes.
    ///
    /// The order of the numbers is inferred from the Guide's list: UNVERIFIED, a public program would settle it.
    pub enum UmrtTarget cite "CTM §3.3.8" {
        /// One index for all processors of the group.
        SameIdx "UMRT_SAME_IDX" 0;
        /// As `UMRT_SAME_IDX`, and acquires the texture semaphore.
        SameIdxAcquire "UMRT_SAME_IDX_TEX_SEM_ACQUIRE" 1;
        /// Each processor its own index (at a quarter of the speed).
        PerProcessorIdx "UMRT_PER_PROCESSOR_IDX" 2;
        /// As `UMRT_PER_PROCESSOR_IDX`, and acquires the texture semaphore.
        PerProcessorIdxAcquire "UMRT_PER_PROCESSOR_IDX_TEX_SEM_ACQUIRE" 3;
    }
}

/// The further columns of an ALU opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AluInfo {
    /// How many of the operands A, B, C it reads.
    pub operands: u8,
    /// Whether `OMOD_DISABLED` is allowed (CTM §3.3.5).
    pub omod_disabled: bool,
    /// What it computes, as a formula.
    pub formula: &'static str,
}

const fn alu(operands: u8, formula: &'static str) -> AluInfo {
    AluInfo { operands, omod_disabled: false, formula }
}

const fn choice(operands: u8, formula: &'static str) -> AluInfo {
    AluInfo { operands, omod_disabled: true, formula }
}

ops! {
    /// Operation of the RGB unit.
    pub enum RgbOp cite "CTM §3.3.4" info AluInfo {
        /// Multiply and add, rounded once.
        Mad "MAD" 0 => alu(3, "A * B + C");
        /// Three-component dot product, to all three channels.
        Dp3 "DP3" 1 => alu(2, "A.r*B.r + A.g*B.g + A.b*B.b");
        /// Four-component dot product, to all three channels; the fourth pair comes from the alpha unit's operands A and B.
        Dp4 "DP4" 2 => alu(2, "A.r*B.r + A.g*B.g + A.b*B.b + A.a*B.a");
        /// Two-component dot product plus a scalar, to all three channels.
        D2a "D2A" 3 => alu(3, "A.r*B.r + A.g*B.g + C.b");
        /// The smaller of A and B.
        Min "MIN" 4 => choice(2, "A < B ? A : B");
        /// The larger of A and B.
        Max "MAX" 5 => choice(2, "A >= B ? A : B");
        /// Choice by comparison with one half.
        Cnd "CND" 7 => choice(3, "C > 0.5 ? A : B");
        /// Choice by comparison with zero.
        Cmp "CMP" 8 => choice(3, "C >= 0 ? A : B");
        /// Fraction.
        Frc "FRC" 9 => alu(1, "A - floor(A)");
        /// The alpha unit's transcendental result, to all three channels.
        Sop "SOP" 10 => alu(0, "result of the alpha unit");
        /// Horizontal quad operation: A is src0 of the top-left processor of the quad, C src0 of the top-right one.
        Mdh "MDH" 11 cite "x1k-encoding §1.5" => alu(3, "topleft.src0 * B + topright.src0");
        /// Vertical quad operation: A is src0 of the top-left processor of the quad, C src0 of the bottom-left one.
        Mdv "MDV" 12 cite "x1k-encoding §1.5" => alu(3, "topleft.src0 * B + bottomleft.src0");
    }
}

ops! {
    /// Operation of the alpha unit.
    pub enum AlphaOp cite "CTM §3.3.4" info AluInfo {
        /// Multiply and add, rounded once.
        Mad "MAD" 0 => alu(3, "A * B + C");
        /// The RGB unit's dot product.
        Dp "DP" 1 => alu(0, "result of the RGB unit");
        /// The smaller of A and B.
        Min "MIN" 2 => choice(2, "A < B ? A : B");
        /// The larger of A and B.
        Max "MAX" 3 => choice(2, "A >= B ? A : B");
        /// Choice by comparison with one half.
        Cnd "CND" 5 => choice(3, "C > 0.5 ? A : B");
        /// Choice by comparison with zero.
        Cmp "CMP" 6 => choice(3, "C >= 0 ? A : B");
        /// Fraction.
        Frc "FRC" 7 => alu(1, "A - floor(A)");
        /// Two to the power of A.
        Ex2 "EX2" 8 => alu(1, "2 ^ A");
        /// Logarithm to base two.
        Ln2 "LN2" 9 => alu(1, "log2(A)");
        /// Reciprocal.
        Rcp "RCP" 10 => alu(1, "1 / A");
        /// Reciprocal square root; does not take the absolute value by itself.
        Rsq "RSQ" 11 => alu(1, "1 / squareRoot(A)");
        /// Sine of A turns.
        Sin "SIN" 12 => alu(1, "sin(A * 2pi)");
        /// Cosine of A turns.
        Cos "COS" 13 => alu(1, "cos(A * 2pi)");
        /// Horizontal quad operation: A is src0 of the top-left processor of the quad, C src0 of the top-right one.
        Mdh "MDH" 14 cite "x1k-encoding §1.5" => alu(3, "topleft.src0 * B + topright.src0");
        /// Vertical quad operation: A is src0 of the top-left processor of the quad, C src0 of the bottom-left one.
        Mdv "MDV" 15 cite "x1k-encoding §1.5" => alu(3, "topleft.src0 * B + bottomleft.src0");
    }
}

impl RgbOp {
    /// Whether the result is a scalar that `ALPHA_DP` can copy (CTM §3.3.4).
    #[must_use]
    pub const fn is_dot_product(self) -> bool {
        matches!(self, Self::Dp3 | Self::Dp4 | Self::D2a)
    }

    /// Whether it reads its quad neighbours (x1k-encoding §1.5).
    #[must_use]
    pub const fn is_quad(self) -> bool {
        matches!(self, Self::Mdh | Self::Mdv)
    }
}

impl AlphaOp {
    /// Whether the result is one that `RGB_SOP` can copy (CTM §3.3.4).
    #[must_use]
    pub const fn is_transcendental(self) -> bool {
        matches!(self, Self::Ex2 | Self::Ln2 | Self::Rcp | Self::Rsq | Self::Sin | Self::Cos)
    }

    /// Whether it reads its quad neighbours (x1k-encoding §1.5).
    #[must_use]
    pub const fn is_quad(self) -> bool {
        matches!(self, Self::Mdh | Self::Mdv)
    }
}

ops! {
    /// Texture operation.
    pub enum TexOp cite "CTM §3.4.1" {
        /// Does nothing, but may acquire the texture semaphore.
        Nop "NOP" 0;
        /// Reads an input at the source coordinates.
        Lookup "LOOKUP" 1;
        /// Kills the processor when a masked channel of the source is less than zero.
        KillLt0 "KILL_LT_0" 2;
        /// Reads an input at the source coordinates divided by Q.
        LookupProj "LOOKUP_PROJ" 3;
        /// Lookup with a level-of-detail bias; inputs have one level, so it reads as LOOKUP.
        LodBias "LODBIAS" 4 cite "x1k-encoding §1.6";
        /// Lookup at a given level of detail; inputs have one level, so it reads as LOOKUP.
        Lod "LOD" 5 cite "x1k-encoding §1.6";
        /// Lookup with given gradients; inputs have one level, so it reads as LOOKUP.
        Dxdy "DXDY" 6 cite "x1k-encoding §1.6";
        /// Reads what uncached writes wrote. The number is inferred (the only free one): UNVERIFIED.
        LookupUncached "LOOKUP_UNCACHED" 7;
    }
}

impl TexOp {
    /// Whether it reads an input and writes the destination.
    #[must_use]
    pub const fn is_lookup(self) -> bool {
        !matches!(self, Self::Nop | Self::KillLt0)
    }
}

ops! {
    /// Channel of a texture source or result.
    pub enum Channel cite "CTM §3.4" {
        /// Red.
        R "R" 0;
        /// Green.
        G "G" 1;
        /// Blue.
        B "B" 2;
        /// Alpha.
        A "A" 3;
    }
}

ops! {
    /// Loop-stack operation of a flow-control instruction.
    pub enum FcOp cite "CTM §3.5.3" {
        /// None.
        Jump "JUMP" 0;
        /// Initialise count and aL and push the loop stack if stay.
        Loop "LOOP" 1;
        /// Count and step aL if jump, else pop the loop stack.
        EndLoop "ENDLOOP" 2;
        /// Initialise the count and push the loop stack if stay.
        Rep "REP" 3;
        /// Count if jump, else pop the loop stack.
        EndRep "ENDREP" 4;
        /// Pop the loop stack (innermost LOOP) if jump.
        BreakLoop "BREAKLOOP" 5;
        /// Pop the loop stack (innermost REP) if jump.
        BreakRep "BREAKREP" 6;
        /// Disable processors until the end of the current loop.
        Continue "CONTINUE" 7;
    }
}

ops! {
    /// Address-stack operation of a flow-control instruction.
    pub enum AOp cite "CTM §3.5.3" {
        /// None.
        None "NONE" 0;
        /// Pop the address stack if jump; overrides `JUMP_ADDR`.
        Pop "POP" 1;
        /// Push the address stack if jump.
        Push "PUSH" 2;
    }
}

ops! {
    /// Branch-counter operation of a flow-control instruction, if stay (`B_OP0`) or if jump (`B_OP1`).
    pub enum BOp cite "CTM §3.5.3" {
        /// None.
        None "NONE" 0;
        /// Decrement the branch counters of inactive processors by `B_POP_CNT`; activate those that go negative.
        Decr "DECR" 1;
        /// Increment the branch counters of inactive processors; deactivate those that disagree with the decision.
        Incr "INCR" 2;
    }
}
