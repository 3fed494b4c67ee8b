//! Random legal programs, for tests that compare engines and for fuzzing compilers.
//!
//! The same seed gives the same program. Programs pass [`check`](super::check::check) without errors and warnings:
//! clauses in their places, groups whose operands all get read ports, literals, PV and PS where they are defined, branches,
//! counted and breaking loops, subroutines, fetches, memory writes, and the exports of their kind. They use few registers, so that
//! instructions depend on each other.
//!
//! Programs end, if the host's loop constants count few turns: LOOP_START_DX10 loops count their turns in a register of their own.
//!
//! | file | content |
//! |---|---|
//! | `mod` | control flow, exports, layout |
//! | `alu` | ALU clauses |
//! | `fetch` | fetch clauses |
//! | `sharing` | state shared by wavefronts: the local data share, SIMD-global registers; bursts, the other program's resources |

mod alu;
mod fetch;
mod sharing;

use super::check::stack_entries;
use super::formats::{CfAluWord0, CfAluWord1, CfExportBuf, CfExportSwiz, CfExportWord0, CfWord0, CfWord1};
use super::inst::{Cf, CfAlu, CfExport, CfMem, CfPlain, Kcache};
use super::ops::{CfAluOp, CfOp, Cond, ExportOp, ExportType, KcacheMode, MemWriteType, Sel};
use super::program::{Chip, Program, Stage};
pub use crate::x1k::random::{Random, SPECIAL};

/// The permitted contents of a random program.
#[derive(Clone, Copy, Debug)]
pub struct RandomContents {
    /// The kind of program.
    pub stage: Stage,
    /// About how many clauses.
    pub clauses: usize,
    /// How many instruction groups an ALU clause has at most, 1 or more.
    pub groups: usize,
    /// Branches, loops and subroutines.
    pub flow: bool,
    /// Texture and vertex fetches.
    pub fetches: bool,
    /// Relative addresses: AR, and the loop index in LOOP_START loops.
    pub relative: bool,
    /// Double precision (RV770 and RV790 have it).
    pub doubles: bool,
    /// Scratch and scattered writes and reads besides the exports.
    pub memory: bool,
    /// KILL*, in pixel programs.
    pub kills: bool,
    /// The local data share, SIMD-global registers, bursts of memory writes and reads, vertex events between other instructions, constants and resources of the
    /// other program type. The checker warns of some of these.
    pub sharing: bool,
    /// As compilers write programs: conditions and kills by truth values that are computed, mostly one after the other; LOOP_BREAK and LOOP_CONTINUE in branches
    /// anywhere in a loop; the operations that compilers use most; valid-pixel mode; lookups of every kind.
    pub compiled: bool,
}

impl RandomContents {
    /// Everything that this kind of program may contain, of moderate size; without [`sharing`](Self::sharing).
    #[must_use]
    pub const fn all(stage: Stage) -> Self {
        Self {
            stage,
            clauses: 8,
            groups: 8,
            flow: true,
            fetches: true,
            relative: true,
            doubles: true,
            memory: true,
            kills: true,
            sharing: false,
            compiled: false,
        }
    }
}

/// Registers that programs compute with: R0 to R5.
pub const GPRS: u8 = 6;
/// Constants of the file, or of each buffer, that programs name at most, without an index.
pub const CONSTANTS: u8 = 32;
/// Constant buffers that programs lock: 0 to 3.
pub const BUFFERS: u8 = 4;
/// Texture resources, buffers and samplers that fetches name: 0 to 3.
pub const RESOURCES: u8 = 4;
/// Loop constants and booleans that programs name: 0 to 3.
pub const FLOW_CONSTANTS: u8 = 4;

/// Deepest nesting of branches and loops.
const NESTING: u8 = 3;

