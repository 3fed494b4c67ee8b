//! Arrays that are no single-precision numbers row by row, as such numbers and back: rectangles of tiles and of elements of 8 and 16 bits.
//!
//! In a tile, elements that are neighbours lie together in *blocks*: some columns of some rows, row by row. Routines that are the same for all programs take blocks
//! apart and put them together, a row of blocks in one call; others convert whole lines of 64 bytes. The former use vectors of 32 bytes on both
//! instruction sets, as most blocks are no larger. What covers a block in part is moved in runs of bytes that lie together, so nothing beside it is touched.

use super::executable;
use super::isa::Isa;
use crate::codegen::x86::asm::{
    Asm, BROADCAST, CVT_I32_F32, Cond, FMADD213, Gpr, INSERT_QUARTER, Int, MAX, MOVUPS_LOAD, MOVUPS_STORE, MUL,
    NARROW_TO_BYTES, NARROW_TO_WORDS, PACK_BYTES, PACK_SIGNED, PACK_WORDS, PERMUTE, PERMUTE_HALVES, PERMUTE_IN_QUAD,
    RAX, RCX, RDI, RDX, RSI, Rm, STORE_PAST_CACHES, SUB_I32, UNPACK_HIGH_I64, UNPACK_LOW_I64, V, WIDEN_BYTES,
    WIDEN_WORDS, XOR,
};
use ctm_exec::arrays::{Elements, Form, Tiles};
use memmap2::Mmap;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;

/// Bytes of a line, what conversions go by.
const LINE: usize = 64;
/// What has room for no fraction: the numbers added to it stand in its low bits.
const MAGIC: f32 = 8_388_608.0;

/// A block.
struct Shape {
    element_bytes: u32,
    columns: u32,
    rows: u32,
    /// Blocks that a routine takes at once.
    together: u32,
}

impl Shape {
    const fn row_bytes(&self) -> u32 {
        self.element_bytes * self.columns
    }

    /// Columns that a routine takes at once.
    const fn step(&self) -> u32 {
        self.columns * self.together
    }
}

/// The blocks that have routines.
const SHAPES: [Shape; 4] = [
    Shape { element_bytes: 2, columns: 4, rows: 4, together: 2 },
    Shape { element_bytes: 4, columns: 4, rows: 2, together: 2 },
    Shape { element_bytes: 8, columns: 2, rows: 2, together: 2 },
    Shape { element_bytes: 16, columns: 4, rows: 1, together: 1 },
];

/// Forms that are converted.
const FORMS: [Form; 3] = [Form::Bytes { swapped: false }, Form::Bytes { swapped: true }, Form::Words];

/// The AVX2 instructions that pack numbers leave dwords in these places: bytes, words.
static ORDERS: [[u32; 8]; 2] = [[0, 4, 1, 5, 2, 6, 3, 7], [0, 1, 4, 5, 2, 3, 6, 7]];

/// The arguments of all routines: to or from an array; the other side; a table; how many; two numbers.
type Entry = unsafe extern "sysv64" fn(*const u8, *const u8, *const u32, usize, u64, u64);

/// The routines.
struct Routines {
    text: Mmap,
    /// From blocks to rows, and back: through the caches, past them.
    blocks: [[usize; 3]; SHAPES.len()],
    /// From elements to numbers, and back.
    forms: [[usize; 2]; FORMS.len()],
    /// Bytes; lines past the caches.
    bytes: [usize; 2],
    fence: usize,
}

impl Routines {
    fn of(isa: Isa) -> Option<&'static Self> {
        static ALL: [OnceLock<Option<Routines>>; 2] = [const { OnceLock::new() }; 2];
        ALL[usize::from(isa == Isa::Avx2)].get_or_init(|| Self::new(isa)).as_ref()
    }

    fn new(isa: Isa) -> Option<Self> {
        let mut asm = Asm::new(isa);
        let blocks = SHAPES.each_ref().map(|shape| {
            [None, Some(MOVUPS_STORE), Some(STORE_PAST_CACHES)].map(|store| blocks(&mut asm, shape, store))
        });
        let forms = FORMS.map(|form| [decode(&mut asm, form), encode(&mut asm, form)]);
        let bytes = asm.code.len();
        asm.move_bytes();
        asm.ret();
        let bytes = [bytes, lines(&mut asm)];
        let fence = asm.code.len();
        asm.store_fence();
        asm.ret();
        Some(Self { text: executable(&asm.finish())?, blocks, forms, bytes, fence })
    }

    #[allow(unsafe_code, reason = "machine code is called")]
    fn entry(&self, at: usize) -> Entry {
        // SAFETY: the text is code that this file made for this signature, mapped executable and kept for ever.
        unsafe { std::mem::transmute::<*const u8, Entry>(self.text[at..].as_ptr()) }
    }
}

