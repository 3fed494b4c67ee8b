//! Memory, device and recordings have an order, and none uses a later one: so there is no cycle among them.

#[test]
fn no_module_uses_a_later_one() {
    let order = ["memory", "mc", "commands", "engine", "device", "record", "open"];
    let arrows = ctm_testkit::layout::check(env!("CARGO_MANIFEST_DIR"), &order, "record");
    assert!(arrows > 40, "uses are found: {arrows}");
}
