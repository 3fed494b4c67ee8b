//! Launches: a program on many vertices.

use super::{BUDGET, DecodedProgram, Vector, Vertex, run};
use crate::clock::Instant;
use crate::domain::Position;
use crate::fault::{Budget, Fault, FaultKind};
use crate::watch::Control;
use ctm_isa::pvs::{INPUTS, OUTPUTS, VertexProgram};
use rayon::prelude::*;

/// Vertices that one thread runs at a time.
const PER_TASK: usize = 64;

/// The output vectors of a vertex.
pub type Outputs = [Vector; OUTPUTS];

/// A program, its constants, and the input vectors of the vertices that it runs on.
#[derive(Clone, Copy, Debug)]
pub struct PvsLaunch<'a> {
    /// The program.
    pub program: &'a VertexProgram,
    /// The machine's constants, from 0; those that it lacks are (0, 0, 0, 0).
    pub constants: &'a [Vector],
    /// The inputs of each vertex.
    pub vertices: &'a [[Vector; INPUTS]],
    /// Limits: of instructions, for each vertex.
    pub budget: Budget,
    /// Runs on one thread instead of all cores. Results do not depend on it.
    pub one_thread: bool,
}

/// Runs a launch with the reference interpreter; gives the outputs of each vertex.
///
/// # Errors
/// The fault of the first vertex that did wrong; its position has the vertex as `i`.
pub fn run_launch(control: &Control, launch: &PvsLaunch<'_>) -> Result<Vec<Outputs>, Fault> {
    let code = DecodedProgram::new(launch.program);
    let until = launch.budget.time.and_then(|limit| Instant::now().checked_add(limit));
    let control = until.map_or_else(|| control.clone(), |deadline| control.until(deadline));
    let instructions = launch.budget.instructions_per_group.unwrap_or(BUDGET).min(BUDGET);
    let one = |n: usize, inputs: &[Vector; INPUTS]| {
        let placed = |fault: Fault| {
            let i = u32::try_from(n).unwrap_or(u32::MAX);
            Fault { position: Some(Position { i, j: 0 }), ..fault }
        };
        if control.is_over() {
            let limit = launch.budget.time.unwrap_or_default();
            let kind = if control.is_cancelled() { FaultKind::Cancelled } else { FaultKind::TimeBudget { limit } };
            return Err(placed(Fault { kind, pc: launch.program.first.into(), position: None }));
        }
        let mut vertex = Vertex::new(inputs);
        run(&code, launch.constants, &mut vertex, instructions).map_err(placed)?;
        Ok(vertex.outputs)
    };
    let task = |(number, vertices): (usize, &[[Vector; INPUTS]])| -> Result<Vec<Outputs>, Fault> {
        (number * PER_TASK..).zip(vertices).map(|(n, inputs)| one(n, inputs)).collect()
    };
    if launch.one_thread || launch.vertices.len() <= PER_TASK {
        return launch.vertices.iter().enumerate().map(|(n, inputs)| one(n, inputs)).collect();
    }
    let tasks: Vec<_> = launch.vertices.par_chunks(PER_TASK).enumerate().map(task).collect();
    let mut all = Vec::with_capacity(launch.vertices.len());
    for outputs in tasks {
        all.extend(outputs?);
    }
    Ok(all)
}
