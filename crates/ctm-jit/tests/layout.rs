//! The folders of `src` have an order, and none uses a later one: so there is no cycle among them.

#[test]
fn no_folder_uses_a_later_one() {
    let order = ["launch", "passes", "stream", "codegen", "compile", "runtime"];
    let arrows = ctm_testkit::layout::check(env!("CARGO_MANIFEST_DIR"), &order, "runtime");
    assert!(arrows > 100, "uses are found: {arrows}");
}
