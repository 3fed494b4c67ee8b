//! Tests of `src/codegen/x86/transfer/numbers.rs`.

use super::scaled;
use ctm_exec::arrays;

/// Signalling NaNs too: on ARM, minima of them are others than those of quiet ones.
#[test]
fn numbers_become_the_integers_of_the_reference() {
    let edges = [0, 1, 0x3eff_ffff, 0x3f80_0000, 0x3f80_0001, 0x7f80_0000, 0x7f80_0001, 0x7fc0_0000, 0x7fff_ffff];
    let both_signs = edges.into_iter().flat_map(|bits| [bits, bits | 1 << 31]);
    for bits in both_signs.chain((0..=u32::MAX).step_by(4_861)) {
        for most in [255, 65_535] {
            assert_eq!(scaled(bits, most), arrays::scaled(bits, most), "{bits:#x} of {most}");
        }
    }
}
