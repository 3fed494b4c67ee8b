//! Control-flow opcodes and the values of control-flow fields.

/// The kind of clause that a control-flow instruction starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clause {
    /// None.
    None,
    /// Texture, vertex, memory-read or data-share fetches, 128 bits each.
    Fetch,
}

/// The meaning of `ADDR` of a control-flow instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Addr {
    /// Nothing: the field is ignored.
    Ignored,
    /// The first slot of the clause.
    Clause,
    /// The control-flow instruction to go on with.
    Target,
    /// A number: acknowledgements that may be outstanding.
    Count,
}

/// The further columns of a control-flow opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CfInfo {
    /// The clause it starts.
    pub clause: Clause,
    /// The meaning of its address.
    pub addr: Addr,
    /// Whether `POP_COUNT` has an effect.
    pub pops: bool,
    /// Whether `COND` may be something else than ACTIVE.
    pub conditional: bool,
    /// Whether a branch or loop computes a condition test, which `COND` is part of (R700 table 3.7).
    pub tested: bool,
    /// Whether `CF_CONST` names a loop constant.
    pub loop_constant: bool,
}

const fn plain() -> CfInfo {
    CfInfo {
        clause: Clause::None,
        addr: Addr::Ignored,
        pops: false,
        conditional: false,
        tested: true,
        loop_constant: false,
    }
}
const fn fetch() -> CfInfo {
    CfInfo { clause: Clause::Fetch, addr: Addr::Clause, ..plain() }
}
const fn branch() -> CfInfo {
    CfInfo { addr: Addr::Target, pops: true, conditional: true, ..plain() }
}
const fn counted(info: CfInfo) -> CfInfo {
    CfInfo { loop_constant: true, ..info }
}

ops! {
    /// Operation of a plain control-flow instruction.
    pub enum CfOp cite "R700 §10.1" info CfInfo {
        /// Does nothing.
        Nop "NOP" 0 => plain();
        /// Executes a texture-fetch clause; vertex fetches and memory operations may be in it too.
        Tex "TEX" 1 => fetch();
        /// Executes a vertex-fetch clause through the vertex cache.
        Vtx "VTX" 2 => fetch();
        /// Executes a vertex-fetch clause through the texture cache.
        VtxTc "VTX_TC" 3 => fetch();
        /// Begins a counted loop with a loop index; jumps past the loop when no pixel enters it.
        LoopStart "LOOP_START" 4 => counted(branch());
        /// Ends a loop; jumps back while a pixel goes on.
        LoopEnd "LOOP_END" 5 => counted(branch());
        /// Begins a loop that only LOOP_BREAK leaves.
        LoopStartDx10 "LOOP_START_DX10" 6 => branch();
        /// As LOOP_START, without touching the loop index.
        LoopStartNoAl "LOOP_START_NO_AL" 7 => counted(branch());
        /// Pixels that pass wait for the next iteration; jumps to the end of the loop when none is left.
        LoopContinue "LOOP_CONTINUE" 8 => branch();
        /// Pixels that pass leave the loop; jumps to the end of the loop when none is left.
        LoopBreak "LOOP_BREAK" 9 => branch();
        /// Pops and jumps when no pixel passes; does nothing otherwise.
        Jump "JUMP" 10 cite "r700-encoding §10 E2" => branch();
        /// Pushes the active mask; pixels that fail become inactive; pops and jumps when none passes.
        Push "PUSH" 11 => branch();
        /// Always pushes the active mask; active pixels that do not pass go on; jumps when there is none.
        PushElse "PUSH_ELSE" 12 => branch();
        /// Of the pixels that were active at the last push and pass, exchanges active and branch-inactive ones; pops and jumps when none is active then.
        Else "ELSE" 13 => branch();
        /// Pops the active mask.
        Pop "POP" 14 => branch();
        /// Pops, then JUMP without popping again.
        PopJump "POP_JUMP" 15 => branch();
        /// Pops, then PUSH without popping again.
        PopPush "POP_PUSH" 16 => branch();
        /// Pops, then PUSH_ELSE.
        PopPushElse "POP_PUSH_ELSE" 17 => branch();
        /// Calls a subroutine when a pixel passes and the nesting depth allows it.
        Call "CALL" 18 => branch();
        /// Calls the fetch program, whose address the host sets.
        CallFs "CALL_FS" 19 => CfInfo { conditional: true, ..plain() };
        /// Returns from a subroutine, whatever the condition.
        Return "RETURN" 20 cite "R700 table 3.7, r700-encoding §10 E34" => CfInfo { conditional: true, tested: false, pops: true, ..plain() };
        /// A vertex has been exported (geometry programs).
        EmitVertex "EMIT_VERTEX" 21 => plain();
        /// A vertex has been exported and the strip ends (geometry programs).
        EmitCutVertex "EMIT_CUT_VERTEX" 22 => plain();
        /// The strip ends (geometry programs).
        CutVertex "CUT_VERTEX" 23 => plain();
        /// Kills the pixels that pass; jumps when all are killed.
        Kill "KILL" 24 cite "R700 §10.1, r700-encoding §10 E32" => CfInfo { addr: Addr::Target, ..plain() };
        /// Waits until at most ADDR acknowledgements of writes and reads are outstanding.
        WaitAck "WAIT_ACK" 26 => CfInfo { addr: Addr::Count, ..plain() };
    }
}

impl CfOp {
    /// Whether it pushes the active mask.
    #[must_use]
    pub const fn pushes(self) -> bool {
        matches!(self, Self::Push | Self::PushElse | Self::PopPush | Self::PopPushElse)
    }

