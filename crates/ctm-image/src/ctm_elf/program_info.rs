//! The 28 words of the program information note (CTM §4.1.4), every field, as tables.
//!
//! *The Guide calls words 0 and 7 to 26 reserved and gives their values. Words 7 to 23 are the rasteriser's: how many of
//! its instructions there are, and the start value that each writes to a temporary. The Guide's values say
//! "one instruction: the index pair to r0 as (i, j, 0, 0)". Programs with interpolated inputs differ there.*

use ctm_isa::table::WordFormat;
use ctm_isa::x1k::program::Preload;
use ctm_isa::{ops, word_format};

/// Words of the program information.
pub const WORDS: usize = 28;
/// Rasteriser instructions that the program information holds.
pub const RASTERISER_INSTRUCTIONS: usize = 16;

/// The words of the program information, as they are in the file.
pub type InfoWords = [u32; WORDS];

word_format! {
    /// A word that the Guide reserves: 1 in the first word, 0 in words 24 to 26.
    pub struct Reserved "RESERVED" dword 0 cite "CTM §4.1.4" {
        /// Not interpreted.
        31:0    value: u32 = "VALUE";
    }
}

word_format! {
    /// Where the conditional value comes from.
    pub struct FgDepthSrc "FG_DEPTH_SRC" dword 1 cite "CTM §4.1.4" {
        /// The program exports a conditional value.
        0:0     conditional_value: bool = "DEPTH_SRC";
        reserved 31:1;
    }
}

word_format! {
    /// How the processors work.
    pub struct UsConfig "US_CONFIG" dword 2 cite "CTM §4.1.4" {
        /// Output writes are uncached.
        0:0     uncached: bool = "UNCACHED";
        /// Zero times anything is zero.
        1:1     zero_times_anything: bool = "ZERO_TIMES_ANYTHING_EQUALS_ZERO";
        reserved 31:2;
    }
}

word_format! {
    /// How many temporaries a processor needs.
    pub struct UsPixsize "US_PIXSIZE" dword 3 cite "CTM §4.1.4" {
        /// The largest temporary that the program uses.
        6:0     largest_temp: u8 = "PIX_SIZE";
        reserved 31:7;
    }
}

word_format! {
    /// Flow-control mode.
    pub struct UsFcCtrl "US_FC_CTRL" dword 4 cite "CTM §4.1.4" {
        /// For the chip's tests; no effect.
        30:30   test: bool = "TEST_EN";
        /// Full flow control; partial otherwise.
        31:31   full: bool = "FULL_FC_EN";
        reserved 29:0;
    }
}

word_format! {
    /// Where the program begins and ends.
    pub struct UsCodeAddr "US_CODE_ADDR" dword 5 cite "CTM §4.1.4" {
        /// The instruction where execution begins.
        15:0    first: u16 = "START_ADDR";
        /// The instruction after which to halt.
        31:16   last: u16 = "END_ADDR";
    }
}

word_format! {
    /// Which instruction slots the program takes.
    pub struct UsCodeRange "US_CODE_RANGE" dword 6 cite "CTM §4.1.4" {
        /// The first slot; 0 by the Guide.
        15:0    base: u16 = "CODE_ADDR";
        /// The number of instructions minus 1.
        31:16   size: u16 = "CODE_SIZE";
    }
}

word_format! {
    /// How many rasteriser instructions there are.
    pub struct RsInstCount "RS_INST_COUNT" dword 7 cite "R5xx rs_inst_count" {
        /// The number of instructions minus 1.
        3:0     inst_count: u8 = "INST_COUNT";
        /// Distance between colour and texture addresses; compilers write 6. No effect here.
        7:5     tx_offset: u8 = "TX_OFFSET";
        reserved 4:4, 31:8;
    }
}

ops! {
    /// The value that a rasteriser instruction writes to its colour address.
    pub enum ColourWrite cite "R5xx rs_inst" {
        /// Nothing.
        None "NONE" 0;
        /// An interpolated colour; CTM has none.
        Colour "COLOUR" 1;
        /// The position in the domain, as `(i, j, 0, 0)`.
        Position "FBUFFER_XY00" 2;
        /// Which face is seen; CTM has none.
        Backface "BACKFACE_B000" 3;
    }
}

word_format! {
    /// One rasteriser instruction: up to two writes to temporaries before the program begins.
    pub struct RsInst "RS_INST" dword 8 cite "R5xx rs_inst" {
        /// Which interpolant.
        3:0     tex_id: u8 = "TEX_ID";
        /// Write the interpolant.
        4:4     tex_cn: bool = "TEX_CN";
        /// The temporary for the interpolant.
        11:5    tex_addr: u8 = "TEX_ADDR";
        /// Which colour.
        15:12   col_id: u8 = "COL_ID";
        /// The value of the colour address.
        17:16   col_cn: ColourWrite = "COL_CN";
        /// The temporary for it.
        24:18   col_addr: u8 = "COL_ADDR";
        /// Sample positions of the interpolant are adjusted; no effect here.
        25:25   tex_adj: bool = "TEX_ADJ";
        /// Writes W; no effect here.
        26:26   w_cn: bool = "W_CN";
        reserved 31:27;
    }
}

