//! Every key of a job file: one row each. The reader, its suggestions and the test of `docs/jobs.md` are derived from here.
//!
//! ```
//! use ctm::job::keys::{self, For, Holds, Key, Section};
//!
//! let sections: [Section; 12] = [
//!     keys::JOB, keys::PASS, keys::PROGRAM_INFO, keys::REGISTER, keys::CONSTANTS, keys::CONSTANT_BUFFER, keys::BUFFER, keys::TEXTURE, keys::MEMORY,
//!     keys::OUTPUT, keys::CONDITIONAL, keys::RUN,
//! ];
//! assert!(keys::SECTIONS.len() >= sections.len());
//! let key: Option<&Key> = keys::JOB.keys.iter().find(|key| key.name == "program");
//! assert!(key.is_some_and(|key| key.isa == For::Both && key.holds == Holds::Input));
//! assert_eq!((keys::TEXTURE.key(), keys::JOB.key()), ("texture", ""));
//! ```

use super::tree::Tree;

/// Which programs a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// X1K and R700 programs.
    Both,
    /// X1K programs only.
    X1k,
    /// R700 programs only.
    R700,
}

/// The values of a key, as far as a reader of files and flags must know them without reading the job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holds {
    /// Numbers, words, tables.
    #[default]
    Values,
    /// True or false; 0 or 1 in a flag.
    Switch,
    /// A word that may look like a number in a flag.
    Word,
    /// The name of a file that is read, or a list of them.
    Input,
    /// The name of a file that is written, or a list of them.
    Output,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Which programs it is for.
    pub isa: For,
    /// Its meaning.
    pub summary: &'static str,
    /// Its values.
    pub holds: Holds,
}

impl Key {
    /// A key of values, for programs of both instruction sets.
    #[must_use]
    pub const fn new(name: &'static str, summary: &'static str) -> Self {
        Self { name, isa: For::Both, summary, holds: Holds::Values }
    }

    /// The same for values of another kind.
    #[must_use]
    pub const fn holds(self, holds: Holds) -> Self {
        Self { holds, ..self }
    }
}

use Holds::{Input, Output, Switch, Word};

/// The keys of one table.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// How the table is written, for messages.
    pub name: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

impl Section {
    /// The key under which the table lies; empty for the top of a file.
    #[must_use]
    pub fn key(&self) -> &'static str {
        let bare = self.name.trim_matches(['[', ']']);
        if bare.len() < self.name.len() { bare } else { "" }
    }
}

const fn both(name: &'static str, summary: &'static str) -> Key {
    Key::new(name, summary)
}

const fn x1k(name: &'static str, summary: &'static str) -> Key {
    Key { isa: For::X1k, ..Key::new(name, summary) }
}

const fn r700(name: &'static str, summary: &'static str) -> Key {
    Key { isa: For::R700, ..Key::new(name, summary) }
}

/// The top of the file.
#[rustfmt::skip]
pub const JOB: Section = Section { name: "the job", keys: &[
    both("isa",             "`x1k` or `r700`; may be left out when the program says it"),
    both("program",         "the program file").holds(Input),
    r700("which",           "the program of a container with several, by number or name").holds(Word),
    r700("stage",           "vertex, geometry, export, pixel, fetch, copy or compute"),
    r700("chip",            "rv710, rv730, rv740 or rv770"),
    r700("fetch_program",   "the file of the fetch subroutine that CALL_FS calls").holds(Input),
    r700("group_threads",   "threads of a group, which share the local data share"),
    r700("vertex_offset",   "index offset of vertex fetches of VERTEX_DATA"),
    r700("instance_offset", "index offset of vertex fetches of INSTANCE_DATA"),
    r700("global_gprs",     "SIMD-global registers"),
    r700("semantics",       "the register of each semantic number"),
    both("domain",          "i0, j0, i1, j1, inclusive"),
    both("repeat",          "how often all passes run, one after the other"),
    both("program_info",    "what bare words do not say themselves"),
    both("register",        "what registers hold at the start"),
    both("constants",       "float, int and bool constants"),
    r700("constant_buffer", "constant cache banks"),
    r700("buffer",          "buffers of vertex fetches"),
    both("texture",         "inputs"),
    r700("memory",          "scatter, scratch, ring, reduction and stream memory"),
    r700("vertices",        "the file for the list of vertices that a geometry program emits").holds(Output),
    both("output",          "outputs"),
    x1k ("conditional",     "the conditional operation unit"),
    both("run",             "engine, threads, group, budgets, checks"),
    both("slider",          "constants that a viewer may change"),
    both("pass",            "launches one after the other, each with what differs from the top of the file"),
] };

