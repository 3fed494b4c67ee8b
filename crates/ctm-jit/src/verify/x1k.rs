//! X1K launches by two engines: what the reference interpreter asks of memory and sends to it is written down, and what the other one does is
//! compared with that.

use super::shadow::Shadow;
use super::{Difference, probe, timed_out, until};
use ctm_exec::engine::MemoryFault;
use ctm_exec::x1k::{Direct, Elements, Input, Launch, Memory, Outputs, Written};
use ctm_exec::{Control, Engine, Fault, Interp, Outcome, Position};
use ctm_isa::x1k::{INPUTS, OUTPUTS};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Reads that are written down of a launch which may read what it writes.
const READS: usize = 1 << 23;

/// Runs a launch with the reference interpreter, then with `fast` (see [`super::Verify::compare`]).
pub fn compare(
    fast: &dyn Engine,
    control: &Control,
    launch: &Launch<'_>,
    memory: &mut dyn Memory,
) -> (Result<Outcome, Fault>, Option<Difference>) {
    if launch.checks {
        return (Interp.run_x1k_under(control, launch, memory), None);
    }
    let control = &until(control, &launch.budget);
    let aliased = memory.outputs_alias_inputs();
    // Made before anything is written.
    let shadows = if aliased || launch.program.uncached { None } else { Shadows::of(memory) };
    let mut recorder = Recorder::new(memory, aliased);
    let expected = Interp.run_x1k_under(control, &Launch { counters: true, ..*launch }, &mut recorder);
    let (log, _) = recorder.into_parts();
    let counted = |counters| expected.clone().map(|outcome| outcome.counted(counters));
    if timed_out(&expected) || log.is_cut() {
        return (counted(launch.counters), None);
    }
    for counters in [false, true] {
        let launch = &Launch { counters, ..*launch };
        let expected = counted(counters);
        if let Some(found) = replay((fast, control), launch, memory, &log, &expected, shadows.clone(), None) {
            let again = !aliased && !launch.program.uncached;
            let first = if again { probe::first((fast, control), launch, memory, shadows.is_some()) } else { None };
            let difference = first.map_or(found, |(pc, first)| Difference { pc: Some(pc), ..first });
            return (expected, Some(difference));
        }
    }
    (counted(launch.counters), None)
}

/// Runs the fast engine against what the reference interpreter did. What it writes by itself goes to `shadows`, which begin as the outputs did;
/// they are compared with `left`, or with the outputs as they are now.
pub fn replay(
    (fast, control): (&dyn Engine, &Control),
    launch: &Launch<'_>,
    memory: &mut dyn Memory,
    log: &Log,
    expected: &Result<Outcome, Fault>,
    shadows: Option<Shadows>,
    left: Option<&Shadows>,
) -> Option<Difference> {
    let mut player =
        Player { memory, log, scheduled: 0, sent: 0, read: AtomicUsize::new(0), shadows, difference: Mutex::default() };
    let found = fast.run_x1k_under(control, launch, &mut player);
    let Player { sent, shadows, difference, .. } = player;
    if let Some(difference) = difference.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Some(difference);
    }
    if timed_out(&found) {
        return None;
    }
    if found != *expected {
        let at = |result: &Result<Outcome, Fault>| result.as_ref().err().and_then(|fault| fault.position);
        let message = format!("the engine gave {found:?}, the reference {expected:?}");
        return Some(Difference { pc: None, position: at(&found).or(at(expected)), message });
    }
    if let Some(shadows) = shadows {
        if expected.is_err() {
            // Groups behind the one with the fault may have written.
            return None;
        }
        return match left {
            Some(left) => shadows.difference(&left.bytes()),
            None => {
                shadows.difference(&memory.direct().unwrap_or_default().outputs.map(|output| Some(&*output?.bytes)))
            }
        };
    }
    let missing = log.sent.get(sent).filter(|entry| entry.answer.is_ok())?;
    let message = format!("the engine sent {sent} outputs, the reference {}", log.sent.len());
    Some(Difference { pc: None, position: missing.sent.position(), message })
}

