//! `amuABI.h`, `amuAsm.h`, `amuComp.h`: the SDK's companion libraries.
//!
//! *Of these headers only what one client used is known.* Names, arguments and layouts of constant memory are those that the client needs; everything
//! else is ours.

#![allow(non_snake_case, reason = "the names are the SDK's")]

use crate::boundary::{elements, guard, malloc_copy, store, string};
use crate::log;
use crate::managed::AMuint32;
use crate::mapped::readable_bytes;
use ctm::render::{self, Report, Source};
use ctm_image::{ImageError, Kind, ctm_elf, identify};
use ctm_isa::diag::{Diagnostic, Severity};
use ctm_isa::x1k::program::{Literal, SymbolKind};
use ctm_isa::x1k::{Program, text};
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::sync::Arc;

/// A C function that receives text.
pub type LogFunction = Option<unsafe extern "C" fn(*const c_char)>;

/// `AMUabiDataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum AMUabiDataType {
    /// Nothing.
    Undef = 0,
    /// A boolean constant.
    Bool32 = 1,
    /// An integer constant.
    Int32 = 2,
    /// A floating-point constant.
    Float32 = 3,
    /// An input.
    Sampler = 4,
    /// Keeps the enum as wide as C's.
    MaxTypes = 255,
}

/// The most constants an image names.
pub const MAX_CONSTS: usize = 320;
/// Bytes of a name with its final 0.
pub const MAX_STRING: usize = 256;

/// The value of a literal.
#[derive(Clone, Copy)]
#[repr(C)]
pub union AMUabiLiteralValue {
    /// Floating point: r, g, b, a.
    pub float32: [f32; 4],
    /// Integer: count, initial aL, step, unused.
    pub int32: [AMuint32; 4],
    /// Boolean.
    pub bool32: [u32; 1],
}

/// A constant with its value in the program.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct AMUabiLiteralConst {
    /// Which constant of its type.
    pub addr: AMuint32,
    /// Its type: a number of [`AMUabiDataType`]; C may pass any other.
    pub r#type: c_uint,
    /// Its value.
    pub value: AMUabiLiteralValue,
}

/// A name.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct AMUabiString {
    /// Ends with 0.
    pub str: [c_char; MAX_STRING],
}

/// A constant that the program names.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct AMUabiUserConst {
    /// Which constant of its type.
    pub addr: AMuint32,
    /// Its type: a number of [`AMUabiDataType`]; C may pass any other.
    pub r#type: c_uint,
    /// Its name.
    pub name: AMUabiString,
}

/// An image's description of its constants.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct AMUabiConstsInfo {
    /// How many literals there are.
    pub litConstsCount: AMuint32,
    /// How many named constants there are.
    pub userConstsCount: AMuint32,
    /// The literals.
    pub litConsts: [AMUabiLiteralConst; MAX_CONSTS],
    /// The named constants.
    pub userConsts: [AMUabiUserConst; MAX_CONSTS],
}

impl AMUabiConstsInfo {
    const EMPTY: Self = Self {
        litConstsCount: 0,
        userConstsCount: 0,
        litConsts: [AMUabiLiteralConst {
            addr: 0,
            r#type: AMUabiDataType::Undef as c_uint,
            value: AMUabiLiteralValue { int32: [0; 4] },
        }; MAX_CONSTS],
        userConsts: [AMUabiUserConst {
            addr: 0,
            r#type: AMUabiDataType::Undef as c_uint,
            name: AMUabiString { str: [0; MAX_STRING] },
        }; MAX_CONSTS],
    };
}

/// Images state their own size; a larger size is an error.
const IMAGE_LIMIT: u64 = 1 << 24;

/// The CTM executable at `image`. Its sizes are not followed into unmapped memory (on Linux, where the mappings are known).
///
/// # Safety
/// `image` is null, or as many bytes can be read there as its headers say; or the system lists how many can.
unsafe fn read_image(image: *const c_void) -> Result<Program, String> {
    if image.is_null() {
        return Err("the image is NULL".to_owned());
    }
    let readable = readable_bytes(image as usize, IMAGE_LIMIT);
    // The part that is needed before its size is known: the ELF header.
    let mut size: u64 = 52;
    loop {
        if size > readable {
            return Err(format!("the image says that it has {size} bytes; at its address {readable} can be read"));
        }
        let length = usize::try_from(size).unwrap_or(0);
        // SAFETY: the headers read so far require `size` bytes, which can be read.
        let bytes = unsafe { elements(image.cast::<u8>(), length) }.unwrap_or_default();
        let needed = match ctm_elf::extent(bytes) {
            Ok(extent) if extent <= size => return ctm_elf::read(bytes).map_err(|e| e.to_string()),
            Ok(extent) => extent,
            Err(ImageError::Truncated { offset, size, .. }) => offset.saturating_add(size),
            Err(e) => return Err(e.to_string()),
        };
        if needed <= size || needed > IMAGE_LIMIT {
            return Err(format!("the image says that it has {needed} bytes; it may have {IMAGE_LIMIT}"));
        }
        size = needed;
    }
}