/// A random program for RV770; [`Program::stage`], [`Program::gprs`] and [`Program::stack`] give its needs.
///
/// ```
/// use ctm_isa::r700::{check::check, program::Stage, random};
/// let program = random::program(1, &random::RandomContents::all(Stage::Pixel));
/// assert!(check(&program).iter().all(|finding| finding.rule == "double-precision"));
/// assert_eq!(program.words, random::program(1, &random::RandomContents::all(Stage::Pixel)).words);
/// ```
#[must_use]
pub fn program(seed: u64, shape: &RandomContents) -> Program {
    let mut random = Random::new(seed);
    let constants =
        if alu::may_read_file(shape.stage) && random.one_in(2) { Constants::File } else { Constants::Cache };
    // An indexed write may hit any register, the counters of breaking loops too.
    let counts_turns = !shape.relative || random.one_in(2);
    let mut make = Maker {
        random,
        shape: *shape,
        constants,
        indexed_writes: shape.relative && !counts_turns,
        items: Vec::new(),
        calls: Vec::new(),
        loop_index: false,
        in_subroutine: false,
        open_loops: Vec::new(),
        valid_pixel_mode: false,
        else_after: Random::new(seed ^ 0xe15e_af7e4),
    };
    make.valid_pixel_mode = shape.compiled && make.random.one_in(3);
    make.whole();
    let words = make.layout();
    let stack = stack_entries(&words, 0, Chip::Rv770);
    Program {
        words,
        stage: Some(shape.stage),
        gprs: GPRS + 2 * NESTING,
        stack: u8::try_from(stack).unwrap_or(u8::MAX),
        ..Program::default()
    }
}

/// Which constants a program reads: the file or the cache, never both (R700 §4.6.4).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Constants {
    File,
    Cache,
}

/// A control-flow instruction with the words of its clause. Items are in the order of their slots.
struct CfItem {
    cf: Cf,
    body: Vec<u32>,
}

struct Maker {
    random: Random,
    shape: RandomContents,
    constants: Constants,
    indexed_writes: bool,
    items: Vec<CfItem>,
    /// CALLs whose target is not known yet.
    calls: Vec<usize>,
    /// Whether a LOOP_START is around.
    loop_index: bool,
    in_subroutine: bool,
    /// For each loop that is open, the jumps to its end.
    open_loops: Vec<Vec<usize>>,
    /// Some instructions are in valid-pixel mode.
    valid_pixel_mode: bool,
    /// Whether an ELSE is part of the clause before it.
    else_after: Random,
}

fn plain(op: CfOp) -> CfPlain {
    CfPlain {
        word0: CfWord0 { addr: 0 },
        word1: CfWord1 {
            pop_count: 0,
            cf_const: 0,
            cond: Cond::Active,
            count: 0,
            call_count: 0,
            count_3: false,
            end_of_program: false,
            valid_pixel_mode: false,
            op,
            whole_quad_mode: false,
            barrier: true,
        },
    }
}

fn export_word(array_base: u16, kind: u8, rw_gpr: u8) -> CfExportWord0 {
    CfExportWord0 { array_base, kind, rw_gpr, rw_rel: false, index_gpr: 0, elem_size: 3 }
}

impl Maker {
    /// The slot of the next item.
    fn here(&self) -> u32 {
        u32::try_from(self.items.len()).unwrap_or(0)
    }

    fn push(&mut self, cf: Cf, body: Vec<u32>) -> usize {
        self.items.push(CfItem { cf, body });
        self.items.len() - 1
    }

    fn plain(&mut self, op: CfOp, change: impl FnOnce(&mut CfPlain)) -> usize {
        let mut cf = plain(op);
        cf.word1.valid_pixel_mode = self.valid();
        change(&mut cf);
        self.push(Cf::Plain(cf), Vec::new())
    }

    /// Whether an instruction is in valid-pixel mode.
    fn valid(&mut self) -> bool {
        self.valid_pixel_mode && self.random.one_in(2)
    }

    /// Makes an instruction jump to the next item.
    fn land(&mut self, item: usize) {
        let here = self.here();
        if let Cf::Plain(cf) = &mut self.items[item].cf {
            cf.word0.addr = here;
        }
    }

