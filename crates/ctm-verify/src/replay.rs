//! The log of an X1K launch by the reference interpreter: its accesses to memory, and another engine's compared with them.

use super::lockstep::{Answers, CheckedWrite, Sent};
use super::shadow::{self, Shadow};
use super::{Difference, Ended, target};
use ctm_exec::engine::MemoryFault;
use ctm_exec::epilogue::TargetEpilogue;
use ctm_exec::r700::Cells;
use ctm_exec::x1k::{Direct, Elements, Input, Launch, Memory, Merged, Outputs, Target, Written};
use ctm_exec::{Control, Engine, Position};
use ctm_isa::x1k::{INPUTS, OUTPUTS};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Logged reads of a launch that may read its own writes.
const READS: usize = 1 << 23;

/// Runs the engine against the reference interpreter's log. Its direct writes go to `shadows`, copies of the initial outputs;
/// they are compared with `left`, or with the outputs as they are now.
pub fn replay(
    (engine, control): (&dyn Engine, &Control),
    launch: &Launch<'_>,
    memory: &mut dyn Memory,
    log: &Log,
    expected: &Ended,
    shadows: Shadows,
    left: Option<Shadows>,
) -> Option<Difference> {
    let answers = Answers::new(&log.sent, shadows);
    let mut player = Player { memory, log, scheduled: 0, answers };
    let found = engine.run_x1k_under(control, launch, &mut player);
    let Player { memory, answers, .. } = player;
    // Groups after the one with the fault may have written.
    answers.difference(&found, expected, || {
        expected.is_ok().then(|| left.unwrap_or_else(|| Shadows::of(memory, launch.draw.epilogues)))
    })
}

impl target::OutputTarget for Target {
    fn element(self, element: usize) -> String {
        match self {
            Self::Colour(target) => format!("{} of output {target}", ["r", "g", "b", "a"][element % 4]),
            Self::ConditionalValue => "the conditional value".into(),
        }
    }
}

/// Copies of mapped outputs.
pub type Shadows = super::shadow::Shadows<Target>;

impl Shadows {
    /// As they are now: those of its epilogues, if the launch has some.
    pub fn of(memory: &mut dyn Memory, epilogues: &[TargetEpilogue]) -> Self {
        if !epilogues.is_empty() {
            let numbers: Vec<u8> = epilogues.iter().map(|of| of.target).collect();
            let mapped = memory.merged(&numbers).unwrap_or_default().targets;
            let copies = numbers.iter().zip(mapped).filter_map(|(&number, array)| {
                let array = array?;
                Some((Target::Colour(number), Shadow::of(&array, array.bytes.bytes()?)))
            });
            return Self(copies.collect());
        }
        // Conditional tests are compared by writes to memory.
        let lent = memory.direct().filter(|direct| direct.conditional.is_none());
        let outputs = lent.unwrap_or_default().outputs.into_iter();
        let copies = (0..).map(Target::Colour).zip(outputs).filter_map(|(target, output)| {
            let output = output?;
            Some((target, Shadow::of(&output, output.bytes)))
        });
        Self(copies.collect())
    }
}

/// A read: how many things had been sent before, input, column, row, whether past the cache. Between two things that are sent the order of reads does not
/// matter.
type Read = (usize, u8, u32, u32, bool);

/// Memory's answers to reads.
type RecordedReads = Mutex<HashMap<Read, Result<[u32; 4], Box<MemoryFault>>>>;

/// The log of the reference interpreter.
#[derive(Default)]
pub struct Log {
    scheduled: Vec<(Position, Result<bool, MemoryFault>)>,
    sent: Vec<CheckedWrite<Target>>,
    /// Reads, where writes may change them.
    reads: Option<RecordedReads>,
}

impl Log {
    /// Some reads are missing, as there were too many.
    pub fn is_cut(&self) -> bool {
        let len = |reads: &RecordedReads| reads.lock().unwrap_or_else(PoisonError::into_inner).len();
        self.reads.as_ref().is_some_and(|reads| len(reads) >= READS)
    }
}

/// Memory that logs its accesses.
pub struct Recorder<'a> {
    memory: &'a mut dyn Memory,
    pub log: Log,
    /// The outputs that get the writes, in place of memory's.
    pub apart: Option<Shadows>,
}

impl<'a> Recorder<'a> {
    /// Writes are forwarded to memory; `reads`: reads are logged too.
    pub fn new(memory: &'a mut dyn Memory, reads: bool) -> Self {
        let log = Log { reads: reads.then(RecordedReads::default), ..Log::default() };
        Self { memory, log, apart: None }
    }

