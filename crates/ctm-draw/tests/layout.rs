//! The stages of the pipeline have an order, and none uses a later one: so there is no cycle among them.

#[test]
fn no_stage_uses_a_later_one() {
    let order = [
        "rect", "lanes", "surface", "state", "program", "assembly", "vertex", "raster", "setup", "pixel", "output",
        "draw",
    ];
    let arrows = ctm_testkit::layout::check(env!("CARGO_MANIFEST_DIR"), &order, "state");
    assert!(arrows > 60, "uses are found: {arrows}");
}