/// The constants of the image at `elf`.
///
/// # Safety
/// `elf` is null, or as many bytes can be read there as its headers say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amuABIExtractConstants(elf: *const c_void) -> AMUabiConstsInfo {
    guard(AMUabiConstsInfo::EMPTY, || {
        // SAFETY: as the caller promises.
        match unsafe { read_image(elf) } {
            Ok(program) => constants_of(&program),
            Err(why) => {
                log::fail(&format!("amuABIExtractConstants: {why}"));
                AMUabiConstsInfo::EMPTY
            }
        }
    })
}

fn constants_of(program: &Program) -> AMUabiConstsInfo {
    let mut info = AMUabiConstsInfo::EMPTY;
    for (to, literal) in info.litConsts.iter_mut().zip(&program.literals) {
        let (addr, kind, value) = match *literal {
            Literal::Float { index, bits } => {
                (index, AMUabiDataType::Float32, AMUabiLiteralValue { float32: bits.map(f32::from_bits) })
            }
            Literal::Int { index, value } => {
                (index, AMUabiDataType::Int32, AMUabiLiteralValue { int32: value.map(AMuint32::from) })
            }
            Literal::Bool { index, value } => {
                (index, AMUabiDataType::Bool32, AMUabiLiteralValue { bool32: [u32::from(value)] })
            }
        };
        *to = AMUabiLiteralConst { addr: addr.into(), r#type: kind as c_uint, value };
        info.litConstsCount += 1;
    }
    let carried = |kind, index: u8| {
        program.literals.iter().any(|literal| match *literal {
            Literal::Float { index: n, .. } => kind == SymbolKind::Float && n == index,
            Literal::Int { index: n, .. } => kind == SymbolKind::Int && n == index,
            Literal::Bool { index: n, .. } => kind == SymbolKind::Bool && n == index,
        })
    };
    let named = program.symbols.iter().filter_map(|symbol| {
        let kind = match symbol.kind {
            SymbolKind::Float => AMUabiDataType::Float32,
            SymbolKind::Int => AMUabiDataType::Int32,
            SymbolKind::Bool => AMUabiDataType::Bool32,
            SymbolKind::Input | SymbolKind::Output => return None,
        };
        (!carried(symbol.kind, symbol.index)).then_some((symbol, kind))
    });
    for (to, (symbol, kind)) in info.userConsts.iter_mut().zip(named) {
        to.addr = symbol.index.into();
        to.r#type = kind as c_uint;
        for (to, &from) in to.name.str[..MAX_STRING - 1].iter_mut().zip(symbol.name.as_bytes()) {
            *to = from as c_char;
        }
        info.userConstsCount += 1;
    }
    info
}

/// Writes literals to the client's views of constant memory.
///
/// # Safety
/// Each pointer whose type has literals may be written at the places of those literals. `info` came from [`amuABIExtractConstants`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amuABISetLiteralConstants(
    info: AMUabiConstsInfo,
    float32: *mut c_void,
    int32: *mut c_void,
    bool32: *mut c_void,
) {
    guard((), || {
        for literal in info.litConsts.iter().take(info.litConstsCount as usize) {
            let places = [
                (AMUabiDataType::Float32, float32, 16, 256),
                (AMUabiDataType::Int32, int32, 4, 32),
                (AMUabiDataType::Bool32, bool32, 4, 32),
            ];
            let place = places.into_iter().find(|(kind, ..)| *kind as c_uint == literal.r#type);
            let Some((kind, to, stride, limit)) = place else { continue };
            if to.is_null() || literal.addr >= limit {
                log::fail(
                    "amuABISetLiteralConstants: a literal has no place: its pointer is NULL, or its index too large",
                );
                continue;
            }
            // SAFETY: each field of the union is plain numbers, and `amuABIExtractConstants` filled all its bytes.
            let words = unsafe { literal.value.int32 };
            let bytes: [u8; 16] = match kind {
                AMUabiDataType::Float32 => std::array::from_fn(|n| words[n / 4].to_ne_bytes()[n % 4]),
                AMUabiDataType::Int32 => std::array::from_fn(|n| words[n % 4].to_le_bytes()[0]),
                _ => u128::from(words[0] != 0).to_le_bytes(),
            };
            // SAFETY: the caller promises that this may be written.
            unsafe {
                let to = to.cast::<u8>().add(literal.addr as usize * stride);
                to.copy_from_nonoverlapping(bytes.as_ptr(), stride);
            }
        }
    });
}

/// Sends text to the client's function.
fn tell(to: LogFunction, message: &str) {
    if let (Some(to), Ok(text)) = (to, CString::new(message.replace('\0', "\u{fffd}"))) {
        // SAFETY: the caller of the C function promises a function that takes a C string.
        unsafe { to(text.as_ptr()) };
    }
}

/// Assembles; findings go to the client, line by line. Returns the image, or the error.
fn assemble(bytes: &[u8], log: LogFunction) -> Result<Vec<u8>, String> {
    translate(bytes, log, |source| {
        let assembly = text::assemble(source);
        (assembly.program, assembly.diagnostics)
    })
}

/// Translates text into an image; findings go to the client, line by line. Returns the image, or the error.
fn translate(
    bytes: &[u8],
    log: LogFunction,
    translator: impl FnOnce(&str) -> (Option<Program>, Vec<Diagnostic>),
) -> Result<Vec<u8>, String> {
    let source =
        std::str::from_utf8(bytes).map_err(|e| format!("byte {} of the text is not UTF-8", e.valid_up_to()))?;
    let source = source.trim_end_matches('\0');
    let (program, diagnostics) = translator(source);
    let of = Arc::new(Source::new("source", source));
    let mut first = None;
    for diagnostic in diagnostics {
        let is_error = diagnostic.severity == Severity::Error;
        let report = Report { diagnostic, source: Some(Arc::clone(&of)) };
        let text = render::text(&report, false);
        tell(log, &format!("{text}\n"));
        if is_error && first.is_none() {
            first = Some(text);
        }
    }
    let program = program.ok_or_else(|| format!("the text is wrong:\n{}", first.unwrap_or_default()))?;
    ctm_elf::write(&program).map_err(|e| e.to_string())
}

/// Gives the client an image, or the reason for its absence.
///
/// # Safety
/// `size` and `binary` are null or may be written.
unsafe fn deliver(
    function: &str,
    image: Result<Vec<u8>, String>,
    size: *mut AMuint32,
    binary: *mut *mut c_void,
    log_function: LogFunction,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        store(size, 0);
        store(binary, std::ptr::null_mut());
    }
    let image = image.and_then(|image| {
        if binary.is_null() || size.is_null() {
            return Err("there is nowhere to put the image: `size` or `binary` is NULL".to_owned());
        }
        let bytes = u32::try_from(image.len()).map_err(|_| "the image is too large".to_owned())?;
        let copy = malloc_copy(&image);
        if copy.is_null() { Err("there is no memory for the image".to_owned()) } else { Ok((bytes, copy)) }
    });
    match image {
        Ok((bytes, copy)) => {
            // SAFETY: as the caller promises.
            unsafe {
                store(size, bytes);
                store(binary, copy);
            }
            1
        }
        Err(why) => {
            tell(log_function, &format!("{function}: {why}\n"));
            log::fail(&format!("{function}: {why}"));
            0
        }
    }
}

