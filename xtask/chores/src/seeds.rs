//! The seeds of the fuzz targets: every target has some, they are small, and each is valid input of its target.

use ctm::ctm_image::r700::{cal, gfd, llvm_elf};
use ctm::ctm_image::{self, ByteOrder, ctm_elf};
use std::collections::BTreeSet;
use std::path::Path;
use xtask::root;

/// Most bytes of all seeds: they lie in the repository.
const MOST_BYTES: u64 = 2 << 20;

/// A target, and whether bytes reach its subject.
struct Target {
    name: &'static str,
    reads: fn(&[u8]) -> bool,
}

const fn target(name: &'static str, reads: fn(&[u8]) -> bool) -> Target {
    Target { name, reads }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or("")
}

fn words(bytes: &[u8]) -> Vec<u32> {
    ByteOrder::Little.words(bytes)
}

/// Every target of `fuzz/Cargo.toml`.
#[rustfmt::skip]
const TARGETS: [Target; 18] = [
    target("ctm_elf", |bytes| ctm_elf::read(bytes).is_ok()),
    target("hex", |bytes| matches!(ctm_image::identify(bytes), ctm_image::Kind::X1kHex | ctm_image::Kind::R700Hex)),
    target("gfd", |bytes| gfd::Gfd::read(bytes).is_ok_and(|file| file.shaders().is_ok_and(|all| !all.is_empty()))),
    target("cal", |bytes| cal::Image::read(bytes).is_ok()),
    target("llvm_elf", |bytes| llvm_elf::Object::read(bytes).is_ok()),
    target("info", |bytes| ctm_image::info::describe(bytes).is_ok()),
    target("x1k_words", |bytes| bytes.len() >= 24),
    target("r700_words", |bytes| bytes.len() >= 8),
    target("x1k_text", |bytes| ctm::ctm_isa::x1k::text::assemble(text(bytes)).program.is_some()),
    target("r700_text", |bytes| ctm::ctm_isa::r700::text::assemble(text(bytes), &Default::default()).program.is_some()),
    target("ps3_text", |bytes| text(bytes).contains("ps_3_0")),
    target("job", |bytes| ctm::job::Job::is_one(text(bytes))),
    target("command_buffer", |bytes| ctm::commands::Command::decode(&words(bytes)).is_ok()),
    target("device", |bytes| ctm::commands::Command::decode(&words(bytes)).is_ok()),
    target("engines", |bytes| bytes.len() >= 3),
    target("draw", |bytes| bytes.len() >= 100),
    target("draw_states", |bytes| !bytes.is_empty()),
    target("streams", |bytes| words(bytes).first().is_some_and(|&count| count > 0 && 4 * (count as usize + 1) <= bytes.len())),
];

/// Looks at every seed.
pub(crate) fn check() -> Result<(), String> {
    let folder = root().join("fuzz/seeds");
    let manifest = read(&root().join("fuzz/Cargo.toml"))?;
    let built: BTreeSet<&str> = text(&manifest)
        .lines()
        .filter_map(|line| line.strip_prefix("path = \"fuzz_targets/")?.strip_suffix(".rs\""))
        .collect();
    let known: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
    if built != known {
        return Err(format!("fuzz/Cargo.toml has the targets {built:?}, xtask/src/seeds.rs knows {known:?}"));
    }
    let nightly = read(&root().join(".github/workflows/fuzz.yml"))?;
    let runs = |name: &str| text(&nightly).lines().any(|line| line.trim() == format!("- {name}"));
    if let Some(target) = TARGETS.iter().find(|target| !runs(target.name)) {
        return Err(format!(".github/workflows/fuzz.yml does not run the target {}", target.name));
    }
    let mut total = 0;
    for target in &TARGETS {
        let place = folder.join(target.name);
        let entries = std::fs::read_dir(&place).map_err(|e| format!("{}: {e}", place.display()))?;
        let mut count = 0;
        for path in entries.flatten().map(|entry| entry.path()) {
            let bytes = read(&path)?;
            (total, count) = (total + bytes.len() as u64, count + 1);
            if !(target.reads)(&bytes) {
                return Err(format!("{} is nothing that the target {} reads", path.display(), target.name));
            }
        }
        if count == 0 {
            return Err(format!("{} has no seeds", place.display()));
        }
    }
    if total > MOST_BYTES { Err(format!("the seeds have {total} bytes, {MOST_BYTES} are allowed")) } else { Ok(()) }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))
}
