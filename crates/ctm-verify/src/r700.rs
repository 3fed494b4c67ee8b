//! R700 launches by two engines: the reference interpreter's writes are logged, and the other one's are compared with them.

use super::lockstep::{Answers, CheckedWrite, Sent, both};
use super::shadow::Shadow;
use super::{Compared, Difference, target, until};
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::{Cells, Direct, Exports, Launch, Memory, Space, Target, VertexEvent, Written};
use ctm_exec::x1k::Elements;
use ctm_exec::{Control, Engine, Interp, Position};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Runs a launch with the reference interpreter, then with `engine`, without and with counters. Gives the first one's result and where they first
/// disagree.
///
/// Where writes may be read back as inputs ([`Memory::outputs_alias_inputs`]), the second run would see it; such
/// launches, and checked ones, run once.
pub fn compare(engine: &dyn Engine, control: &Control, launch: &Launch<'_>, memory: &mut dyn Memory) -> Compared {
    if launch.checks || memory.outputs_alias_inputs() {
        return (Interp.run_r700_under(control, launch, memory), None);
    }
    let control = &until(control, &launch.budget);
    let shadows = Shadows::of(memory, launch);
    let mut recorder = WriteLog { memory, sent: Vec::new(), before: HashMap::new() };
    let survivors = Marks::of(launch);
    let of_reference = Launch { counters: true, survivors: survivors.words(), ..*launch };
    let expected = Interp.run_r700_under(control, &of_reference, &mut recorder);
    let WriteLog { memory, sent, before } = recorder;
    survivors.mark(launch);
    both(&expected, launch.counters, |counters, expected| {
        // On one thread nothing after a fault has been stored.
        let threads = if expected.is_err() { 1 } else { launch.threads };
        let marks = Marks::of(launch);
        let launch = Launch { counters, threads, survivors: marks.words(), ..*launch };
        let answers = Answers::new(&sent, shadows.clone());
        let mut player = Player { memory, before: &before, stored: HashMap::new(), answers };
        let found = engine.run_r700_under(control, &launch, &mut player);
        let Player { memory, answers, .. } = player;
        let difference = answers.difference(&found, expected, || Some(Shadows::of(memory, &launch)));
        difference.or_else(|| if expected.is_ok() { marks.difference(&survivors) } else { None })
    })
}

/// The marks of one run at the lanes that reached its end ([`Launch::survivors`]).
struct Marks(Option<Vec<AtomicU64>>);

impl Marks {
    /// None so far.
    fn of(launch: &Launch<'_>) -> Self {
        Self(launch.survivors.map(|words| words.iter().map(|_| AtomicU64::new(0)).collect()))
    }

    fn words(&self) -> Option<&[AtomicU64]> {
        self.0.as_deref()
    }

    fn lanes(&self) -> Vec<u64> {
        self.0.iter().flatten().map(|word| word.load(Ordering::Relaxed)).collect()
    }

    /// Sets the same marks for the caller.
    fn mark(&self, launch: &Launch<'_>) {
        for (to, lanes) in launch.survivors.unwrap_or_default().iter().zip(self.lanes()) {
            to.fetch_or(lanes, Ordering::Relaxed);
        }
    }

    /// The first lane that only one of both runs has marked.
    fn difference(&self, expected: &Self) -> Option<Difference> {
        let words = self.lanes().into_iter().zip(expected.lanes());
        let lane = words.map(|(found, expected)| (found ^ expected).trailing_zeros()).enumerate();
        let (word, bit) = lane.into_iter().find(|(_, bit)| *bit < 64)?;
        let message = format!("lane {} survived in one of the engines only", 64 * word + bit as usize);
        Some(Difference { pc: None, position: None, message })
    }
}

impl target::OutputTarget for Target {
    fn element(self, element: usize) -> String {
        format!("{} of {self:?}", ["x", "y", "z", "w"][element % 4])
    }
}

/// Copies of mapped targets.
type Shadows = super::shadow::Shadows<Target>;

