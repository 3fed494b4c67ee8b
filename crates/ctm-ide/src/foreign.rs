//! Texts in other languages than the two: job files, and shaders in `ps_3_0`. The language server shows their errors.

use ctm::ctm_image::{Kind, identify};
use ctm::job::{JobError, Reader};
use ctm::{Drawing, ctm_ps3};
use ctm_isa::diag::Diagnostic;
use std::path::{Path, PathBuf};

/// A text in another language.
#[derive(Clone, Debug)]
pub(crate) enum Foreign {
    /// A job or a draw job (`docs/jobs.md`, `docs/draw-jobs.md`): the file, beside which those are that it names.
    Job(PathBuf),
    /// A Direct3D shader (`docs/ps3.md`).
    Ps3,
}

impl Foreign {
    /// A text that an editor calls TOML, or with its extension; a text that begins with `ps_3_0`.
    pub(crate) fn of(id: &str, path: &Path, text: &str) -> Option<Self> {
        if id == "toml" || path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml")) {
            return Some(Self::Job(path.to_owned()));
        }
        (identify(text.as_bytes()) == Kind::Ps3Text).then_some(Self::Ps3)
    }

    /// The errors of a text. TOML that is no job is ignored.
    pub(crate) fn findings(&self, text: &str) -> Vec<Diagnostic> {
        match self {
            // A dump of Mesa's is compiled as other text than the document's: places in it would be wrong ones.
            Self::Ps3 if ctm_ps3::nine::text(text).is_some() => Vec::new(),
            Self::Ps3 => ctm_ps3::compile(text, &ctm_ps3::Options::default()).diagnostics,
            Self::Job(path) => {
                let name = path.display().to_string();
                let directory = path.parent().unwrap_or(Path::new("."));
                let error = if Drawing::is_job(text) {
                    Drawing::parse(text, &name, directory).err()
                } else if is_job(text) {
                    Reader::for_job(text, &name, directory).finish().err()
                } else {
                    None
                };
                error.map_or_else(Vec::new, |error| told(&error, &name))
            }
        }
    }
}

/// Whether a text has the keys of a job.
fn is_job(text: &str) -> bool {
    let key = |line: &str| {
        line.trim_start().trim_start_matches('[').split(['=', ']', '.']).next().map(str::trim) == Some("program")
    };
    text.lines().any(|line| key(line) || line.trim_start().starts_with("[[pass]]"))
}

/// Findings on the job's own text unchanged, on other files with their names.
fn told(error: &JobError, name: &str) -> Vec<Diagnostic> {
    let of = |report: &ctm::Report| {
        let mut finding = report.diagnostic.clone();
        if report.source.as_ref().is_none_or(|source| source.name() != name) {
            finding.labels.clear();
        }
        finding
    };
    error.reports().iter().map(of).collect()
}
