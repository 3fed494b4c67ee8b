//! The rules (table), and the findings that they make.

use ctm_isa::diag::Severity;

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamRule {
    /// Its name.
    pub name: &'static str,
    /// How serious its findings are. An error is refused by the kernel or cannot work.
    pub severity: Severity,
    /// The problem that it finds.
    pub doc: &'static str,
}

const fn error(name: &'static str, doc: &'static str) -> StreamRule {
    StreamRule { name, severity: Severity::Error, doc }
}

const fn warning(name: &'static str, doc: &'static str) -> StreamRule {
    StreamRule { name, severity: Severity::Warning, doc }
}

/// Every rule.
#[rustfmt::skip]
pub const RULES: &[StreamRule] = &[
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
    error("refused-value",          "kernel: R500: a register with bits that only the owner of coarse depth or of the masks of tiles may set"),
    error("bad-walk",               "kernel: R500: a draw whose PRIM_WALK is 0, or does not fit its packet"),
    error("vertex-count",           "kernel: R500: a draw with another number of words than its vertices have"),
    error("array-count",            "kernel: R500: more than 16 arrays of vertices"),
    error("array-without-buffer",   "kernel: R500: a draw from arrays of vertices that have not been set"),
    error("array-outside-buffer",   "kernel: R500: the vertices of an array are larger than its buffer"),
    error("vertices-outside-buffer","R500: the last vertex of an array lies outside its buffer"),
    error("index-count",            "kernel: R500: more dwords of indices than their buffer has bytes"),
    error("index-port",             "R500: INDX_BUFFER writes another register than that of indices"),
    error("texture-without-buffer", "kernel: R500: a texture unit that is on and whose address had no relocation"),
    warning("no-render",            "R500: VAP_CNTL says that draws are ignored"),
    warning("missing-input",        "R500: a pixel program's input comes from an output that the vertex does not have"),
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
    /// The value and the allowed ones.
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

/// The rule with a name.
#[must_use]
pub fn rule(name: &str) -> Option<&'static StreamRule> {
    RULES.iter().find(|row| row.name == name)
}
