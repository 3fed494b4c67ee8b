//! `ctm compile`.

use crate::args::programs::CompileArgs;
use crate::asm::encode;
use crate::console::{Console, Ending, Failure, each_file, program_bytes};
use ctm::job::Loaded;
use std::path::{Path, PathBuf};

pub(crate) fn run(console: &Console, args: &CompileArgs) -> Ending {
    if args.files.len() > 1 && args.output.is_some() {
        return Err(Failure::usage(
            "bad-flag",
            format!(
                "-o names one file and {} are to be compiled; leave it out, and each goes beside its shader",
                args.files.len()
            ),
        ));
    }
    each_file(console, &args.files, args.json, |file| one(console, args, file))
}

fn one(console: &Console, args: &CompileArgs, file: &Path) -> Result<(), Failure> {
    let stdin = file == Path::new("-");
    let (bytes, named) = program_bytes(file)?;
    let name = named.display().to_string();
    let options = ctm_ps3::Options { normalized_coordinates: args.normalized, ieee_products: args.ieee };
    let loaded = Loaded::compile(&bytes, &name, &options)?;
    for report in &loaded.reports {
        if args.json { console.json(report)? } else { console.report(report) }
    }
    let output = match &args.output {
        Some(output) => output.clone(),
        None if stdin => PathBuf::from("-"),
        None => file.with_extension("elf"),
    };
    let listing = loaded.listing.unwrap_or_default();
    let is_text = output == Path::new("-") || output.extension().is_some_and(|e| e == "x1k");
    let bytes = if is_text { listing.into_bytes() } else { encode(&loaded.program, &output)? };
    console.write(&output, &bytes)
}
