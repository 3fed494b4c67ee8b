//! Notes of checked draws, each reported once.

use super::submit::Stepped;
use ctm_draw::Note;
use std::collections::HashSet;

/// Which notes have been seen: of each program, stage, instruction and rule the first is new.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    seen: HashSet<(u64, &'static str, u32, &'static str)>,
}

impl Notes {
    /// The notes of a draw that are new, with its number.
    pub fn new_of(&mut self, draw: u32, stepped: &Stepped<'_>) -> Vec<(u32, Note)> {
        let mut new = Vec::new();
        for note in stepped.notes {
            // Programs are identified by their start addresses.
            let program =
                stepped.programs.iter().find(|program| program.0 == note.stage).map_or(0, |program| program.1);
            if self.seen.insert((program, note.stage, note.finding.pc, note.finding.rule)) {
                new.push((draw, note.clone()));
            }
        }
        new
    }
}

/// A note in words: the draw, the program, the place and the operation.
#[must_use]
pub fn told_note(draw: u32, note: &Note) -> String {
    let place = match (note.finding.position, note.stage) {
        (None, _) => String::new(),
        (Some(at), "pixel") => format!(" at pixel ({}, {})", at.i, at.j),
        (Some(at), "geometry") => format!(" for primitive {}", at.i),
        (Some(at), _) => format!(" for vertex {} of instance {}", at.i, at.j),
    };
    format!("draw {draw}, the {} program{place}: {}", note.stage, note.finding.message)
}
