//! The command `ctm`.
fn main() {}