/// Registers with the rows of a panel.
const ROWS: [Gpr; 4] = [RSI, 10, 11, 9];

/// A row of blocks: rdi tiles of their row, rsi rows in the panel, rdx table of columns, rcx steps, r8 bits of the row, r9 bytes from row to row.
fn blocks(asm: &mut Asm, shape: &Shape, store: Option<V>) -> usize {
    let entry = asm.code.len();
    for row in 1..shape.rows as usize {
        asm.move_wide(RAX, 9);
        asm.add_wide(RAX, ROWS[row - 1]);
        asm.move_wide(ROWS[row], RAX);
    }
    let again = asm.label();
    asm.place(again);
    let block = |asm: &mut Asm, number: u32| {
        asm.int_load(Int::Mov, false, RAX, RDX, (4 * shape.columns * number) as i32);
        asm.int(Int::Xor, RAX, 8);
        asm.add_wide(RAX, RDI);
        RAX
    };
    let at = |base: Gpr| Rm::Row(base, 0);
    let [a, b, one, other] = [0, 1, 2, 3];
    match (shape.row_bytes(), store) {
        (8, None) => {
            for (number, register) in [(0, a), (1, b)] {
                let from = block(asm, number);
                asm.vex(MOVUPS_LOAD, register, 0, at(from), None);
            }
            asm.vex(UNPACK_LOW_I64, one, a, Rm::Reg(b), None);
            asm.vex(UNPACK_HIGH_I64, other, a, Rm::Reg(b), None);
            for (row, to) in ROWS.into_iter().enumerate() {
                asm.store_16([one, other][row % 2], row > 1, to);
            }
        }
        (8, Some(store)) => {
            for (register, row) in [(a, 0), (b, 1)] {
                asm.load_16(register, ROWS[row]);
                asm.vex(INSERT_QUARTER, register, register, at(ROWS[row + 2]), Some(1));
            }
            for (number, op) in [(0, UNPACK_LOW_I64), (1, UNPACK_HIGH_I64)] {
                asm.vex(op, one, a, Rm::Reg(b), None);
                let to = block(asm, number);
                asm.vex(store, one, 0, at(to), None);
            }
        }
        (16, None) => {
            for (number, register) in [(0, a), (1, b)] {
                let from = block(asm, number);
                asm.vex(MOVUPS_LOAD, register, 0, at(from), None);
            }
            for (row, halves) in [(0, 0x20), (1, 0x31)] {
                asm.vex(PERMUTE_HALVES, one, a, Rm::Reg(b), Some(halves));
                asm.vex(MOVUPS_STORE, one, 0, at(ROWS[row]), None);
            }
        }
        (16, Some(store)) => {
            for (register, row) in [(a, 0), (b, 1)] {
                asm.vex(MOVUPS_LOAD, register, 0, at(ROWS[row]), None);
            }
            for (number, halves) in [(0, 0x20), (1, 0x31)] {
                asm.vex(PERMUTE_HALVES, one, a, Rm::Reg(b), Some(halves));
                let to = block(asm, number);
                asm.vex(store, one, 0, at(to), None);
            }
        }
        _ => {
            let block = block(asm, 0);
            let (from, to) = if store.is_some() { (RSI, block) } else { (block, RSI) };
            for offset in [0, 32] {
                asm.vex(MOVUPS_LOAD, a, 0, Rm::Row(from, offset), None);
                asm.vex(store.unwrap_or(MOVUPS_STORE), a, 0, Rm::Row(to, offset), None);
            }
        }
    }
    for &row in &ROWS[..shape.rows as usize] {
        asm.wide_imm(Int::Add, row, (shape.together * shape.row_bytes()) as i32);
    }
    asm.wide_imm(Int::Add, RDX, 4 * shape.step() as i32);
    count_down(asm, again);
    entry
}