    /// Every processor runs, and its writes go to these outputs only.
    pub fn apart(memory: &'a mut dyn Memory, outputs: Shadows) -> Self {
        Self { apart: Some(outputs), ..Self::new(memory, false) }
    }
}

impl Memory for Recorder<'_> {
    fn schedule(&mut self, at: Position) -> Result<bool, MemoryFault> {
        let runs = if self.apart.is_none() { self.memory.schedule(at) } else { Ok(true) };
        self.log.scheduled.push((at, runs.clone()));
        runs
    }

    fn input(&self, index: u8) -> Option<Input> {
        self.memory.input(index)
    }

    fn read(&self, index: u8, x: u32, y: u32, uncached: bool) -> Result<[u32; 4], MemoryFault> {
        let answer = self.memory.read(index, x, y, uncached);
        if let Some(reads) = &self.log.reads {
            let mut reads = reads.lock().unwrap_or_else(PoisonError::into_inner);
            if reads.len() < READS {
                reads.insert((self.log.sent.len(), index, x, y, uncached), answer.clone().map_err(Box::new));
            }
        }
        answer
    }

    fn textures(&self) -> Option<&dyn ctm_exec::r700::Memory> {
        self.memory.textures()
    }

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        let sent = Sent::outputs(at, outputs.iter());
        let answer = match (&mut self.apart, &sent) {
            (Some(apart), Sent::Outputs(_, targets)) => Ok(apart.store(at, targets)),
            _ => self.memory.commit(at, outputs),
        };
        self.log.sent.push((sent, answer.clone()));
        answer
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        let answer = match self.apart {
            Some(_) => Ok(Written::default()),
            None => self.memory.write_uncached(x, y, bits),
        };
        self.log.sent.push((Sent::Uncached { x, y, bits }, answer.clone()));
        answer
    }

    fn outputs_alias_inputs(&self) -> bool {
        self.memory.outputs_alias_inputs()
    }
}

/// Memory that replays recorded answers, and compares. Mapped outputs are replaced by their shadows.
struct Player<'a> {
    memory: &'a mut dyn Memory,
    log: &'a Log,
    scheduled: usize,
    answers: Answers<'a, Target>,
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
        let Some(reads) = &self.log.reads else { return self.memory.read(index, x, y, uncached) };
        let reads = reads.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(answer) = reads.get(&(self.answers.seen, index, x, y, uncached)) else {
            let message = format!("the engine read element ({x}, {y}) of input {index}, the reference did not");
            return Err(self.answers.stop(None, message));
        };
        answer.clone().map_err(|fault| *fault)
    }

    fn textures(&self) -> Option<&dyn ctm_exec::r700::Memory> {
        self.memory.textures()
    }

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        self.answers.next(&Sent::outputs(at, outputs.iter()))
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        self.answers.next(&Sent::Uncached { x, y, bits })
    }

    fn outputs_alias_inputs(&self) -> bool {
        self.memory.outputs_alias_inputs()
    }

    fn direct(&mut self) -> Option<Direct<'_>> {
        let Answers { shadows: shadow::Shadows(shadows), lent, .. } = &mut self.answers;
        if shadows.is_empty() {
            return None;
        }
        let Direct { inputs, textures, .. } = self.memory.direct()?;
        *lent = true;
        let mut outputs = [const { None }; OUTPUTS];
        for (target, shadow) in shadows {
            if let Target::Colour(target) = *target {
                outputs[usize::from(target)] = Some(shadow.lend());
            }
        }
        Some(Direct { inputs, outputs, conditional: None, textures })
    }

    fn merged(&mut self, targets: &[u8]) -> Option<Merged<'_>> {
        let Merged { targets: own, textures } = self.memory.merged(targets)?;
        let shadow::Shadows(shadows) = &mut self.answers.shadows;
        let mut lent: Vec<Option<Elements<Cells<'_>>>> = targets.iter().map(|_| None).collect();
        for (target, shadow) in shadows {
            if let Some(place) = targets.iter().position(|&number| *target == Target::Colour(number)) {
                let array = shadow.lend();
                lent[place] = Some(array.with(()).with(Cells::Bytes(array.bytes)));
            }
        }
        if own.iter().zip(&lent).any(|(own, lent)| own.is_some() != lent.is_some()) {
            return None;
        }
        self.answers.lent = true;
        Some(Merged { targets: lent, textures })
    }

    fn input_arrays(&self) -> [Option<Elements<&[u8]>>; INPUTS] {
        // They would be as all that was sent has left them.
        if self.log.reads.is_some() { [const { None }; INPUTS] } else { self.memory.input_arrays() }
    }
}
