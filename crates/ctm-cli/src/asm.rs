//! `ctm asm`.

use crate::args::programs::AsmArgs;
use crate::console::{Console, Ending, Failure, STDIN, each_file, program_bytes};
use crate::pvs;
use crate::values::ProgramIsa;
use ctm::job::{Form, Isa, Loaded, read_file};
use ctm::r700::{self, is_r700};
use ctm_files::FileKind;
use ctm_image::{ByteOrder, Kind, ctm_elf, hex, identify};
use ctm_isa::r700::text::TextOptions;
use ctm_isa::x1k::Program;
use std::path::{Path, PathBuf};

pub(crate) fn run(console: &Console, args: &AsmArgs) -> Ending {
    if let (Some(output), true) = (&args.output, args.files.len() > 1) {
        if r700::ContainerKind::of(output) == Some(r700::ContainerKind::Gfd) {
            return several(console, args, output);
        }
        return Err(Failure::usage(
            "bad-flag",
            format!(
                "-o names one file and {} are to be assembled; leave it out, and each goes beside its text. A container (.gsh) takes several R700 programs",
                args.files.len()
            ),
        ));
    }
    each_file(console, &args.files, args.json, |file| one(console, args, file))
}

/// Several listings of the R700 as one container.
fn several(console: &Console, args: &AsmArgs, output: &Path) -> Ending {
    let mut programs = Vec::new();
    let ending = each_file(console, &args.files, args.json, |file| {
        let (bytes, file) = program_bytes(file)?;
        if !is_r700(&bytes, file, args.isa.and_then(ProgramIsa::launched)) {
            return Err(Failure::wrong("wrong-isa", format!("{} is no R700 program", file.display())));
        }
        programs.push((program_name(file), load_r700(console, args, &bytes, file, file)?));
        Ok(())
    })?;
    if programs.len() == args.files.len() {
        let programs: Vec<_> = programs.iter().map(|(name, loaded)| (name.as_str(), loaded)).collect();
        console.write(output, &r700::write_container(&programs, r700::ContainerKind::Gfd)?)?;
    }
    Ok(ending)
}

fn one(console: &Console, args: &AsmArgs, file: &Path) -> Result<(), Failure> {
    if pvs::is_wanted(args.isa, file) {
        return pvs::assemble(console, args, file);
    }
    let isa = args.isa.and_then(ProgramIsa::launched);
    let (bytes, path) = program_bytes(file)?;
    // Input of the assembler is text, however it begins.
    let path = match isa {
        _ if path != Path::new(STDIN) || identify(&bytes) != Kind::Unknown => path,
        Some(Isa::R700) => Path::new("stdin.r700"),
        _ => Path::new("stdin.x1k"),
    };
    if is_r700(&bytes, path, isa) {
        if isa == Some(Isa::X1k) {
            let message =
                format!("{} is a program for the R700, and --isa x1k asks for one for the X1K", file.display());
            return Err(Failure::wrong("wrong-isa", message));
        }
        return one_r700(console, args, &bytes, path, file);
    }
    let loaded = Loaded::choose(&bytes, path, isa, args.program.as_deref(), None)?;
    if loaded.form == Form::Ps3 {
        return Err(Failure::wrong(
            "wrong-file",
            format!("{} is a ps_3_0 shader; `ctm compile` compiles it", file.display()),
        ));
    }
    if !matches!(loaded.form, Form::Text | Form::Dump) {
        return Err(Failure::wrong(
            "wrong-file",
            format!(
                "{} is no text but {}; `ctm dis` prints it as text",
                file.display(),
                match loaded.form {
                    Form::CtmElf => "a CTM executable",
                    Form::Hex | Form::Binary | Form::Dump | Form::Text | Form::Ps3 => "words",
                }
            ),
        ));
    }
    for report in &loaded.reports {
        if args.json { console.json(report)? } else { console.report(report) }
    }
    if args.explain {
        explain(console, &loaded)?;
    }
    let output = match &args.output {
        Some(output) => output.clone(),
        // `--explain` alone writes no file.
        None if args.explain => return Ok(()),
        None if file == Path::new("-") => PathBuf::from("-"),
        None => file.with_extension("elf"),
    };
    console.write(&output, &encode(&loaded.program, &output)?)
}

