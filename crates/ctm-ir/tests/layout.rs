//! The modules of `src` have an order, and none uses a later one: so there is no cycle among them.

#[test]
fn no_module_uses_a_later_one() {
    let order =
        ["text", "names", "masked", "listing", "values", "numbering", "order", "x1k", "awake", "verify", "lower"];
    let arrows = ctm_testkit::layout::check(env!("CARGO_MANIFEST_DIR"), &order, "lower");
    assert!(arrows > 30, "uses are found: {arrows}");
}
