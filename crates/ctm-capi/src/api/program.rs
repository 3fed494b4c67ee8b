//! Programs: assemble, read, write, print, check.

use super::findings::{Findings, tell};
use super::object::{Bytes, borrow, clear, free, give};
use super::{Failure, Status, call, numbers};
use crate::boundary::{elements, guard, store, string};
use ctm::render::Report;
use ctm::{Isa, JobError};
use ctm_isa::x1k::program::SymbolKind;
use std::ffi::{c_char, c_int, c_void};

/// `ctm_program`.
#[derive(Debug)]
pub struct ProgramHandle(pub(crate) ctm::Program);

/// Reads the bytes of a program, and returns it with its findings to C.
///
/// # Safety
/// `program` and `findings` are null or may be written.
unsafe fn load(
    bytes: Option<&[u8]>,
    name: &str,
    isa: Option<Isa>,
    program: *mut *mut ProgramHandle,
    findings: *mut *mut Findings,
) -> Result<(), Failure> {
    // SAFETY: as the caller promises.
    unsafe {
        store(findings, std::ptr::null_mut());
        clear(program)?;
    }
    let bytes = bytes.ok_or_else(|| Failure::argument("the data is NULL"))?;
    let loaded = ctm::Program::load(bytes, name, isa, None);
    // SAFETY: as the caller promises.
    unsafe {
        match loaded {
            Ok(loaded) => {
                tell(findings, loaded.warnings().to_vec());
                give(program, ProgramHandle(loaded));
                Ok(())
            }
            Err(error) => {
                tell(findings, error.findings().to_vec());
                Err(Failure::of_job(&error))
            }
        }
    }
}

/// Assembles X1K text.
///
/// # Safety
/// `text` points to `size` bytes; `name` is null or a C string; `program` and `findings` are null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_assemble(
    text: *const c_char,
    size: usize,
    name: *const c_char,
    program: *mut *mut ProgramHandle,
    findings: *mut *mut Findings,
) -> Status {
    call("ctm_assemble", || {
        // SAFETY: as the caller promises.
        unsafe {
            let name = string(name).unwrap_or_else(|| "text".to_owned());
            // The loader goes by the extension; the text is assembly under any name.
            let path = if name.ends_with(".x1k") { name } else { format!("{name}.x1k") };
            // An empty file is a mistake; an empty text is a text without a program, which the assembler reports.
            let bytes = elements(text.cast::<u8>(), size).map(|b| if b.is_empty() { &b"\n"[..] } else { b });
            load(bytes, &path, Some(Isa::X1k), program, findings)
        }
    })
}

/// Reads a program of any kind.
///
/// # Safety
/// `data` points to `size` bytes; `name` is null or a C string; `program` and `findings` are null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_program_read(
    data: *const c_void,
    size: usize,
    name: *const c_char,
    program: *mut *mut ProgramHandle,
    findings: *mut *mut Findings,
) -> Status {
    call("ctm_program_read", || {
        // SAFETY: as the caller promises.
        unsafe {
            let name = string(name).unwrap_or_else(|| "program".to_owned());
            load(elements(data.cast::<u8>(), size), &name, None, program, findings)
        }
    })
}

/// Writes a program: 0 ELF, 1 hexadecimal words, 2 words.
///
/// # Safety
/// `program` is null, or was given by this library and is not freed; `image` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_program_write(
    program: *const ProgramHandle,
    form: c_int,
    image: *mut *mut Bytes,
) -> Status {
    call("ctm_program_write", || {
        // SAFETY: as the caller promises.
        let program = unsafe {
            clear(image)?;
            &borrow(program, "program")?.0
        };
        let bytes = match form {
            numbers::FORM_ELF => program.to_elf().map_err(|e| Failure::of_job(&e))?,
            numbers::FORM_HEX => program.to_hex().into_bytes(),
            numbers::FORM_BIN => program.to_bytes(),
            _ => return Err(Failure::argument(format!("the form is {form}; it is 0 (ELF), 1 (hex) or 2 (words)"))),
        };
        // SAFETY: `clear` saw that it may be written.
        unsafe { give(image, Bytes::new(bytes)) };
        Ok(())
    })
}