/// A listing of the R700, or the text of a whole container.
fn one_r700(console: &Console, args: &AsmArgs, bytes: &[u8], path: &Path, file: &Path) -> Result<(), Failure> {
    let options = TextOptions { split_groups: args.split_groups, ..TextOptions::default() };
    if let Some(container) = &args.into {
        let loaded = load_r700(console, args, bytes, path, file)?;
        let old = read_file(container, FileKind::Program, None)?;
        let name = container.display().to_string();
        let (new, reports) = r700::replace_in_gfd(&old, &name, &loaded, args.program.as_deref())?;
        console.reports(&reports);
        return console.write(args.output.as_ref().unwrap_or(container), &new);
    }
    let to_gfd = args.output.as_ref().is_none_or(|o| r700::ContainerKind::of(o) == Some(r700::ContainerKind::Gfd));
    if let Ok(text) = std::str::from_utf8(bytes)
        && r700::is_container_text(text)
        && to_gfd
        && file != Path::new("-")
    {
        let (container, reports) = r700::assemble_gfd(text, file, &options)?;
        console.reports(&reports);
        let output = args.output.clone().unwrap_or_else(|| file.with_extension("gsh"));
        return console.write(&output, &container);
    }
    let loaded = load_r700(console, args, bytes, path, file)?;
    let output = match &args.output {
        Some(output) => output.clone(),
        None if file == Path::new("-") => PathBuf::from("-"),
        None => file.with_extension("hex"),
    };
    let words = &loaded.program.words;
    let is_gfd = r700::ContainerKind::of(&output) == Some(r700::ContainerKind::Gfd);
    for lost in r700::not_stored(&loaded, is_gfd) {
        if args.json { console.json(&lost)? } else { console.report(&lost) }
    }
    let bytes = match output.extension().and_then(|e| e.to_str()).unwrap_or("") {
        _ if output == Path::new("-") => hex::write_words(words, 2).into_bytes(),
        "hex" => hex::write_words(words, 2).into_bytes(),
        "bin" => hex::write_binary_words(words, ByteOrder::Little),
        _ if let Some(kind) = r700::ContainerKind::of(&output) => {
            r700::write_container(&[(program_name(file).as_str(), &loaded)], kind)?
        }
        other => {
            return Err(Failure::usage(
                "unknown-extension",
                format!(
                    "{}: `.{other}` names no form that R700 text can be written in; .hex, .bin, .gsh (GFD), .cal (CAL) and .o (LLVM's ELF) can",
                    output.display()
                ),
            ));
        }
    };
    console.write(&output, &bytes)
}

/// The program of a listing, with its warnings printed.
fn load_r700(
    console: &Console,
    args: &AsmArgs,
    bytes: &[u8],
    path: &Path,
    file: &Path,
) -> Result<r700::Loaded, Failure> {
    let options = TextOptions { split_groups: args.split_groups, ..TextOptions::default() };
    let which = args.program.as_deref().filter(|_| args.into.is_none());
    let loaded = r700::Loaded::from_bytes(bytes, path, args.isa.and_then(ProgramIsa::launched), which, &options)?;
    if !loaded.is_text && identify(bytes) != Kind::R700Dump {
        return Err(Failure::wrong(
            "wrong-file",
            format!("{} is no text; `ctm dis` prints it as text", file.display()),
        ));
    }
    for report in &loaded.reports {
        if args.json { console.json(report)? } else { console.report(report) }
    }
    Ok(loaded)
}

/// The name that a program has in containers with names.
fn program_name(file: &Path) -> String {
    file.file_stem().and_then(|n| n.to_str()).unwrap_or("main").to_owned()
}

/// Each line that says less than its words, and the bits derived for it.
fn explain(console: &Console, loaded: &Loaded) -> Result<(), Failure> {
    let mut out = String::new();
    let mut last = None;
    for e in &loaded.explanations {
        let place = loaded.source.as_ref().filter(|_| e.span.end > e.span.start).map(|source| {
            let line = source.line_column(e.span.start).0;
            (line, source.line(line).trim().to_owned())
        });
        if place != last || place.is_none() {
            let pc = e.pc.map(|pc| format!(" (instruction {pc})")).unwrap_or_default();
            match &place {
                Some((line, text)) => out.push_str(&format!("{line}: {text}{pc}\n")),
                None => out.push_str(&format!("added{pc}\n")),
            }
            last = place;
        }
        out.push_str(&format!("    {}\n", e.text));
    }
    console.print(&out)
}

/// The program in the format of the extension.
pub(crate) fn encode(program: &Program, output: &Path) -> Result<Vec<u8>, Failure> {
    if output == Path::new("-") {
        return Ok(hex::write(program).into_bytes());
    }
    match output.extension().and_then(|e| e.to_str()).unwrap_or("") {
        "hex" => Ok(hex::write(program).into_bytes()),
        "bin" => Ok(hex::write_binary(program)),
        "elf" => ctm_elf::write(program).map_err(|e| Failure::wrong(e.name(), format!("{}: {e}", output.display()))),
        other => Err(Failure::usage(
            "unknown-extension",
            format!("{}: `.{other}` names no form of program; .elf, .hex and .bin can be written", output.display()),
        )),
    }
}
