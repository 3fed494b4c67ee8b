//! Opening a file that another file names: it comes with its owner, perhaps from a stranger, so it may name its neighbours only.

use crate::kinds::FileKind;
use crate::memory::real_path;
use crate::open::{OpenError, Problem, open};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Reads the file that `owner` names by a relative URI reference (RFC 3986): a regular file in the owner's folder or below it, after all
/// links are followed, of exactly `bytes` bytes.
///
/// Percent-encoded characters are decoded. `data:` URIs are the caller's.
///
/// # Errors
/// The reference is no relative path or leads out of the folder, or the file is not as above.
pub fn read_beside(owner: &Path, uri: &str, bytes: u64, kind: FileKind) -> Result<Vec<u8>, OpenError> {
    let wrong = |problem| OpenError::new(Path::new(uri), kind, problem);
    let path = place(owner, uri).map_err(wrong)?;
    let input = open(&path, kind)?;
    if input.size() != bytes {
        return Err(wrong(Problem::WrongSize { stated: bytes, bytes: input.size() }));
    }
    input.whole().map_err(wrong)
}

const LEAVES: Problem = Problem::Outside("it leads out of the folder of the file that names it");

/// The path of a file named by another one, without links.
fn place(owner: &Path, uri: &str) -> Result<PathBuf, Problem> {
    let decoded = decoded(uri).ok_or(Problem::Outside("its percent-encoding is wrong"))?;
    let has_scheme = uri.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    if has_scheme {
        return Err(Problem::Outside("it has a scheme, and relative paths and `data:` can be read"));
    }
    if decoded.is_empty() || decoded.contains('\0') {
        return Err(Problem::Outside("it names no file"));
    }
    let relative = Path::new(&decoded);
    let steps = |component| match component {
        Component::Normal(_) => Some(1),
        Component::CurDir => Some(0),
        Component::ParentDir => Some(-1),
        Component::RootDir | Component::Prefix(_) => None,
    };
    // Backslashes are separators for some systems, and never in a URI.
    let Some(steps) =
        relative.components().map(steps).collect::<Option<Vec<i64>>>().filter(|_| !decoded.contains('\\'))
    else {
        return Err(Problem::Outside("it is no relative path"));
    };
    let mut depth = 0;
    let leaves = steps.iter().any(|step| {
        depth += step;
        depth < 0
    });
    let folder = owner.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = real_path(folder).map_err(Problem::Io)?;
    // Outside of the folder it is not said which files there are.
    let path = match real_path(&folder.join(relative)) {
        Err(_) if leaves => return Err(LEAVES),
        found => found.map_err(Problem::Io)?,
    };
    if path.starts_with(&folder) { Ok(path) } else { Err(LEAVES) }
}

/// A URI's text with `%XX` as the bytes that they mean, if that is UTF-8.
pub(crate) fn decoded(uri: &str) -> Option<String> {
    let mut out = Vec::with_capacity(uri.len());
    let mut bytes = uri.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
            out.push((high << 4 | low) as u8);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

impl From<io::Error> for Problem {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encoding_is_decoded() {
        assert_eq!(decoded("a%20b%C3%a9.bin").as_deref(), Some("a b\u{e9}.bin"));
        for wrong in ["%", "%2", "%zz", "%ff", "%+1"] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
    }
}
