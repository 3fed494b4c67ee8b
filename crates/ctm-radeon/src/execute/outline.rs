//! Draws as values: their packets' values, their line in a list, and pictures of their targets.

use super::state::SpecialOp;
use crate::chip::Family;
use ctm_draw::Counts;
use ctm_draw::layout::Layout;
use ctm_draw::state::{Indices, Topology};

/// Where the indices of a draw come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexSource {
    /// 0, 1, 2 and so on.
    Counted,
    /// Memory.
    Memory(u64),
    /// The packet.
    Packet(Vec<u32>),
}

/// The values of a draw packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawCall {
    /// How many indices.
    pub count: u32,
    /// Where they come from.
    pub indices: IndexSource,
    /// Indices of a pair in a word change places.
    pub high_first: bool,
}

/// A draw in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// The generation of the chip.
    pub family: Family,
    /// Its number in its stream, from 1 on.
    pub draw: u32,
    /// The dword of its packet.
    pub dword: usize,
    /// The kind of primitives; `None` for kinds that are not implemented.
    pub topology: Option<Topology>,
    /// How many indices, and how often.
    pub count: u32,
    /// Instances.
    pub instances: u32,
    /// Indices come from memory or the packet.
    pub indexed: bool,
    /// The operation on colours.
    pub special: SpecialOp,
    /// The bound targets: name, format, columns, rows, samples.
    pub targets: Vec<String>,
    /// Registers that have changed since the previous draw, with their values.
    pub changes: Vec<(u32, u32)>,
    /// Its counts.
    pub counts: Counts,
}

impl Outline {
    /// The draw in a line; `number` counts the draws of a whole capture.
    #[must_use]
    pub fn line(&self, number: usize) -> String {
        let kind = self.topology.map_or_else(|| "unknown primitives".to_owned(), |topology| format!("{topology:?}"));
        let special = if self.special == SpecialOp::Normal { String::new() } else { format!(", {:?}", self.special) };
        let indexed = if self.indexed { " indices" } else { " vertices" };
        format!(
            "draw {number} (dword {}): {kind}, {}{indexed}, {} instances{special}; {} pixels, {} samples passed",
            self.dword, self.count, self.instances, self.counts.pixels, self.counts.samples_passed
        )
    }

    /// The same for programs; `number` counts the draws of a whole capture.
    #[must_use]
    pub fn json(&self, number: u32) -> serde_json::Value {
        let changes =
            self.changes.iter().map(|(offset, value)| (self.family.registers().name(*offset), (*value).into()));
        serde_json::json!({
            "draw": number, "dword": self.dword,
            "primitives": self.topology.map(|topology| format!("{topology:?}")),
            "count": self.count, "instances": self.instances, "indexed": self.indexed,
            "special": format!("{:?}", self.special), "targets": self.targets,
            "changes": changes.collect::<serde_json::Map<_, _>>(),
            "pixels": self.counts.pixels, "samples_passed": self.counts.samples_passed,
            "vertices": self.counts.vertices,
        })
    }
}

/// A target after a draw.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetPicture {
    /// `colour0` to `colour7`, `depth`, `stencil`.
    pub name: String,
    /// Columns and rows.
    pub size: [u32; 2],
    /// Bits of red, green, blue and alpha of each pixel, row by row; of depth and stencil only the first counts. Of several samples the first.
    pub pixels: Vec<[u32; 4]>,
    /// The bits are integers, not floats.
    pub integers: bool,
    /// The layout of samples in memory.
    pub layout: Layout,
}

/// Indices.
pub(super) enum Numbers {
    Counted,
    U16(Vec<u16>),
    U32(Vec<u32>),
}

impl Numbers {
    pub(super) fn as_indices(&self) -> Indices<'_> {
        match self {
            Self::Counted => Indices::Counted,
            Self::U16(all) => Indices::U16(all),
            Self::U32(all) => Indices::U32(all),
        }
    }
}
