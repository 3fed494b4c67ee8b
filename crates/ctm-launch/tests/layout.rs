//! The modules of the crate have an order, and none uses a later one: so there is no cycle among them.

#[test]
fn no_module_uses_a_later_one() {
    let order = [
        "slot", "error", "view", "fit", "source", "engines", "model", "numbers", "held", "landing", "client", "x1k",
        "r700", "run",
    ];
    let arrows = ctm_testkit::layout::check(env!("CARGO_MANIFEST_DIR"), &order, "run");
    assert!(arrows > 20, "uses are found: {arrows}");
}