/// Lines past the caches: from rsi to rdi, rcx of them.
fn lines(asm: &mut Asm) -> usize {
    let entry = asm.code.len();
    let again = asm.label();
    asm.place(again);
    for offset in [0, 32] {
        asm.vex(MOVUPS_LOAD, 0, 0, Rm::Row(RSI, offset), None);
        asm.vex(STORE_PAST_CACHES, 0, 0, Rm::Row(RDI, offset), None);
    }
    asm.wide_imm(Int::Add, RSI, LINE as i32);
    asm.wide_imm(Int::Add, RDI, LINE as i32);
    count_down(asm, again);
    entry
}

/// Ends a loop by rcx, and the routine.
fn count_down(asm: &mut Asm, again: crate::codegen::x86::asm::Label) {
    asm.wide_imm(Int::Sub, RCX, 1);
    asm.jump_if(Cond::NotEqual, again);
    asm.zero_upper();
    asm.ret();
}

/// A number in every lane.
fn constant(asm: &mut Asm, register: u8, number: f32) {
    let of_literals = if asm.isa == Isa::Avx2 { MOVUPS_LOAD } else { BROADCAST };
    asm.vector(of_literals, register, 0, Rm::Literal(number.to_bits()));
}

/// The largest number of a form, and the bytes of one.
const fn numbers(form: Form) -> (f32, i32) {
    match form {
        Form::Words => (65535.0, 2),
        Form::Bytes { .. } | Form::Floats | Form::Square => (255.0, 1),
    }
}

/// The first and the third channel change places.
fn swap(asm: &mut Asm, form: Form, register: u8) {
    if form == (Form::Bytes { swapped: true }) {
        asm.instruction(PERMUTE_IN_QUAD, register, 0, Rm::Reg(register), Some(0b11_00_01_10));
    }
}

/// Whole numbers as numbers of 0 to 1: from rdi to rsi, rcx lines.
///
/// Instead of a division it multiplies by the reciprocal and what that lacks, which rounds as the division does for all whole numbers of 16 bits.
fn decode(asm: &mut Asm, form: Form) -> usize {
    let entry = asm.code.len();
    let (most, bytes) = numbers(form);
    let (reciprocal, lack) = (8, 9);
    let inverse = 1.0 / f64::from(most);
    #[allow(clippy::cast_possible_truncation, reason = "rounded")]
    let nearest = inverse as f32;
    constant(asm, reciprocal, nearest);
    #[allow(clippy::cast_possible_truncation, reason = "rounded")]
    constant(asm, lack, (inverse - f64::from(nearest)) as f32);
    let again = asm.label();
    asm.place(again);
    let lanes = asm.isa.lanes() as i32;
    let widen = if bytes == 1 { WIDEN_BYTES } else { WIDEN_WORDS };
    let vectors = LINE as i32 / bytes / lanes;
    for vector in 0..vectors {
        let (number, rest) = (vector as u8 % 4, 4 + vector as u8 % 4);
        asm.vector(widen, number, 0, Rm::Row(RDI, vector * lanes * bytes));
        asm.vector(CVT_I32_F32, number, 0, Rm::Reg(number));
        asm.vector(MUL, rest, number, Rm::Reg(lack));
        asm.vector(FMADD213, number, reciprocal, Rm::Reg(rest));
        swap(asm, form, number);
        asm.vector(MOVUPS_STORE, number, 0, Rm::Row(RSI, vector * asm.isa.bytes()));
    }
    asm.wide_imm(Int::Add, RDI, LINE as i32);
    asm.wide_imm(Int::Add, RSI, vectors * asm.isa.bytes());
    count_down(asm, again);
    entry
}

