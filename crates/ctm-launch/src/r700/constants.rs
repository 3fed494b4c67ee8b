//! Constants of R700 launches: the places of named constants, in the constant file or in constant buffers.

use ctm_exec::r700::Constants;
use ctm_files::r700::uniform::Uniform;
use ctm_files::r700::uniform::UniformPlace;
use ctm_files::r700::uses::Uses;
use ctm_isa::r700::Program;
use ctm_isa::r700::program::SymbolKind;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Most constants of a constant buffer.
const CONSTANTS_OF_BUFFER: usize = 4096;

/// Constant buffers by bank.
pub type Buffers<'a> = BTreeMap<u8, Cow<'a, [[u32; 4]]>>;

/// Stores a uniform of a container, as [`Uniform::lay_out`] lays it out; `given` collects the constants of the constant file.
///
/// # Errors
/// When it lies outside the file or its buffer.
pub fn store_uniform(
    uniform: &Uniform,
    dwords: &[(usize, u32)],
    (out, buffers, given): (&mut Constants, &mut Buffers<'_>, &mut BTreeSet<u8>),
) -> Result<(), String> {
    let (name, count) = (&uniform.name, uniform.constants());
    let (first, places) = match uniform.place {
        UniformPlace::File(first) => (first, &mut out.file[..]),
        UniformPlace::Buffer(bank, first) => {
            let buffer = buffers.entry(bank).or_default().to_mut();
            let needed = (first + count).min(CONSTANTS_OF_BUFFER);
            buffer.resize(buffer.len().max(needed), [0; 4]);
            (first, &mut buffer[..])
        }
    };
    let Some(places) = places.get_mut(first..first + count) else {
        let most = if matches!(uniform.place, UniformPlace::File(_)) { 256 } else { CONSTANTS_OF_BUFFER };
        return Err(format!("`{name}` is {count} constants from {first} on, there are 0 to {}", most - 1));
    };
    for &(dword, bits) in dwords {
        places[dword / 4][dword % 4] = bits;
    }
    if matches!(uniform.place, UniformPlace::File(_)) {
        given.extend((first..first + count).filter_map(|n| u8::try_from(n).ok()));
    }
    Ok(())
}

/// Stores a constant that the program names in a window of a constant buffer (`KC0[n]`, `KC1[n]`). `None`: it names no such.
///
/// # Errors
/// When clauses show several windows there.
pub fn store_in_window(
    program: &Program,
    uses: &Uses,
    name: &str,
    value: [u32; 4],
    buffers: &mut Buffers<'_>,
) -> Option<Result<(), String>> {
    for set in 0..2u8 {
        let Some(index) = program.symbol(SymbolKind::Kcache(set), name) else { continue };
        let windows = &uses.windows[usize::from(set)];
        let (Some(&(bank, first)), 1) = (windows.first(), windows.len()) else {
            return Some(Err(format!(
                "`{name}` is KC{set}[{index}], and the program's clauses show {} windows there; give it in [[constant_buffer]]",
                windows.len()
            )));
        };
        let buffer = buffers.entry(bank).or_default().to_mut();
        let index = first as usize + usize::from(index);
        if buffer.len() <= index {
            buffer.resize(index + 1, [0; 4]);
        }
        buffer[index] = value;
        return Some(Ok(()));
    }
    None
}

/// Constants, loops and booleans that a program reads and the caller does not give, for a warning.
#[must_use]
pub fn not_given(missing: &[String]) -> String {
    let verb = if missing.len() == 1 { "is read and not given; it reads" } else { "are read and not given; they read" };
    format!("{} {verb} 0", missing.join(", "))
}
