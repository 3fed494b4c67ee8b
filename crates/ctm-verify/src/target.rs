//! Targets of outputs, and the words for a difference at one of them.

/// Where a processor's outputs go.
pub trait OutputTarget: Copy + PartialEq {
    /// One of its elements, in words.
    fn element(self, element: usize) -> String;
}

/// Says how two elements differ; `None` has not been written.
pub fn differing<T: OutputTarget>(target: T, element: usize, bits: [Option<u32>; 2]) -> String {
    let [found, expected] = bits.map(|bits| bits.map_or_else(|| "nothing".into(), |bits| format!("0x{bits:08x}")));
    format!("the engine gave {found} for {}, the reference {expected}", target.element(element))
}
