//! R700 launches by two engines: what the reference interpreter sends is written down, and what the other one sends is compared with it.

use crate::Difference;
use crate::launch::wavefronts::reads::reads;
use crate::verify::shadow::Shadow;
use crate::verify::{timed_out, until};
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::{
    Buffer, Cells, Direct, Exports, Launch, Memory, Sampler, Space, Target, Texture, VertexEvent, Written,
};
use ctm_exec::x1k::Elements;
use ctm_exec::{Control, Engine, Fault, Interp, Outcome, Position};
use std::collections::HashMap;

/// Runs a launch with the reference interpreter, then with `fast`, without and with counters. Gives the first one's result and where they first
/// disagree.
///
/// Where what is written may be read back as an input ([`Memory::outputs_alias_inputs`]), the second run would see it; such
/// launches, and checked ones, run once.
pub fn compare(
    fast: &dyn Engine,
    control: &Control,
    launch: &Launch<'_>,
    memory: &mut dyn Memory,
) -> (Result<Outcome, Fault>, Option<Difference>) {
    if launch.checks || memory.outputs_alias_inputs() {
        return (Interp.run_r700_under(control, launch, memory), None);
    }
    let control = &until(control, &launch.budget);
    let shadows = Shadows::of(memory);
    let mut recorder = Recorder { memory, log: Log::default() };
    let expected = Interp.run_r700_under(control, &Launch { counters: true, ..*launch }, &mut recorder);
    let log = recorder.log;
    let counted = |counters| expected.clone().map(|outcome| outcome.counted(counters));
    let difference = [false, true].into_iter().filter(|_| !timed_out(&expected)).find_map(|counters| {
        // On one thread nothing behind a fault has been stored.
        let threads = if expected.is_err() { 1 } else { launch.threads };
        let launch = Launch { counters, threads, ..*launch };
        replay((fast, control), &launch, memory, &log, &counted(counters), shadows.clone())
    });
    (counted(launch.counters), difference)
}

/// Runs the fast engine against what the reference interpreter did. What it stores by itself goes to `shadows`, which begin as the targets did.
fn replay(
    (fast, control): (&dyn Engine, &Control),
    launch: &Launch<'_>,
    memory: &mut dyn Memory,
    log: &Log,
    expected: &Result<Outcome, Fault>,
    shadows: Shadows,
) -> Option<Difference> {
    let mut player = Player { memory, log, seen: 0, stored: HashMap::new(), shadows, lent: false, difference: None };
    let found = fast.run_r700_under(control, launch, &mut player);
    let Player { seen, shadows, lent, difference, .. } = player;
    if difference.is_some() || timed_out(&found) {
        return difference;
    }
    if found != *expected {
        let at = |result: &Result<Outcome, Fault>| result.as_ref().err().and_then(|fault| fault.position);
        let pc = |result: &Result<Outcome, Fault>| result.as_ref().err().map(|fault| fault.pc);
        let message = format!("the engine gave {found:?}, the reference {expected:?}");
        return Some(Difference { pc: pc(&found).or(pc(expected)), position: at(&found).or(at(expected)), message });
    }
    let is_missing = |(sent, answer): &&(Sent, Result<Written, MemoryFault>)| {
        answer.is_ok() && !(lent && matches!(sent, Sent::Exports(..)))
    };
    if let Some((missing, _)) = log.sent.get(seen..).unwrap_or_default().iter().find(is_missing) {
        let message = format!("the engine did not send {}, the reference did", described(missing));
        return Some(Difference { pc: None, position: missing.position(), message });
    }
    if lent { shadows.difference(memory) } else { None }
}

/// Copies of the targets that memory lends.
#[derive(Clone)]
struct Shadows(Vec<(Target, Shadow)>);

impl Shadows {
    /// As they are now.
    fn of(memory: &mut dyn Memory) -> Self {
        let copy = |target| {
            let array = lent(memory, target)?;
            Some((target, Shadow::of(&array, array.bytes)))
        };
        Self(Target::all().filter_map(copy).collect())
    }

