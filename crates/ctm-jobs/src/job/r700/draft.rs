//! The values of one table for an R700 pass, before the job's own keys are mixed in.

use super::model::{MemoryBlock, R700Pass};

/// Own elements in place of those of the base with the same key.
fn replace<T: Clone, K: PartialEq>(base: &[T], own: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut out: Vec<T> = base.iter().filter(|b| !own.iter().any(|o| key(o) == key(b))).cloned().collect();
    out.extend(own);
    out
}

impl R700Pass {
    /// This pass's values, else those of the job. A program of its own may be of another kind.
    pub(in crate::job) fn over(self, base: &Self, own_program: bool) -> Self {
        let mut semantics = base.semantics.clone();
        semantics.extend(self.semantics);
        // The job's `save` happens at the end of the job, a pass's own when the pass is done.
        let inherited: Vec<MemoryBlock> =
            base.memories.iter().map(|m| MemoryBlock { save: None, fresh: false, ..m.clone() }).collect();
        let memories = self.memories.into_iter().map(|own| {
            let fresh = own.size_bytes.is_some() || own.data.is_some();
            match inherited.iter().find(|m| m.space.value == own.space.value) {
                Some(m) => MemoryBlock {
                    size_bytes: own.size_bytes.or(m.size_bytes.filter(|_| own.data.is_none())),
                    data: own.data.or_else(|| m.data.clone().filter(|_| own.size_bytes.is_none())),
                    item_dwords: own.item_dwords.or(m.item_dwords),
                    stride: own.stride.or(m.stride),
                    shape: own.shape.or_else(|| m.shape.clone()),
                    fresh,
                    ..own
                },
                None => MemoryBlock { fresh, ..own },
            }
        });
        let memories = replace(&inherited, memories.collect(), |m| m.space.value);
        Self {
            which: self.which.or_else(|| base.which.clone().filter(|_| !own_program)),
            stage: self.stage.or(base.stage.filter(|_| !own_program)),
            chip: self.chip.or(base.chip),
            fetch_program: self.fetch_program.or_else(|| base.fetch_program.clone()),
            group_threads: self.group_threads.or(base.group_threads),
            vertex_offset: self.vertex_offset.or(base.vertex_offset),
            instance_offset: self.instance_offset.or(base.instance_offset),
            global_gprs: self.global_gprs.or(base.global_gprs),
            semantics,
            constant_buffers: replace(&base.constant_buffers, self.constant_buffers, |c| c.bank.value),
            buffers: replace(&base.buffers, self.buffers, |b| b.slot.value.clone()),
            memories,
            vertices: self.vertices.or_else(|| base.vertices.clone()),
        }
    }
}
