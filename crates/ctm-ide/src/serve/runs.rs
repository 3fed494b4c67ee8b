//! Runs of entries: their outputs, as the page shows them.

use super::context::{Answer, AnswerContext, opened};
use super::entries::{Opened, said};
use super::pictures::{self, shown};
use super::question::Question;
use super::{cost, wire};
use crate::language::Language;
use ctm::Drawing;
use ctm::EngineKind;
use ctm::array::Array;
use ctm::job::{Job, Slider};
use ctm::render;
use ctm::trace::observe::WatchedIsa;
use ctm::trace::{Choice, DrawStage, Draws, LaunchOutputs, Subject, launch_outputs, targets_behind};
use ctm_exec::{Control, Instant};
use std::path::Path;
use std::sync::Arc;

pub(super) fn run(question: &Question, context: &AnswerContext<'_>) -> Answer<wire::Run> {
    let (opened, _directory) = opened(question, context)?;
    context.take(cost::of_run(&opened))?;
    match opened {
        Opened::Job(job) => run_job(&job, context.control),
        Opened::Drawing(drawing) => match question.launch {
            Some(number) => {
                let mut answer = behind(&*drawing, drawing.engine, number)?;
                answer.sliders = sliders(&drawing.sliders, |slider| drawing.slider_value(slider));
                (answer.viewer, answer.spins) = viewer(&drawing);
                Ok(answer)
            }
            None => draw(&drawing),
        },
        Opened::Capture(draws, _) => {
            let number = question.launch.ok_or("say which draw")?;
            let mut answer = behind(&*draws, EngineKind::default(), number)?;
            let stages = [(DrawStage::Pixel, "pixel program"), (DrawStage::Vertex, "vertex program")];
            for (stage, name) in stages {
                let subject = Subject::Drawing(Arc::clone(&draws), stage);
                let choice = Choice { pass: Some(number), launch: None };
                let Ok(chosen) = subject.choose_under(context.control, choice, None) else { continue };
                // Traces are of pixels: their listing has that name.
                let (listing, text) = Subject::program_of(&chosen);
                let name = if stage == DrawStage::Pixel { listing } else { name.to_owned() };
                answer.files.push(wire::TextFile { name, text, language: Some(Language::R700.id()) });
            }
            Ok(answer)
        }
        Opened::Recording(path) => recorded(&path, question.launch.ok_or("say which launch")?, context.control),
    }
}

/// The targets after a draw.
fn behind(draws: &dyn Draws, engine: EngineKind, number: usize) -> Answer<wire::Run> {
    let since = Instant::now();
    let engine = engine.engine().map_err(|e| e.to_string())?;
    let (_, targets) = targets_behind(draws, engine, Some(number)).map_err(|e| said(&e))?;
    let milliseconds = since.elapsed().as_secs_f64() * 1000.0;
    let mut outputs = Vec::new();
    for target in targets.iter().filter(|target| !target.integers) {
        let name = target.name.replacen("colour", "target ", 1);
        outputs.push(shown(&name, &target.array(), 0, 0)?);
    }
    let [width, height] = targets.first().map_or([0, 0], |target| target.size);
    let said = if targets.is_empty() { "the draw has no target\n" } else { "" }.to_owned();
    let domain = Some([0, 0, width.saturating_sub(1), height.saturating_sub(1)]);
    Ok(wire::Run {
        outputs,
        said,
        milliseconds,
        domain,
        files: Vec::new(),
        sliders: Vec::new(),
        viewer: false,
        spins: false,
    })
}

/// The outputs of a recording's launch, and its program.
fn recorded(path: &Path, number: usize, control: &Control) -> Answer<wire::Run> {
    let since = Instant::now();
    let left = launch_outputs(path, number as u64, Some(super::context::PATIENCE), control).map_err(|e| said(&e))?;
    let milliseconds = since.elapsed().as_secs_f64() * 1000.0;
    let LaunchOutputs { chosen, outputs: arrays, fault } = left;
    let mut outputs = Vec::new();
    for (name, array) in arrays {
        let (i, j) = if name.contains("uncached") { (0, 0) } else { (chosen.domain.i0, chosen.domain.j0) };
        outputs.push(shown(&name, &array, i, j)?);
    }
    let (name, text) = Subject::program_of(&chosen);
    let language = if chosen.isa() == WatchedIsa::X1k { Language::X1k } else { Language::R700 };
    let domain = chosen.domain;
    Ok(wire::Run {
        outputs,
        said: fault.map_or_else(String::new, |fault| format!("{fault}\n")),
        milliseconds,
        domain: Some([domain.i0, domain.j0, domain.i1, domain.j1]),
        files: vec![wire::TextFile { name, text, language: Some(language.id()) }],
        sliders: Vec::new(),
        viewer: false,
        spins: false,
    })
}