/// Numbers of 0 to 1 as whole numbers: from rdi to rsi, rcx lines; rdx points to the order of dwords. A fused multiply-add rounds once; NaN gives 0.
fn encode(asm: &mut Asm, form: Form) -> usize {
    let entry = asm.code.len();
    let (most, bytes) = numbers(form);
    let (factor, magic, zero, order) = (8, 9, 10, 11);
    constant(asm, factor, most);
    constant(asm, magic, MAGIC);
    asm.vector(XOR, zero, zero, Rm::Reg(zero));
    if asm.isa == Isa::Avx2 {
        asm.vector(MOVUPS_LOAD, order, 0, Rm::Row(RDX, 0));
    }
    let again = asm.label();
    asm.place(again);
    let lanes = asm.isa.lanes() as i32;
    let vectors = LINE as i32 / bytes / lanes;
    for vector in 0..vectors {
        let number = vector as u8 % 4;
        asm.vector(MOVUPS_LOAD, number, 0, Rm::Row(RDI, vector * asm.isa.bytes()));
        asm.vector(MAX, number, number, Rm::Reg(zero));
        swap(asm, form, number);
        asm.vector(FMADD213, number, factor, Rm::Reg(magic));
        // What is too large remains so, and saturates.
        asm.vector(SUB_I32, number, number, Rm::Reg(magic));
        let to = Rm::Row(RSI, vector * lanes * bytes);
        let narrow = if bytes == 1 { NARROW_TO_BYTES } else { NARROW_TO_WORDS };
        match (asm.isa, bytes, number) {
            (Isa::Avx512, ..) => asm.vector(narrow, number, 0, to),
            (Isa::Avx2, 1, 3) => {
                asm.vector(PACK_SIGNED, 0, 0, Rm::Reg(1));
                asm.vector(PACK_SIGNED, 2, 2, Rm::Reg(3));
                asm.vector(PACK_BYTES, 0, 0, Rm::Reg(2));
                asm.vector(PERMUTE, 0, order, Rm::Reg(0));
                asm.vector(MOVUPS_STORE, 0, 0, Rm::Row(RSI, (vector - 3) * lanes));
            }
            (Isa::Avx2, 2, 1 | 3) => {
                asm.vector(PACK_WORDS, number, number - 1, Rm::Reg(number));
                asm.vector(PERMUTE, number, order, Rm::Reg(number));
                asm.vector(MOVUPS_STORE, number, 0, Rm::Row(RSI, (vector - 1) * lanes * bytes));
            }
            (Isa::Avx2, ..) => {}
        }
    }
    asm.wide_imm(Int::Add, RDI, vectors * asm.isa.bytes());
    asm.wide_imm(Int::Add, RSI, LINE as i32);
    count_down(asm, again);
    entry
}

/// An array's tiles, which consist of blocks.
#[derive(Clone)]
struct Blocks {
    shape: usize,
    tiles: Tiles,
    /// Columns and rows, up to the end of blocks.
    size: [u32; 2],
    /// Bytes that hold them.
    bytes: usize,
}

impl Blocks {
    /// `None` where there are no routines for them, or the bytes are too few.
    fn of(tiles: &Tiles, element_bytes: u32, [width, height]: [u32; 2], bytes: usize) -> Option<Self> {
        let shape = SHAPES.iter().position(|shape| shape.element_bytes == element_bytes)?;
        let Shape { columns, rows, .. } = SHAPES[shape];
        let (row, whole) = (SHAPES[shape].row_bytes(), rows * SHAPES[shape].row_bytes());
        let [width, height] = [width.next_multiple_of(SHAPES[shape].step()), height.next_multiple_of(rows)];
        let holds = |table: &[u32], count: u32, each: usize, step: u32| {
            table.get(..count as usize).is_some_and(|table| {
                table.chunks(each).all(|of| {
                    of[0].is_multiple_of(whole) && of.iter().zip(0..).all(|(&place, n)| place == of[0] + n * step)
                })
            })
        };
        let fits = tiles.tile_bytes.is_power_of_two()
            && tiles.tile_bytes.is_multiple_of(whole)
            && holds(&tiles.columns, width, columns as usize, element_bytes)
            && holds(&tiles.rows, height, rows as usize, row)
            && tiles.last(width - 1, height - 1)? <= bytes as u64;
        fits.then(|| Self { shape, tiles: tiles.clone(), size: [width, height], bytes })
    }

