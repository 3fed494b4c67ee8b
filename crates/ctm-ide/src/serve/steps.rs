//! Traces and origins of values, as the page has them.

use super::wire::{GlslText, Instruction, Trace, TraceStep, WhyNode, WhyTree};
use ctm::trace::observe::{At, Place};
use ctm::trace::{Ancestor, Ancestry, Trace as Recorded, isa_name};
use std::collections::HashMap;

/// Steps times lanes up to which the values of all lanes go along; of longer traces only those of the asked-for lane.
const MOST_VALUES: usize = 40_000;

/// Numbers of things in the order in which they come.
struct Numbers<T> {
    known: HashMap<T, u32>,
    all: Vec<T>,
}

impl<T: Clone + Eq + std::hash::Hash> Numbers<T> {
    fn new() -> Self {
        Self { known: HashMap::new(), all: Vec::new() }
    }

    fn of(&mut self, thing: T) -> u32 {
        let next = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        *self.known.entry(thing.clone()).or_insert_with(|| {
            self.all.push(thing);
            next
        })
    }
}

/// A trace.
pub(super) fn trace(recorded: &Recorded) -> Trace {
    let every = recorded.steps.len().saturating_mul(recorded.positions.len()) <= MOST_VALUES;
    let mut places = Numbers::<Place>::new();
    let mut instructions = Numbers::<At>::new();
    let mut masks = Numbers::<Vec<usize>>::new();
    let mut first: HashMap<(u16, u32), u32> = HashMap::new();
    let mut steps = Vec::with_capacity(recorded.steps.len());
    for step in &recorded.steps {
        let event = &step.event;
        let mut lanes = Vec::new();
        for lane in event.lanes.iter().filter(|lane| every || usize::from(lane.lane) == recorded.lane) {
            let own = usize::from(lane.lane) == recorded.lane;
            let (mut reads, mut writes) = (Vec::new(), Vec::new());
            // Elements of memory have a name each: only the asked-for lane's.
            for read in lane.reads.iter().filter(|read| own || !read.place.is_memory()) {
                let place = places.of(read.place);
                if !read.place.is_constant() && !read.place.is_memory() {
                    first.entry((read.lane, place)).or_insert(read.bits);
                }
                if read.lane == lane.lane {
                    reads.extend([place, read.bits]);
                }
            }
            for write in lane.writes.iter().filter(|write| own || !write.place.is_memory()) {
                let place = places.of(write.place);
                if !write.place.is_memory() {
                    first.entry((lane.lane, place)).or_insert(write.old);
                }
                let line = recorded.listing.line_of_part(event.at, write.part).unwrap_or(0);
                writes.extend([place, write.old, write.bits, u32::try_from(line).unwrap_or(0)]);
            }
            if !reads.is_empty() || !writes.is_empty() {
                lanes.push((lane.lane, reads, writes));
            }
        }
        let flow = event.flow.as_ref().map(|flow| {
            let letters = flow.lanes.iter().map(|of| if of.covered { of.state.letter() } else { '.' }).collect();
            (flow.first_lane, letters, flow.stack.iter().map(ToString::to_string).collect())
        });
        let executing: Vec<usize> = event.executing.iter().collect();
        steps.push(TraceStep { at: instructions.of(event.at), mask: masks.of(executing), lanes, flow });
    }
    let mut start: Vec<[u32; 3]> =
        first.into_iter().map(|((lane, place), bits)| [u32::from(lane), place, bits]).collect();
    start.sort_unstable();
    let listing = &recorded.listing;
    let instruction = |at: &At| Instruction {
        pc: at.to_string(),
        line: listing.line(*at).unwrap_or(0),
        text: listing.text(*at).to_owned(),
    };
    let flags = (0u32..).zip(&places.all).filter(|(_, place)| place.is_flag()).map(|(n, _)| n).collect();
    Trace {
        title: recorded.title(),
        isa: isa_name(recorded.isa),
        name: listing.name.clone(),
        text: listing.lines.iter().map(|line| format!("{}\n", line.text)).collect(),
        lane: recorded.lane,
        positions: recorded.positions.iter().map(|at| [at.i, at.j]).collect(),
        flags,
        places: places.all.iter().map(ToString::to_string).collect(),
        start,
        instructions: instructions.all.iter().map(instruction).collect(),
        masks: masks.all,
        steps,
        fault: recorded.fault.as_ref().map(ToString::to_string),
        cut: recorded.cut,
        glsl: listing.glsl.as_ref().map(|glsl| GlslText {
            name: glsl.name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(),
            text: glsl.lines.iter().map(|line| format!("{line}\n")).collect(),
            pairs: listing.glsl_pairs(),
        }),
    }
}

/// The origin of a place's value before a step, or at the end.
pub(super) fn why(recorded: &Recorded, place: Place, before: Option<usize>) -> WhyTree {
    let node = |value: &Ancestor| WhyNode {
        place: value.place.to_string(),
        position: recorded.positions.get(value.lane).map(|at| [at.i, at.j]),
        bits: value.bits,
        flag: value.place.is_flag(),
        kind: match value.made {
            Some(_) => "made",
            None if value.place.is_constant() => "constant",
            None if value.place.is_memory() => "memory",
            None => "start",
        },
        step: value.made.map(|made| made.step),
        line: value.made.and_then(|made| made.line(recorded)),
        text: value.made.map_or_else(String::new, |made| made.text(recorded).to_owned()),
        glsl: value.made.and_then(|made| recorded.listing.glsl.as_ref()?.line_of_part(made.at, made.part)),
        from: value.from.clone(),
    };
    let tree = Ancestry::of(recorded, recorded.lane, place, before);
    WhyTree { place: place.to_string(), nodes: tree.iter().flat_map(|tree| &tree.nodes).map(node).collect() }
}