/// Something that a program sends to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    Outputs(Position, Outputs),
    Uncached { x: u32, y: u32, bits: u32 },
}

impl Sent {
    const fn position(&self) -> Option<Position> {
        match self {
            Self::Outputs(at, _) => Some(*at),
            Self::Uncached { .. } => None,
        }
    }
}

/// What was sent, and what memory said to it.
struct Entry {
    sent: Sent,
    answer: Result<Written, MemoryFault>,
    /// How many reads came before it.
    reads: usize,
}

/// A read: input and whether past the cache (bit 8), column, row.
type Key = [u32; 3];

fn key(input: u8, x: u32, y: u32, uncached: bool) -> Key {
    [u32::from(input) | u32::from(uncached) << 8, x, y]
}

/// A read with memory's answer.
type Read = (Key, Result<[u32; 4], Box<MemoryFault>>);

/// What the reference interpreter asked and sent.
pub struct Log {
    scheduled: Vec<(Position, Result<bool, MemoryFault>)>,
    sent: Vec<Entry>,
    /// Reads, where what is sent may change what is read. Between two things that are sent their order does not matter.
    reads: Option<Vec<Read>>,
}

impl Log {
    /// Some reads are missing, as there were too many.
    fn is_cut(&self) -> bool {
        self.reads.as_ref().is_some_and(|reads| reads.len() >= READS)
    }

    /// The reads between the entry before `next` and that.
    fn reads_before(&self, next: usize) -> std::ops::Range<usize> {
        let end = |entry: &Entry| entry.reads;
        let all = self.reads.as_ref().map_or(0, Vec::len);
        let first = next.checked_sub(1).and_then(|last| self.sent.get(last)).map_or(0, end);
        first..self.sent.get(next).map_or(all, end)
    }
}

/// Memory that writes down what is asked of it and sent to it.
pub struct Recorder<'a> {
    memory: &'a mut dyn Memory,
    scheduled: Vec<(Position, Result<bool, MemoryFault>)>,
    sent: Vec<Entry>,
    reads: Option<Mutex<Vec<Read>>>,
    apart: Option<Shadows>,
}

impl<'a> Recorder<'a> {
    /// What is sent is passed on to the memory; `reads`: they are written down, too.
    pub fn new(memory: &'a mut dyn Memory, reads: bool) -> Self {
        let reads = reads.then(Mutex::default);
        Self { memory, scheduled: Vec::new(), sent: Vec::new(), reads, apart: None }
    }

    /// Every processor runs, and what it sends goes to these outputs only.
    pub fn apart(memory: &'a mut dyn Memory, outputs: Shadows) -> Self {
        Self { apart: Some(outputs), ..Self::new(memory, false) }
    }

    /// What it has written down, and the outputs that it had apart.
    pub fn into_parts(self) -> (Log, Option<Shadows>) {
        let reads = self.reads.map(|reads| reads.into_inner().unwrap_or_else(PoisonError::into_inner));
        (Log { scheduled: self.scheduled, sent: self.sent, reads }, self.apart)
    }

    fn note(&mut self, sent: Sent, answer: &Result<Written, MemoryFault>) {
        let reads =
            self.reads.as_mut().map_or(0, |reads| reads.get_mut().unwrap_or_else(PoisonError::into_inner).len());
        self.sent.push(Entry { sent, answer: answer.clone(), reads });
    }
}

