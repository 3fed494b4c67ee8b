//! Names the shared library for the dynamic linker where `CTM_SONAME` asks for it, as `cargo xtask install` does.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CTM_SONAME");
    let linux = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux");
    if let (true, Ok(name)) = (linux, std::env::var("CTM_SONAME")) {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{name}");
    }
}
