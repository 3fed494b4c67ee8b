//! Vertex programs (PVS) in `ctm asm`, `ctm dis` and `ctm check`.

use crate::args::programs::{AsmArgs, DisArgs};
use crate::console::{Console, Failure, program_bytes};
use crate::values::ProgramIsa;
use ctm::job::JobError;
use ctm::render::Report;
use ctm_files::pvs::{Loaded, is_pvs, not_stored, to_bytes, to_hex};
use ctm_isa::pvs::check::check_allowing;
use ctm_isa::pvs::text;
use std::path::{Path, PathBuf};

/// Whether a file is a vertex program: by the choice of the caller, or by its name.
pub(crate) fn is_wanted(isa: Option<ProgramIsa>, file: &Path) -> bool {
    isa.map_or_else(|| is_pvs(file), |isa| isa == ProgramIsa::Pvs)
}

pub(crate) fn assemble(console: &Console, args: &AsmArgs, file: &Path) -> Result<(), Failure> {
    let (bytes, path) = program_bytes(file)?;
    let loaded = Loaded::from_bytes(&bytes, path)?;
    if loaded.source.is_none() {
        let message = format!("{} is no text but words; `ctm dis --isa pvs` prints it as text", file.display());
        return Err(Failure::wrong("wrong-file", message));
    }
    for report in loaded.reports.iter().chain(&not_stored(&loaded.program)) {
        if args.json { console.json(report)? } else { console.report(report) }
    }
    let output = match &args.output {
        Some(output) => output.clone(),
        None if file == Path::new("-") => PathBuf::from("-"),
        None => file.with_extension("hex"),
    };
    let bytes = match output.extension().and_then(|e| e.to_str()).unwrap_or("") {
        _ if output == Path::new("-") => to_hex(&loaded.program).into_bytes(),
        "hex" => to_hex(&loaded.program).into_bytes(),
        "bin" => to_bytes(&loaded.program),
        other => {
            let message = format!(
                "{}: `.{other}` names no form of vertex program; .hex and .bin can be written",
                output.display()
            );
            return Err(Failure::usage("unknown-extension", message));
        }
    };
    console.write(&output, &bytes)
}

pub(crate) fn disassemble(console: &Console, args: &DisArgs, bytes: &[u8], file: &Path) -> Result<String, Failure> {
    let loaded = Loaded::from_bytes(bytes, file)?;
    console.reports(&loaded.reports);
    Ok(text::disassemble(&loaded.program, &text::ListingOptions { addresses: true, words: args.words }))
}

/// The reports of reading a program, and its findings.
pub(crate) fn findings(bytes: &[u8], file: &Path, allowed: &[&str]) -> Result<Vec<Report>, JobError> {
    let loaded = Loaded::from_bytes(bytes, file)?;
    let found = check_allowing(&loaded.program, allowed).into_iter();
    let mut reports = loaded.reports;
    reports.extend(found.map(|diagnostic| Report { diagnostic, source: loaded.source.clone() }));
    Ok(reports)
}
