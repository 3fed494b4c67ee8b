//! `ctm dis`.

use crate::args::programs::DisArgs;
use crate::console::{Console, Ending, Exit, Failure, input_called};
use crate::pvs;
use crate::values::ProgramIsa;
use ctm::commands::{self, Command};
use ctm::job::{Loaded, byte_code_text};
use ctm::r700::is_r700;
use ctm_files::FileKind;
use ctm_image::{ByteOrder, swap_words};
use ctm_isa::r700::text as r700;
use ctm_isa::x1k::text::{ListingOptions, disassemble};
use std::path::Path;

pub(crate) fn run(console: &Console, args: &DisArgs) -> Ending {
    let (bytes, file) = input_called(&args.file, FileKind::Program, "the file")?;
    let bytes = if args.big_endian { swap_words(&bytes) } else { bytes };
    let isa = args.isa.and_then(ProgramIsa::launched);
    let text = if pvs::is_wanted(args.isa, file) {
        pvs::disassemble(console, args, &bytes, file)?
    } else if is_command_buffer(file, &bytes) {
        if !bytes.len().is_multiple_of(4) {
            return Err(Failure::wrong(
                "wrong-file",
                format!("{} has {} bytes, a command buffer is made of dwords of 4", file.display(), bytes.len()),
            ));
        }
        commands::print(&ByteOrder::Little.words(&bytes))
    } else if let Some(text) = byte_code_text(&bytes, &file.display().to_string())? {
        text
    } else if args.program.is_none()
        && let Some(text) = ctm::r700::gfd_text(&bytes)
    {
        text
    } else if is_r700(&bytes, file, isa) {
        let options = r700::TextOptions::default();
        let loaded = ctm::r700::Loaded::from_bytes(&bytes, file, isa, args.program.as_deref(), &options)?;
        console.reports(&loaded.reports);
        r700::disassemble(&loaded.program, &options)
    } else {
        let loaded = Loaded::choose(&bytes, file, isa, args.program.as_deref(), None)?;
        console.reports(&loaded.reports);
        disassemble(&loaded.program, &ListingOptions { addresses: true, explain: args.explain, words: args.words })
    };
    match &args.output {
        Some(output) => console.write(output, text.as_bytes())?,
        None => console.print(&text)?,
    }
    Ok(Exit::Done)
}

/// By its extension, or because a binary file begins with a command: an instruction's first word never looks like one.
fn is_command_buffer(path: &Path, bytes: &[u8]) -> bool {
    match path.extension().and_then(|e| e.to_str()) {
        Some("cmd") => true,
        Some("bin") => {
            let words = ByteOrder::Little.words(bytes.get(..64.min(bytes.len() / 4 * 4)).unwrap_or_default());
            Command::decode(&words).is_ok()
        }
        _ => false,
    }
}
