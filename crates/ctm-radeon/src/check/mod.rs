//! Errors of a stream: those that the kernel would refuse it for, and mismatches of a draw's parts.
//!
//! The kernel checks a stream before the chip sees it, and answers with one error number for everything. The rules marked *kernel* here report its
//! refusals with their places. The others find errors that it lets through: programs, their links and their resources.
//!
//! `rules` is the table of rules, `checker` the state of a check. `packets` has the rules on packets, `surfaces` those on targets and textures,
//! `draws` those on the programs of a draw and on the registers at a draw.
//!
//! `r500` has the rules for that chip, whose kernel code is another one.
//!
//! A stream without a kernel, of a program that runs on the bare chip, has absolute addresses ([`check_absolute`]): the rules on relocations and on
//! registers that only the kernel may write do not apply; its addresses must be inside the given memory.

mod checker;
mod draws;
mod packets;
mod r500;
mod rules;
mod scratch;
mod surfaces;

use crate::chip::{Chip, Family};
use crate::execute::GpuMemory;
use crate::packets::{BadHeader, Operands, Packets, R700};
use crate::stream::Relocation;
use checker::{Checker, Placed};
use r500::R500Checker;
pub use rules::{Finding, RULES, StreamRule, rule};

/// The kernel's assumed values of registers before a stream writes them: name and value.
const UNTIL_WRITTEN: &[(&str, u32)] = &[
    ("CB_TARGET_MASK", u32::MAX),
    ("DB_DEPTH_SIZE", u32::MAX),
    ("DB_DEPTH_VIEW", 0xffff_c000),
    ("DB_DEPTH_CONTROL", u32::MAX),
    ("DB_DEPTH_INFO", 0x0200_0007),
];

/// Checks a stream of a chip. Without relocations the ends of buffers are not checked, without memory no programs.
#[must_use]
pub fn check_for(
    chip: &'static Chip,
    words: &[u32],
    relocations: Option<&[Relocation]>,
    memory: Option<&dyn GpuMemory>,
) -> Vec<Finding> {
    match chip.family {
        Family::R700 => check(words, relocations, memory),
        Family::R500 => {
            let mut checker = R500Checker::new(chip, relocations);
            each_packet(chip, words, true, |packet| match packet {
                Ok(mut placed) => {
                    checker.begin(placed.packet.at, placed.packet.draws());
                    checker.packet(&mut placed);
                }
                Err((at, bad)) => {
                    checker.begin(at, false);
                    checker.found("bad-packet", told(bad));
                }
            });
            checker.findings
        }
    }
}

/// Checks a stream of an R700. Without relocations the ends of buffers are not checked, without memory no programs.
#[must_use]
pub fn check(words: &[u32], relocations: Option<&[Relocation]>, memory: Option<&dyn GpuMemory>) -> Vec<Finding> {
    let mut checker = Checker::new(memory);
    checker.list = relocations;
    if relocations.is_some() {
        for &(name, value) in UNTIL_WRITTEN {
            if let Some(offset) = crate::registers::offset_of(name) {
                checker.registers.set(offset, value);
            }
        }
        for n in 0..8 {
            checker.registers.set(crate::registers::colour::CB_COLOR0_VIEW::REGISTER.at(n), u32::MAX);
        }
    }
    checker.run(words);
    checker.findings
}

/// Checks a stream with absolute addresses that no kernel sees. Without memory, the contents at its addresses are not checked.
#[must_use]
pub fn check_absolute(words: &[u32], memory: Option<&dyn GpuMemory>) -> Vec<Finding> {
    let mut checker = Checker::new(memory);
    checker.absolute = true;
    checker.run(words);
    checker.findings
}

/// A packet with its relocations, or the dword and the error of a bad header.
type Checked<'a> = Result<Placed<'a>, (usize, BadHeader)>;

/// Calls `each` with every packet, and with the relocations after it if the stream has them; at the end with the error of a bad header.
#[inline(always)]
fn each_packet<'w>(chip: &'static Chip, words: &'w [u32], relocated: bool, mut each: impl FnMut(Checked<'w>)) {
    let mut packets = Packets::of(chip, words);
    while let Some(packet) = packets.next() {
        each(packet.map(|packet| {
            let takes = relocated && packet.relocation().is_none();
            let operands = if takes { packets.operands() } else { Operands::default() };
            Placed { packet, operands, next: 0 }
        }));
    }
}

/// A bad header in words.
fn told(bad: BadHeader) -> String {
    let rest = match bad {
        BadHeader::TypeOne => "",
        BadHeader::Short { .. } => "; what follows cannot be read",
    };
    format!("{bad}{rest}")
}

impl Checker<'_> {
    fn run(&mut self, words: &[u32]) {
        each_packet(&R700, words, !self.absolute, |packet| match packet {
            Ok(mut placed) => {
                self.at = placed.packet.at;
                self.draws += u32::from(placed.packet.draws());
                self.in_draw = placed.packet.draws();
                self.packet(&mut placed);
            }
            Err((at, bad)) => {
                (self.at, self.in_draw) = (at, false);
                self.found("bad-packet", told(bad));
            }
        });
    }
}
