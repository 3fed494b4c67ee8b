//! Views of a group besides its place: masks, stack, the next instruction, where values come from.

use super::Said;
use super::state::Debugger;
use ctm::trace::observe::Place;
use ctm::trace::{Ancestry, number};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;

impl Debugger<'_, '_> {
    /// The masks of the group, quad by quad.
    pub(super) fn masks(&mut self) -> Said {
        let flow = self.session.flow(self.session.wave_of(self.lane));
        let (first, lanes) = (usize::from(flow.first_lane), flow.lanes.len());
        let quads = lanes.div_ceil(4);
        let across = quads.min(8);
        let mut text = String::new();
        for row in 0..quads.div_ceil(across) {
            for below in 0..2 {
                text.push_str("  ");
                for quad in row * across..((row + 1) * across).min(quads) {
                    for right in 0..2 {
                        let lane = quad * 4 + below * 2 + right;
                        let letter =
                            flow.lanes.get(lane).map_or(' ', |of| if of.covered { of.state.letter() } else { '.' });
                        let chosen = first + lane == self.lane;
                        let _ = write!(
                            text,
                            "{}{letter}{}",
                            if chosen { '[' } else { ' ' },
                            if chosen { ']' } else { ' ' }
                        );
                    }
                    text.push(' ');
                }
                text.truncate(text.trim_end().len());
                text.push('\n');
            }
        }
        text.push_str("  # runs, 0-9 branch counter, c continue, b break, . not covered\n");
        let letters: String = flow.lanes.iter().map(|of| if of.covered { of.state.letter() } else { '.' }).collect();
        Said { text, value: json!({ "first_lane": first, "masks": letters }) }
    }

    /// The stack of the wavefront.
    pub(super) fn stack(&mut self) -> Said {
        let flow = self.session.flow(self.session.wave_of(self.lane));
        let frames: Vec<String> = flow.stack.iter().map(ToString::to_string).collect();
        let mut text = String::new();
        for (depth, frame) in frames.iter().enumerate() {
            let _ = writeln!(text, "{depth}: {frame}");
        }
        if frames.is_empty() {
            text.push_str("empty\n");
        }
        Said { text, value: json!({ "stack": frames }) }
    }

    /// The next instruction, and its reads and writes for the lane.
    pub(super) fn instruction(&mut self) -> Result<Said, String> {
        let lane = self.lane;
        let Some(event) = self.session.upcoming().cloned() else { return Err("there is no next instruction".into()) };
        let mut text = format!("{}: {}\n", event.at, self.listing.text(event.at));
        match event.lanes.iter().find(|of| usize::from(of.lane) == lane) {
            None => text.push_str("  the lane does not execute it\n"),
            Some(of) => {
                for read in &of.reads {
                    let whose =
                        if usize::from(read.lane) == lane { String::new() } else { format!(" of lane {}", read.lane) };
                    let _ = writeln!(text, "  reads  {}{whose} = {}", read.place, shown(read.place, Some(read.bits)));
                }
                for write in &of.writes {
                    let (old, new) = (shown(write.place, Some(write.old)), shown(write.place, Some(write.bits)));
                    let _ = writeln!(text, "  writes {} = {new}, was {old}", write.place);
                }
            }
        }
        Ok(Said { text, value: Value::Null })
    }

    /// Where values come from.
    pub(super) fn why(&mut self, argument: &str) -> Result<Said, String> {
        let places = self.parse(argument)?;
        let trace = self.session.trace(self.lane, self.pass, Arc::clone(&self.listing));
        let (mut text, mut trees) = (String::new(), Vec::new());
        for place in places {
            match Ancestry::of(&trace, self.lane, place, None) {
                Some(tree) => {
                    text.push_str(&tree.text(&trace, 4, 60));
                    trees.push(tree.json(&trace));
                }
                None => {
                    let _ = writeln!(text, "{place}: no instruction so far wrote it");
                }
            }
        }
        Ok(Said { text, value: json!({ "trees": trees }) })
    }
}

/// A value in all its readings.
pub(crate) fn shown(place: Place, bits: Option<u32>) -> String {
    match bits {
        None => "nothing here".into(),
        Some(bits) if place.is_flag() => bits.to_string(),
        Some(bits) => format!("{}  0x{bits:08x}  {}", number(bits), bits.cast_signed()),
    }
}

/// The same for machines.
pub(super) fn value_json(place: Place, bits: Option<u32>) -> Value {
    json!({ "place": place.to_string(), "bits": bits.map(|bits| format!("0x{bits:08x}")), "value": bits.map(number) })
}