    /// Whether it begins a loop.
    #[must_use]
    pub const fn starts_loop(self) -> bool {
        matches!(self, Self::LoopStart | Self::LoopStartDx10 | Self::LoopStartNoAl)
    }
}

/// The further columns of an ALU clause opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CfAluInfo {
    /// How many entries it pushes before the clause.
    pub pushes: u8,
    /// How many entries it pops after the clause.
    pub pops: u8,
}

const fn stack(pushes: u8, pops: u8) -> CfAluInfo {
    CfAluInfo { pushes, pops }
}

ops! {
    /// Operation of a control-flow instruction that starts an ALU clause.
    pub enum CfAluOp cite "R700 §10.1" info CfAluInfo {
        /// Executes the clause.
        Alu "ALU" 8 => stack(0, 0);
        /// Pushes the active mask before the clause.
        PushBefore "ALU_PUSH_BEFORE" 9 cite "R700 §10.1, r700-encoding §10 E21" => stack(1, 0);
        /// Pops the active mask after the clause.
        PopAfter "ALU_POP_AFTER" 10 => stack(0, 1);
        /// Pops twice after the clause.
        Pop2After "ALU_POP2_AFTER" 11 => stack(0, 2);
        /// Pixels whose predicate says skip wait for the next iteration.
        Continue "ALU_CONTINUE" 13 => stack(0, 0);
        /// Pixels whose predicate says skip leave the loop.
        Break "ALU_BREAK" 14 cite "R700 §10.1, r700-encoding §10 E20" => stack(0, 0);
        /// Does an ELSE without pops and without a jump after the clause.
        ElseAfter "ALU_ELSE_AFTER" 15 cite "R700 table 3.7, r700-encoding §10 E33" => stack(0, 0);
    }
}

ops! {
    /// Operation of an export or memory write.
    pub enum ExportOp cite "R700 §10.1" {
        /// Writes to stream buffer 0.
        MemStream0 "MEM_STREAM0" 32;
        /// Writes to stream buffer 1.
        MemStream1 "MEM_STREAM1" 33;
        /// Writes to stream buffer 2.
        MemStream2 "MEM_STREAM2" 34;
        /// Writes to stream buffer 3.
        MemStream3 "MEM_STREAM3" 35 cite "R700 §10.1, r700-encoding §10 E5";
        /// Writes to the scratch buffer.
        MemScratch "MEM_SCRATCH" 36;
        /// Writes to the reduction buffer.
        MemReduction "MEM_REDUCTION" 37;
        /// Writes to the ring buffer.
        MemRing "MEM_RING" 38;
        /// Exports a pixel, position or parameter; more of its type follow.
        Export "EXPORT" 39;
        /// Exports the last of its type.
        ExportDone "EXPORT_DONE" 40;
        /// Scattered write to the shared buffer.
        MemExport "MEM_EXPORT" 58;
    }
}

impl ExportOp {
    /// Whether it exports (`_SWIZ` form); otherwise it writes memory (`_BUF` form).
    #[must_use]
    pub const fn is_export(self) -> bool {
        matches!(self, Self::Export | Self::ExportDone)
    }

    /// How AMD's listings spell it.
    #[must_use]
    pub const fn listing(self) -> &'static str {
        match self {
            Self::Export => "EXP",
            Self::ExportDone => "EXP_DONE",
            _ => self.name(),
        }
    }
}

ops! {
    /// `TYPE` of EXPORT and EXPORT_DONE.
    pub enum ExportType cite "R700 §10.1" {
        /// Colour target 0..=7, or computed Z (61).
        Pixel "PIX" 0;
        /// Position 60..=63.
        Pos "POS" 1;
        /// Parameter 0..=31.
        Param "PARAM" 2;
    }
}

ops! {
    /// `TYPE` of memory writes.
    pub enum MemWriteType cite "R700 §9.1, r700-encoding §10 E6" {
        /// Writes at the base.
        Write "WRITE" 0;
        /// Writes at the base plus the index register.
        WriteInd "WRITE_IND" 1;
        /// As WRITE, and is acknowledged (WAIT_ACK).
        WriteAck "WRITE_ACK" 2;
        /// As WRITE_IND, and is acknowledged.
        WriteIndAck "WRITE_IND_ACK" 3;
    }
}

impl MemWriteType {
    /// Whether the index register is added.
    #[must_use]
    pub const fn is_indexed(self) -> bool {
        matches!(self, Self::WriteInd | Self::WriteIndAck)
    }
}

ops! {
    /// Condition test of a control-flow instruction.
    pub enum Cond cite "R700 §3.6.4" {
        /// Active pixels pass.
        Active "ACTIVE" 0;
        /// No pixel passes.
        False "FALSE" 1;
        /// Active pixels pass if the boolean constant is one.
        Bool "BOOL" 2;
        /// Active pixels pass if the boolean constant is zero.
        NotBool "NOT_BOOL" 3 cite "R700 §10.1, r700-encoding §10 E19";
    }
}

ops! {
    /// The lines that a constant-cache set locks.
    pub enum KcacheMode cite "R700 §10.1" {
        /// Nothing.
        Nop "NOP" 0;
        /// One line of 16 constants.
        Lock1 "LOCK_1" 1;
        /// Two consecutive lines.
        Lock2 "LOCK_2" 2;
        /// Two lines from the loop index / 16 on.
        LockLoopIndex "LOCK_LOOP_INDEX" 3;
    }
}

impl KcacheMode {
    /// How many constants are locked.
    #[must_use]
    pub const fn constants(self) -> u32 {
        match self {
            Self::Nop => 0,
            Self::Lock1 => 16,
            Self::Lock2 | Self::LockLoopIndex => 32,
        }
    }
}