    fn whole(&mut self) {
        if matches!(self.shape.stage, Stage::Vertex | Stage::Export) && self.random.one_in(2) {
            self.plain(CfOp::CallFs, |_| {});
        }
        let clauses = self.shape.clauses;
        self.block(clauses, 0);
        self.ending();
        let calls = std::mem::take(&mut self.calls);
        if !calls.is_empty() {
            self.in_subroutine = true;
            for call in calls {
                self.land(call);
            }
            self.block(clauses / 4 + 1, 1);
            self.plain(CfOp::Return, |_| {});
        }
    }

    /// Some clauses, branches and loops at a nesting depth.
    fn block(&mut self, clauses: usize, depth: u8) {
        let mut left = clauses.max(1);
        while left > 0 {
            let inner = (left / 2).max(1);
            let nest = self.shape.flow && depth < NESTING && left > 1;
            if self.shape.compiled && self.random.one_in(4) {
                left = left.saturating_sub(match self.random.below(4) {
                    0 if self.shape.kills && self.shape.stage == Stage::Pixel => {
                        self.alu_item(CfAluOp::Alu, alu::Ends::Kill)
                    }
                    0 | 1 if self.shape.fetches => self.fetch_item(),
                    _ if !self.open_loops.is_empty() && !self.in_subroutine => self.leave(),
                    _ => self.alu_item(CfAluOp::Alu, alu::Ends::Open),
                });
                continue;
            }
            let used = match self.random.below(12) {
                0 | 1 if nest => self.branch(inner, depth),
                2 if nest => self.boolean_branch(inner, depth),
                3 if nest => self.counted_loop(inner, depth),
                4 if nest && !self.indexed_writes => self.breaking_loop(inner, depth),
                5 if nest && !self.in_subroutine && !self.loop_index && self.calls.len() < 2 => self.call(),
                6 | 7 if self.shape.fetches => self.fetch_item(),
                8 if self.shape.memory => self.memory_item(),
                10 | 11 if self.shape.sharing => self.sharing_item(),
                9 if self.random.one_in(4) => {
                    self.plain(CfOp::Nop, |_| {});
                    0
                }
                _ => self.alu_item(CfAluOp::Alu, alu::Ends::Open),
            };
            left = left.saturating_sub(used);
        }
    }

    fn alu_item(&mut self, op: CfAluOp, ends: alu::Ends) -> usize {
        let locks = self.locks();
        let body = self.alu_clause(locks, ends);
        let [set0, set1] = locks;
        let cf = CfAlu {
            word0: CfAluWord0 { addr: 0, kcache_bank0: set0.bank, kcache_bank1: set1.bank, kcache_mode0: set0.mode },
            word1: CfAluWord1 {
                kcache_mode1: set1.mode,
                kcache_addr0: set0.line,
                kcache_addr1: set1.line,
                count: u8::try_from(body.len() / 2 - 1).unwrap_or(0),
                alt_const: self.shape.sharing && self.random.one_in(8),
                op,
                whole_quad_mode: self.random.one_in(16),
                barrier: true,
            },
        };
        self.push(Cf::Alu(cf), body);
        1
    }

    /// The lines that a clause locks.
    fn locks(&mut self) -> [Kcache; 2] {
        let nothing = Kcache { mode: KcacheMode::Nop, bank: 0, line: 0 };
        if self.constants == Constants::File {
            return [nothing; 2];
        }
        std::array::from_fn(|_| {
            let mode =
                self.random.of(&[KcacheMode::Nop, KcacheMode::Lock1, KcacheMode::Lock2, KcacheMode::LockLoopIndex]);
            match mode {
                KcacheMode::LockLoopIndex if !self.loop_index || self.in_subroutine || !self.shape.relative => nothing,
                KcacheMode::Nop => nothing,
                KcacheMode::Lock1 | KcacheMode::Lock2 | KcacheMode::LockLoopIndex => {
                    Kcache { mode, bank: self.random.below(u32::from(BUFFERS)) as u8, line: self.random.below(2) as u8 }
                }
            }
        })
    }

