//! Two engines in lockstep: the reference interpreter and the fast engine.

use crate::Jit;
use ctm_exec::engine::MemoryFault;
use ctm_exec::x1k::{Input, Interp, Launch, Memory, Outputs, Written};
use ctm_exec::{Engine, Fault, Finding, Outcome, Position};
use ctm_isa::x1k::inst::AluInst;
use ctm_isa::x1k::ops::{AlphaOp, InstType, Omod, RgbOp, Swizzle};
use ctm_isa::x1k::{Inst, Program};
use std::fmt;

/// The rule of findings about a difference.
pub const DIFFERENCE: &str = "engine-difference";

/// Runs every launch with the reference interpreter and with a [`Jit`], and compares all that they do.
///
/// Memory gets what the reference interpreter sends. A difference is reported as a [`Finding`] with the rule [`DIFFERENCE`];
/// [`Verify::compare`] gives it as a value.
///
/// Launches with checks, which the fast engine leaves to the reference interpreter, and those that write uncached or whose outputs
/// are also their inputs (the second run would read what the first one wrote) run once, by the reference interpreter.
#[derive(Debug, Default)]
pub struct Verify {
    fast: Jit,
}

/// Where two engines first disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The instruction whose result differs first, as far as probes find it: [`Verify::compare`].
    pub pc: Option<u32>,
    /// The processor.
    pub position: Option<Position>,
    /// What differs, with the bits of both.
    pub message: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(pc) = self.pc {
            write!(f, ", first seen after instruction {pc}")?;
        }
        if let Some(Position { i, j }) = self.position {
            write!(f, ", processor ({i}, {j})")?;
        }
        Ok(())
    }
}

impl Verify {
    /// Compares the reference interpreter with this engine.
    #[must_use]
    pub const fn new(fast: Jit) -> Self {
        Self { fast }
    }

    /// Runs a launch with both engines. Gives the reference interpreter's result and the first difference.
    ///
    /// When results differ, *probes* look for the instruction: for each instruction in turn, the program is cut behind it and made to
    /// output the register that it wrote, and both engines run that. A probe sees the first time that an instruction is reached. Code that
    /// counts and code that does not are different code: both are compared, whichever the launch asks for.
    pub fn compare(
        &self,
        launch: &Launch<'_>,
        memory: &mut dyn Memory,
    ) -> (Result<Outcome, Fault>, Option<Difference>) {
        if launch.checks || launch.program.uncached || memory.outputs_alias_inputs() {
            return (Interp.run_x1k(launch, memory), None);
        }
        let mut recorder = Recorder { memory, log: Log::default(), keeps_commits: true };
        let expected = Interp.run_x1k(&Launch { counters: true, ..*launch }, &mut recorder);
        let log = recorder.log;
        for counters in [false, true] {
            let launch = &Launch { counters, ..*launch };
            let expected = expected.clone().map(|outcome| outcome.counted(counters));
            if let Some(found) = self.replay(launch, memory, &log, &expected) {
                let difference = match self.probe(launch, memory) {
                    Some((pc, first)) => Difference { pc: Some(pc), ..first },
                    None => found,
                };
                return (expected, Some(difference));
            }
        }
        (expected.map(|outcome| outcome.counted(launch.counters)), None)
    }

    /// Runs an R700 launch with both engines. Gives the reference interpreter's result and the first difference: of a memory write, a
    /// vertex event, a thread's exports, the counters or the fault. There are no probes: `pc` is that of the fault, if one is concerned.
    pub fn compare_r700(
        &self,
        launch: &ctm_exec::r700::Launch<'_>,
        memory: &mut dyn ctm_exec::r700::Memory,
    ) -> (Result<Outcome, Fault>, Option<Difference>) {
        let (outcome, difference) =
            crate::r700::verify::compare(&self.fast, &ctm_exec::r700::Launch { counters: true, ..*launch }, memory);
        (outcome.map(|outcome| outcome.counted(launch.counters)), difference)
    }

