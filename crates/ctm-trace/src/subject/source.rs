//! The text of a draw's program: the file's, or the text of a container as `ctm dis` prints it.

use super::chosen::{DrawStage, wrong};
use crate::glsl::GlslLines;
use ctm_files::load::{Isa, Loaded};
use ctm_files::r700::{every_program, gfd_text};
use ctm_files::{FileKind, Source};
use ctm_isa::r700::text::TextOptions;
use ctm_jobs::draw::{DrawPlan, Pair, ProgramSource};
use ctm_jobs::job::{AnyProgram, JobError, PassProgram};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// The program of a launch with the text of one of these sources: the one that has the same words. As it is where none has.
pub(super) fn sourced(sources: &[ProgramSource], program: PassProgram) -> PassProgram {
    for source in sources {
        let Some((bytes, name)) = bytes(source) else { continue };
        let found = match &program.program {
            AnyProgram::X1k(known) => Loaded::choose(&bytes, Path::new(&*name), Some(Isa::X1k), None, None)
                .ok()
                .filter(|loaded| loaded.program.words == known.words)
                .and_then(|loaded| Some((AnyProgram::X1k(loaded.program), loaded.source?))),
            AnyProgram::R700(known) => r700(&bytes, &name, &known.words).map(|(again, source)| {
                (AnyProgram::R700(ctm_isa::r700::Program { spans: again.spans, ..known.clone() }), source)
            }),
        };
        if let Some((found, source)) = found {
            return PassProgram { program: found, source: Some(source), ..program };
        }
    }
    program
}

/// The GLSL of a draw's program: of its two shaders the one of the stage.
pub(super) fn glsl(plan: &DrawPlan, stage: DrawStage) -> Result<Option<GlslLines>, JobError> {
    let [vertex, pixel] = plan.glsl.as_slice() else { return Ok(None) };
    let read = |path: &Path| -> Result<(String, String), JobError> {
        let text = ctm_files::read_text(path, FileKind::Shader).map_err(|e| wrong("cannot-read", e.to_string()))?;
        Ok((path.display().to_string(), text))
    };
    let (vertex, pixel) = (read(vertex)?, read(pixel)?);
    let pair = Pair::load(&plan.programs).map_err(|e| wrong("glsl", e.to_string()))?;
    let [of_vertex, of_pixel] = GlslLines::of_pair(&pair, (&vertex.0, &vertex.1), (&pixel.0, &pixel.1));
    Ok(Some(if stage == DrawStage::Vertex { of_vertex } else { of_pixel }))
}

fn bytes(source: &ProgramSource) -> Option<(Cow<'_, [u8]>, String)> {
    match source {
        ProgramSource::File(path) => {
            Some((Cow::Owned(ctm_files::read(path, FileKind::Program).ok()?), path.display().to_string()))
        }
        ProgramSource::Given(program) => {
            let (bytes, name) = program.origin();
            Some((Cow::Borrowed(bytes), name.to_owned()))
        }
        ProgramSource::Bytes(bytes, name) => Some((Cow::Borrowed(bytes), name.to_string())),
    }
}

/// The program with these words in a file, and its text.
fn r700(bytes: &[u8], name: &str, words: &[u32]) -> Option<(ctm_isa::r700::Program, Arc<Source>)> {
    let text = gfd_text(bytes).map_or(Cow::Borrowed(bytes), |text| Cow::Owned(text.into_bytes()));
    let programs = every_program(&text, Path::new(name), Some(Isa::R700), &TextOptions::default()).ok()?;
    let mut loaded = programs.into_iter().map(|(_, loaded)| loaded);
    let found = loaded.find(|loaded| loaded.program.words == words && !loaded.program.spans.is_empty())?;
    Some((found.program, found.source?))
}
