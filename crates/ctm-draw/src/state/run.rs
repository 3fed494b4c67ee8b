//! Options, notices, counts and errors of a draw: the types that all stages share.

use crate::surface::targets::TargetError;
use ctm_exec::engine::Finding;
use ctm_exec::{Budget, Control, Domain, Fault, Position};
use std::sync::Arc;

/// Options of a draw. Results do not depend on them, except for draws that are ended early.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Everything runs on one thread, instead of on all cores.
    pub one_thread: bool,
    /// Programs report legal but suspicious operations ([`crate::Drawn::notes`]); that takes time.
    pub checks: bool,
    /// The column and row of a pixel whose fragments are reported ([`crate::Drawn::fragments`]).
    pub watch: Option<[u32; 2]>,
    /// The primitives and pixels that end at each stage are counted ([`crate::Drawn::funnel`]), and the primitives are listed
    /// ([`crate::Drawn::outlines`]); that takes time.
    pub funnel: bool,
    /// Instructions that a group of a program may issue, and the wall time of the whole draw.
    pub budget: Budget,
    /// Can end the draw.
    pub control: Control,
    /// Called with each launch.
    pub notice: Notice,
}

/// A launch of a draw's program that is about to run, on the thread that runs it.
pub struct LaunchNotice<'a> {
    /// `vertex`, `geometry`, `copy` or `pixel`.
    pub stage: &'static str,
    /// Its lanes, by which engines know them.
    pub domain: Domain,
    pub(crate) place: &'a dyn Fn(Position) -> Position,
    pub(crate) counts: &'a dyn Fn(Position) -> bool,
}

impl LaunchNotice<'_> {
    /// The place of a lane: a pixel, a vertex number (`i`) and instance (`j`), or a primitive.
    #[must_use]
    pub fn place(&self, lane: Position) -> Position {
        (self.place)(lane)
    }

    /// Whether the lane is more than a helper for gradients.
    #[must_use]
    pub fn counts(&self, lane: Position) -> bool {
        (self.counts)(lane)
    }
}

/// A function that is called with each launch before it runs; none by default.
#[derive(Clone, Default)]
pub struct Notice(Option<Arc<NoticeFn>>);

type NoticeFn = dyn Fn(&LaunchNotice<'_>) + Send + Sync;

impl Notice {
    /// A notice that calls this function.
    pub fn new(hears: impl Fn(&LaunchNotice<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hears)))
    }

    /// Whether there is one to call.
    pub const fn is_heard(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn tell(&self, launch: &LaunchNotice<'_>) {
        if let Some(hears) = &self.0 {
            hears(launch);
        }
    }
}

impl std::fmt::Debug for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Notice(..)" } else { "Notice" })
    }
}

/// A note of a checked draw about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// `vertex`, `geometry`, `copy` or `pixel`.
    pub stage: &'static str,
    /// The finding. Its position is the pixel, the vertex number (`i`) and instance (`j`), or the primitive.
    pub finding: Finding,
}

/// Counts of a draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Indices, of all instances.
    pub indices: u64,
    /// Primitives that were assembled; a quad or polygon counts as its triangles.
    pub primitives: u64,
    /// Invocations of the geometry program.
    pub invocations: u64,
    /// Primitives that the geometry program emitted: each point, line and triangle of its strips.
    pub emitted: u64,
    /// Primitives for stream output, and those that it stored.
    pub stream_primitives: [u64; 2],
    /// Primitives that clipping left something of.
    pub visible: u64,
    /// Invocations of the vertex program; with a geometry program, the vertices that it emitted.
    pub vertices: u64,
    /// Quads of the pixel program. Quads that later opaque pixels of the same draw hide may be left out, and count as if they had run.
    pub quads: u64,
    /// Covered pixels among them.
    pub pixels: u64,
    /// Samples that passed all tests.
    pub samples_passed: u64,
    /// Pixels of which something was stored in colour targets.
    pub pixels_written: u64,
}

impl Counts {
    /// Adds another draw.
    pub const fn add(&mut self, other: &Self) {
        self.indices += other.indices;
        self.primitives += other.primitives;
        self.invocations += other.invocations;
        self.emitted += other.emitted;
        self.stream_primitives[0] += other.stream_primitives[0];
        self.stream_primitives[1] += other.stream_primitives[1];
        self.visible += other.visible;
        self.vertices += other.vertices;
        self.quads += other.quads;
        self.pixels += other.pixels;
        self.samples_passed += other.samples_passed;
        self.pixels_written += other.pixels_written;
    }
}

/// The reason why a draw did not end.
#[derive(Clone, Debug, PartialEq)]
pub enum DrawError {
    /// A target that cannot be drawn to.
    Target {
        /// Which.
        target: String,
        /// Why.
        error: TargetError,
    },
    /// A field of the state has a value that it cannot have.
    State {
        /// Which field.
        field: &'static str,
        /// The value and the allowed ones; lower case, no full stop.
        reason: String,
    },
    /// A fault of a program. Everything before it has been drawn.
    Program {
        /// `vertex`, `geometry`, `copy`, `stream output` or `pixel`.
        stage: &'static str,
        /// The fault.
        fault: Fault,
    },
}

impl std::fmt::Display for DrawError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Target { target, error } => write!(f, "{target} cannot be drawn to: {error}"),
            Self::State { field, reason } => write!(f, "`{field}` {reason}"),
            Self::Program { stage, fault } => write!(f, "the {stage} program: {fault}"),
        }
    }
}

impl std::error::Error for DrawError {}