/// `[[pass]]`.
#[rustfmt::skip]
pub const PASS: Section = Section { name: "[[pass]]", keys: &[
    both("name",         "by which textures of later passes name this one").holds(Word),
    both("repeat",       "how often this pass runs before the next"),
    both("program",      "the program file").holds(Input),
    r700("which",        "the program of a container with several, by number or name").holds(Word),
    r700("stage",        "vertex, geometry, export, pixel, fetch, copy or compute"),
    r700("chip",         "rv710, rv730, rv740 or rv770"),
    r700("fetch_program", "the file of the fetch subroutine that CALL_FS calls").holds(Input),
    r700("group_threads", "threads of a group, which share the local data share"),
    r700("vertex_offset", "index offset of vertex fetches of VERTEX_DATA"),
    r700("instance_offset", "index offset of vertex fetches of INSTANCE_DATA"),
    r700("global_gprs",  "SIMD-global registers"),
    r700("semantics",    "registers of semantic numbers, added to the job's"),
    both("domain",       "i0, j0, i1, j1, inclusive"),
    both("program_info", "what bare words do not say themselves"),
    both("register",     "what registers hold at the start"),
    both("constants",    "constants that differ from the job's"),
    r700("constant_buffer", "constant cache banks that differ from the job's"),
    r700("buffer",       "buffers that differ from the job's"),
    both("texture",      "inputs that differ from the job's"),
    r700("memory",       "memories that begin anew in this pass"),
    r700("vertices",     "the file for the list of vertices that this pass emits").holds(Output),
    both("output",       "outputs that differ from the job's"),
    x1k ("conditional",  "the conditional unit where it differs from the job's"),
] };

/// `[program_info]`.
#[rustfmt::skip]
pub const PROGRAM_INFO: Section = Section { name: "[program_info]", keys: &[
    x1k ("first",               "first instruction"),
    x1k ("last",                "last instruction, inclusive"),
    x1k ("full_flow_control",   "US_FC_CTRL bit 31").holds(Switch),
    x1k ("zero_times_anything", "US_CONFIG bit 1").holds(Switch),
    x1k ("uncached",            "US_CONFIG bit 0").holds(Switch),
    r700("gprs",                "general purpose registers"),
    r700("stack",               "stack entries"),
] };

/// `[[register]]`.
#[rustfmt::skip]
pub const REGISTER: Section = Section { name: "[[register]]", keys: &[
    both("index",  "the register"),
    both("origin", "value at (0, 0), four channels"),
    both("di",     "change per column, four channels"),
    both("dj",     "change per row, four channels"),
    both("bits",   "true: the four channels are integers, not floats").holds(Switch),
] };

/// `[constants]`.
#[rustfmt::skip]
pub const CONSTANTS: Section = Section { name: "[constants]", keys: &[
    both("float", "four numbers each, by index or by the program's name"),
    both("int",   "count, initial aL, step each, by index or by the program's name; loop constants of the R700"),
    both("bool",  "true or false each, by index or by the program's name"),
] };

/// `[[constant_buffer]]`.
#[rustfmt::skip]
pub const CONSTANT_BUFFER: Section = Section { name: "[[constant_buffer]]", keys: &[
    r700("bank",           "0 to 15"),
    r700("fetch_resource", "the vertex-fetch resource that shows it too"),
    r700("values",         "rows of four numbers"),
    r700("data",           "a file instead of `values`").holds(Input),
] };

/// `[[buffer]]`.
#[rustfmt::skip]
pub const BUFFER: Section = Section { name: "[[buffer]]", keys: &[
    r700("slot",         "the buffer, by number or by the program's name"),
    r700("values",       "rows of four numbers"),
    r700("data",         "a file instead of `values`, its items as they are").holds(Input),
    r700("memory",       "what this memory holds when the pass begins"),
    r700("stride_bytes", "from one item to the next"),
    r700("format",       "for fetches that take the format from the buffer"),
] };

