//! Exports of a program (R700 §3.4.1).

use crate::arrays::Written;
use crate::domain::Position;
use crate::fault::FaultKind;
use crate::rows::LaneRows;
use ctm_isa::r700::ops::ExportType;

/// Where an export goes (R700 table 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A colour target, 0..=7.
    Pixel(u8),
    /// The computed depth (pixel export 61).
    Depth,
    /// A position, 0..=3 (position exports 60 to 63).
    Position(u8),
    /// A parameter, 0..=31.
    Parameter(u8),
}

/// Colour targets.
pub const PIXELS: usize = 8;
/// Positions.
pub const POSITIONS: usize = 4;
/// Parameters.
pub const PARAMETERS: usize = 32;
const TARGETS: usize = PIXELS + 1 + POSITIONS + PARAMETERS;

impl Target {
    /// The target of an export's type and index.
    ///
    /// # Errors
    /// The index does not exist.
    #[allow(clippy::cast_possible_truncation, reason = "checked by the ranges")]
    pub const fn from_fields(kind: ExportType, index: u32) -> Result<Self, FaultKind> {
        match (kind, index) {
            (ExportType::Pixel, 0..8) => Ok(Self::Pixel(index as u8)),
            (ExportType::Pixel, 61) => Ok(Self::Depth),
            (ExportType::Pos, 60..64) => Ok(Self::Position(index as u8 - 60)),
            (ExportType::Param, 0..32) => Ok(Self::Parameter(index as u8)),
            (ExportType::Pixel, _) => Err(FaultKind::ExportIndex { kind: "pixel", index }),
            (ExportType::Pos, _) => Err(FaultKind::ExportIndex { kind: "position", index }),
            (ExportType::Param, _) => Err(FaultKind::ExportIndex { kind: "parameter", index }),
        }
    }

    /// Every target: colours, depth, positions, parameters.
    pub fn all() -> impl Iterator<Item = Self> {
        let pixels = (0..8).map(Self::Pixel).chain([Self::Depth]);
        pixels.chain((0..4).map(Self::Position)).chain((0..32).map(Self::Parameter))
    }

    const fn slot(self) -> usize {
        match self {
            Self::Pixel(n) => n as usize % PIXELS,
            Self::Depth => PIXELS,
            Self::Position(n) => PIXELS + 1 + n as usize % POSITIONS,
            Self::Parameter(n) => PIXELS + 1 + POSITIONS + n as usize % PARAMETERS,
        }
    }
}

/// The exports of one thread when its program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exports {
    values: [[u32; 4]; TARGETS],
    written: [u8; TARGETS],
}

impl Default for Exports {
    fn default() -> Self {
        Self { values: [[0; 4]; TARGETS], written: [0; TARGETS] }
    }
}

impl Exports {
    /// Bits of the four elements of a target and which of them were written (bit 0 = x); `None` if it was not exported.
    #[must_use]
    pub const fn get(&self, target: Target) -> Option<([u32; 4], u8)> {
        let slot = target.slot();
        if self.written[slot] == 0 { None } else { Some((self.values[slot], self.written[slot])) }
    }

    /// Stores elements of a target; `None` is a masked element, which keeps its value. A target whose elements are all masked is
    /// not stored: such an export counts only for its EXPORT_DONE (R700 §3.4.1).
    pub fn set(&mut self, target: Target, elements: [Option<u32>; 4]) {
        let slot = target.slot();
        for (element, value) in elements.into_iter().enumerate() {
            if let Some(bits) = value {
                self.values[slot][element] = bits;
                self.written[slot] |= 1 << element;
            }
        }
    }

    /// Whether nothing was stored: no export, or masked elements only.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.written.iter().all(|&written| written == 0)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.written = [0; TARGETS];
    }

    /// [`super::Memory::commit`] where rows take exports ([`super::Memory::lane_rows`]).
    pub fn store(&self, at: Position, rows: &mut LaneRows<Target>) -> Written {
        let mut written = Written::default();
        let Some(lane) = rows.survive(at) else { return written };
        for (target, values, elements) in self.iter() {
            let stored = u64::from(rows.store(lane, target, values, elements));
            written.elements += u64::from(stored > 0);
            written.bytes += 4 * stored;
        }
        written
    }

    /// The exported values, in the order of [`Target::all`].
    pub fn iter(&self) -> impl Iterator<Item = (Target, [u32; 4], u8)> + '_ {
        Target::all().filter_map(|target| self.get(target).map(|(values, written)| (target, values, written)))
    }
}