    /// Runs the fast engine against what the reference interpreter did.
    fn replay(
        &self,
        launch: &Launch<'_>,
        memory: &mut dyn Memory,
        log: &Log,
        expected: &Result<Outcome, Fault>,
    ) -> Option<Difference> {
        let mut player = Player { memory, log, scheduled: 0, committed: 0, difference: None };
        let found = self.fast.run_x1k(launch, &mut player);
        if let Some(difference) = player.difference {
            return Some(difference);
        }
        let at = |result: &Result<Outcome, Fault>| result.as_ref().err().and_then(|fault| fault.position);
        if found != *expected {
            let message = format!("the engine gave {found:?}, the reference {expected:?}");
            return Some(Difference { pc: None, position: at(&found).or(at(expected)), message });
        }
        (player.committed < log.commits.len()).then(|| Difference {
            pc: None,
            position: Some(log.commits[player.committed].0),
            message: format!("the engine sent {} outputs, the reference {}", player.committed, log.commits.len()),
        })
    }

    /// The first instruction whose register differs.
    fn probe(&self, launch: &Launch<'_>, memory: &mut dyn Memory) -> Option<(u32, Difference)> {
        for pc in 0..launch.program.words.len() {
            let Some(program) = probe(launch.program, pc) else { continue };
            let launch = Launch { program: &program, ..*launch };
            let mut recorder = Recorder { memory, log: Log::default(), keeps_commits: false };
            let expected = Interp.run_x1k(&launch, &mut recorder);
            let log = recorder.log;
            if let Some(difference) = self.replay(&launch, memory, &log, &expected) {
                return Some((pc as u32, difference));
            }
        }
        None
    }
}

impl Engine for Verify {
    fn name(&self) -> &'static str {
        "verify"
    }

    fn run_x1k(&self, launch: &Launch<'_>, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
        let (result, difference) = self.compare(launch, memory);
        result.map(|mut outcome| {
            outcome.findings.extend(difference.map(|difference| Finding {
                rule: DIFFERENCE,
                pc: difference.pc.unwrap_or_default(),
                position: difference.position,
                message: difference.message,
            }));
            outcome
        })
    }

    fn run_r700(
        &self,
        launch: &ctm_exec::r700::Launch<'_>,
        memory: &mut dyn ctm_exec::r700::Memory,
    ) -> Result<Outcome, Fault> {
        let (result, difference) = self.compare_r700(launch, memory);
        result.map(|mut outcome| {
            outcome.findings.extend(difference.map(|difference| Finding {
                rule: "engine-difference",
                pc: difference.pc.unwrap_or(launch.program.entry),
                position: difference.position,
                message: difference.message,
            }));
            outcome
        })
    }
}

/// The program cut behind instruction `pc` and made to output the registers that it writes; `None` when it writes none.
fn probe(program: &Program, pc: usize) -> Option<Program> {
    let (rgb, alpha) = match Inst::decode(program.words.get(pc)?).ok()? {
        Inst::Alu(alu) if alu.rgba.addrd_rel || alu.alpha.addrd_rel => return None,
        Inst::Alu(alu) if alu.cmn.rgb_wmask != 0 || alu.cmn.alpha_wmask => (alu.rgba.addrd, alu.alpha.addrd),
        Inst::Tex(tex) if tex.inst.op.is_lookup() && !tex.addr.dst_addr_rel => (tex.addr.dst_addr, tex.addr.dst_addr),
        Inst::Alu(_) | Inst::Tex(_) | Inst::Fc(_) => return None,
    };
    let mut alu = AluInst::idle(InstType::Output);
    (alu.cmn.rgb_omask, alu.cmn.alpha_omask) = (7, true);
    (alu.rgb_addr.addr0, alu.rgb_addr.addr0_const) = (rgb, false);
    (alu.alpha_addr.addr0, alu.alpha_addr.addr0_const) = (alpha, false);
    (alu.rgba.op, alu.alpha.op) = (RgbOp::Max, AlphaOp::Max);
    (alu.rgb.green_swiz_a, alu.rgb.blue_swiz_a) = (Swizzle::G, Swizzle::B);
    (alu.rgb.green_swiz_b, alu.rgb.blue_swiz_b) = (Swizzle::G, Swizzle::B);
    (alu.alpha.swiz_a, alu.alpha.swiz_b) = (Swizzle::A, Swizzle::A);
    (alu.rgb.omod, alu.alpha.omod) = (Omod::Disabled, Omod::Disabled);
    let mut program = program.clone();
    program.words.truncate(pc + 1);
    program.words.push(Inst::Alu(alu).encode());
    program.last = u16::try_from(pc + 1).ok()?;
    Some(program)
}