    /// If, with or without else, as compilers make it (r700-encoding §9).
    fn branch(&mut self, inner: usize, depth: u8) -> usize {
        self.branch_around(&mut |make, _| {
            make.block(inner, depth + 1);
            inner
        })
    }

    /// LOOP_BREAK or LOOP_CONTINUE in a branch.
    fn leave(&mut self) -> usize {
        let op = self.random.of(&[CfOp::LoopBreak, CfOp::LoopBreak, CfOp::LoopBreak, CfOp::LoopContinue]);
        self.branch_around(&mut |make, half| {
            let used = if make.random.one_in(3) { make.alu_item(CfAluOp::Alu, alu::Ends::Open) } else { 0 };
            if half == 0 || make.random.one_in(4) {
                let item = make.plain(op, |_| {});
                make.open_loops.last_mut().into_iter().for_each(|open| open.push(item));
            }
            used
        })
    }

    /// A branch: `inner` makes the part before ELSE (0) and after it (1), and returns its size.
    fn branch_around(&mut self, inner: &mut dyn FnMut(&mut Self, u32) -> usize) -> usize {
        let mut used = self.alu_item(CfAluOp::PushBefore, alu::Ends::ExecuteMask);
        let jump = self.plain(CfOp::Jump, |_| {});
        used += inner(self, 0);
        let other = self.random.one_in(2);
        if other && self.else_after.one_in(4) {
            // The clause that ends the first part exchanges the pixels; it cannot jump.
            self.land(jump);
            used += self.alu_item(CfAluOp::ElseAfter, alu::Ends::Open);
            used += inner(self, 1) + self.join();
        } else if other {
            self.land(jump);
            let skip = self.plain(CfOp::Else, |cf| cf.word1.pop_count = 1);
            used += inner(self, 1) + self.join();
            self.land(skip);
        } else {
            if let Cf::Plain(cf) = &mut self.items[jump].cf {
                cf.word1.pop_count = 1;
            }
            used += self.join();
            self.land(jump);
        }
        used
    }

    /// Ends a branch: POP, or an ALU clause that pops.
    fn join(&mut self) -> usize {
        if self.random.one_in(2) {
            return self.alu_item(CfAluOp::PopAfter, alu::Ends::Open);
        }
        let next = self.here() + 1;
        self.plain(CfOp::Pop, |cf| {
            cf.word0.addr = next;
            cf.word1.pop_count = 1;
        });
        0
    }

    /// A branch on a boolean constant.
    fn boolean_branch(&mut self, inner: usize, depth: u8) -> usize {
        let cond = self.random.of(&[Cond::Bool, Cond::NotBool]);
        let constant = self.random.below(u32::from(FLOW_CONSTANTS)) as u8;
        let push = self.plain(CfOp::Push, |cf| {
            cf.word1.cond = cond;
            cf.word1.cf_const = constant;
        });
        self.block(inner, depth + 1);
        let used = inner + self.join();
        self.land(push);
        used
    }

    fn counted_loop(&mut self, inner: usize, depth: u8) -> usize {
        let op = if self.shape.relative && self.random.one_in(2) { CfOp::LoopStart } else { CfOp::LoopStartNoAl };
        let constant = self.random.below(u32::from(FLOW_CONSTANTS)) as u8;
        let outer = self.loop_index;
        self.loop_index |= op == CfOp::LoopStart;
        let start = self.plain(op, |cf| cf.word1.cf_const = constant);
        self.open_loops.push(Vec::new());
        self.block(inner, depth + 1);
        let mut used = inner;
        if self.random.one_in(2) {
            let leave = self.random.of(&[CfAluOp::Break, CfAluOp::Continue]);
            used += self.alu_item(leave, alu::Ends::ExecuteMask);
            self.block(1, depth + 1);
            used += 1;
        }
        self.end_loop(start, constant);
        self.loop_index = outer;
        used
    }