impl Memory for Recorder<'_> {
    fn schedule(&mut self, at: Position) -> Result<bool, MemoryFault> {
        let runs = if self.apart.is_none() { self.memory.schedule(at) } else { Ok(true) };
        self.scheduled.push((at, runs.clone()));
        runs
    }

    fn input(&self, index: u8) -> Option<Input> {
        self.memory.input(index)
    }

    fn read(&self, index: u8, x: u32, y: u32, uncached: bool) -> Result<[u32; 4], MemoryFault> {
        let answer = self.memory.read(index, x, y, uncached);
        if let Some(reads) = &self.reads {
            let mut reads = reads.lock().unwrap_or_else(PoisonError::into_inner);
            if reads.len() < READS {
                reads.push((key(index, x, y, uncached), answer.clone().map_err(Box::new)));
            }
        }
        answer
    }

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        let answer = match &mut self.apart {
            Some(apart) => Ok(apart.store(at, outputs)),
            None => self.memory.commit(at, outputs),
        };
        self.note(Sent::Outputs(at, *outputs), &answer);
        answer
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        let answer = match self.apart {
            Some(_) => Ok(Written::default()),
            None => self.memory.write_uncached(x, y, bits),
        };
        self.note(Sent::Uncached { x, y, bits }, &answer);
        answer
    }

    fn outputs_alias_inputs(&self) -> bool {
        self.memory.outputs_alias_inputs()
    }
}

/// Memory that answers as the recorded one did, and compares. Where outputs are lent, it lends their shadows.
struct Player<'a> {
    memory: &'a mut dyn Memory,
    log: &'a Log,
    scheduled: usize,
    sent: usize,
    /// The next read, if they come in the same order.
    read: AtomicUsize,
    shadows: Option<Shadows>,
    difference: Mutex<Option<Difference>>,
}

impl Player<'_> {
    /// Remembers a difference; stops the engine.
    fn stop(&self, position: Option<Position>, message: String) -> MemoryFault {
        let mut difference = self.difference.lock().unwrap_or_else(PoisonError::into_inner);
        difference.get_or_insert(Difference { pc: None, position, message });
        MemoryFault { what: "memory".into(), address: None, reason: "the engines disagree".into() }
    }

    fn send(&mut self, sent: &Sent) -> Result<Written, MemoryFault> {
        let mut rest = self.log.sent[self.sent.min(self.log.sent.len())..].iter();
        // Other outputs are written without asking.
        let skipped = match &self.shadows {
            Some(_) => rest.clone().position(|entry| entry.sent.position() == sent.position()).unwrap_or(0),
            None => 0,
        };
        let expected = rest.nth(skipped);
        if let Some(Entry { sent: same, answer, .. }) = expected
            && same == sent
        {
            // What was refused may be asked once more, by the reference interpreter in the engine's place.
            self.sent += skipped + usize::from(answer.is_ok());
            return answer.clone();
        }
        let position = sent.position().or_else(|| expected.and_then(|entry| entry.sent.position()));
        Err(self.stop(position, different(sent, expected.map(|entry| &entry.sent))))
    }
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
        let (wanted, all) = (key(index, x, y, uncached), self.log.reads_before(self.sent));
        let next = self.read.load(Relaxed).clamp(all.start, all.end);
        // A group that is run once more begins with its first read.
        let Some(place) = (next..all.end).chain(all.start..next).find(|&place| reads[place].0 == wanted) else {
            let message = format!("the engine read element ({x}, {y}) of input {index}, the reference did not");
            return Err(self.stop(None, message));
        };
        self.read.store(place + 1, Relaxed);
        reads[place].1.clone().map_err(|fault| *fault)
    }

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        let answer = self.send(&Sent::Outputs(at, *outputs))?;
        if let Some(shadows) = &mut self.shadows {
            shadows.store(at, outputs);
        }
        Ok(answer)
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        self.send(&Sent::Uncached { x, y, bits })
    }

    fn outputs_alias_inputs(&self) -> bool {
        self.memory.outputs_alias_inputs()
    }

    fn direct(&mut self) -> Option<Direct<'_>> {
        let shadows = self.shadows.as_mut()?;
        let outputs = shadows.0.each_mut().map(|shadow| shadow.as_mut().map(Shadow::lend));
        Some(Direct { inputs: self.memory.direct()?.inputs, outputs })
    }

    fn input_arrays(&self) -> [Option<Elements<&[u8]>>; INPUTS] {
        // They would be as all that was sent has left them.
        if self.log.reads.is_some() { [const { None }; INPUTS] } else { self.memory.input_arrays() }
    }
}

