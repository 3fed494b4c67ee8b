//! The ancestry of a value: which instructions, inputs, constants and elements made it.

use crate::number;
use crate::record::Trace;
use ctm_exec::observe::{At, LaneEvent, Place, Write};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestor {
    /// The place that held it.
    pub place: Place,
    /// The lane.
    pub lane: usize,
    /// Its bits.
    pub bits: u32,
    /// The instruction that wrote it; `None` for initial values, constants and memory.
    pub made: Option<Made>,
    /// The values that it was made of, as numbers of [`Ancestry::nodes`].
    pub from: Vec<usize>,
}

/// The instruction that wrote a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// Its number in [`Trace::steps`].
    pub step: usize,
    /// How many instructions were executed before it.
    pub time: u64,
    /// Its place in the program.
    pub at: At,
    /// Which of its results: [`Write::part`].
    pub part: u8,
}

impl Made {
    /// The line of the instruction, from 1: of a group, the line of the one that made the result.
    #[must_use]
    pub fn line(&self, trace: &Trace) -> Option<usize> {
        trace.listing.line_of_part(self.at, self.part)
    }

    /// The text of that line.
    #[must_use]
    pub fn text<'t>(&self, trace: &'t Trace) -> &'t str {
        trace.listing.text_of_part(self.at, self.part)
    }
}

/// The ancestry of one value. A value that several others were made of is there once.
#[derive(Clone, Debug)]
pub struct Ancestry {
    /// All values; the first is the one that was asked for.
    pub nodes: Vec<Ancestor>,
}

/// Where a write is: step, lane event, write.
type Spot = (usize, usize, usize);

struct Index<'t> {
    trace: &'t Trace,
    writes: HashMap<(usize, Place), Vec<Spot>>,
}

/// Places that all lanes of a group share.
fn key(lane: usize, place: Place) -> (usize, Place) {
    let shared = matches!(place, Place::Share(_) | Place::Dword(..) | Place::Uncached(..));
    (if shared { usize::MAX } else { lane }, place)
}

impl<'t> Index<'t> {
    fn new(trace: &'t Trace) -> Self {
        let mut writes: HashMap<(usize, Place), Vec<Spot>> = HashMap::new();
        for (step, s) in trace.steps.iter().enumerate() {
            for (e, event) in s.event.lanes.iter().enumerate() {
                for (w, write) in event.writes.iter().enumerate() {
                    writes.entry(key(event.lane.into(), write.place)).or_default().push((step, e, w));
                }
            }
        }
        Self { trace, writes }
    }

    fn at(&self, (step, event, write): Spot) -> (&'t LaneEvent, &'t Write) {
        let event = &self.trace.steps[step].event.lanes[event];
        (event, &event.writes[write])
    }

    /// The last write of a place before a step.
    fn before(&self, lane: usize, place: Place, step: usize) -> Option<Spot> {
        let writes = self.writes.get(&key(lane, place))?;
        let spot = *writes[..writes.partition_point(|w| w.0 < step)].last()?;
        let of_clause = place.is_of_clause();
        // These begin anew with each clause (R700 §4.7.1, §4.10).
        let steps = &self.trace.steps;
        let wave = steps.get(step).map(|s| s.event.wave);
        let ended = |s: &crate::record::Step| s.event.at.item.is_none() && Some(s.event.wave) == wave;
        (!of_clause || !steps[spot.0..step].iter().any(ended)).then_some(spot)
    }
}