    /// Blocks of a row from (x, y) on, of so many bytes of tiles; `None` where they or so many bytes of the panel do not hold them.
    fn row(&self, [x, y]: [u32; 2], steps: u32, bytes: usize, panel: &Panel, left: usize) -> Option<BlockRow<'_>> {
        let shape = &SHAPES[self.shape];
        let wanted =
            panel.row_bytes * (shape.rows as usize - 1) + (steps * shape.step() * shape.element_bytes) as usize;
        let exists = x + steps * shape.step() <= self.size[0] && y + shape.rows <= self.size[1];
        if steps == 0 || !exists || self.bytes > bytes || wanted > left {
            return None;
        }
        let (place, within) = (self.tiles.rows[y as usize], self.tiles.tile_bytes - 1);
        Some(BlockRow {
            bytes: (place & !within) as usize,
            table: &self.tiles.columns[x as usize..],
            count: steps as usize,
            within: (place & within).into(),
            pitch: panel.row_bytes as u64,
        })
    }
}

/// What routines are told.
struct BlockRow<'a> {
    /// Bytes from the array's begin on.
    bytes: usize,
    table: &'a [u32],
    count: usize,
    /// Bits of the row within a tile.
    within: u64,
    /// Bytes from row to row.
    pitch: u64,
}

/// Columns and rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Columns.
    pub x: Range<u32>,
    /// Rows.
    pub y: Range<u32>,
}

/// How numbers of a part lie in a panel.
#[derive(Clone, Copy, Debug)]
pub struct Panel {
    /// Where those of element (0, 0) would begin, in bytes from the panel's begin on.
    pub origin: i64,
    /// Elements from row to row.
    pub pitch: i64,
    /// Bytes of the panel, whole lines.
    pub bytes: usize,
    /// Columns and rows that are there: whole blocks.
    first: [u32; 2],
    rows: u32,
    row_bytes: usize,
}

impl Panel {
    /// For a part of an array of numbers.
    pub fn of_numbers(part: &Part, channels: u8) -> Self {
        let size = 4 * usize::from(channels);
        let (pitch, row_bytes) = (part.x.len() as i64, part.x.len() * size);
        let first = [part.x.start, part.y.start];
        let origin = -(size as i64) * (i64::from(first[0]) + i64::from(first[1]) * pitch);
        Self { origin, pitch, bytes: row_bytes * part.y.len(), first, rows: part.y.len() as u32, row_bytes }
    }

    /// Copies a part of an array whose rows lie one after the other.
    pub fn copy(&self, (bytes, pitch, element_bytes): (&[u8], u32, u32), part: &Part, to: &mut [u8]) {
        let row = part.x.len() * element_bytes as usize;
        for (y, to) in part.y.clone().zip(to.chunks_exact_mut(self.row_bytes)) {
            let first = (y as usize * pitch as usize + part.x.start as usize) * element_bytes as usize;
            to[..row].copy_from_slice(&bytes[first..first + row]);
        }
    }

    /// Where an element of so many bytes begins among those that are stored.
    fn offset(&self, [x, y]: [u32; 2], element_bytes: u32) -> usize {
        (y - self.first[1]) as usize * self.row_bytes + ((x - self.first[0]) * element_bytes) as usize
    }
}

/// An array that is no array of single-precision numbers row by row.
#[derive(Clone)]
pub struct Stored {
    routines: &'static Routines,
    form: Option<usize>,
    element_bytes: u32,
    channels: u8,
    pitch: u32,
    blocks: Option<Blocks>,
}

impl Stored {
    /// How an array of so many bytes is stored; nothing where numbers lie row by row, and `None` where it cannot be read or written so.
    #[allow(clippy::option_option, reason = "two answers")]
    pub fn of<B>(isa: Isa, array: &Elements<B>, bytes: usize) -> Option<Option<Self>> {
        let element_bytes = array.form.element_bytes(array.channels);
        let form = FORMS.iter().position(|&form| form == array.form);
        match &array.tiles {
            _ if form.is_none() && array.form != Form::Floats => None,
            None if form.is_none() => Some(None),
            None if array.bytes_needed() > bytes as u64 => None,
            tiles => {
                let blocks = match tiles {
                    Some(tiles) => Some(Blocks::of(tiles, element_bytes, [array.width, array.height], bytes)?),
                    None => None,
                };
                let (pitch, channels) = (array.pitch, array.channels);
                Some(Some(Self { routines: Routines::of(isa)?, form, element_bytes, channels, pitch, blocks }))
            }
        }
    }