/// Copies of the outputs that memory lends.
#[derive(Clone)]
pub struct Shadows([Option<Shadow>; OUTPUTS]);

impl Shadows {
    /// As they are now; `None` when memory lends none.
    fn of(memory: &mut dyn Memory) -> Option<Self> {
        let outputs = memory.direct()?.outputs;
        Some(Self(outputs.map(|output| output.map(|output| Shadow::of(&output, output.bytes)))))
    }

    /// Output 0 is this; the others are dropped.
    pub fn single(shadow: Option<Shadow>) -> Self {
        let mut shadows = [const { None }; OUTPUTS];
        shadows[0] = shadow;
        Self(shadows)
    }

    /// Writes what a processor has sent; says what that was.
    fn store(&mut self, at: Position, outputs: &Outputs) -> Written {
        let mut all = Written::default();
        for ((shadow, values), &written) in self.0.iter_mut().zip(&outputs.values).zip(&outputs.written) {
            if let Some(shadow) = shadow {
                let Written { elements, bytes } = shadow.store(at, values, written);
                all.elements += elements;
                all.bytes += bytes;
            }
        }
        all
    }

    fn bytes(&self) -> [Option<&[u8]>; OUTPUTS] {
        self.0.each_ref().map(|shadow| shadow.as_ref().map(Shadow::bytes))
    }

    fn difference(&self, expected: &[Option<&[u8]>; OUTPUTS]) -> Option<Difference> {
        let pairs = self.0.iter().zip(expected).enumerate();
        let mut places = pairs.filter_map(|(target, (shadow, bytes))| {
            shadow.as_ref().zip(*bytes).and_then(|(shadow, bytes)| Some((target, shadow.difference(bytes)?)))
        });
        let (target, place) = places.next()?;
        let message = differing_channel(target, place.channel, [place.found, place.expected]);
        Some(Difference { pc: None, position: Some(place.element), message })
    }
}

fn differing_channel(target: usize, channel: usize, [found, expected]: [u32; 2]) -> String {
    let name = ["r", "g", "b", "a"][channel % 4];
    format!("the engine gave 0x{found:08x} for {name} of output {target}, the reference 0x{expected:08x}")
}

/// Says how what was sent differs.
fn different(found: &Sent, expected: Option<&Sent>) -> String {
    match (found, expected) {
        (Sent::Outputs(at, found), Some(Sent::Outputs(expected_at, expected))) if at == expected_at => {
            different_outputs(found, expected)
        }
        (_, None) => format!("the engine sent {}, the reference nothing more", described(found)),
        (_, Some(expected)) => format!("the engine sent {}, the reference {}", described(found), described(expected)),
    }
}

fn described(sent: &Sent) -> String {
    match sent {
        Sent::Outputs(at, _) => format!("the outputs of ({}, {})", at.i, at.j),
        Sent::Uncached { x, y, bits } => format!("0x{bits:08x} uncached to element ({x}, {y})"),
    }
}

/// Says how two processors' outputs differ.
fn different_outputs(found: &Outputs, expected: &Outputs) -> String {
    for target in 0..found.values.len() {
        if found.written[target] != expected.written[target] {
            let (f, e) = (found.written[target], expected.written[target]);
            return format!("the engine wrote channels {f:#06b} of output {target}, the reference {e:#06b}");
        }
        for channel in 0..4 {
            let bits = [found, expected].map(|outputs| outputs.values[target][channel]);
            if bits[0] != bits[1] {
                return differing_channel(target, channel, bits);
            }
        }
    }
    let (f, e) = (found.conditional_value, expected.conditional_value);
    format!("the engine gave {f:08x?} as conditional value, the reference {e:08x?}")
}

#[cfg(test)]
#[path = "../../tests/unit/verify/x1k.rs"]
mod tests;