    /// A loop that only a break leaves: by ALU_BREAK, or by LOOP_BREAK in a branch.
    fn breaking_loop(&mut self, inner: usize, depth: u8) -> usize {
        // A caller's loops go on counting.
        let counter = GPRS + depth + if self.in_subroutine { NESTING } else { 0 };
        let turns = self.random.below(4);
        let body = alu::set_counter(counter);
        self.fixed_clause(CfAluOp::Alu, body);
        let start = self.plain(CfOp::LoopStartDx10, |_| {});
        self.open_loops.push(Vec::new());
        if self.random.one_in(2) {
            // Pixels whose predicate says skip leave the loop: they go on while the counter is below.
            self.fixed_clause(CfAluOp::Break, alu::count_turn(counter, turns, true));
        } else {
            self.fixed_clause(CfAluOp::PushBefore, alu::count_turn(counter, turns, false));
            // In valid-pixel mode, pixels that have been killed would not leave.
            let jump = self.plain(CfOp::Jump, |cf| (cf.word1.pop_count, cf.word1.valid_pixel_mode) = (1, false));
            let item = self.plain(CfOp::LoopBreak, |cf| cf.word1.valid_pixel_mode = false);
            self.open_loops.last_mut().into_iter().for_each(|open| open.push(item));
            let next = self.here() + 1;
            self.plain(CfOp::Pop, |cf| {
                cf.word0.addr = next;
                cf.word1.pop_count = 1;
            });
            self.land(jump);
        }
        self.block(inner, depth + 1);
        self.end_loop(start, 0);
        inner + 1
    }

    fn fixed_clause(&mut self, op: CfAluOp, body: Vec<u32>) {
        let cf = CfAlu {
            word0: CfAluWord0 { addr: 0, kcache_bank0: 0, kcache_bank1: 0, kcache_mode0: KcacheMode::Nop },
            word1: CfAluWord1 {
                kcache_mode1: KcacheMode::Nop,
                kcache_addr0: 0,
                kcache_addr1: 0,
                count: u8::try_from(body.len() / 2 - 1).unwrap_or(0),
                alt_const: false,
                op,
                whole_quad_mode: false,
                barrier: true,
            },
        };
        self.push(Cf::Alu(cf), body);
    }

    fn end_loop(&mut self, start: usize, constant: u8) {
        for item in self.open_loops.pop().unwrap_or_default() {
            self.land(item);
        }
        let back = u32::try_from(start + 1).unwrap_or(0);
        self.plain(CfOp::LoopEnd, |cf| {
            cf.word0.addr = back;
            cf.word1.cf_const = constant;
        });
        self.land(start);
    }

    fn call(&mut self) -> usize {
        let call = self.plain(CfOp::Call, |cf| cf.word1.call_count = 1);
        self.calls.push(call);
        1
    }

    /// A memory write, or writes and a read of the same.
    fn memory_item(&mut self) -> usize {
        let op = self.random.of(&[ExportOp::MemScratch, ExportOp::MemExport]);
        self.memory_write(op, false);
        if self.random.one_in(2) {
            self.plain(CfOp::WaitAck, |_| {});
            return 1 + self.memory_read_item();
        }
        1
    }

