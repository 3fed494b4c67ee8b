//! Files that are put on the page: which of them are entries, and a job for programs that come without one.

use super::entries;
use ctm::ctm_image::{Kind, identify};
use std::fmt::Write;
use std::path::Path;

/// The side of the domain of a program that comes without a job.
const SIDE: u32 = 256;

/// Whether a file can be opened: a job or draw job, a capture, a recording.
pub(super) fn is_entry(path: &Path) -> bool {
    entries::is_read_only(path) || has_extension(path, &["toml"])
}

fn has_extension(path: &Path, names: &[&str]) -> bool {
    path.extension().is_some_and(|extension| names.iter().any(|name| extension.eq_ignore_ascii_case(name)))
}

/// Programs that come without a job, by their use.
#[derive(Default)]
struct DroppedPrograms<'f> {
    /// A container with a vertex and a pixel program.
    container: Option<&'f str>,
    vertex: Option<&'f str>,
    pixel: Option<&'f str>,
    /// A program that runs over a domain.
    other: Option<&'f str>,
}

/// The name and the text of a job for the programs among files; `None` where there are no programs.
///
/// # Errors
/// In words: a vertex program comes without a pixel program.
pub(super) fn job(files: &[(String, Vec<u8>)]) -> Result<Option<(String, String)>, String> {
    let mut programs = DroppedPrograms::default();
    for (name, bytes) in files {
        let path = Path::new(name);
        let place = match identify(bytes) {
            Kind::Gfd => &mut programs.container,
            _ if has_extension(path, &["vsh", "pvs"]) => &mut programs.vertex,
            _ if has_extension(path, &["psh"]) => &mut programs.pixel,
            _ if has_extension(path, &["x1k", "csh", "r700", "elf", "hex"]) => &mut programs.other,
            _ => continue,
        };
        place.get_or_insert(name);
    }
    let quoted = |name: &str| toml_string(Path::new(name).file_name().unwrap_or_default().to_string_lossy().as_ref());
    let (program, text) = match programs {
        DroppedPrograms { container: Some(container), .. } => {
            (container, format!("programs = [{}]\nmesh = \"quad\"\nsize = [{SIDE}, {SIDE}]\n", quoted(container)))
        }
        // Vertex programs of the R5xx come with a pixel program of X1K.
        DroppedPrograms { vertex: Some(vertex), other: Some(pixel), .. }
        | DroppedPrograms { vertex: Some(vertex), pixel: Some(pixel), .. }
            if has_extension(Path::new(vertex), &["pvs"]) != has_extension(Path::new(pixel), &["psh"]) =>
        {
            let both = [vertex, pixel].map(quoted).join(", ");
            (vertex, format!("programs = [{both}]\nmesh = \"quad\"\nsize = [{SIDE}, {SIDE}]\n"))
        }
        DroppedPrograms { vertex: Some(vertex), .. } => {
            return Err(format!(
                "{vertex} is a vertex program, which needs a pixel program (.psh, or .x1k for a .pvs): drop both"
            ));
        }
        DroppedPrograms { pixel: Some(program), .. } | DroppedPrograms { other: Some(program), .. } => {
            let last = SIDE - 1;
            (
                program,
                format!("program = {}\ndomain = [0, 0, {last}, {last}]\n\n[[output]]\nslot = 0\n", quoted(program)),
            )
        }
        _ => return Ok(None),
    };
    Ok(Some((Path::new(program).with_extension("toml").display().to_string(), text)))
}

/// A text as a basic string of TOML.
fn toml_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => _ = write!(out, "\\u{:04X}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
