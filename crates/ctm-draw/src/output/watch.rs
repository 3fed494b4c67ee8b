//! The fragments of one pixel, and their tests and stores.

use crate::pixel::shade::Exports;
use crate::setup::Setup;
use crate::setup::inspect::Missed;
use crate::state::Loss;

/// How a fragment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// Its face is culled.
    Culled,
    /// It lies outside the viewport's rectangle or the scissor.
    Scissor,
    /// Clip rectangles exclude it.
    ClipRectangles,
    /// The sample mask excludes all of its samples.
    SampleMask,
    /// Its samples failed the stencil or the depth test.
    Tests,
    /// The program killed it.
    Killed,
    /// The alpha test dropped it.
    AlphaTest,
    /// Alpha to coverage or the exported mask left none of its samples.
    Mask,
    /// It was stored; where the state has no colours to store, its depth and stencil were.
    Stored,
    /// The draw ended before it did.
    Unfinished,
}

impl Ending {
    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Culled => "culled with its face",
            Self::Scissor => "outside the scissor",
            Self::ClipRectangles => "excluded by clip rectangles",
            Self::SampleMask => "excluded by the sample mask",
            Self::Tests => "failed the depth or stencil test",
            Self::Killed => "killed by the program",
            Self::AlphaTest => "failed the alpha test",
            Self::Mask => "left no sample by alpha to coverage or the exported mask",
            Self::Stored => "stored",
            Self::Unfinished => "unfinished",
        }
    }
}

/// Depth and stencil of one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleTest {
    /// The sample.
    pub sample: u8,
    /// The new depth, as the target would hold it.
    pub depth: f64,
    /// The depth that was there.
    pub stored_depth: f64,
    /// The stencil value that was there.
    pub stored_stencil: u8,
    /// Whether the stencil test passed; so do draws without one.
    pub stencil_passes: bool,
    /// Whether the depth test passed; so do draws without one.
    pub depth_passes: bool,
}

/// The store to one sample of a colour target: floats as bits, or integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The target.
    pub target: u8,
    /// The sample.
    pub sample: u8,
    /// Red, green, blue and alpha before.
    pub before: [u32; 4],
    /// And after.
    pub after: [u32; 4],
}

/// A fragment of the watched pixel: a piece of a primitive.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragment {
    /// The primitive's number in the draw and instance.
    pub primitive: u32,
    /// The instance.
    pub instance: u32,
    /// Whether it is a front face, a point or a line.
    pub is_front: bool,
    /// The layer.
    pub layer: u32,
    /// The sample that the program ran for, where it ran for each.
    pub sample: Option<u8>,
    /// Samples that were covered, bit 0 = sample 0.
    pub covered: u8,
    /// Samples that passed everything.
    pub passed: u8,
    /// Depth and stencil, where the draw has a depth target and tests.
    pub tests: Vec<SampleTest>,
    /// The program's exports, by output: floats as bits, or integers.
    pub exported: Vec<(u8, [u32; 4])>,
    /// The stored values, for each target the first sample.
    pub stored: Vec<Stored>,
    /// How it ended.
    pub ending: Ending,
}

impl Fragment {
    /// A fragment that ended before its tests.
    pub(crate) fn missed(missed: &Missed) -> Self {
        let &Missed { primitive, instance, is_front, layer, covered, loss } = missed;
        let ending = match loss {
            Loss::ViewportScissor | Loss::Scissor => Ending::Scissor,
            Loss::ClipRectangles => Ending::ClipRectangles,
            Loss::SampleMask => Ending::SampleMask,
            _ => Ending::Culled,
        };
        let (tests, exported, stored) = (Vec::new(), Vec::new(), Vec::new());
        Self { primitive, instance, is_front, layer, sample: None, covered, passed: 0, tests, exported, stored, ending }
    }
}

/// The watched pixel, and its fragments so far.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) at: [i32; 2],
    pub(crate) fragments: Vec<Fragment>,
    /// Of the fragment that is being tested.
    pub(crate) tests: Vec<SampleTest>,
}

/// The most fragments that are reported.
const FRAGMENTS: usize = 4096;

impl Watch {
    pub(crate) fn new(at: [i32; 2]) -> Self {
        Self { at, fragments: Vec::new(), tests: Vec::new() }
    }

    /// The fragment that goes on, or a new one.
    pub(crate) fn fragment(&mut self, setup: &Setup, covered: u8, sample: Option<u8>) -> Option<&mut Fragment> {
        let goes_on = |fragment: &Fragment| {
            fragment.ending == Ending::Unfinished
                && (fragment.primitive, fragment.instance, fragment.sample) == (setup.primitive, setup.instance, sample)
        };
        let place = self.fragments.iter().position(goes_on);
        if place.is_none() {
            if self.fragments.len() == FRAGMENTS {
                return None;
            }
            self.fragments.push(Fragment {
                primitive: setup.primitive,
                instance: setup.instance,
                is_front: setup.is_front,
                layer: setup.layer,
                sample,
                covered,
                passed: 0,
                tests: Vec::new(),
                exported: Vec::new(),
                stored: Vec::new(),
                ending: Ending::Unfinished,
            });
        }
        let place = place.unwrap_or(self.fragments.len() - 1);
        let fragment = self.fragments.get_mut(place)?;
        if !self.tests.is_empty() {
            fragment.tests = std::mem::take(&mut self.tests);
        }
        Some(fragment)
    }
}

impl Fragment {
    /// Records the program's exports for a lane.
    pub(crate) fn exports(&mut self, exports: &Exports, lane: usize) {
        let row = |n: u8| Some((n, exports.colour(n)?.each_ref().map(|row| row.bits[lane])));
        self.exported = (0..8).filter_map(row).collect();
    }
}