    fn memory_write(&mut self, op: ExportOp, ends: bool) {
        // The scattered write takes its address from the index register.
        let kind = if op == ExportOp::MemExport || self.random.one_in(3) {
            self.random.of(&[MemWriteType::WriteInd, MemWriteType::WriteIndAck])
        } else {
            self.random.of(&[MemWriteType::Write, MemWriteType::WriteAck])
        };
        let gpr = self.random.below(u32::from(GPRS)) as u8;
        let mut word0 = export_word(self.random.below(16) as u16, kind.code() as u8, gpr);
        word0.index_gpr = if kind.is_indexed() { self.random.below(u32::from(GPRS)) as u8 } else { 0 };
        let burst_count = if self.shape.sharing { self.small_index(word0.index_gpr) } else { 0 };
        let word1 = CfExportBuf {
            array_size: 63,
            comp_mask: 1 + self.random.below(15) as u8,
            burst_count,
            end_of_program: ends,
            valid_pixel_mode: false,
            op,
            whole_quad_mode: false,
            barrier: true,
        };
        self.push(Cf::Mem(CfMem { word0, word1, kind }), Vec::new());
    }

    /// The exports of this kind of program, and its end.
    fn ending(&mut self) {
        match self.shape.stage {
            Stage::Pixel => {
                if self.shape.kills && self.random.one_in(2) {
                    self.alu_item(CfAluOp::Alu, alu::Ends::Kill);
                }
                let colours = 1 + self.random.below(4) as u16;
                self.exports(ExportType::Pixel, 0, colours, true);
            }
            Stage::Vertex | Stage::Copy => {
                self.exports(ExportType::Pos, 60, 1, false);
                let parameters = 1 + self.random.below(4) as u16;
                self.exports(ExportType::Param, 0, parameters, true);
            }
            Stage::Geometry => {
                self.memory_write(ExportOp::MemRing, false);
                let op = self.random.of(&[CfOp::EmitVertex, CfOp::EmitCutVertex]);
                self.plain(op, |_| {});
                self.plain(CfOp::CutVertex, |cf| cf.word1.end_of_program = true);
            }
            Stage::Export => self.memory_write(ExportOp::MemRing, true),
            Stage::Compute => self.memory_write(ExportOp::MemExport, true),
            Stage::Fetch => {
                self.plain(CfOp::Return, |_| {});
            }
        }
    }

    fn exports(&mut self, kind: ExportType, first: u16, count: u16, ends: bool) {
        let mut at = 0;
        while at < count {
            let burst = if self.random.one_in(3) { count - at } else { 1 };
            let done = at + burst == count;
            let gpr = self.random.below(u32::from(GPRS) + 1 - u32::from(burst)) as u8;
            let valid = self.valid();
            let mut sel = || self.random.of(&[Sel::X, Sel::Y, Sel::Z, Sel::W, Sel::Zero, Sel::One]);
            let word1 = CfExportSwiz {
                sel_x: sel(),
                sel_y: sel(),
                sel_z: sel(),
                sel_w: sel(),
                burst_count: (burst - 1) as u8,
                end_of_program: ends && done,
                valid_pixel_mode: valid,
                op: if done { ExportOp::ExportDone } else { ExportOp::Export },
                whole_quad_mode: false,
                barrier: true,
            };
            let word0 = export_word(first + at, kind.code() as u8, gpr);
            self.push(Cf::Export(CfExport { word0, word1, kind }), Vec::new());
            at += burst;
        }
    }

    /// Puts the clauses after the control flow, fetch clauses at even slots.
    fn layout(mut self) -> Vec<u32> {
        let mut at = self.items.len();
        for item in self.items.iter_mut().filter(|item| !item.body.is_empty()) {
            let addr = |at: usize| u32::try_from(at).unwrap_or(0);
            match &mut item.cf {
                Cf::Alu(alu) => alu.word0.addr = addr(at),
                Cf::Plain(fetch) => {
                    at += at % 2;
                    fetch.word0.addr = addr(at);
                }
                Cf::Export(_) | Cf::Mem(_) => {}
            }
            at += item.body.len() / 2;
        }
        let mut words: Vec<u32> = self.items.iter().flat_map(|item| item.cf.encode()).collect();
        for item in self.items.iter().filter(|item| !item.body.is_empty()) {
            if matches!(item.cf, Cf::Plain(_)) && !words.len().is_multiple_of(4) {
                words.extend([0, 0]);
            }
            words.extend(&item.body);
        }
        words
    }
}