impl Ancestry {
    /// The ancestry of a place's value for a lane before instruction `before` of [`Trace::steps`], or at the end; `None` when no recorded instruction
    /// wrote it.
    #[must_use]
    pub fn of(trace: &Trace, lane: usize, place: Place, before: Option<usize>) -> Option<Self> {
        let index = Index::new(trace);
        let root = index.before(lane, place, before.unwrap_or(trace.steps.len()))?;
        let mut ancestry = Self { nodes: Vec::new() };
        let mut known: HashMap<Spot, usize> = HashMap::new();
        let mut leaves: HashMap<(usize, Place, u32), usize> = HashMap::new();
        ancestry.node(&index, root, &mut known);
        let mut next = vec![(root, 0)];
        while let Some((spot, node)) = next.pop() {
            let (event, write) = index.at(spot);
            let mut from = Vec::new();
            for read in event.reads.iter().filter(|read| read.parts & write.part != 0) {
                let reader = usize::from(read.lane);
                let child = match index.before(reader, read.place, spot.0) {
                    Some(spot) => match known.get(&spot) {
                        Some(&child) => child,
                        None => {
                            let child = ancestry.node(&index, spot, &mut known);
                            next.push((spot, child));
                            child
                        }
                    },
                    None => {
                        let leaf =
                            Ancestor { place: read.place, lane: reader, bits: read.bits, made: None, from: Vec::new() };
                        *leaves.entry((reader, read.place, read.bits)).or_insert_with(|| {
                            ancestry.nodes.push(leaf);
                            ancestry.nodes.len() - 1
                        })
                    }
                };
                if !from.contains(&child) {
                    from.push(child);
                }
            }
            ancestry.nodes[node].from = from;
        }
        Some(ancestry)
    }

    fn node(&mut self, index: &Index<'_>, spot: Spot, known: &mut HashMap<Spot, usize>) -> usize {
        let (event, write) = index.at(spot);
        let step = &index.trace.steps[spot.0];
        let made = Some(Made { step: spot.0, time: step.time, at: step.event.at, part: write.part });
        self.nodes.push(Ancestor {
            place: write.place,
            lane: event.lane.into(),
            bits: write.bits,
            made,
            from: Vec::new(),
        });
        known.insert(spot, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// The tree as text, one value a line, `depth` levels deep and at most `lines` lines. The first line names the text that all lines are of. A value further up is named by its number.
    #[must_use]
    pub fn text(&self, trace: &Trace, depth: usize, lines: usize) -> String {
        let mut out = String::new();
        let mut shown = BTreeSet::new();
        let mut left = lines;
        let mut stack = vec![(0usize, 0usize)];
        while let Some((node, level)) = stack.pop() {
            if left == 0 {
                let _ = writeln!(out, "... {} values in all; --depth and --lines show more", self.nodes.len());
                break;
            }
            left -= 1;
            let ancestor = &self.nodes[node];
            let indent = "  ".repeat(level);
            let again = !shown.insert(node);
            let lane = if ancestor.lane == trace.lane || ancestor.place.is_constant() {
                String::new()
            } else {
                trace.positions.get(ancestor.lane).map_or(String::new(), |p| format!(" of ({}, {})", p.i, p.j))
            };
            let value = if ancestor.place.is_flag() { ancestor.bits.to_string() } else { number(ancestor.bits) };
            let _ = write!(out, "{indent}{}{lane} = {value}", ancestor.place);
            if !ancestor.place.is_flag() {
                let _ = write!(out, " (0x{:08x})", ancestor.bits);
            }
            match ancestor.made {
                Some(made) if again => {
                    let _ = write!(out, "  see time {} above", made.time);
                }
                Some(made) => {
                    // All lines are of one text, which the first names.
                    let of = if level == 0 { format!(" of {}", trace.listing.name) } else { String::new() };
                    let line = made.line(trace).map_or(String::new(), |line| format!(" line {line}{of}"));
                    let _ = write!(out, "  <- {}{line}, time {}: {}", made.at, made.time, made.text(trace));
                    let glsl = trace.listing.glsl_of_part(made.at, made.part);
                    if !glsl.is_empty() {
                        let _ = write!(out, "  [{glsl}]");
                    }
                }
                None => out.push_str(leaf(ancestor.place)),
            }
            out.push('\n');
            if again || ancestor.from.is_empty() {
                continue;
            }
            if level + 1 > depth {
                let _ = writeln!(out, "{indent}  ... {} more", ancestor.from.len());
                continue;
            }
            stack.extend(ancestor.from.iter().rev().map(|&child| (child, level + 1)));
        }
        out
    }

    /// The values as JSON: `program`, the file that lines are of, and `glsl`, the GLSL file that it was compiled from, and `nodes` with `place`, `lane`, `position`, `bits`, `value`, `pc`, `item`, `line`, `time`, `text`, `glsl_line` and `from`.
    #[must_use]
    pub fn json(&self, trace: &Trace) -> Value {
        let node = |ancestor: &Ancestor| {
            let position = trace.positions.get(ancestor.lane).map(|p| [p.i, p.j]);
            json!({
                "place": ancestor.place.to_string(),
                "lane": ancestor.lane,
                "position": position,
                "bits": format!("0x{:08x}", ancestor.bits),
                "value": number(ancestor.bits),
                "pc": ancestor.made.map(|m| m.at.pc),
                "item": ancestor.made.and_then(|m| m.at.item),
                "line": ancestor.made.and_then(|m| m.line(trace)),
                "time": ancestor.made.map(|m| m.time),
                "text": ancestor.made.map(|m| m.text(trace)),
                "glsl_line": ancestor.made.and_then(|m| trace.listing.glsl.as_ref()?.line_of_part(m.at, m.part)),
                "from": ancestor.from,
            })
        };
        json!({ "root": 0, "program": trace.listing.name, "glsl": trace.listing.glsl.as_ref().map(|glsl| &glsl.name), "nodes": self.nodes.iter().map(node).collect::<Vec<_>>() })
    }
}

const fn leaf(place: Place) -> &'static str {
    if place.is_constant() {
        "  constant"
    } else if place.is_memory() {
        "  from memory"
    } else {
        "  at the start"
    }
}

/// A special value that arises where no operand had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OddityKind {
    /// A NaN.
    Nan,
    /// An infinity.
    Infinity,
    /// An operand was a denormal number, and the result takes it as zero.
    Denormal,
}

