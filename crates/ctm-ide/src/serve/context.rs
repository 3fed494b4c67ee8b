//! The context of an answer: entries, folders, memory and time; the open entry of a question.

use super::entries::{Opened, PageEntry, said};
use super::memory::{HostMemory, Share};
use super::question::Question;
use super::wire::Output;
use crate::language::Language;
use ctm::draw::ViewMove;
use ctm::job::{Folders, Slider};
use ctm_exec::{Control, Instant};
use ctm_files::MemoryFolder;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

/// The wall time of a launch that the page starts.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// Context of an answer.
pub(super) struct AnswerContext<'a> {
    pub(super) entries: &'a [PageEntry],
    pub(super) folders: &'a Folders,
    pub(super) memory: &'a Arc<HostMemory>,
    pub(super) control: &'a Control,
    pub(super) deadline: Instant,
    /// Memory reserved by the answer: held until the answer has been written as text.
    pub(super) shares: RefCell<Vec<Share>>,
    /// Takes the numbers of outputs, which are part of the answer otherwise: of each output, empty where it has none.
    pub(super) apart: Option<&'a RefCell<Vec<Vec<u8>>>>,
}

/// Why there is no answer.
pub(super) enum Refusal {
    /// Reported to the page.
    Said(String),
    /// There is no memory for it.
    Memory(String),
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self::Said(why)
    }
}

impl From<&str> for Refusal {
    fn from(why: &str) -> Self {
        Self::Said(why.to_owned())
    }
}

pub(super) type Answer<T> = Result<T, Refusal>;

impl AnswerContext<'_> {
    /// Reserves memory for more bytes.
    pub(super) fn take(&self, bytes: u64) -> Result<(), Refusal> {
        let share = self.memory.take(bytes, self.deadline, &|| !self.control.is_over());
        self.shares.borrow_mut().push(share.map_err(Refusal::Memory)?);
        Ok(())
    }

    /// Moves the numbers of outputs to those apart, where they are asked for.
    pub(super) fn set_apart(&self, outputs: &mut [Output]) {
        if let Some(apart) = self.apart {
            let numbers = outputs.iter_mut().map(|output| output.values.take().map_or_else(Vec::new, |of| of.0));
            apart.borrow_mut().extend(numbers);
        }
    }
}

pub(super) fn entry<'e>(question: &Question, context: &AnswerContext<'e>) -> Result<&'e PageEntry, Refusal> {
    let name = question.entry.as_deref().unwrap_or("");
    let found = context.entries.iter().find(|entry| entry.name == name);
    found.ok_or_else(|| format!("there is no job `{name}`").into())
}

/// The language of the text of a question.
pub(super) fn language(question: &Question) -> Language {
    let language = question.language.as_deref().and_then(Language::from_id);
    language.unwrap_or_else(|| Language::of_text(question.text()))
}

/// The subject of a question, with a lower time limit than a job's.
pub(super) fn opened(
    question: &Question,
    context: &AnswerContext<'_>,
) -> Result<(Opened, Option<MemoryFolder>), Refusal> {
    let entry = entry(question, context)?;
    context.take(entry.capture_bytes())?;
    let opened = entry.opened(&question.files.0, context.folders, context.control);
    let (mut opened, directory) = opened.map_err(|e| said(&e))?;
    for &(number, value) in &question.sliders {
        slide(&mut opened, number, value);
    }
    move_viewer(question, &mut opened);
    if let Opened::Job(job) = &mut opened {
        // No answer has them, and an X1K wavefront that counts has one group only.
        job.run.counters = false;
    }
    let time = match &mut opened {
        Opened::Job(job) => Some(&mut job.run.budget.time),
        Opened::Drawing(drawing) => Some(&mut drawing.budget.time),
        Opened::Capture(..) | Opened::Recording(_) => None,
    };
    if let Some(time) = time {
        *time = Some(time.map_or(PATIENCE, |time| time.min(PATIENCE)));
    }
    Ok((opened, directory))
}

/// Moves the viewer of draws.
#[allow(clippy::cast_possible_truncation, reason = "angles have single precision")]
fn move_viewer(question: &Question, opened: &mut Opened) {
    let Opened::Drawing(drawing) = opened else { return };
    let is_number = |n: f64| if n.is_finite() { n as f32 } else { 0.0 };
    drawing.move_viewer(ViewMove {
        turn: question.turn.unwrap_or_default().map(is_number),
        distance: question.distance.filter(|n| n.is_finite()).map_or(1.0, |n| n.clamp(0.02, 50.0) as f32),
        time: is_number(question.time.unwrap_or(0.0)),
    });
}

/// Moves a slider of the open entry, within its range.
#[allow(clippy::cast_possible_truncation, reason = "constants have single precision")]
fn slide(opened: &mut Opened, number: usize, value: f64) {
    let within = |slider: &Slider| (value as f32).max(slider.from).min(slider.to);
    match opened {
        Opened::Job(job) => {
            if let Some(slider) = job.sliders.get(number).cloned() {
                job.slide(&slider, within(&slider));
            }
        }
        Opened::Drawing(drawing) => {
            if let Some(slider) = drawing.sliders.get(number).cloned() {
                drawing.slide(&slider, within(&slider));
            }
        }
        Opened::Capture(..) | Opened::Recording(_) => {}
    }
}