    /// Those of these targets that there are.
    fn lend(&mut self, targets: &[Target]) -> Vec<Option<Elements<Cells<'_>>>> {
        let mut lent: Vec<_> = targets.iter().map(|_| None).collect();
        for (target, shadow) in &mut self.0 {
            if let Some(place) = targets.iter().position(|wanted| wanted == target) {
                let array = shadow.lend();
                lent[place] = Some(array.with(()).with(Cells::Bytes(array.bytes)));
            }
        }
        lent
    }

    fn store(&mut self, at: Position, exports: &Exports) {
        for (target, shadow) in &mut self.0 {
            if let Some((values, written)) = exports.get(*target) {
                shadow.store(at, &values, written);
            }
        }
    }

    /// The first element that is not as memory has it.
    fn difference(&self, memory: &mut dyn Memory) -> Option<Difference> {
        self.0.iter().find_map(|(target, shadow)| {
            let place = shadow.difference(lent(memory, *target)?.bytes)?;
            let [found, expected] = [place.found, place.expected].map(|bits| format!("0x{bits:08x}"));
            let message = differing(&found, &expected, place.channel, *target);
            Some(Difference { pc: None, position: Some(place.element), message })
        })
    }
}

/// A target as memory has it now, if it lends it.
fn lent(memory: &mut dyn Memory, target: Target) -> Option<Elements<&[u8]>> {
    let array = memory.direct(&[], &[target])?.targets.pop()??;
    let shape = array.with(());
    let bytes: &[u8] = match array.bytes {
        Cells::Bytes(bytes) => bytes,
        // A shadow has its dwords as memory has them on such hosts only.
        Cells::Dwords(_) if cfg!(target_endian = "big") => return None,
        Cells::Dwords(dwords) => bytemuck::cast_slice(dwords),
    };
    Some(shape.with(bytes))
}

/// Something that a program sends out.
#[derive(Clone, Debug, PartialEq)]
enum Sent {
    Store(Space, u64, u32),
    Event(Position, VertexEvent),
    Exports(Position, Box<Exports>),
}

impl Sent {
    const fn position(&self) -> Option<Position> {
        match self {
            Self::Store(..) => None,
            Self::Event(at, _) | Self::Exports(at, _) => Some(*at),
        }
    }
}

/// What the reference interpreter sent, in order, with memory's answers; and what the dwords that it stored held before.
#[derive(Default)]
struct Log {
    sent: Vec<(Sent, Result<Written, MemoryFault>)>,
    before: HashMap<(Space, u64), u32>,
}

/// Memory that writes down what is sent to it.
struct Recorder<'a> {
    memory: &'a mut dyn Memory,
    log: Log,
}

impl Memory for Recorder<'_> {
    reads!();

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        self.memory.load(space, dword)
    }

    fn store(&mut self, space: Space, dword: u64, bits: u32) -> Result<(), MemoryFault> {
        if let Ok(old) = self.memory.load(space, dword) {
            self.log.before.entry((space, dword)).or_insert(old);
        }
        let answer = self.memory.store(space, dword, bits);
        self.log.sent.push((Sent::Store(space, dword, bits), answer.clone().map(|()| Written::default())));
        answer
    }

    fn vertex_event(&mut self, at: Position, event: VertexEvent) -> Result<(), MemoryFault> {
        let answer = self.memory.vertex_event(at, event);
        self.log.sent.push((Sent::Event(at, event), answer.clone().map(|()| Written::default())));
        answer
    }

    fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault> {
        let answer = self.memory.commit(at, exports);
        self.log.sent.push((Sent::Exports(at, Box::new(exports.clone())), answer.clone()));
        answer
    }
}

/// Memory that answers as the recorded one did, and compares. Targets that memory lends are lent as their shadows.
struct Player<'a> {
    memory: &'a mut dyn Memory,
    log: &'a Log,
    seen: usize,
    stored: HashMap<(Space, u64), u32>,
    shadows: Shadows,
    /// The engine may have stored exports by itself.
    lent: bool,
    difference: Option<Difference>,
}