    /// Whether it is one of tiles.
    pub const fn is_tiled(&self) -> bool {
        self.blocks.is_some()
    }

    /// Bytes of an element in memory.
    pub const fn element_bytes(&self) -> u32 {
        self.element_bytes
    }

    /// Bytes that an element takes in a panel.
    pub const fn panel_bytes(&self) -> u32 {
        4 * self.channels as u32 + if self.form.is_some() { self.element_bytes } else { 0 }
    }

    /// The panel for a part.
    pub fn panel(&self, part: &Part) -> Panel {
        let [step, rows] = self.blocks.as_ref().map_or([1; 2], |of| {
            let shape = &SHAPES[of.shape];
            [shape.step(), shape.rows]
        });
        let first = [part.x.start / step * step, part.y.start / rows * rows];
        let width = part.x.end.next_multiple_of(step) - first[0];
        let rows = part.y.end.next_multiple_of(rows) - first[1];
        let row_bytes = ((width * self.element_bytes) as usize).next_multiple_of(LINE);
        let pitch = row_bytes as i64 / i64::from(self.element_bytes);
        let size = 4 * i64::from(self.channels);
        let origin = -size * (i64::from(first[0]) + i64::from(first[1]) * pitch);
        let each = self.panel_bytes() as usize;
        Panel { origin, pitch, bytes: pitch as usize * rows as usize * each, first, rows, row_bytes }
    }

    /// Where the part of a panel that has numbers ends; behind it are elements as they are stored, if those are no numbers.
    const fn split(&self, panel: &Panel) -> usize {
        if self.form.is_some() { panel.bytes - panel.row_bytes * panel.rows as usize } else { 0 }
    }

    /// Copies a part of the array into its panel.
    pub fn read(&self, bytes: &[u8], part: &Part, panel: &Panel, to: &mut [u8]) {
        let (numbers, elements) = to[..panel.bytes].split_at_mut(self.split(panel));
        if let Some(blocks) = &self.blocks {
            let shape = &SHAPES[blocks.shape];
            let rows = (panel.first[1]..).step_by(shape.rows as usize);
            for (y, to) in rows.zip(elements.chunks_exact_mut(panel.row_bytes * shape.rows as usize)) {
                let steps = (part.x.end - panel.first[0]).div_ceil(shape.step());
                if let Some(row) = blocks.row([panel.first[0], y], steps, bytes.len(), panel, to.len()) {
                    self.call(self.routines.blocks[blocks.shape][0], bytes.as_ptr(), to.as_ptr(), row);
                }
            }
        } else {
            panel.copy((bytes, self.pitch, self.element_bytes), part, elements);
        }
        self.convert(0, elements, numbers);
    }

    /// Copies a part out of its panel. `past_caches`: whole blocks pass the caches by; then [`Self::fence`] has to follow.
    pub fn write(&self, cells: &[AtomicU32], part: &Part, panel: &Panel, from: &mut [u8], past_caches: bool) {
        let (numbers, elements) = from[..panel.bytes].split_at_mut(self.split(panel));
        self.convert(1, numbers, elements);
        let Some(blocks) = &self.blocks else {
            return part.y.clone().for_each(|y| self.run(cells, part.x.clone(), y, (panel, elements), past_caches));
        };
        let past_caches = past_caches && cells.as_ptr().addr().is_multiple_of(LINE);
        let Shape { rows, columns, .. } = SHAPES[blocks.shape];
        let step = SHAPES[blocks.shape].step();
        // What consists of whole blocks, and what is left of it and right.
        let start = part.x.start.next_multiple_of(step).min(part.x.end);
        let end = (part.x.end / step * step).max(start);
        let routine = self.routines.blocks[blocks.shape][if past_caches { 2 } else { 1 }];
        for y in (panel.first[1]..part.y.end).step_by(rows as usize) {
            let is_whole = y >= part.y.start && y + rows <= part.y.end && start < end;
            if is_whole {
                let from = &elements[panel.offset([start, y], self.element_bytes)..];
                if let Some(row) = blocks.row([start, y], (end - start) / step, 4 * cells.len(), panel, from.len()) {
                    self.call(routine, cells.as_ptr().cast(), from.as_ptr(), row);
                }
            }
            for y in y.max(part.y.start)..(y + rows).min(part.y.end) {
                let sides = if is_whole { [part.x.start..start, end..part.x.end] } else { [part.x.clone(), 0..0] };
                for side in sides {
                    let mut x = side.start;
                    while x < side.end {
                        let next = (x / columns + 1) * columns;
                        self.run(cells, x..next.min(side.end), y, (panel, elements), false);
                        x = next;
                    }
                }
            }
        }
    }