/// What the reference interpreter asked and sent.
#[derive(Default)]
struct Log {
    scheduled: Vec<(Position, Result<bool, MemoryFault>)>,
    commits: Vec<(Position, Outputs, Result<Written, MemoryFault>)>,
}

/// Memory that writes down what is asked of it and sent to it.
struct Recorder<'a> {
    memory: &'a mut dyn Memory,
    log: Log,
    /// Pass outputs on to the memory; otherwise they are only written down, and every processor runs.
    keeps_commits: bool,
}

impl Memory for Recorder<'_> {
    fn schedule(&mut self, at: Position) -> Result<bool, MemoryFault> {
        let runs = if self.keeps_commits { self.memory.schedule(at) } else { Ok(true) };
        self.log.scheduled.push((at, runs.clone()));
        runs
    }

    fn input(&self, index: u8) -> Option<Input> {
        self.memory.input(index)
    }

    fn read(&self, index: u8, x: u32, y: u32, uncached: bool) -> Result<[u32; 4], MemoryFault> {
        self.memory.read(index, x, y, uncached)
    }

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        let written = if self.keeps_commits { self.memory.commit(at, outputs) } else { Ok(Written::default()) };
        self.log.commits.push((at, *outputs, written.clone()));
        written
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        self.memory.write_uncached(x, y, bits)
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }
}

/// Memory that answers as the recorded one did, and compares.
struct Player<'a> {
    memory: &'a dyn Memory,
    log: &'a Log,
    scheduled: usize,
    committed: usize,
    difference: Option<Difference>,
}

impl Memory for Player<'_> {
    fn schedule(&mut self, at: Position) -> Result<bool, MemoryFault> {
        // Engines may ask further ahead than the reference interpreter did before a fault; nothing comes of those.
        let answer = self.log.scheduled.get(self.scheduled);
        self.scheduled += 1;
        match answer {
            Some((asked, answer)) if *asked == at => answer.clone(),
            _ => Ok(true),
        }
    }

    fn input(&self, index: u8) -> Option<Input> {
        self.memory.input(index)
    }

    fn read(&self, index: u8, x: u32, y: u32, uncached: bool) -> Result<[u32; 4], MemoryFault> {
        self.memory.read(index, x, y, uncached)
    }

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        let expected = self.log.commits.get(self.committed);
        self.committed += 1;
        let message = match expected {
            Some((position, sent, written)) if *position == at && sent == outputs => return written.clone(),
            Some((position, sent, _)) if *position == at => different(outputs, sent),
            Some((position, ..)) => {
                format!("the engine sent outputs where the reference sent those of ({}, {})", position.i, position.j)
            }
            None => "the engine sent outputs, the reference none".into(),
        };
        self.difference = Some(Difference { pc: None, position: Some(at), message });
        // Stops the engine.
        Err(MemoryFault { what: "output".into(), address: None, reason: "the engines disagree".into() })
    }

    fn write_uncached(&mut self, _x: u32, _y: u32, _bits: u32) -> Result<Written, MemoryFault> {
        Err(MemoryFault { what: "output 0".into(), address: None, reason: "only the first run writes".into() })
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }
}

/// Says how two processors' outputs differ.
fn different(found: &Outputs, expected: &Outputs) -> String {
    for target in 0..found.values.len() {
        if found.written[target] != expected.written[target] {
            let (f, e) = (found.written[target], expected.written[target]);
            return format!("the engine wrote channels {f:#06b} of output {target}, the reference {e:#06b}");
        }
        for channel in 0..4 {
            let (f, e) = (found.values[target][channel], expected.values[target][channel]);
            if f != e {
                let name = ["r", "g", "b", "a"][channel];
                return format!("the engine gave 0x{f:08x} for {name} of output {target}, the reference 0x{e:08x}");
            }
        }
    }
    let (f, e) = (found.conditional_value, expected.conditional_value);
    format!("the engine gave {f:08x?} as conditional value, the reference {e:08x?}")
}
