//! Tests of `src/launch/wavefronts/outputs.rs`.

use super::*;
use crate::launch::wavefronts::places::Waves;
use std::collections::HashSet;

/// A task must not put back elements that its neighbours have stored meanwhile.
#[test]
fn every_wavefront_has_cells_of_its_own() {
    for (i1, j1) in [(63, 3), (40, 8), (149, 9), (6, 40), (0, 0)] {
        let domain = Domain { i0: 0, j0: 0, i1, j1 };
        for (channels, pitch) in [(1, 160), (2, 160), (4, 150)] {
            let dwords = pitch as usize * 64 * usize::from(channels);
            let mut bytes = vec![0u8; 4 * dwords];
            let (width, height, form) = (pitch, 64, Form::Floats);
            let array = Elements { bytes: (), pitch, width, height, form, channels, mask: 0xf, tiles: None };
            let mut lent = Some(array.with(Cells::Bytes(&mut bytes)));
            let exports: Vec<usize> = (0..channels.into()).collect();
            let outputs = Outputs::lent(&exports, |_| lent.take(), &domain, true).expect("it can be stored to");
            for lanes in [16, 32, 64] {
                let (waves, mut places) = (Waves::new(domain, lanes, true), Places::new());
                let mut all = HashSet::new();
                for index in 0..waves.count() {
                    waves.place(index, &mut places);
                    for cell in outputs.cells(&places).flatten() {
                        assert!(all.insert(std::ptr::from_ref(cell)), "{domain:?}, {lanes} lanes: two store to a cell");
                    }
                }
                assert_eq!(all.len() as u64, domain.processors() * u64::from(channels), "{domain:?}, {lanes} lanes");
            }
        }
    }
}