    /// Copies elements that lie side by side out of a panel.
    fn run(&self, cells: &[AtomicU32], x: Range<u32>, y: u32, (panel, from): (&Panel, &[u8]), past_caches: bool) {
        let size = self.element_bytes as usize;
        let place = match &self.blocks {
            Some(blocks) => blocks.tiles.offset(x.start, y).map(|offset| offset as usize),
            None => Some((y as usize * self.pitch as usize + x.start as usize) * size),
        };
        let bytes = x.len() * size;
        let first = panel.offset([x.start, y], self.element_bytes);
        let (Some(place), Some(from)) = (place, from.get(first..first + bytes)) else { return };
        if place + bytes <= 4 * cells.len() {
            // Lines of the array.
            let address = cells.as_ptr().addr() + place;
            let before = (address.next_multiple_of(LINE) - address).min(bytes);
            let lines = if past_caches { (bytes - before) / LINE } else { 0 };
            let behind = before + lines * LINE;
            let parts = if lines > 0 { [0..before, behind..bytes] } else { [0..bytes, 0..0] };
            let routines = &self.routines.bytes;
            let move_some = |routine: usize, first: usize, count: usize| {
                let row = BlockRow { bytes: place + first, table: &ORDERS[0], count, within: 0, pitch: 0 };
                if count > 0 {
                    self.call(routines[routine], cells.as_ptr().cast(), from[first..].as_ptr(), row);
                }
            };
            parts.into_iter().for_each(|part| move_some(0, part.start, part.len()));
            move_some(1, before, lines);
        }
    }

    /// Whole lines from elements to numbers (0), or back (1).
    fn convert(&self, way: usize, from: &[u8], to: &mut [u8]) {
        let Some(form) = self.form else { return };
        let lines = if way == 0 { from.len() } else { to.len() } / LINE;
        let bytes = if way == 0 { to.len() } else { from.len() };
        let each = 4 * LINE / numbers(FORMS[form]).1 as usize;
        if lines > 0 && bytes >= lines * each {
            let table = &ORDERS[usize::from(FORMS[form] == Form::Words)];
            let row = BlockRow { bytes: 0, table, count: lines, within: 0, pitch: 0 };
            self.call(self.routines.forms[form][way], from.as_ptr(), to.as_ptr(), row);
        }
    }

    /// Ends stores that pass the caches by.
    pub fn fence(&self) {
        let row = BlockRow { bytes: 0, table: &ORDERS[0], count: 0, within: 0, pitch: 0 };
        self.call(self.routines.fence, ORDERS.as_ptr().cast(), ORDERS.as_ptr().cast(), row);
    }

    #[allow(unsafe_code, reason = "machine code is called")]
    fn call(&self, routine: usize, first: *const u8, second: *const u8, row: BlockRow<'_>) {
        let entry = self.routines.entry(routine);
        // SAFETY: callers have compared what the routine reads and writes with the slices that these pointers begin, of which those that it writes are
        // borrowed for that, or cells that other threads may write, but not the same bytes.
        unsafe { entry(first.wrapping_add(row.bytes), second, row.table.as_ptr(), row.count, row.within, row.pitch) }
    }
}