impl Shadows {
    /// As they are now: those of its epilogues, if the launch has some.
    fn of(memory: &mut dyn Memory, launch: &Launch<'_>) -> Self {
        let copy =
            |(target, array): (Target, Elements<Cells<'_>>)| Some((target, Shadow::of(&array, array.bytes.bytes()?)));
        if launch.epilogues.is_empty() {
            let mut mapped = |target| copy((target, memory.direct(&[], &[target])?.targets.pop()??));
            return Self(Target::all().filter_map(&mut mapped).collect());
        }
        let numbers: Vec<u8> = launch.epilogues.iter().map(|of| of.target).collect();
        let mapped = memory.merged(&numbers).map(|direct| direct.targets).unwrap_or_default();
        let targets = numbers.iter().map(|&number| Target::Pixel(number));
        Self(targets.zip(mapped).filter_map(|(target, array)| copy((target, array?))).collect())
    }

    /// The existing ones of these targets.
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
}

/// Memory that logs writes, and the old values of stored dwords.
struct WriteLog<'a> {
    memory: &'a mut dyn Memory,
    sent: Vec<CheckedWrite<Target>>,
    before: HashMap<(Space, u64), u32>,
}

impl Memory for WriteLog<'_> {
    ctm_exec::forward_r700_reads!(memory);

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        self.memory.load(space, dword)
    }

    fn store(&mut self, space: Space, dword: u64, bits: u32) -> Result<(), MemoryFault> {
        if let Ok(old) = self.memory.load(space, dword) {
            self.before.entry((space, dword)).or_insert(old);
        }
        let answer = self.memory.store(space, dword, bits);
        self.sent.push((Sent::Store(space, dword, bits), answer.clone().map(|()| Written::default())));
        answer
    }

    fn vertex_event(&mut self, at: Position, event: VertexEvent) -> Result<(), MemoryFault> {
        let answer = self.memory.vertex_event(at, event);
        self.sent.push((Sent::Event(at, event), answer.clone().map(|()| Written::default())));
        answer
    }

    fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault> {
        let answer = self.memory.commit(at, exports);
        self.sent.push((Sent::outputs(at, exports.iter()), answer.clone()));
        answer
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }
}

/// The mapped arrays of memory with shadows in place of targets; `None`: not all targets have one.
fn shadowed<'m>(answers: &'m mut Answers<'_, Target>, of_memory: Direct<'m>, targets: &[Target]) -> Option<Direct<'m>> {
    let Direct { textures, targets: own, reads } = of_memory;
    let lent = answers.shadows.lend(targets);
    if own.iter().zip(&lent).any(|(own, lent)| own.is_some() != lent.is_some()) {
        return None;
    }
    answers.lent |= !targets.is_empty();
    Some(Direct { textures, targets: lent, reads })
}

/// Memory that replays recorded answers, and compares. Mapped targets are replaced by their shadows.
struct Player<'a> {
    memory: &'a mut dyn Memory,
    /// Values of dwords before the reference interpreter's stores.
    before: &'a HashMap<(Space, u64), u32>,
    stored: HashMap<(Space, u64), u32>,
    answers: Answers<'a, Target>,
}

impl Memory for Player<'_> {
    ctm_exec::forward_r700_reads!(memory);

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        let place = (space, dword);
        match self.stored.get(&place).or_else(|| self.before.get(&place)) {
            Some(&bits) => Ok(bits),
            None => self.memory.load(space, dword),
        }
    }

    fn store(&mut self, space: Space, dword: u64, bits: u32) -> Result<(), MemoryFault> {
        self.answers.next(&Sent::Store(space, dword, bits))?;
        self.stored.insert((space, dword), bits);
        Ok(())
    }

    fn vertex_event(&mut self, at: Position, event: VertexEvent) -> Result<(), MemoryFault> {
        self.answers.next(&Sent::Event(at, event)).map(|_| ())
    }

    fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault> {
        self.answers.next(&Sent::outputs(at, exports.iter()))
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }

    fn direct(&mut self, textures: &[u8], targets: &[Target]) -> Option<Direct<'_>> {
        let of_memory = self.memory.direct(textures, targets)?;
        shadowed(&mut self.answers, of_memory, targets)
    }

    fn merged(&mut self, targets: &[u8]) -> Option<Direct<'_>> {
        let wanted: Vec<Target> = targets.iter().map(|&number| Target::Pixel(number)).collect();
        let of_memory = self.memory.merged(targets)?;
        shadowed(&mut self.answers, of_memory, &wanted)
    }
}