/// Sliders with their values.
fn sliders(all: &[Slider], value: impl Fn(&Slider) -> Option<f32>) -> Vec<wire::SliderState> {
    let state = |slider: &Slider| wire::SliderState {
        constant: slider.constant.clone(),
        element: slider.element,
        from: slider.from.into(),
        to: slider.to.into(),
        value: value(slider).unwrap_or(slider.from).into(),
        seconds: slider.seconds.map(f64::from),
    };
    all.iter().map(state).collect()
}

/// Whether a drawing has a viewer, and whether meshes turn.
fn viewer(drawing: &Drawing) -> (bool, bool) {
    let mut cameras = drawing.draws.iter().flat_map(|draw| &draw.cameras);
    (drawing.viewer().is_some(), cameras.any(|(_, camera)| camera.spin != [0.0; 3]))
}

fn run_job(job: &Job, control: &Control) -> Answer<wire::Run> {
    let report = job.run_under(control, |_| {}).map_err(|e| said(&e))?;
    let mut outputs = Vec::new();
    for output in &report.outputs {
        let Some(array) = report.array(output.slot) else { continue };
        outputs.push(shown(&output.name, &array, output.rect.x, output.rect.y)?);
    }
    let domain = job.passes.last().map(|pass| pass.domain);
    Ok(wire::Run {
        outputs,
        said: report.reports.iter().map(|report| format!("{}\n", render::text(report, false))).collect(),
        milliseconds: report.elapsed.as_secs_f64() * 1000.0,
        domain: domain.map(|domain| [domain.i0, domain.j0, domain.i1, domain.j1]),
        files: Vec::new(),
        sliders: sliders(&job.sliders, |slider| job.slider_value(slider)),
        viewer: false,
        spins: false,
    })
}

fn draw(drawing: &Drawing) -> Answer<wire::Run> {
    let since = Instant::now();
    let drawn = drawing.prepare().and_then(|mut prepared| prepared.draw(0.0)).map_err(|error| match error {
        ctm::draw::Error::Job(error) => said(&error),
        error => error.to_string(),
    })?;
    let milliseconds = since.elapsed().as_secs_f64() * 1000.0;
    let mut outputs = Vec::new();
    for target in drawn.targets.iter().filter(|target| !target.format().number.is_integer()) {
        outputs.push(shown(&format!("target {}", target.number), &target.array(), 0, 0)?);
    }
    let [width, height] = drawn.size;
    let (viewer, spins) = viewer(drawing);
    Ok(wire::Run {
        outputs,
        said: drawn.findings.iter().map(|finding| format!("{finding}\n")).collect(),
        milliseconds,
        domain: Some([0, 0, width.saturating_sub(1), height.saturating_sub(1)]),
        files: Vec::new(),
        sliders: sliders(&drawing.sliders, |slider| drawing.slider_value(slider)),
        viewer,
        spins,
    })
}

/// An output of an example or of the user's job, small: the first one that looks like a picture, otherwise the first.
pub(super) fn thumbnail(question: &Question, context: &AnswerContext<'_>) -> Answer<wire::Thumbnail> {
    let (opened, _directory) = opened(question, context)?;
    context.take(cost::of_run(&opened))?;
    let picture = match opened {
        Opened::Job(job) => {
            let report = job.run_under(context.control, |_| {}).map_err(|e| said(&e))?;
            let arrays: Vec<Array> = report.outputs.iter().filter_map(|output| report.array(output.slot)).collect();
            let array = arrays.iter().find(|array| pictures::is_picture(array)).or(arrays.first());
            array.and_then(pictures::thumbnail)
        }
        Opened::Drawing(drawing) => {
            let drawn = drawing.prepare().and_then(|mut prepared| prepared.draw(0.0)).map_err(|e| e.to_string())?;
            let target = drawn.targets.iter().find(|target| !target.format().number.is_integer());
            target.and_then(|target| pictures::thumbnail(&target.array()))
        }
        Opened::Capture(..) | Opened::Recording(_) => None,
    };
    Ok(wire::Thumbnail { picture })
}