/// Assembles X1K text into a CTM executable.
///
/// # Safety
/// `source` points to `length` bytes; `size` and `binary` are null or may be written; `log` is null or takes a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amuAsmAssemble(
    source: *const c_char,
    length: AMuint32,
    size: *mut AMuint32,
    binary: *mut *mut c_void,
    log: LogFunction,
) -> c_int {
    guard(0, || {
        // SAFETY: the caller promises the bytes.
        let text = unsafe { elements(source.cast::<u8>(), length as usize) };
        let image = text.ok_or_else(|| "the text is NULL".to_owned()).and_then(|text| assemble(text, log));
        // SAFETY: as the caller promises.
        unsafe { deliver("amuAsmAssemble", image, size, binary, log) }
    })
}

/// Prints a CTM executable.
///
/// # Safety
/// `binary` is null, or as many bytes can be read there as its headers say; `log` is null or takes a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amuAsmDisassemble(binary: *const c_void, log: LogFunction) -> c_int {
    guard(0, || {
        // SAFETY: as the caller promises.
        match unsafe { read_image(binary) } {
            Ok(program) => {
                for line in text::disassemble(&program, &text::ListingOptions::default()).split_inclusive('\n') {
                    tell(log, line);
                }
                1
            }
            Err(why) => {
                tell(log, &format!("amuAsmDisassemble: {why}\n"));
                log::fail(&format!("amuAsmDisassemble: {why}"));
                0
            }
        }
    })
}

