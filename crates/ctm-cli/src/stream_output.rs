//! Output of command streams: findings as reports, and bound targets as files.

use crate::console::{Console, Failure};
use ctm::array::{Array, ArrayFileKind, ItemType, Values, npy_bytes};
use ctm::render::Report;
use ctm_isa::diag::Diagnostic;
use ctm_radeon::check;
use ctm_radeon::execute::TargetPicture;
use std::path::{Path, PathBuf};

/// A finding of a file's stream.
pub(crate) fn finding_report(file: &Path, submission: Option<u64>, finding: &check::Finding) -> Report {
    let of = submission.map_or_else(String::new, |number| format!("submission {number}, "));
    let message = format!("{}: {of}{finding}", file.display());
    Report::bare(Diagnostic::new(finding.severity, finding.rule, message))
}

/// Writes a target as an array, and as a picture if it has four channels of numbers; the files.
pub(crate) fn save(console: &Console, directory: &Path, picture: &TargetPicture) -> Result<Vec<PathBuf>, Failure> {
    let [width, height] = picture.size.map(|side| side as usize);
    let channels = if picture.name.starts_with("colour") { 4 } else { 1 };
    let dwords: Vec<u32> = picture.pixels.iter().flat_map(|pixel| pixel.iter().take(channels).copied()).collect();
    let kind = if picture.integers { ItemType::Uint32 } else { ItemType::Float32 };
    let wrong = |error: ctm::array::ArrayError| Failure::wrong("cannot-save", error.to_string());
    let path = directory.join(format!("{}.npy", picture.name));
    console.write(&path, &npy_bytes(kind, &[height, width, channels], &dwords).map_err(wrong)?)?;
    let mut paths = vec![path];
    if channels == 4 && !picture.integers {
        let values = Values::F32(dwords.iter().map(|&bits| f32::from_bits(bits)).collect());
        let path = directory.join(format!("{}.png", picture.name));
        console
            .write(&path, &Array { height, width, channels, values }.to_bytes(ArrayFileKind::Png).map_err(wrong)?)?;
        paths.push(path);
    }
    Ok(paths)
}
