//! `ctm info`.

use crate::args::programs::InfoArgs;
use crate::console::{Console, Ending, Exit, Failure, input_called};
use ctm_files::FileKind;
use ctm_image::info::{self, InfoValue};
use ctm_image::swap_words;
use std::path::Path;

pub(crate) fn run(console: &Console, args: &InfoArgs) -> Ending {
    let mut exit = Exit::Done;
    for file in &args.files {
        match one(args, file) {
            Ok(text) => console.print(&text)?,
            Err(failure) => exit = failure.report(console),
        }
    }
    Ok(exit)
}

fn one(args: &InfoArgs, file: &Path) -> Result<String, Failure> {
    let (bytes, file) = input_called(file, FileKind::Program, "the file")?;
    let bytes = if args.big_endian { swap_words(&bytes) } else { bytes };
    let described = info::describe(&bytes).map_err(|e| Failure::wrong(e.name(), format!("{}: {e}", file.display())))?;
    let value = match described.to_value() {
        InfoValue::Record(fields) => {
            let name = ("file".to_owned(), InfoValue::from(file.display().to_string()));
            InfoValue::Record(std::iter::once(name).chain(fields).collect())
        }
        other => other,
    };
    Ok(if args.json { format!("{}\n", value.to_json()) } else { value.to_text() })
}