word_format! {
    /// How long the program is.
    pub struct InstrCnt "INSTR_CNT" dword 27 cite "CTM §4.1.4" {
        /// The number of instructions.
        31:0    count: u32 = "INSTR_CNT";
    }
}

/// The 28 words in order: how many equal words follow each other, and their format.
pub const TABLE: &[(usize, WordFormat)] = &[
    (1, Reserved::FORMAT),
    (1, FgDepthSrc::FORMAT),
    (1, UsConfig::FORMAT),
    (1, UsPixsize::FORMAT),
    (1, UsFcCtrl::FORMAT),
    (1, UsCodeAddr::FORMAT),
    (1, UsCodeRange::FORMAT),
    (1, RsInstCount::FORMAT),
    (RASTERISER_INSTRUCTIONS, RsInst::FORMAT),
    (3, Reserved::FORMAT),
    (1, InstrCnt::FORMAT),
];

/// Each word's index, name and format: `RS_INST_0` to `RS_INST_15` and the reserved words carry a number.
pub fn words() -> impl Iterator<Item = (usize, String, WordFormat)> {
    let mut index = 0;
    TABLE.iter().flat_map(move |&(count, format)| {
        let start = index;
        index += count;
        (0..count).map(move |i| {
            let number = if count == RASTERISER_INSTRUCTIONS { i } else { start + i };
            let name = match format.name {
                "RS_INST" | "RESERVED" => format!("{}_{number}", format.name),
                name => name.to_owned(),
            };
            (start + i, name, format)
        })
    })
}

const _: () = {
    // A word's place in the table is the place that its format states.
    let (mut row, mut index) = (0, 0);
    while row < TABLE.len() {
        let (count, format) = TABLE[row];
        assert!(index == format.dword || format.dword == 0, "a word is not where its format says");
        index += count;
        row += 1;
    }
    assert!(index == WORDS, "the program information has 28 words");
};

/// The rasteriser's words, 7 to 23, for `preloads`; `None` when there are too many.
///
/// A position followed by an interpolant shares an instruction.
#[must_use]
pub fn rasteriser_words(preloads: &[Preload]) -> Option<Vec<u32>> {
    const IDLE: RsInst = RsInst {
        tex_id: 0,
        tex_cn: false,
        tex_addr: 0,
        col_id: 0,
        col_cn: ColourWrite::None,
        col_addr: 0,
        tex_adj: false,
        w_cn: false,
    };
    let mut instructions = Vec::new();
    let mut rest = preloads.iter().copied().peekable();
    while let Some(preload) = rest.next() {
        let mut inst = IDLE;
        let interpolant = match preload {
            Preload::Position { temp } => {
                (inst.col_cn, inst.col_addr) = (ColourWrite::Position, temp);
                rest.next_if(|next| matches!(next, Preload::Interpolant { .. }))
            }
            Preload::Interpolant { .. } => Some(preload),
        };
        if let Some(Preload::Interpolant { index, temp }) = interpolant {
            (inst.tex_cn, inst.tex_id, inst.tex_addr) = (true, index, temp);
        }
        instructions.push(inst.encode());
    }
    if instructions.len() > RASTERISER_INSTRUCTIONS {
        return None;
    }
    let count = RsInstCount { inst_count: instructions.len().saturating_sub(1) as u8, tx_offset: 6 };
    instructions.resize(RASTERISER_INSTRUCTIONS, 0);
    instructions.insert(0, count.encode());
    Some(instructions)
}

/// The writes of the rasteriser's words, in order. The second part names the words whose writes CTM has not.
#[must_use]
pub fn preloads(words: &InfoWords) -> (Vec<Preload>, Vec<usize>) {
    let first = RsInstCount::FORMAT.dword;
    // Every number has a meaning in both formats.
    let count = RsInstCount::decode(words[first]).map_or(0, |c| usize::from(c.inst_count)) + 1;
    let (mut preloads, mut unknown) = (Vec::new(), Vec::new());
    for index in (first + 1..).take(count) {
        let Ok(inst) = RsInst::decode(words[index]) else { continue };
        match inst.col_cn {
            ColourWrite::None => {}
            ColourWrite::Position => preloads.push(Preload::Position { temp: inst.col_addr }),
            ColourWrite::Colour | ColourWrite::Backface => unknown.push(index),
        }
        if inst.tex_cn {
            preloads.push(Preload::Interpolant { index: inst.tex_id, temp: inst.tex_addr });
        }
    }
    (preloads, unknown)
}
