//! On macOS the interpreter's symbols are found when Python loads the library, which the linker has to be told.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "macos") {
        for argument in ["-undefined", "dynamic_lookup"] {
            println!("cargo::rustc-link-arg-cdylib={argument}");
        }
    }
}
