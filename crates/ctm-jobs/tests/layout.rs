//! Draws use jobs, never the other way round.

#[test]
fn no_module_uses_a_later_one() {
    let arrows = ctm_testkit::layout::check(env!("CARGO_MANIFEST_DIR"), &["job", "draw", "random", "saved"], "draw");
    assert!(arrows > 10, "uses are found: {arrows}");
}