/// Prints a program.
///
/// # Safety
/// As for [`ctm_program_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_disassemble(program: *const ProgramHandle, listing: *mut *mut Bytes) -> Status {
    call("ctm_disassemble", || {
        // SAFETY: as the caller promises.
        unsafe {
            clear(listing)?;
            let text = borrow(program, "program")?.0.listing();
            give(listing, Bytes::new(text.into_bytes()));
        }
        Ok(())
    })
}

/// Findings of the rules on programs.
///
/// # Safety
/// `program` is null, or was given by this library and is not freed; `findings` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_program_check(program: *const ProgramHandle, findings: *mut *mut Findings) -> Status {
    call("ctm_program_check", || {
        // SAFETY: as the caller promises.
        let loaded = unsafe {
            store(findings, std::ptr::null_mut());
            &borrow(program, "program")?.0
        };
        let reports = loaded.check();
        let wrong = reports.iter().any(Report::is_error).then(|| JobError::Wrong(reports.clone()));
        // SAFETY: as the caller promises.
        unsafe { tell(findings, reports) };
        wrong.map_or(Ok(()), |error| Err(Failure::of_job(&error)))
    })
}

/// The number of the register of a name of an R700 program.
fn r700_symbol(program: &ctm::Program, kind: SymbolKind, name: &str) -> Option<i32> {
    let (names, prefixes): (_, &[_]) = match kind {
        SymbolKind::Input => (program.inputs(), &[("t", 0), ("b", 256)]),
        SymbolKind::Output => (program.outputs(), &[("pix", 0)]),
        SymbolKind::Float => (program.constants(), &[("C", 0)]),
        SymbolKind::Int | SymbolKind::Bool => return None,
    };
    let (_, register) = names.into_iter().find(|(known, _)| known == name)?;
    let number = |&(prefix, first): &(&str, i32)| Some(first + register.strip_prefix(prefix)?.parse::<i32>().ok()?);
    prefixes.iter().find_map(number)
}

/// The index of a name, or -1.
///
/// # Safety
/// `program` is null, or was given by this library and is not freed; `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_program_symbol(program: *const ProgramHandle, kind: c_int, name: *const c_char) -> i32 {
    guard(-1, || {
        // SAFETY: as the caller promises.
        let (Some(program), Some(name)) = (unsafe { (program.as_ref(), string(name)) }) else { return -1 };
        let kind = match kind {
            numbers::INPUT => SymbolKind::Input,
            numbers::OUTPUT => SymbolKind::Output,
            numbers::FLOAT_CONSTANT => SymbolKind::Float,
            numbers::INT_CONSTANT => SymbolKind::Int,
            numbers::BOOL_CONSTANT => SymbolKind::Bool,
            _ => return -1,
        };
        match program.0.as_x1k() {
            Some(program) => program.symbol(kind, &name).map_or(-1, i32::from),
            None => r700_symbol(&program.0, kind, &name).unwrap_or(-1),
        }
    })
}

/// How many instructions a program has; 0 for null.
///
/// # Safety
/// `program` is null, or was given by this library and is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_program_instructions(program: *const ProgramHandle) -> u32 {
    // SAFETY: as the caller promises.
    let program = unsafe { program.as_ref() };
    program.map_or(0, |p| u32::try_from(p.0.instructions()).unwrap_or(u32::MAX))
}

/// Which instruction set a program is of: `ctm_isa`; -1 for null.
///
/// # Safety
/// `program` is null, or was given by this library and is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_program_isa(program: *const ProgramHandle) -> i32 {
    // SAFETY: as the caller promises.
    match unsafe { program.as_ref() }.map(|program| program.0.isa()) {
        None => -1,
        Some(Isa::X1k) => numbers::ISA_X1K,
        Some(Isa::R700) => numbers::ISA_R700,
    }
}

/// Frees a program.
///
/// # Safety
/// `program` is null, or was given by this library and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_program_free(program: *mut ProgramHandle) {
    // SAFETY: as the caller promises.
    unsafe { free(program) }
}
