//! The vertices of a draw: the values that the vertex program fetched, and those that it exported.

use crate::choice::Choice;
use crate::subject::drawing::Draws;
use crate::subject::{DrawStage, Subject};
use ctm_exec::observe::{Detail, Lanes, Place, Unit, Watcher, Wish};
use ctm_exec::{Control, Fault, Position};
use ctm_jobs::job::JobError;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// The values of one vertex.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VertexValues {
    /// Registers that fetches wrote, with the last fetched bits.
    pub inputs: BTreeMap<Place, u32>,
    /// Exports, with their last bits.
    pub outputs: BTreeMap<Place, u32>,
}

/// The vertices of a draw by number (`i`) and instance (`j`).
pub type VertexTable = BTreeMap<Position, VertexValues>;

/// Records the vertices of launches.
struct Recording {
    table: Arc<Mutex<VertexTable>>,
    most: usize,
}

impl Watcher for Recording {
    fn wish(&mut self, _: &[Position]) -> Wish {
        let count = self.table.lock().unwrap_or_else(PoisonError::into_inner).len();
        if count < self.most { Wish::Watch } else { Wish::Skip }
    }

    fn watch(&mut self, unit: &mut Unit<'_>) -> Result<ControlFlow<()>, Fault> {
        let positions = unit.positions().to_vec();
        let all = Lanes::first(positions.len());
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let mut events = Vec::new();
        while !unit.has_ended() {
            unit.step(Detail::Values(&all), &mut events)?;
            for lane in events.drain(..).flat_map(|event| event.lanes) {
                // Helpers have no number.
                let Some(&at) = positions.get(usize::from(lane.lane)).filter(|at| at.i != u32::MAX) else { continue };
                let values = table.entry(at).or_default();
                let fetches = lane.reads.iter().any(|read| read.place.is_memory());
                for write in &lane.writes {
                    if write.place.is_output() {
                        values.outputs.insert(write.place, write.bits);
                    } else if fetches {
                        values.inputs.insert(write.place, write.bits);
                    }
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The vertices of a draw, numbered from 0: the first `most` and perhaps more, or all where the draw has fewer.
///
/// # Errors
/// The source is invalid, or the draw has no vertex program.
pub fn vertex_table(draws: &Arc<dyn Draws>, draw: usize, most: usize) -> Result<VertexTable, JobError> {
    let subject = Subject::Drawing(Arc::clone(draws), DrawStage::Vertex);
    let chosen = subject.choose(Choice { pass: Some(draw), launch: None }, None)?;
    let table = Arc::new(Mutex::new(VertexTable::new()));
    subject.watch_whole(&Control::none(), &chosen, Recording { table: Arc::clone(&table), most })?;
    let table = std::mem::take(&mut *table.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(table)
}
