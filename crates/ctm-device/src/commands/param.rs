//! A parameter of a command: its fields, how it is printed, and values that commands of both machines have.

use ctm_exec::x1k::{Filter, Wrap};
use ctm_isa::ops;
use ctm_isa::table::WordFormat;

/// How the numbers of a parameter are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Show {
    /// Each field as a decimal number, or by the name of its value.
    Fields,
    /// As `Fields`, but numbers stay at their place in the word: the pitch in elements.
    InPlace,
    /// The whole word in hexadecimal.
    Hex,
}

/// The meaning of a 1 in a reserved bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reserved {
    /// The command is refused.
    MustBeZero,
    /// Nothing: the Guide says that the bits are ignored, or known clients leave the whole word undefined.
    Ignored,
}

/// One parameter of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its fields.
    pub format: &'static WordFormat,
    /// How it is printed.
    pub show: Show,
    /// The meaning of a 1 in a reserved bit.
    pub reserved: Reserved,
    /// A word of 0 is left out in print.
    pub optional: bool,
}

/// A parameter whose fields are printed, and whose reserved bits are 0.
pub(super) const fn strict(format: &'static WordFormat) -> Param {
    Param { format, show: Show::Fields, reserved: Reserved::MustBeZero, optional: false }
}

/// A parameter that is printed in hexadecimal.
pub(super) const fn bits(format: &'static WordFormat) -> Param {
    Param { show: Show::Hex, ..strict(format) }
}

ops! {
    /// Filter of an input.
    pub enum SamplerFilter cite "docs/commands.md" {
        /// The element whose cell the coordinate lies in.
        Nearest "NEAREST" 0;
        /// Weighted mean of the four elements around the coordinate.
        Linear "LINEAR" 1;
    }
}

ops! {
    /// The wrap mode of coordinates outside an input.
    pub enum SamplerWrap cite "docs/commands.md" {
        /// The nearest element of the edge.
        Clamp "CLAMP" 0;
        /// The input repeats.
        Repeat "REPEAT" 1;
        /// The input repeats, every second time mirrored.
        Mirror "MIRROR" 2;
        /// The border colour.
        Border "BORDER" 3;
    }
}

impl From<Filter> for SamplerFilter {
    fn from(filter: Filter) -> Self {
        match filter {
            Filter::Nearest => Self::Nearest,
            Filter::Linear => Self::Linear,
        }
    }
}

impl From<SamplerFilter> for Filter {
    fn from(filter: SamplerFilter) -> Self {
        match filter {
            SamplerFilter::Nearest => Self::Nearest,
            SamplerFilter::Linear => Self::Linear,
        }
    }
}

impl From<Wrap> for SamplerWrap {
    fn from(wrap: Wrap) -> Self {
        match wrap {
            Wrap::Clamp => Self::Clamp,
            Wrap::Repeat => Self::Repeat,
            Wrap::Mirror => Self::Mirror,
            Wrap::Border => Self::Border,
        }
    }
}

impl From<SamplerWrap> for Wrap {
    fn from(wrap: SamplerWrap) -> Self {
        match wrap {
            SamplerWrap::Clamp => Self::Clamp,
            SamplerWrap::Repeat => Self::Repeat,
            SamplerWrap::Mirror => Self::Mirror,
            SamplerWrap::Border => Self::Border,
        }
    }
}
