//! Wavefronts that store what they export themselves, each a group by itself: several in one call of machine code, where there is code for that.

#[cfg(target_arch = "x86_64")]
mod native;
#[cfg(not(target_arch = "x86_64"))]
#[path = "spans/none.rs"]
mod native;

use super::{BailedOut, Left, Reader, Worker};
use crate::launch::lanes::BailOut;
use crate::launch::r700::bindings::Binding;
use crate::launch::r700::outputs::Outputs;
use crate::runtime::r700::engine::Run;
use ctm_exec::r700::Memory;
use ctm_exec::watch::Part;
use ctm_exec::{Counters, Fault, FaultKind};
pub use native::{Spans, Way};
use std::sync::atomic::Ordering;

/// What wavefronts of a launch read and write.
pub struct Direct<'a> {
    /// Where exports go.
    pub outputs: &'a Outputs<'a>,
    /// What fetches read.
    pub reads: &'a dyn Memory,
    /// Uniform values.
    pub uniforms: &'a [u32],
    /// How code goes from wavefront to wavefront; `None` where it does not.
    pub way: Option<Way<'a>>,
}

impl<'a> Worker<'a> {
    /// Runs wavefronts up to the first fault.
    pub fn direct(
        &mut self,
        (run, part): (&Run<'_>, &Part),
        direct: &Direct<'_>,
        bindings: &[Option<Binding<'_>>],
        spans: &mut Option<Spans<'_>>,
        waves: std::ops::Range<u64>,
        counters: &mut Counters,
    ) -> Result<(), Fault> {
        let mut next = waves.start;
        while next < waves.end {
            if let Some(spans) = spans {
                let (ended, goes_on) = self.span((run, part), spans, direct, (next, waves.end), bindings, counters);
                next += ended;
                if goes_on {
                    continue;
                }
                self.left(run, direct, next, counters)?;
                next += 1;
                continue;
            }
            match self.here((run, part), next, direct.uniforms, bindings, direct.reads, counters) {
                Ok(_) => {
                    let written = self.store(direct.outputs);
                    counters.writes += written.elements;
                    counters.write_bytes += written.bytes;
                }
                Err(BailOut) => self.left(run, direct, next, counters)?,
            }
            next += 1;
        }
        Ok(())
    }

    /// Runs a wavefront by the reference interpreter, and stores what it exports. Where the run gives up instead, this is no fault that anybody is told.
    fn left(&mut self, run: &Run<'_>, direct: &Direct<'_>, index: u64, counters: &mut Counters) -> Result<(), Fault> {
        if run.gives_up {
            run.bailed_out.fetch_add(1, Ordering::Relaxed);
            return Err(Fault { kind: FaultKind::Cancelled, pc: 0, position: None });
        }
        let mut memory = Reader { memory: direct.reads };
        if let Left::Reference(waves) = self.reference(run, index, &mut memory, counters)? {
            for (at, exports) in waves.iter().flat_map(|BailedOut { exports, .. }| exports) {
                let written = direct.outputs.send(*at, exports);
                counters.writes += written.elements;
                counters.write_bytes += written.bytes;
            }
        }
        Ok(())
    }
}
