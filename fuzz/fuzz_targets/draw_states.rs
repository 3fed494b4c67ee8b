//! Good draw states in which some things are changed: programs, buffers, targets, tests, blending. Both engines draw the same or refuse the same; nothing
//! panics, hangs or writes outside its targets.
#![no_main]

#[path = "../../crates/ctm-draw/tests/states/mod.rs"]
mod states;

use ctm_draw::Options;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static JIT: LazyLock<ctm_jit::Jit> = LazyLock::new(ctm_jit::Jit::new);

fuzz_target!(|bytes: &[u8]| {
    let bytes = &bytes[..bytes.len().min(states::BYTES)];
    let options = Options { one_thread: true, ..Options::default() };
    let expected = states::drawn(bytes, &ctm_exec::Interp, &options);
    assert!(expected.is_within());
    assert!(states::drawn(bytes, &*JIT, &options) == expected);
});
