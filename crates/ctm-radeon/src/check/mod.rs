//! What is wrong with a stream: what the kernel would refuse, and what does not fit together in a draw.
//!
//! The kernel checks a stream before the chip sees it, and answers with one error number for everything. The rules marked *kernel* here say what it would refuse, and
//! where. The others find what it lets through: programs, their links and their resources.
//!
//! `packets` has the rules on packets, `surfaces` those on targets and textures, `draws` those on the programs of a draw and on what is set when it comes.
//!
//! A stream without a kernel, of a program that runs on the bare chip, has absolute addresses ([`check_absolute`]): the rules on relocations, and on what only the
//! kernel may write, are not for it; its addresses have to lie in the memory that is given.

mod draws;
mod packets;
mod surfaces;

use crate::execute::{GpuMemory, Loaded, ProgramPlace, Registers};
use crate::packets::{BadHeader, Packet, Packets};
use crate::stream::Relocation;
use ctm_isa::diag::Severity;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// How serious its findings are. Errors are what the kernel refuses or what cannot work.
    pub severity: Severity,
    /// What it finds.
    pub doc: &'static str,
}

const fn error(name: &'static str, doc: &'static str) -> Rule {
    Rule { name, severity: Severity::Error, doc }
}

const fn warning(name: &'static str, doc: &'static str) -> Rule {
    Rule { name, severity: Severity::Warning, doc }
}

/// Every rule.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    error("bad-packet",             "kernel: a header of type 1, or a packet longer than its stream"),
    error("register-packet",        "kernel: a packet of type 0; registers are written by SET_ packets"),
    error("unknown-packet",         "kernel: an opcode that there is not"),
    error("refused-packet",         "kernel: a packet that only the kernel, another chip or a console may send"),
    error("packet-length",          "kernel: a packet with another number of words than it has"),
    error("missing-relocation",     "kernel: a packet with an address and no relocation behind it"),
    error("bad-relocation",         "kernel: a relocation that is not in the list, or no multiple of 4"),
    warning("extra-relocation",     "a relocation behind a packet that has no address for it"),
    error("register-range",         "kernel: a SET_ packet outside its range of registers"),
    error("unknown-register",       "kernel: a register that is not in the list of those that programs may write"),
    error("refused-register",       "kernel: a register that only packets or the kernel set"),
    error("bad-predication",        "kernel: SET_PREDICATION with an operation above 2"),
    error("bad-wait",               "kernel: WAIT_REG_MEM by the parser on a register"),
    error("bad-copy",               "kernel: CP_DMA to or from registers, or in place"),
    error("copied-register",        "kernel: COPY_DW to or from a register that programs may not write, or that the kernel keeps track of"),
    warning("unaligned-copy",       "COPY_DW at an address that is no multiple of 4"),
    error("unaligned-write",        "kernel: MEM_WRITE at an address that is no multiple of 8"),
    error("outside-buffer",         "kernel: CP_DMA, COPY_DW, MEM_WRITE or STRMOUT_BUFFER_UPDATE outside its buffer"),
    error("event-outside-buffer",   "an event, a fence, a wait or a predicate outside its buffer"),
    error("outside-memory",         "of absolute addresses: a packet, a program, a surface or a buffer outside the memory that there is"),
    error("resource-type",          "kernel: a fetch resource that is neither a texture nor a buffer"),
    error("texture-format",         "kernel: a texture with a format or an array mode that the chip does not have"),
    error("texture-alignment",      "kernel: pitch or address of a texture's levels is no multiple of what its array mode needs"),
    warning("texture-not-read",     "a texture that the kernel lets through and that is not read here"),
    error("texture-outside-buffer", "kernel: level 0 of a texture reaches behind its buffer"),
    warning("levels-outside-buffer","levels of a texture reach behind their buffer"),
    warning("buffer-outside-buffer","a fetch buffer reaches behind its buffer; the kernel makes it smaller"),
    error("stream-base",            "kernel: STRMOUT_BASE_UPDATE of a buffer above 3, of another base than VGT_STRMOUT_BUFFER_BASE, or at the end of its buffer"),
    error("stream-outside-buffer",  "kernel: a buffer of stream output reaches behind its buffer"),
    error("target-without-buffer",  "kernel: a target, its compression or a buffer of stream output that is written and has no relocation"),
    error("target-format",          "kernel: a target with a format or an array mode that targets cannot have"),
    error("target-alignment",       "kernel: pitch, height or address of a target is no multiple of what its array mode needs"),
    error("target-outside-buffer",  "kernel: a target reaches behind its buffer"),
    error("compression-outside-buffer", "kernel: CMASK, FMASK or HTILE reaches behind its buffer"),
    error("program-outside-buffer", "a program does not end within its buffer, or has an instruction that cannot be decoded"),
    error("few-registers",          "a program uses more registers than SQ_PGM_RESOURCES gives it"),
    error("ends-in-fetch",          "a fetch program has END_OF_PROGRAM: the program that calls it ends there"),
    warning("no-position",          "a vertex program exports no position"),
    warning("unmet-semantic",       "a pixel program's input has a semantic number that the vertex program does not export"),
    warning("same-semantic",        "two exports of the vertex program have the same semantic number"),
    warning("shared-input",         "two inputs of a pixel program go to the same register"),
    warning("export-without-target","a pixel program exports a colour that no target takes"),
    warning("export-mode",          "a pixel program exports more colours, or a depth, than SQ_PGM_EXPORTS_PS.EXPORT_MODE says"),
    warning("target-without-export","a target is written, and the pixel program does not export its colour"),
    warning("ignored-kill",         "a pixel program kills pixels, and KILL_ENABLE is not set"),
    warning("ignored-depth-export", "a pixel program exports depth, stencil or mask, and DB_SHADER_CONTROL does not take it"),
    warning("empty-scissor",        "a scissor, or all together, has no pixel"),
    warning("raster-operation",     "CB_COLOR_CONTROL.ROP3 is 0: every colour that is written becomes 0"),
    error("indices-outside-buffer", "indices lie behind their buffer"),
    warning("wrong-resource",       "a program fetches from a resource that is of the other kind, or not there"),
    warning("integer-blend",        "an integer target is blended"),
    warning("feedback",             "a program reads a texture that the same draw writes"),
];

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The dword of the packet's header.
    pub dword: usize,
    /// The number of the draw, from 1 on, if it is about one.
    pub draw: Option<u32>,
    /// The rule's name.
    pub rule: &'static str,
    /// How serious it is.
    pub severity: Severity,
    /// What was found and what is allowed.
    pub message: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.draw {
            Some(draw) => write!(f, "dword {}, draw {draw}: {}", self.dword, self.message),
            None => write!(f, "dword {}: {}", self.dword, self.message),
        }
    }
}

