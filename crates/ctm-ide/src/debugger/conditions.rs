//! Where a run stops: breakpoints as they are written, and whether they hold at a place.

use super::Direction;
use ctm::trace::observe::{At, Event, Flow, LaneState, Place};
use ctm::trace::{Listing, Session};

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Less,
    AtMost,
    Equal,
    Unequal,
    AtLeast,
    More,
}

const OPERATORS: [(&str, Comparison); 7] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("==", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<", Comparison::Less),
    (">", Comparison::More),
    ("=", Comparison::Equal),
];

/// `r3.a > 4`: of the selected lane.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BreakCondition {
    place: Place,
    op: Comparison,
    value: u32,
    /// Compares bits; otherwise numbers.
    as_bits: bool,
}

/// The condition of a breakpoint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BreakpointKind {
    /// An instruction that comes next.
    At(Vec<At>),
    /// A condition that begins to hold.
    If(BreakCondition),
    /// A write of one of these places by the lane.
    Write(Vec<Place>),
    /// Covered lanes that part.
    Divergence,
    /// A NaN that the lane writes.
    Nan,
}

/// A place or an event at which a run stops.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Breakpoint {
    /// By which it is deleted.
    pub(crate) number: u32,
    /// As it is shown.
    pub(crate) text: String,
    pub(crate) kind: BreakpointKind,
    /// It counts only where this holds.
    pub(crate) condition: Option<BreakCondition>,
}

/// The line of the program of a breakpoint's instruction.
pub(crate) fn line_of(kind: &BreakpointKind, listing: &Listing) -> Option<usize> {
    match kind {
        BreakpointKind::At(places) => places.first().and_then(|&at| listing.line(at)),
        BreakpointKind::If(_) | BreakpointKind::Write(_) | BreakpointKind::Divergence | BreakpointKind::Nan => None,
    }
}

/// A number as bits; the flag says whether it was written as bits.
pub(crate) fn bits(text: &str) -> Result<(u32, bool), String> {
    if let Some(hex) = text.strip_prefix("0x") {
        return u32::from_str_radix(hex, 16).map(|bits| (bits, true)).map_err(|_| format!("`{text}` are not 32 bits"));
    }
    text.parse::<f32>()
        .map(|x| (x.to_bits(), false))
        .map_err(|_| format!("`{text}` is no number; write 1.5 or 0x3fc00000"))
}

impl BreakCondition {
    /// Reads `PLACE OP VALUE`.
    pub(crate) fn parse(text: &str, places: impl Fn(&str) -> Result<Vec<Place>, String>) -> Result<Self, String> {
        let found = OPERATORS.iter().find_map(|&(sign, op)| text.split_once(sign).map(|parts| (parts, op)));
        let Some(((place, value), op)) = found else {
            return Err(format!("`{text}` is no condition; write PLACE OP VALUE with <, <=, ==, !=, >=, >"));
        };
        let places = places(place)?;
        let &[of] = places.as_slice() else { return Err(format!("{}: say which channel", place.trim())) };
        let (value, as_bits) = bits(value.trim())?;
        Ok(Self { place: of, op, value, as_bits: as_bits || of.is_flag() })
    }

    /// Whether it holds for a lane.
    pub(crate) fn holds(&self, session: &Session<'_, '_>, lane: usize) -> bool {
        session.value(lane, self.place).is_some_and(|bits| self.compare(bits))
    }

    #[allow(clippy::float_cmp, reason = "what was asked for")]
    fn compare(&self, bits: u32) -> bool {
        let value = self.value;
        if self.as_bits {
            return match self.op {
                Comparison::Less => bits < value,
                Comparison::AtMost => bits <= value,
                Comparison::Equal => bits == value,
                Comparison::Unequal => bits != value,
                Comparison::AtLeast => bits >= value,
                Comparison::More => bits > value,
            };
        }
        let (a, b) = (f32::from_bits(bits), f32::from_bits(value));
        match self.op {
            Comparison::Less => a < b,
            Comparison::AtMost => a <= b,
            Comparison::Equal => a == b,
            Comparison::Unequal => a != b,
            Comparison::AtLeast => a >= b,
            Comparison::More => a > b,
        }
    }
}

/// Whether some covered lanes run and others do not.
fn diverges(flow: &Flow) -> bool {
    let mut running = flow.lanes.iter().filter(|of| of.covered).map(|of| of.state == LaneState::Running);
    let first = running.next();
    running.any(|other| Some(other) != first)
}

impl Breakpoint {
    /// Whether instructions alone say that it holds, without values.
    pub(crate) const fn is_light(&self) -> bool {
        matches!(self.kind, BreakpointKind::At(_)) && self.condition.is_none()
    }

    /// Whether the state that it waits for is there; of events and places, not.
    pub(crate) fn state(&self, session: &Session<'_, '_>, lane: usize) -> bool {
        match &self.kind {
            BreakpointKind::If(condition) => condition.holds(session, lane),
            BreakpointKind::Divergence => diverges(&session.flow(session.wave_of(lane))),
            BreakpointKind::At(_) | BreakpointKind::Write(_) | BreakpointKind::Nan => false,
        }
    }

    /// Whether a run stops here. `at` is the instruction that comes next, `before` whether the state was there before, which is brought up to date.
    pub(crate) fn stops(
        &self,
        session: &mut Session<'_, '_>,
        lane: usize,
        direction: Direction,
        at: Option<At>,
        before: &mut bool,
    ) -> bool {
        let reached = match &self.kind {
            BreakpointKind::At(places) => at.is_some_and(|at| places.contains(&at)),
            BreakpointKind::If(_) | BreakpointKind::Divergence => {
                let now = self.state(session, lane);
                now && !std::mem::replace(before, now)
            }
            BreakpointKind::Write(_) | BreakpointKind::Nan => {
                let event = match direction {
                    Direction::Forward => session.previous(),
                    Direction::Backward => session.upcoming(),
                };
                event.is_some_and(|event| self.writes(event, lane))
            }
        };
        reached && self.condition.as_ref().is_none_or(|condition| condition.holds(session, lane))
    }

    fn writes(&self, event: &Event, lane: usize) -> bool {
        let mut writes = event.lanes.iter().filter(|of| usize::from(of.lane) == lane).flat_map(|of| &of.writes);
        match &self.kind {
            BreakpointKind::Write(places) => writes.any(|write| places.contains(&write.place)),
            BreakpointKind::Nan => writes.any(|write| !write.place.is_flag() && f32::from_bits(write.bits).is_nan()),
            BreakpointKind::At(_) | BreakpointKind::If(..) | BreakpointKind::Divergence => false,
        }
    }
}
