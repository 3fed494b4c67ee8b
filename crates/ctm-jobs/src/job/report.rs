//! The results of a job: numbers, outputs, findings, and the fault that may have ended it.

use super::surface::{Rect, download};
use crate::job::r700::model::{SavedElements, Vertex};
use ctm_device::device::{CommandFinding, Device};
use ctm_device::mc::Surface;
use ctm_exec::Counters;
use ctm_exec::arrays::Picture;
use ctm_exec::r700::{Space, Target};
use ctm_files::array::{Array, ItemType, Values};
use ctm_files::r700::target_name;
use ctm_files::render::Report;
use ctm_isa::diag::Diagnostic;
use ctm_launch::Done;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The results of a job, and its final state: the device, or the arrays of R700 jobs.
#[derive(Debug, Default)]
pub struct JobReport {
    /// Results of each pass, over all its launches.
    pub passes: Vec<PassReport>,
    /// The outputs that were written, by slot.
    pub outputs: Vec<OutputResult>,
    /// The conditional buffer: where it lies, and the part of it that belongs to domains.
    pub(super) conditional: Option<(Surface, Rect)>,
    /// `None` for R700 jobs, which need none.
    pub(super) device: Option<Device>,
    /// Final memories of an R700 job, in dwords.
    pub memories: BTreeMap<Space, Vec<u32>>,
    /// Vertices that the last geometry program emitted, in order.
    pub vertices: Vec<Vertex>,
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// Warnings about the job, and notes of a checked run.
    pub reports: Vec<Report>,
    /// All command buffers in order.
    pub commands: Vec<u32>,
    /// The time that launches took.
    pub elapsed: Duration,
}

/// The results of one pass.
#[derive(Clone, Debug, Default)]
pub struct PassReport {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// How often it ran.
    pub launches: u64,
    /// Its counters.
    pub counters: Counters,
}

/// An output at the end of a job.
#[derive(Clone, Debug)]
pub struct OutputResult {
    /// Which output; exports of R700 programs by [`super::r700::target_slot`].
    pub slot: u8,
    /// Its name: the program's own, otherwise `o0`, or `pix0`, `depth`, `pos0`, `param0` of an R700 program.
    pub name: String,
    /// The part of it that was asked for: the domain's rectangle, or all of it.
    pub rect: Rect,
    /// The type of its values.
    pub items: ItemType,
    /// Values of each element.
    pub channels: usize,
    pub(super) place: OutputPlace,
}

/// Where an output lies.
#[derive(Clone, Debug)]
pub(super) enum OutputPlace {
    /// In device memory.
    Surface(Surface),
    /// Here.
    Picture(Arc<Picture>),
}

impl OutputResult {
    pub(super) fn of_device(slot: u8, named: Option<String>, surface: Surface, rect: Rect) -> Self {
        let [_, _, channels] = rect.shape(surface.format);
        let name = named.unwrap_or_else(|| format!("o{slot}"));
        Self { slot, name, rect, items: ItemType::Float32, channels, place: OutputPlace::Surface(surface) }
    }

    /// Its name by its number: `o0`, or `pix0`, `depth`, `pos0`, `param0` of an R700 program.
    #[must_use]
    pub fn number(&self) -> String {
        match &self.place {
            OutputPlace::Surface(_) => format!("o{}", self.slot),
            OutputPlace::Picture(_) => Target::all().nth(self.slot.into()).map(target_name).unwrap_or_default(),
        }
    }

    /// Rows, elements of a row, values of an element.
    #[must_use]
    pub const fn shape(&self) -> [usize; 3] {
        [self.rect.height as usize, self.rect.width as usize, self.channels]
    }
}

/// A rectangle of a picture, its values as single precision: their bits are preserved.
pub(super) fn part(picture: &Picture, rect: Rect, elements: SavedElements) -> Array {
    let rows = rect.y..rect.y + rect.height;
    let places = rows.flat_map(|y| (rect.x..rect.x + rect.width).map(move |x| (x, y)));
    let values = places.flat_map(|(x, y)| {
        let element = picture.get(x, y).unwrap_or_default();
        element.into_iter().take(elements.channels).map(f32::from_bits)
    });
    Array {
        height: rect.height as usize,
        width: rect.width as usize,
        channels: elements.channels,
        values: Values::F32(values.collect()),
    }
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Launches that are done.
    pub done: u64,
    /// Launches there will be.
    pub total: u64,
    /// The time that the launches took so far, without loading and saving.
    pub elapsed: Duration,
}

impl JobReport {
    /// Counters of all passes together.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let mut all = Counters::default();
        for pass in &self.passes {
            all.add(&pass.counters);
        }
        all
    }

    /// The contents of output `slot`, with the channels of its format. Integers are there as the single-precision numbers of their bits.
    #[must_use]
    pub fn array(&self, slot: u8) -> Option<Array> {
        let output = self.outputs.iter().find(|o| o.slot == slot)?;
        match &output.place {
            OutputPlace::Surface(surface) => download(self.device.as_ref()?.memory(), surface, output.rect).ok(),
            OutputPlace::Picture(picture) => {
                let elements = SavedElements { items: output.items, channels: output.channels };
                Some(part(picture, output.rect, elements))
            }
        }
    }

    /// The contents of the output of this name (the program's, or `o0`, `pix0`, `pos0`); see [`Self::array`].
    #[must_use]
    pub fn named(&self, name: &str) -> Option<Array> {
        self.array(self.output(name)?.slot)
    }

    /// The contents of the conditional buffer, if the job has one.
    #[must_use]
    pub fn conditional(&self) -> Option<Array> {
        let (surface, rect) = self.conditional.as_ref()?;
        download(self.device.as_ref()?.memory(), surface, *rect).ok()
    }

    /// The device as the job left it; R700 jobs have none.
    #[must_use]
    pub const fn device(&self) -> Option<&Device> {
        self.device.as_ref()
    }
}

impl JobReport {
    /// Adds a finding: the same one in every launch of a pass is one.
    pub(super) fn found(&mut self, report: Report) {
        if !self.reports.contains(&report) {
            self.reports.push(report);
        }
    }

    /// Adds the result of a launch of a pass.
    pub(super) fn launched(&mut self, pass: usize, done: Done) {
        self.elapsed += done.elapsed;
        self.memories = done.memories;
        done.findings.into_iter().for_each(|report| self.found(report));
        self.passes[pass].launches += 1;
        self.passes[pass].counters.add(&done.counters);
    }

    /// Adds a file that was written.
    pub(super) fn wrote(&mut self, path: &Path) {
        if !self.files.iter().any(|file| file == path) {
            self.files.push(path.to_owned());
        }
    }
}

pub(super) fn command_report(finding: &CommandFinding) -> Report {
    Report::bare(Diagnostic::warning(finding.rule, finding.to_string()))
}