/// A stream that is being looked at.
struct Checker<'a> {
    /// The relocations, if they are known.
    list: Option<&'a [Relocation]>,
    memory: Option<&'a dyn GpuMemory>,
    registers: Registers,
    /// Addresses are absolute: there are no relocations.
    absolute: bool,
    /// The buffers of registers that took a relocation.
    bounds: HashMap<u32, Relocation>,
    /// Registers that the stream has written so far.
    written: HashSet<u32>,
    /// Programs that were read, or why not: memory does not change meanwhile.
    programs: HashMap<ProgramPlace, Result<Rc<Loaded>, String>>,
    at: usize,
    draws: u32,
    in_draw: bool,
    findings: Vec<Finding>,
}

/// A packet with the relocations behind it; `None` where one cannot be found in the list.
struct Placed<'a> {
    packet: Packet<'a>,
    operands: Vec<u32>,
    next: usize,
}

/// What the kernel takes registers to hold before a stream writes them: name and value.
const UNTIL_WRITTEN: &[(&str, u32)] = &[
    ("CB_TARGET_MASK", u32::MAX),
    ("DB_DEPTH_SIZE", u32::MAX),
    ("DB_DEPTH_VIEW", 0xffff_c000),
    ("DB_DEPTH_CONTROL", u32::MAX),
    ("DB_DEPTH_INFO", 7 | 1 << 25),
];

/// Looks at a stream. Without relocations nothing is said of buffers' ends, without memory nothing of programs.
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

/// Looks at a stream whose addresses are absolute and that no kernel sees. Without memory nothing is said of what lies at its addresses.
#[must_use]
pub fn check_absolute(words: &[u32], memory: Option<&dyn GpuMemory>) -> Vec<Finding> {
    let mut checker = Checker::new(memory);
    checker.absolute = true;
    checker.run(words);
    checker.findings
}

impl<'a> Checker<'a> {
    fn new(memory: Option<&'a dyn GpuMemory>) -> Self {
        Self {
            list: None,
            memory,
            registers: Registers::default(),
            absolute: false,
            bounds: HashMap::new(),
            written: HashSet::new(),
            programs: HashMap::new(),
            at: 0,
            draws: 0,
            in_draw: false,
            findings: Vec::new(),
        }
    }

    fn run(&mut self, words: &[u32]) {
        let mut packets = Packets::new(words).peekable();
        while let Some(packet) = packets.next() {
            match packet {
                Ok(packet) => {
                    let mut placed = Placed { packet, operands: Vec::new(), next: 0 };
                    self.at = packet.at;
                    if packet.relocation().is_none() && !self.absolute {
                        while let Some(operand) = packets.peek().and_then(|next| next.as_ref().ok()?.relocation()) {
                            packets.next();
                            placed.operands.push(operand);
                        }
                    }
                    self.draws += u32::from(packet.draws());
                    self.in_draw = packet.draws();
                    self.packet(&mut placed);
                }
                Err((at, bad)) => {
                    (self.at, self.in_draw) = (at, false);
                    let rest = match bad {
                        BadHeader::TypeOne => "",
                        BadHeader::Short { .. } => "; what follows cannot be read",
                    };
                    self.found("bad-packet", format!("{bad}{rest}"));
                }
            }
        }
    }

    /// Of absolute addresses: `bytes` bytes from `address` on have to lie in memory. `register` says what holds the address.
    fn reached(&mut self, what: &str, register: &str, address: u64, bytes: u64) {
        let Some(memory) = self.memory.filter(|_| self.absolute && bytes > 0) else { return };
        if memory.bytes(address, bytes).is_none() {
            let message =
                format!("{what}: {bytes} bytes at {address:#x} ({register}) lie outside the memory that is given");
            self.found("outside-memory", message);
        }
    }

    fn found(&mut self, rule: &'static str, message: String) {
        let severity = RULES.iter().find(|row| row.name == rule).map_or(Severity::Error, |row| row.severity);
        let draw = self.in_draw.then_some(self.draws);
        self.findings.push(Finding { dword: self.at, draw, rule, severity, message });
    }
}

/// The severity of a rule.
#[must_use]
pub fn rule(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|row| row.name == name)
}
