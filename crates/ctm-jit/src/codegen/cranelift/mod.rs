//! The back end with vectors of 128 bits: machine code by Cranelift, for x86-64 without AVX2, and for 64-bit ARM.
//!
//! | file | contents |
//! |---|---|
//! | `builder` | functions under construction: the place of the next instruction, types, literals |
//! | `program` | whole programs: prologue, blocks, calls, yields |
//! | `strips` | strips as loops over the parts of a wavefront |
//! | `unrolled` | programs with loops: the code of each part, with variables and masks as values |
//! | `tiles` | the tiles of streams |
//! | `values` | operands and vectors as values |
//! | `lines` | instructions on vectors and masks |
//! | `operations` | the operations of `ctm-x86`, each as one or a few of Cranelift's |
//! | `relative` | registers, constants and elements at an index |
//!
//! Selection, fusing, strips and the frame are those of the targets with masks in vectors (`codegen/x86/masked`). Cranelift allocates registers: a vector that lives within a strip is a value, all others
//! have rows in the frame, from which a strip loads each part once, and to which it stores it once.
//!
//! Masks of lanes are words of the frame. A strip expands the four bits of its part by a table of sixteen vectors.

mod builder;
mod lines;
mod operations;
mod program;
mod relative;
mod strips;
mod tiles;
mod unrolled;
mod values;

use super::x86::masked::emit::Input;
use super::x86::stream::emit::Emit;
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::Function;
use cranelift_codegen::isa::{self, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// The name of the architecture, and its features that code relies on.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: (&str, &[&str]) =
    ("x86_64", &["has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_popcnt", "has_avx", "has_fma"]);
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: (&str, &[&str]) = ("aarch64", &[]);

/// Cranelift for this host.
fn isa() -> Option<&'static OwnedTargetIsa> {
    static ISA: OnceLock<Option<OwnedTargetIsa>> = OnceLock::new();
    let make = || {
        let mut flags = settings::builder();
        // Selection has already shared and folded operations.
        flags.set("opt_level", "none").ok()?;
        flags.set("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }).ok()?;
        flags.set("unwind_info", "false").ok()?;
        // Large frames are probed in line: code has no relocations.
        flags.set("probestack_strategy", "inline").ok()?;
        let (name, features) = ARCHITECTURE;
        let mut builder = isa::lookup_by_name(name).ok()?;
        for feature in features {
            builder.enable(feature).ok()?;
        }
        builder.finish(settings::Flags::new(flags)).ok()
    };
    ISA.get_or_init(make).as_ref()
}

/// The code of a program, a function of its frame (`masked::Native`). Empty where Cranelift cannot make it: the portable machine runs the program then.
pub fn emit(input: &Input<'_>) -> Vec<u8> {
    compiled(|| program::function(input))
}

/// The code of a stream for tiles of one shape, a function of its frame. Empty where Cranelift cannot make it: the launch is no stream then.
pub(in crate::codegen) fn emit_tiles(of: &Emit<'_>) -> Vec<u8> {
    compiled(|| tiles::function(of))
}

/// The code of a function.
fn compiled(function: impl FnOnce() -> Option<Function>) -> Vec<u8> {
    let Some(isa) = isa() else { return Vec::new() };
    let compile = || {
        let Some(function) = function() else { return Vec::new() };
        let mut context = Context::for_function(function);
        let code = context.compile(&**isa, &mut ControlPlane::default()).map_err(|error| format!("{:?}", error.inner));
        let code = match code {
            Ok(code) => code,
            Err(error) => {
                debug_assert!(false, "{error}");
                return Vec::new();
            }
        };
        // Code refers to nothing outside of it but through the frame.
        debug_assert!(code.buffer.relocs().is_empty(), "relocations");
        if code.buffer.relocs().is_empty() { code.code_buffer().to_vec() } else { Vec::new() }
    };
    // An instruction without a lowering is a panic.
    if cfg!(debug_assertions) { compile() } else { catch_unwind(AssertUnwindSafe(compile)).unwrap_or_default() }
}
