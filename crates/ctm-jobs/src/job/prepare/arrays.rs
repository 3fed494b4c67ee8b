//! The arrays of a job: each file is read once, and only its needed part before a launch.

use crate::job::checker::Checker;
use crate::job::load::read_file;
use crate::job::located::{Data, Located};
use crate::job::surface::Elements;
use ctm_device::mc::Format;
use ctm_files::array::{Array, ArrayError, ArrayFileKind, Layout, RawFormat, RawShape};
use ctm_files::render::Report;
use std::path::Path;
use std::sync::Arc;

impl Checker {
    /// Initial contents of an input or the conditional buffer.
    pub(super) fn array(
        &mut self,
        data: &Located<Data>,
        size: Option<[u32; 2]>,
        format: Option<&Located<Format>>,
    ) -> Option<Arc<Elements>> {
        let path = match &data.value {
            Data::Array(array) => return Some(Arc::new(Elements::Array(Arc::clone(array)))),
            Data::File(path) => path,
        };
        if let Some(elements) = self.arrays.get(path) {
            return Some(Arc::clone(elements));
        }
        let elements = Arc::new(self.keep(read_elements(path, size, format.map(|f| f.value), data))?);
        self.arrays.insert(path.clone(), Arc::clone(&elements));
        Some(elements)
    }
}

fn read_elements(
    path: &Path,
    size: Option<[u32; 2]>,
    format: Option<Format>,
    at: &Located<Data>,
) -> Result<Elements, Box<Report>> {
    let error = |rule, message: String| Box::new(at.error(rule, message));
    let bad = |e: ArrayError| error("bad-array", format!("{}: {e}", path.display()));
    let Some(kind) = ArrayFileKind::of(path) else {
        let message = format!("{} names no kind of array; known are {}", path.display(), ArrayFileKind::EXTENSIONS);
        return Err(error("unknown-extension", message));
    };
    let shape = match (size, format) {
        (Some([width, height]), Some(format)) => {
            let format = match format {
                Format::Uint16x1 => RawFormat::Uint16x1,
                Format::Uint8x4 => RawFormat::Uint8x4,
                Format::Float32x1 | Format::Float32x2 | Format::Float32x4 => RawFormat::Float32(format.info().channels),
            };
            Some(RawShape { width: width as usize, height: height as usize, format })
        }
        _ => None,
    };
    let file_kind = ArrayFileKind::file_kind(path);
    if let Ok(mut file) = ctm_files::open(path, file_kind)
        && let Some(layout) = Layout::of(kind, &mut file, shape).map_err(bad)?
    {
        return Ok(Elements::Rows(path.to_owned(), layout));
    }
    let bytes = read_file(path, file_kind, at.place.as_ref()).map_err(|e| Box::new(e.reports()[0].clone()))?;
    Ok(Elements::Array(Arc::new(Array::from_bytes(kind, &bytes, shape).map_err(bad)?)))
}