impl Player<'_> {
    fn next(&mut self, sent: &Sent) -> Result<Written, MemoryFault> {
        let rest = self.log.sent.get(self.seen..).unwrap_or_default();
        // Exports that the engine stored by itself were not sent.
        let skips = |(other, _): &&(Sent, _)| {
            matches!(other, Sent::Exports(..)) && other.position() != sent.position() && self.lent
        };
        let skipped = rest.iter().take_while(skips).count();
        let expected = rest.get(skipped);
        self.seen += skipped + 1;
        let message = match expected {
            Some((expected, answer)) if same(expected, sent) => return answer.clone(),
            Some((expected, _)) => different(sent, expected),
            None => format!("the engine sent {}, the reference nothing more", described(sent)),
        };
        let position = sent.position().or_else(|| expected.and_then(|(expected, _)| expected.position()));
        self.difference.get_or_insert(Difference { pc: None, position, message });
        // Stops the engine.
        Err(MemoryFault { what: "output".into(), address: None, reason: "the engines disagree".into() })
    }
}

impl Memory for Player<'_> {
    reads!();

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        let place = (space, dword);
        match self.stored.get(&place).or_else(|| self.log.before.get(&place)) {
            Some(&bits) => Ok(bits),
            None => self.memory.load(space, dword),
        }
    }

    fn store(&mut self, space: Space, dword: u64, bits: u32) -> Result<(), MemoryFault> {
        self.next(&Sent::Store(space, dword, bits))?;
        self.stored.insert((space, dword), bits);
        Ok(())
    }

    fn vertex_event(&mut self, at: Position, event: VertexEvent) -> Result<(), MemoryFault> {
        self.next(&Sent::Event(at, event)).map(|_| ())
    }

    fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault> {
        let answer = self.next(&Sent::Exports(at, Box::new(exports.clone())))?;
        self.shadows.store(at, exports);
        Ok(answer)
    }

    fn direct(&mut self, textures: &[u8], targets: &[Target]) -> Option<Direct<'_>> {
        let Direct { textures, targets: own, reads } = self.memory.direct(textures, targets)?;
        let lent = self.shadows.lend(targets);
        if own.iter().zip(&lent).any(|(own, lent)| own.is_some() != lent.is_some()) {
            return None;
        }
        self.lent |= !targets.is_empty();
        Some(Direct { textures, targets: lent, reads })
    }
}

/// Whether both say the same; elements that were not exported do not count.
fn same(a: &Sent, b: &Sent) -> bool {
    match (a, b) {
        (Sent::Exports(at_a, a), Sent::Exports(at_b, b)) => {
            at_a == at_b && Target::all().all(|target| differing_element(a, b, target).is_none())
        }
        _ => a == b,
    }
}

/// The first element of a target in which two threads' exports differ, with the bits of both.
fn differing_element(a: &Exports, b: &Exports, target: Target) -> Option<(usize, [Option<u32>; 2])> {
    let element = |exports: &Exports, e: usize| {
        exports.get(target).and_then(|(values, written)| (written >> e & 1 == 1).then_some(values[e]))
    };
    let pair = |e: usize| (e, [element(a, e), element(b, e)]);
    (0..4).map(pair).find(|(_, [a, b])| a != b)
}

fn differing(found: &str, expected: &str, element: usize, target: Target) -> String {
    let element = ["x", "y", "z", "w"][element % 4];
    format!("the engine exported {found} for {element} of {target:?}, the reference {expected}")
}

fn described(sent: &Sent) -> String {
    match sent {
        Sent::Store(space, dword, bits) => format!("0x{bits:08x} to dword {dword} of the {} memory", space.name()),
        Sent::Event(at, event) => format!("{event:?} of thread ({}, {})", at.i, at.j),
        Sent::Exports(at, _) => format!("the exports of thread ({}, {})", at.i, at.j),
    }
}

fn different(found: &Sent, expected: &Sent) -> String {
    if let (Sent::Exports(at, found), Sent::Exports(at_expected, expected)) = (found, expected)
        && at == at_expected
    {
        let mut targets = Target::all();
        let first = targets.find_map(|target| differing_element(found, expected, target).map(|d| (target, d)));
        if let Some((target, (element, bits))) = first {
            let text = bits.map(|bits| bits.map_or_else(|| "nothing".into(), |bits| format!("0x{bits:08x}")));
            return differing(&text[0], &text[1], element, target);
        }
    }
    format!("the engine sent {}, the reference {}", described(found), described(expected))
}

#[cfg(test)]
#[path = "../../tests/unit/verify/r700.rs"]
mod tests;
