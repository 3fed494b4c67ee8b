//! The number of crates that a program with this library compiles.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The most crates from outside of the workspace with the default features, on the system of the test.
const MOST: usize = 25;

#[test]
fn the_default_features_bring_few_crates() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "--package", "close-to-metal", "--edges", "normal", "--prefix", "none", "--format", "{p}"])
        .args(["--locked", "--offline"])
        .current_dir(root)
        // Features of other packages of the workspace do not count.
        .env_remove("CARGO_RESOLVER_FEATURE_UNIFICATION");
    let output = tree.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    // Packages of the workspace have a path after their version; a package that was listed before has a mark.
    let outside = lines.lines().filter(|line| !line.is_empty() && !line.contains(" (/") && !line.contains(":\\"));
    let crates: BTreeSet<&str> = outside.map(|line| line.trim_end_matches(" (*)")).collect();
    assert!(crates.iter().any(|name| name.starts_with("rayon v")), "{crates:?}");
    assert!(crates.len() <= MOST, "{} crates: {crates:?}", crates.len());
}
