//! R700 launches by two engines: what the reference interpreter sends is written down, and what the other one sends is compared with it.

use crate::Difference;
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::{Buffer, Exports, Interp, Launch, Memory, Sampler, Space, Target, Texture, VertexEvent, Written};
use ctm_exec::{Engine, Fault, Outcome, Position};
use std::collections::HashMap;

/// Runs a launch with the reference interpreter, then with `fast`. Gives the first one's result and where they first disagree.
///
/// Where what is written may be read back as an input ([`Memory::outputs_alias_inputs`]), the second run would see it; such
/// launches, and checked ones, run once.
pub fn compare(
    fast: &dyn Engine,
    launch: &Launch<'_>,
    memory: &mut dyn Memory,
) -> (Result<Outcome, Fault>, Option<Difference>) {
    if launch.checks || memory.outputs_alias_inputs() {
        return (Interp.run_r700(launch, memory), None);
    }
    let mut recorder = Recorder { memory, log: Log::default() };
    let expected = Interp.run_r700(launch, &mut recorder);
    let log = recorder.log;
    let mut player = Player { memory, log: &log, seen: 0, stored: HashMap::new(), difference: None };
    let found = fast.run_r700(launch, &mut player);
    let seen = player.seen;
    let difference = player.difference.or_else(|| {
        let at = |result: &Result<Outcome, Fault>| result.as_ref().err().and_then(|fault| fault.position);
        let pc = |result: &Result<Outcome, Fault>| result.as_ref().err().map(|fault| fault.pc);
        if found != expected {
            let message = format!("the engine gave {found:?}, the reference {expected:?}");
            return Some(Difference {
                pc: pc(&found).or(pc(&expected)),
                position: at(&found).or(at(&expected)),
                message,
            });
        }
        (seen < log.sent.len()).then(|| Difference {
            pc: None,
            position: log.sent[seen].0.position(),
            message: format!("the engine sent {seen} stores, events and exports, the reference {}", log.sent.len()),
        })
    });
    (expected, difference)
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

/// Hands on what only reads to `self.memory`, whose outputs are no inputs.
macro_rules! reads {
    () => {
        fn constant(&self, bank: u8, index: u32) -> Result<[u32; 4], MemoryFault> {
            self.memory.constant(bank, index)
        }

        fn alternate(&self) -> Option<&dyn Memory> {
            self.memory.alternate()
        }

        fn buffer(&self, id: u8) -> Option<Buffer> {
            self.memory.buffer(id)
        }

        fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), MemoryFault> {
            self.memory.read_buffer(id, offset_bytes, bytes)
        }

        fn texture(&self, id: u8) -> Option<Texture> {
            self.memory.texture(id)
        }

        fn sampler(&self, id: u8) -> Option<Sampler> {
            self.memory.sampler(id)
        }

        fn texel(&self, id: u8, level: u32, at: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
            self.memory.texel(id, level, at)
        }

        fn space(&self, space: Space) -> Option<u64> {
            self.memory.space(space)
        }

        fn outputs_alias_inputs(&self) -> bool {
            false
        }

        fn buffer_bytes(&self, id: u8) -> Option<&[u8]> {
            self.memory.buffer_bytes(id)
        }

        fn texels(&self, id: u8, level: u32) -> Option<&[[u32; 4]]> {
            self.memory.texels(id, level)
        }
    };
}
pub(super) use reads;

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

/// Memory that answers as the recorded one did, and compares.
struct Player<'a> {
    memory: &'a dyn Memory,
    log: &'a Log,
    seen: usize,
    stored: HashMap<(Space, u64), u32>,
    difference: Option<Difference>,
}

impl Player<'_> {
    fn next(&mut self, sent: &Sent) -> Result<Written, MemoryFault> {
        let expected = self.log.sent.get(self.seen);
        self.seen += 1;
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
        self.next(&Sent::Exports(at, Box::new(exports.clone())))
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
            let element = ["x", "y", "z", "w"][element];
            return format!("the engine exported {} for {element} of {target:?}, the reference {}", text[0], text[1]);
        }
    }
    format!("the engine sent {}, the reference {}", described(found), described(expected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctm_exec::Domain;
    use ctm_exec::r700::{Arrays, Constants, Plane};
    use ctm_exec::x1k::arrays::Picture;
    use ctm_isa::r700::text::{Options, assemble};

    /// The reference interpreter, with registers that begin as given.
    struct Other(Plane);

    impl Engine for Other {
        fn name(&self) -> &'static str {
            "other"
        }

        fn run_x1k(
            &self,
            launch: &ctm_exec::x1k::Launch<'_>,
            memory: &mut dyn ctm_exec::x1k::Memory,
        ) -> Result<Outcome, Fault> {
            ctm_exec::x1k::Interp.run_x1k(launch, memory)
        }

        fn run_r700(&self, launch: &Launch<'_>, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
            Interp.run_r700(&Launch { planes: &[self.0], ..*launch }, memory)
        }
    }

    #[test]
    fn the_first_difference_is_found() {
        let assembly = assemble("EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n", &Options::default());
        let Some(program) = assembly.program else { panic!("{:?}", assembly.diagnostics) };
        let constants = Constants::default();
        let planes = [Plane::position(0)];
        let mut launch = Launch::new(&program, &constants, Domain { i0: 0, j0: 0, i1: 15, j1: 3 });
        launch.planes = &planes;
        let mut memory = Arrays::default();
        memory.targets.insert(Target::Pixel(0), Picture::filled(16, 4, [-1.0; 4]));
        let (outcome, difference) = compare(&Other(planes[0]), &launch, &mut memory);
        assert!(outcome.is_ok());
        assert_eq!(difference, None);
        // From column 1 on, y is another.
        let lie = Plane { di: [1.0, 2.0, 0.0, 0.0], ..planes[0] };
        let (outcome, difference) = compare(&Other(lie), &launch, &mut memory);
        assert!(outcome.is_ok());
        let Some(difference) = difference else { panic!("no difference found") };
        assert_eq!(difference.position, Some(Position { i: 1, j: 0 }));
        let message = "the engine exported 0x40000000 for y of Pixel(0), the reference 0x00000000";
        assert_eq!(difference.message, message);
        // Memory got what the reference interpreter sent.
        assert_eq!(memory.targets[&Target::Pixel(0)].get(1, 0), Some([1f32.to_bits(), 0, 0, 0]));
    }
}
