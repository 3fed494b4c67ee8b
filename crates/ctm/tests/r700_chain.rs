//! The example of a geometry chain agrees with a direct computation: with plain arrays, and by a device's commands.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

#[path = "../examples/geometry_chain.rs"]
mod geometry_chain;

use ctm::EngineKind;
use ctm::device::DeviceOptions;
use ctm_isa::r700::program::Chip;
use geometry_chain::{device, direct, plain};

#[test]
fn plain_arrays() {
    let expected = direct();
    assert_eq!((expected.strips.len(), expected.vertices.len()), (7, 23));
    assert_eq!(plain().unwrap(), expected);
}

#[test]
fn a_device_of_every_chip() {
    for chip in [Chip::Rv710, Chip::Rv730, Chip::Rv770] {
        assert_eq!(device(EngineKind::Interp, DeviceOptions::r700(chip)).unwrap(), direct(), "{chip:?}");
    }
}

#[test]
fn every_engine() {
    for engine in EngineKind::ALL {
        assert_eq!(device(engine, DeviceOptions::r700(Chip::Rv770)).unwrap(), direct(), "{engine}");
    }
}
