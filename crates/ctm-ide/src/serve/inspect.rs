//! Draws, inspected: where primitives and pixels ended, the history of a pixel, and the vertices.

use super::context::{Answer, AnswerContext, opened};
use super::entries::{Opened, said};
use super::question::Question;
use super::{cost, wire};
use ctm::EngineKind;
use ctm::trace::observe::Place;
use ctm::trace::{Draws, InspectedDraw, vertex_table};
use ctm_draw::{Ending, Fragment, LossUnit};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The most primitives of a draw that go to the page.
const SHAPES: usize = 4096;
/// The most vertices.
const VERTICES: usize = 2048;

/// The draws of the open entry, and the engine that draws them.
fn draws(
    question: &Question,
    context: &AnswerContext<'_>,
) -> Answer<(Arc<dyn Draws>, EngineKind, Option<ctm_files::MemoryFolder>)> {
    let (opened, directory) = opened(question, context)?;
    context.take(cost::of_run(&opened))?;
    match opened {
        Opened::Drawing(drawing) => {
            let engine = drawing.engine;
            Ok((Arc::new(*drawing), engine, directory))
        }
        Opened::Capture(draws, _) => Ok((draws, EngineKind::default(), directory)),
        Opened::Job(_) | Opened::Recording(_) => Err("only draws have primitives and fragments".into()),
    }
}

/// Every draw with its funnel, its primitives, and the fragments of the pixel.
pub(super) fn inspected(question: &Question, context: &AnswerContext<'_>) -> Answer<wire::Inspected> {
    let (draws, engine, _directory) = draws(question, context)?;
    let engine = engine.engine().map_err(|e| e.to_string())?;
    let all = draws.inspect(engine, question.at).map_err(|e| said(&e))?;
    Ok(wire::Inspected { draws: all.iter().map(draw).collect() })
}

fn draw(of: &InspectedDraw) -> wire::InspectedDraw {
    let funnel = of.funnel.clone().unwrap_or_default();
    let lost = funnel.lost.into_iter().map(|lost| wire::LostCount {
        pixels: lost.loss.unit() == LossUnit::Pixel,
        key: lost.loss.key(),
        words: lost.loss.words(),
        count: lost.count,
        state: lost.state,
    });
    // The primitives of the pixel are there, however many come before.
    let is_of_pixel = |shape: &ctm_draw::Outline| {
        of.fragments.iter().any(|one| (one.primitive, one.instance) == (shape.primitive, shape.instance))
    };
    let shapes = of.primitives.iter().enumerate().filter(|(n, shape)| *n < SHAPES || is_of_pixel(shape));
    let shapes = shapes.map(|(_, shape)| wire::Shape {
        primitive: shape.primitive,
        instance: shape.instance,
        vertices: shape.vertices,
        corners: shape.corners.map(|corners| corners.map(|corner| corner.map(|n| if n.is_finite() { n } else { 0.0 }))),
        front: shape.is_front,
        lost: shape.loss.map(ctm_draw::Loss::key),
    });
    let mut runs = 0;
    wire::InspectedDraw {
        name: of.name.clone(),
        primitives: funnel.primitives,
        rasterised: funnel.rasterised,
        covered: funnel.covered,
        stored: funnel.stored,
        lost: lost.collect(),
        failed: of.funnel.is_none(),
        shapes: shapes.collect(),
        cut: of.primitives.len() > SHAPES,
        fragments: of.fragments.iter().map(|one| fragment(one, &mut runs)).collect(),
    }
}

/// A fragment; `runs`: how often the pixel program has run for the pixel.
fn fragment(of: &Fragment, runs: &mut u64) -> wire::HistoryFragment {
    let ran = match of.ending {
        Ending::Culled | Ending::Scissor | Ending::ClipRectangles | Ending::SampleMask => false,
        // Tests before the program end a fragment without a run.
        Ending::Tests => !of.exported.is_empty(),
        Ending::Killed | Ending::AlphaTest | Ending::Mask | Ending::Stored | Ending::Unfinished => true,
    };
    let run = ran.then_some(*runs);
    *runs += u64::from(ran);
    let tests = of.tests.iter().map(|test| wire::HistoryTest {
        sample: test.sample,
        depth: test.depth,
        stored_depth: test.stored_depth,
        stored_stencil: test.stored_stencil,
        depth_passes: test.depth_passes,
        stencil_passes: test.stencil_passes,
    });
    let stored = of.stored.iter().map(|stored| wire::HistoryStore {
        target: stored.target,
        sample: stored.sample,
        before: stored.before,
        after: stored.after,
    });
    wire::HistoryFragment {
        primitive: of.primitive,
        instance: of.instance,
        front: of.is_front,
        sample: of.sample,
        covered: of.covered,
        passed: of.passed,
        run,
        ending: of.ending.name(),
        kept: of.ending == Ending::Stored,
        tests: tests.collect(),
        exported: of.exported.iter().map(|&(output, bits)| wire::HistoryExport { output, bits }).collect(),
        stored: stored.collect(),
    }
}

/// The vertices of a draw.
pub(super) fn vertices(question: &Question, context: &AnswerContext<'_>) -> Answer<wire::Vertices> {
    let (draws, _, _directory) = draws(question, context)?;
    let count = draws.count().unwrap_or(1);
    let number = question.launch.unwrap_or(count.saturating_sub(1));
    let table = vertex_table(&draws, number, VERTICES).map_err(|e| said(&e))?;
    let names = |all: BTreeSet<Place>| -> Vec<Place> { all.into_iter().collect() };
    let inputs = names(table.values().flat_map(|of| of.inputs.keys().copied()).collect());
    let outputs = names(table.values().flat_map(|of| of.outputs.keys().copied()).collect());
    let rows = table.iter().take(VERTICES).map(|(at, of)| wire::VertexRow {
        vertex: at.i,
        instance: at.j,
        inputs: inputs.iter().map(|place| of.inputs.get(place).copied()).collect(),
        outputs: outputs.iter().map(|place| of.outputs.get(place).copied()).collect(),
    });
    let rows = rows.collect();
    let named = |all: &[Place]| all.iter().map(ToString::to_string).collect();
    Ok(wire::Vertices { inputs: named(&inputs), outputs: named(&outputs), rows, cut: table.len() > VERTICES })
}
