//! The project's own chores: `cargo xtask check` runs what CI runs.
fn main() {}
