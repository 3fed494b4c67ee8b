//! The files that a job writes: checked before anything runs.

use super::frames::{frame, is_numbered};
use crate::job::located::Located;
use crate::job::model::{Job, Output, Pass, Save};
use ctm_files::array::ArrayFileKind;
use ctm_files::error::JobError;
use ctm_files::render::Report;
use ctm_files::{can_save, free_space};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

impl Job {
    /// All files that the job saves something to.
    pub(super) fn files(&self) -> impl Iterator<Item = &Located<PathBuf>> {
        let of_pass = self.passes.iter().flat_map(|pass| {
            let outputs = pass.outputs.iter().flat_map(|output| &output.saves).map(|save| &save.path);
            let conditional = pass.conditional().into_iter().filter_map(|c| c.save.as_ref());
            let own = pass
                .r700()
                .into_iter()
                .flat_map(|own| own.memories.iter().filter_map(|memory| memory.save.as_ref()).chain(&own.vertices));
            outputs.chain(conditional).chain(own)
        });
        let at_end = self.saves.iter().map(|save| &save.path).chain(self.own_saves.conditional());
        let memories = self.own_saves.memories().iter().filter_map(|memory| memory.save.as_ref());
        of_pass.chain(at_end).chain(memories)
    }

    /// Checks whether all files can be written, and changes none.
    ///
    /// # Errors
    /// All that cannot be, each with the reason.
    pub(super) fn check_files(&self) -> Result<(), JobError> {
        let wrong = |path: &Located<PathBuf>| {
            let why = can_save(&frame(&path.value, 0)).err()?;
            Some(path.error("cannot-write", format!("{} cannot be written: {why}", path.value.display())))
        };
        let mut reports: Vec<_> = self.files().filter_map(wrong).collect();
        if reports.is_empty() {
            reports = self.too_large(free_space);
        }
        if reports.is_empty() { Ok(()) } else { Err(JobError::Wrong(reports)) }
    }

    /// Reports files that do not fit on their disks. `space` gives the number of a file's disk and the bytes that are free there.
    fn too_large(&self, space: impl Fn(&Path) -> Option<(u64, u64)>) -> Vec<Report> {
        let mut wanted: BTreeMap<u64, u64> = BTreeMap::new();
        let mut reports = Vec::new();
        for (path, bytes) in self.sizes() {
            let Some((disk, free)) = space(&path.value) else { continue };
            // An old file stays until the new one is whole.
            let wanted = wanted.entry(disk).or_default();
            *wanted = wanted.saturating_add(bytes);
            if *wanted > free {
                let file = path.value.display();
                let message = format!(
                    "{file} cannot be written: with it files take at least {wanted} bytes, and {free} are free"
                );
                reports.push(path.error("cannot-write", message));
            }
        }
        reports
    }

    /// The least size of files of outputs. The sizes of compressed pictures and of numbered files are not known.
    fn sizes(&self) -> impl Iterator<Item = (&Located<PathBuf>, u64)> {
        let of = |pass: &Pass, output: &Output, save: &Save| {
            let channels = match ArrayFileKind::of(&save.path.value)? {
                ArrayFileKind::Npy | ArrayFileKind::Raw => output.elements().channels as u64,
                ArrayFileKind::Pfm => 1,
                ArrayFileKind::Png => return None,
            };
            let [width, height] = output.size.unwrap_or([pass.domain.width(), pass.domain.height()]).map(u64::from);
            (!is_numbered(&save.path.value)).then_some(width * height * channels * 4)
        };
        let outputs = move || self.passes.iter().flat_map(|pass| pass.outputs.iter().map(move |output| (pass, output)));
        let of_pass =
            outputs().flat_map(move |(pass, output)| output.saves.iter().map(move |save| (pass, output, save)));
        let at_end = self.saves.iter().filter_map(move |save| {
            let (pass, output) = outputs().rfind(|(_, output)| output.slot.value == save.slot.value)?;
            Some((pass, output, save))
        });
        of_pass.chain(at_end).filter_map(move |(pass, output, save)| Some((&save.path, of(pass, output, save)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_too_small_is_found() {
        let directory = std::env::temp_dir();
        let text = "program = \"a.x1k\"\ndomain = [0, 0, 1023, 1023]\n[[output]]\nslot = 0\nsave = \"ctm-space-a.npy\"\n\
            [[output]]\nslot = 1\nformat = \"float32_1\"\nsave = [\"ctm-space-b.raw\", \"ctm-space-c.png\"]\n";
        let job = Job::parse(text, "job.toml", &directory).unwrap_or_else(|e| panic!("{e}"));
        let messages = |free: u64| -> Vec<String> {
            job.too_large(|_| Some((1, free))).into_iter().map(|report| report.diagnostic.message).collect()
        };
        assert!(messages(20 << 20).is_empty());
        let one = messages((20 << 20) - 1);
        assert_eq!(one.len(), 1);
        assert!(one[0].contains("ctm-space-b.raw") && one[0].contains("at least 20971520 bytes"), "{one:?}");
        assert_eq!(messages(1).len(), 2);
        assert!(job.too_large(|_| None).is_empty());
        #[cfg(unix)]
        assert!(free_space(&directory.join("a.npy")).is_some_and(|(_, free)| free < u64::MAX));
    }
}
