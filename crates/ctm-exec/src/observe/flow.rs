//! The state of flow control of a unit.

/// The flow-control state of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneFlow {
    /// Why it executes or does not.
    pub state: LaneState,
    /// X1K: covered (CTM §2.1.2). R700: valid (R700 §3.6.1).
    pub covered: bool,
}

/// Why a lane executes or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneState {
    /// It executes.
    Running,
    /// A branch made it inactive; X1K: its branch counter.
    Branch(u8),
    /// It waits for the next iteration of the loop at this depth of the stack (0 the outermost).
    Continue(u16),
    /// It has left the loop at this depth.
    Break(u16),
}

impl LaneState {
    /// One character for pictures of masks: `#` runs, digits and `+` wait in a branch, `c` continue, `b` break.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Running => '#',
            Self::Branch(n) if n < 10 => (b'0' + n) as char,
            Self::Branch(_) => '+',
            Self::Continue(_) => 'c',
            Self::Break(_) => 'b',
        }
    }
}

impl std::fmt::Display for LaneState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Running => f.write_str("running"),
            Self::Branch(n) => write!(f, "inactive by a branch (counter {n})"),
            Self::Continue(depth) => write!(f, "waits for the next iteration of loop {depth}"),
            Self::Break(depth) => write!(f, "has left loop {depth}"),
        }
    }
}

/// An entry of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackFrame {
    /// A loop: iterations left, this one included (`None`: no count), and its index aL if it has one.
    Loop {
        /// Iterations left.
        left: Option<u32>,
        /// aL.
        index: Option<i32>,
    },
    /// A subroutine: where it returns to.
    Call(u32),
    /// A pushed state of all pixels (R700 §3.6.1).
    State,
}

impl std::fmt::Display for StackFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Loop { left, index } => {
                f.write_str("loop")?;
                if let Some(left) = left {
                    write!(f, " left={left}")?;
                }
                index.map_or(Ok(()), |index| write!(f, " aL={index}"))
            }
            Self::Call(back) => write!(f, "call back={back}"),
            Self::State => f.write_str("state"),
        }
    }
}

/// The state of flow control of a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// The first lane that `lanes` speaks of: of R700 thread groups, that of the wavefront.
    pub first_lane: u16,
    /// Each lane of the group or wavefront.
    pub lanes: Vec<LaneFlow>,
    /// The stack, outermost first. X1K: loops, then addresses.
    pub stack: Vec<StackFrame>,
    /// Where it goes on; `None` when the program has ended.
    pub next: Option<u32>,
}

impl Flow {
    /// The state of a lane, if it speaks of it.
    #[must_use]
    pub fn lane(&self, lane: usize) -> Option<LaneFlow> {
        self.lanes.get(lane.checked_sub(usize::from(self.first_lane))?).copied()
    }
}