impl OddityKind {
    /// In words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Nan => "NaN",
            Self::Infinity => "infinity",
            Self::Denormal => "denormal operand taken as zero",
        }
    }
}

/// The first place where something arises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oddity {
    /// The kind.
    pub kind: OddityKind,
    /// The instruction in [`Trace::steps`].
    pub step: usize,
    /// The value.
    pub write: Write,
}

impl Trace {
    /// The first NaN, the first infinity and the first lost denormal that arise for a lane: made of operands that had none. All 32-bit results are
    /// taken as single precision, integers too.
    #[must_use]
    pub fn oddities(&self, lane: usize) -> Vec<Oddity> {
        let nan = |bits: u32| f32::from_bits(bits).is_nan();
        let infinite = |bits: u32| f32::from_bits(bits).is_infinite();
        let denormal = |bits: u32| f32::from_bits(bits).is_subnormal();
        let mut found: Vec<Oddity> = Vec::new();
        for (step, s) in self.steps.iter().enumerate() {
            for event in s.event.lanes.iter().filter(|event| usize::from(event.lane) == lane) {
                for write in event.writes.iter().filter(|w| !w.place.is_flag()) {
                    let reads = || {
                        let of = move |read: &&ctm_exec::observe::Read| {
                            read.parts & write.part != 0 && !read.place.is_flag()
                        };
                        event.reads.iter().filter(of).map(|read| read.bits)
                    };
                    let kinds = [
                        (OddityKind::Nan, nan(write.bits) && !reads().any(nan)),
                        (OddityKind::Infinity, infinite(write.bits) && !reads().any(infinite)),
                        (OddityKind::Denormal, reads().any(denormal) && !denormal(write.bits)),
                    ];
                    for (kind, arises) in kinds {
                        if arises && found.iter().all(|oddity| oddity.kind != kind) {
                            found.push(Oddity { kind, step, write: *write });
                        }
                    }
                }
            }
        }
        found
    }
}