/// `[[texture]]`.
#[rustfmt::skip]
pub const TEXTURE: Section = Section { name: "[[texture]]", keys: &[
    both("slot",    "the input, by index or by the program's name"),
    both("sampler", "the sampler; an X1K input carries its own sampler state, so there the key is not looked at"),
    both("data",    "the file with its elements").holds(Input),
    both("output",  "read what this output holds instead; `data` then serves until an output has been written"),
    both("pass",    "with `output`: the pass whose output it is; else the latest").holds(Word),
    both("filter",  "nearest or linear"),
    both("wrap",    "repeat, mirror, clamp or border, for columns and rows"),
    both("border",  "what `border` reads outside, four numbers"),
    both("format",  "how it lies in device memory"),
    x1k ("tiling",  "linear, tiled, linear_inp_2x2 or tiled_inp_2x2"),
    both("size",    "columns and rows of a raw file"),
    r700("kind",    "1d, 2d, 3d, cube, 1d_array, 2d_array or cube_array"),
    r700("depth",   "slices, layers or faces, one behind the other in the rows of the file"),
    r700("levels",  "files of mipmap levels 1 and up").holds(Input),
    r700("minify",  "filter where the texture is drawn smaller than it is"),
    r700("mip",     "none, nearest or linear: how a level is chosen"),
    r700("min_lod", "smallest level of detail"),
    r700("max_lod", "largest level of detail"),
    r700("lod_bias", "added to computed levels of detail"),
    r700("compare", "never, less, less_equal, equal, greater_equal, greater, not_equal or always"),
    r700("anisotropy", "most lookups along the longer gradient, 1 to 16"),
    r700("seamless", "filters of cubes go over edges").holds(Switch),
] };

/// `[[memory]]`.
#[rustfmt::skip]
pub const MEMORY: Section = Section { name: "[[memory]]", keys: &[
    r700("kind",       "scatter, scratch, reduction, ring or stream0 to stream3"),
    r700("size_bytes", "its size"),
    r700("data",       "initial contents").holds(Input),
    r700("save",       "where the contents go").holds(Output),
    r700("type",       "float32, float64, int32 or uint32: what is saved"),
    r700("shape",      "columns, or rows and columns, or rows, columns and channels of what is saved"),
    r700("item_dwords", "ring and streams: dwords from one thread's item to the next"),
    r700("stride",     "reduction: elements of four dwords that each thread has"),
] };

/// `[[output]]`.
#[rustfmt::skip]
pub const OUTPUT: Section = Section { name: "[[output]]", keys: &[
    both("slot",   "the output, by index or by the program's name"),
    both("save",   "the file it goes to").holds(Output),
    both("clear",  "contents before the run, four numbers"),
    both("format", "how it lies in device memory"),
    x1k ("tiling", "linear, tiled, linear_inp_2x2 or tiled_inp_2x2"),
    both("size",   "columns and rows in memory, if not those of the domain"),
    both("mask",   "channels that are written, such as `rgb`"),
    both("flip_y", "save the last row first").holds(Switch),
] };

/// `[conditional]`.
#[rustfmt::skip]
pub const CONDITIONAL: Section = Section { name: "[conditional]", keys: &[
    x1k("location", "dpp or pe"),
    x1k("test",     "never, less, less_equal, equal, greater_equal, greater, not_equal or always"),
    x1k("value",    "what the PE compares (set_cond_val)"),
    x1k("buffer",   "the file with the buffer's initial contents").holds(Input),
    x1k("clear",    "initial contents without a file"),
    x1k("write",    "whether the buffer is written (set_cond_out_mask)").holds(Switch),
    x1k("save",     "where the buffer goes").holds(Output),
] };

/// `[run]`.
#[rustfmt::skip]
pub const RUN: Section = Section { name: "[run]", keys: &[
    both("engine",              "interp, jit or verify"),
    both("threads",             "0: all cores"),
    both("group",               "lanes that decide a jump together"),
    both("budget_instructions", "per group; 0: none"),
    both("budget_seconds",      "of each launch; 0: none"),
    both("check",               "hazard, uninitialised-read, bounds and cache checks while running").holds(Switch),
] };

/// `[[slider]]`, of jobs and draw jobs.
#[rustfmt::skip]
pub const SLIDER: Section = Section { name: "[[slider]]", keys: &[
    both("constant", "the constant, as in `constants`"),
    both("element",  "which of its numbers, from 0"),
    both("from",     "the least value"),
    both("to",       "the largest value"),
    both("seconds",  "how long it takes from the least to the largest value when it is played"),
] };

/// All tables.
pub const SECTIONS: &[&Section] = &[
    &JOB,
    &PASS,
    &PROGRAM_INFO,
    &REGISTER,
    &CONSTANTS,
    &CONSTANT_BUFFER,
    &BUFFER,
    &TEXTURE,
    &SLIDER,
    &MEMORY,
    &OUTPUT,
    &CONDITIONAL,
    &RUN,
];

/// The keys that only draw jobs have, one of which each has.
pub const DRAW_KEYS: [&str; 2] = ["programs", "draw"];

/// Whether a text is a draw job, and no other job, by its keys.
#[must_use]
pub fn is_draw_job(text: &str) -> bool {
    Tree::parse(text).0.has_one_of(&DRAW_KEYS)
}
