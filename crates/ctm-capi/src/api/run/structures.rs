//! The structures that `ctm_run` takes, as C has them.

use crate::api::Failure;
use crate::api::control::Control;
use crate::api::object::borrow;
use std::ffi::{c_char, c_int};

/// `ctm_input`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Input {
    /// 0 to 15; of R700 programs 0 to 511.
    pub slot: u32,
    /// Elements of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// 1, 2 or 4.
    pub channels: u32,
    /// The numbers, row by row.
    pub data: *const f32,
    /// 0 nearest, 1 linear.
    pub filter: c_int,
    /// 0 clamp, 1 repeat, 2 mirror, 3 border.
    pub wrap_x: c_int,
    /// For rows.
    pub wrap_y: c_int,
    /// The value of reads outside, with `border`.
    pub border: [f32; 4],
}

/// `ctm_output`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Output {
    /// 0 to 3; of R700 programs 0 to 7.
    pub slot: u32,
    /// Elements of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// 1, 2 or 4.
    pub channels: u32,
    /// The numbers, row by row.
    pub data: *mut f32,
}

/// `ctm_constant_buffer`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ConstantBuffer {
    /// 0 to 15.
    pub bank: u32,
    /// 0.
    pub reserved: u32,
    /// Four numbers for each constant.
    pub data: *const f32,
    /// How many constants.
    pub count: usize,
}

/// `ctm_constant`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Constant {
    /// Its name in the program or its container, or its register.
    pub name: *const c_char,
    /// `ctm_symbol_kind`: a kind of constant.
    pub kind: c_int,
    /// 0.
    pub reserved: u32,
    /// Single-precision numbers; integers of 32 bits of the other kinds.
    pub data: *const std::ffi::c_void,
    /// How many.
    pub count: usize,
}

/// `ctm_register`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RegisterStart {
    /// 0 to 127.
    pub index: u32,
    /// Not 0: the values are integers.
    pub bits: u32,
    /// Value at (0, 0).
    pub origin: [f64; 4],
    /// Change per column.
    pub di: [f64; 4],
    /// Change per row.
    pub dj: [f64; 4],
}

/// `ctm_memory`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MemoryDwords {
    /// `scatter`, `reduction`, `ring`, `stream0` to `stream3`.
    pub name: *const c_char,
    /// Its dwords, before and after the run.
    pub data: *mut u32,
    /// How many.
    pub count: usize,
}

/// `ctm_run_options`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct RunOptions {
    /// Bytes of this structure, as the caller knows it.
    pub size: usize,
    /// i0, j0, i1, j1, inclusive.
    pub domain: [u32; 4],
    /// Four numbers for each floating-point constant.
    pub floats: *const f32,
    /// How many constants.
    pub float_count: usize,
    /// Four bytes for each integer constant.
    pub ints: *const u8,
    /// How many constants.
    pub int_count: usize,
    /// A byte for each boolean constant.
    pub bools: *const u8,
    /// How many constants.
    pub bool_count: usize,
    /// The inputs.
    pub inputs: *const Input,
    /// How many.
    pub input_count: usize,
    /// The outputs.
    pub outputs: *const Output,
    /// How many.
    pub output_count: usize,
    /// 0: one per core.
    pub threads: u32,
    /// 0: 16.
    pub group: u32,
    /// 0: the default.
    pub instructions: u64,
    /// Not 0: look for mistakes.
    pub check: u32,
    /// `ctm_engine`.
    pub engine: u32,
    /// Wall time; 0: no limit.
    pub seconds: f64,
    /// A control that may end the run; null: none.
    pub control: *const Control,
    /// R700: constant buffers.
    pub constant_buffers: *const ConstantBuffer,
    /// How many.
    pub constant_buffer_count: usize,
    /// Not 0: inputs that clamp may be smaller than the domain.
    pub clamp: u32,
    /// 0.
    pub reserved: u32,
    /// Names of the inputs; null, or null for one: its slot counts.
    pub input_names: *const *const c_char,
    /// Names of the outputs.
    pub output_names: *const *const c_char,
    /// Constants by name.
    pub constants: *const Constant,
    /// How many.
    pub constant_count: usize,
    /// Start values of registers.
    pub registers: *const RegisterStart,
    /// How many.
    pub register_count: usize,
    /// R700: memories.
    pub memories: *const MemoryDwords,
    /// How many.
    pub memory_count: usize,
}

impl RunOptions {
    /// The size of the first version of the structure.
    const FIRST_SIZE: usize = std::mem::offset_of!(Self, seconds);

    /// The options as far as the caller knows them; the rest is 0.
    ///
    /// # Safety
    /// `options` is null or points to as many bytes as its `size` says.
    pub(super) unsafe fn read(options: *const Self) -> Result<Self, Failure> {
        // SAFETY: as the caller promises; the size is the first field.
        let size = unsafe { *borrow(options.cast::<usize>(), "options")? };
        if size < Self::FIRST_SIZE {
            return Err(Failure::argument(format!(
                "the options have {size} bytes, this version of the library needs {}; set `size` to sizeof(ctm_run_options)",
                Self::FIRST_SIZE
            )));
        }
        let mut own = std::mem::MaybeUninit::<Self>::zeroed();
        let known = size.min(size_of::<Self>());
        // SAFETY: the caller promises `size` bytes, and `own` has as many as are copied. All of it is initialised, and zeros are numbers and null pointers.
        Ok(unsafe {
            own.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(options.cast(), known);
            own.assume_init()
        })
    }
}
