//! A launch of a subject.

use crate::glsl::GlslLines;
use crate::listing::Listing;
use ctm_exec::observe::{Place, PlaceError, WatchedIsa};
use ctm_exec::{Domain, Position};
use ctm_files::render::Report;
use ctm_isa::diag::Diagnostic;
use ctm_jobs::job::{AnyProgram, JobError, PassProgram};
use std::collections::HashMap;
use std::sync::Arc;

/// The chosen lane of a launch, and the position of each lane.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(super) lane: Position,
    pub(super) names: HashMap<Position, Position>,
}

/// A program of a draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DrawStage {
    /// The pixel program.
    #[default]
    Pixel,
    /// The vertex program.
    Vertex,
}

impl DrawStage {
    /// Every stage with its name.
    pub const ALL: [(&'static str, Self); 2] = [("pixel", Self::Pixel), ("vertex", Self::Vertex)];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pixel => Self::ALL[0].0,
            Self::Vertex => Self::ALL[1].0,
        }
    }
}

/// A launch of a subject.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The pass of the job, the number of the draw; 0 for recordings.
    pub pass: usize,
    /// Its number among all launches.
    pub which: u64,
    /// The processors.
    pub domain: Domain,
    /// The program.
    pub program: PassProgram,
    /// The GLSL that the program was compiled from, where the subject names it.
    pub glsl: Option<Arc<GlslLines>>,
    /// Drawings: the chosen lane, and the place of each lane.
    pub(crate) lane: Option<Lane>,
}

impl Chosen {
    /// Which machine the program is for.
    #[must_use]
    pub const fn isa(&self) -> WatchedIsa {
        match self.program.program {
            AnyProgram::X1k(_) => WatchedIsa::X1k,
            AnyProgram::R700(_) => WatchedIsa::R700,
        }
    }

    /// The program as lines.
    #[must_use]
    pub fn listing(&self) -> Listing {
        let mut listing = Listing::new(&self.program);
        listing.glsl.clone_from(&self.glsl);
        listing
    }

    /// The places of a name: as [`Place::parse`] reads it, or a name that the program gives to an output, a constant or a register, with or without channels
    /// (`colour.g`).
    ///
    /// # Errors
    /// The error in the name, and the allowed ones.
    pub fn places(&self, name: &str) -> Result<Vec<Place>, PlaceError> {
        let (base, channels) = name.find('.').map_or((name, ""), |dot| name.split_at(dot));
        let register = match &self.program.program {
            AnyProgram::X1k(program) => program.symbols.iter().find(|symbol| symbol.name == base).and_then(|symbol| {
                let letter = match symbol.kind {
                    ctm_isa::x1k::program::SymbolKind::Output => "o",
                    ctm_isa::x1k::program::SymbolKind::Float => "c",
                    _ => return None,
                };
                Some(format!("{letter}{}", symbol.index))
            }),
            AnyProgram::R700(program) => program.symbols.iter().find(|symbol| symbol.name == base).and_then(|symbol| {
                Some(match symbol.kind {
                    ctm_isa::r700::program::SymbolKind::Gpr => format!("R{}", symbol.index),
                    ctm_isa::r700::program::SymbolKind::Constant => format!("C{}", symbol.index),
                    ctm_isa::r700::program::SymbolKind::Kcache(set) => format!("KC{set}[{}]", symbol.index),
                    _ => return None,
                })
            }),
        };
        Place::parse(self.isa(), &register.map_or_else(|| name.to_owned(), |register| format!("{register}{channels}")))
    }
}

pub(crate) fn wrong(rule: &'static str, message: impl Into<String>) -> JobError {
    JobError::Usage(vec![Report::bare(Diagnostic::error(rule, message))])
}