unsafe extern "C" {
    /// The allocator of C: images are made with its `malloc`.
    fn free(memory: *mut c_void);
}

/// Gives an image back.
///
/// # Safety
/// `binary` is null, or an image of this library that was not given back yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amuAsmFree(binary: *mut c_void) {
    // SAFETY: images come from malloc; free takes null.
    unsafe { free(binary) }
}

/// The only compiler: its address is the handle, its contents are unused.
static COMPILER: u64 = 0;

/// `AMUcompMacro`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct AMUcompMacro {
    /// The name; null ends a list.
    pub name: *const c_char,
    /// Its replacement.
    pub value: *const c_char,
}

/// A compiler.
#[unsafe(no_mangle)]
pub extern "C" fn amuCompOpenCompiler() -> *mut c_void {
    (&raw const COMPILER).cast_mut().cast()
}

/// Gives a compiler back.
#[unsafe(no_mangle)]
pub extern "C" fn amuCompCloseCompiler(_compiler: *mut c_void) {}

/// Macros end with a null name; a longer list is refused.
const MACROS: usize = 4096;

/// Compiles text into a CTM executable.
///
/// # Safety
/// `source` points to `length` bytes; `macros` is null or a list that a null name ends, of C strings; `size` and `binary` are null or may
/// be written; `entry` is null or a C string; `log` is null or takes a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amuCompCompile(
    compiler: *mut c_void,
    source: *const c_char,
    length: c_uint,
    macros: *const AMUcompMacro,
    _reserved: *mut c_void,
    entry: *const c_char,
    size: *mut AMuint32,
    binary: *mut *mut c_void,
    log: LogFunction,
) -> c_int {
    guard(0, || {
        // SAFETY: the caller promises the bytes.
        let text = unsafe { elements(source.cast::<u8>(), length as usize) };
        // SAFETY: the caller promises a list that a null name ends, or null.
        let names = unsafe { macro_names(macros) };
        // SAFETY: the caller promises a C string, or null.
        let entry = unsafe { string(entry) };
        let image = if let Some(entry) = entry.filter(|name| name != "main") {
            Err(format!("the entry is `{entry}`; programs begin at their first instruction, `main` or NULL"))
        } else if compiler.cast_const() == (&raw const COMPILER).cast() {
            text.ok_or_else(|| "the text is NULL".to_owned()).and_then(|text| compile(text, &names, log))
        } else {
            Err("the compiler is none that amuCompOpenCompiler gave".to_owned())
        };
        // SAFETY: as the caller promises.
        unsafe { deliver("amuCompCompile", image, size, binary, log) }
    })
}

/// # Safety
/// `macros` is null or a list of C strings that a null name ends.
unsafe fn macro_names(macros: *const AMUcompMacro) -> Vec<String> {
    if macros.is_null() {
        return Vec::new();
    }
    // SAFETY: every element up to the one with the null name can be read; the list is not followed beyond it.
    (0..MACROS).map_while(|n| unsafe { string((*macros.add(n)).name) }).collect()
}

fn compile(text: &[u8], macros: &[String], log: LogFunction) -> Result<Vec<u8>, String> {
    let defined = |name: &str| macros.iter().any(|m| m == name);
    for name in macros.iter().filter(|m| !matches!(m.as_str(), "AMU_LANG_X1K" | "AMU_LANG_PS3")) {
        tell(log, &format!("amuCompCompile: the definition of `{name}` is not used: there are no macros\n"));
    }
    let options = ctm_ps3::Options::default();
    if identify(text) == Kind::Ps3Code && !defined("AMU_LANG_X1K") {
        let listing = ctm_ps3::bytecode::disassemble(text).map_err(|e| e.message)?;
        return translate(listing.text.as_bytes(), log, |_| match ctm_ps3::compile_bytecode(text, &options) {
            Ok((_, compiled)) => (compiled.program, compiled.diagnostics),
            Err(e) => (None, vec![*e]),
        });
    }
    let begins_as_ps3 = text.trim_ascii_start().starts_with(b"ps_3_0");
    if defined("AMU_LANG_PS3") || begins_as_ps3 && !defined("AMU_LANG_X1K") {
        return translate(text, log, |source| {
            let compiled = ctm_ps3::compile(source, &options);
            (compiled.program, compiled.diagnostics)
        });
    }
    assemble(text, log)
}
