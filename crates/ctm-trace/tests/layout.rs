//! The modules of the crate have an order, and none uses a later one: so there is no cycle among them.

#[test]
fn no_module_uses_a_later_one() {
    let order = [
        "choice", "glsl", "listing", "subject", "record", "recorded", "profile", "graph", "vertices", "live", "output",
        "why", "session", "compare", "targets", "reduce",
    ];
    let arrows = ctm_testkit::layout::check(env!("CARGO_MANIFEST_DIR"), &order, "reduce");
    assert!(arrows > 15, "uses are found: {arrows}");
}
