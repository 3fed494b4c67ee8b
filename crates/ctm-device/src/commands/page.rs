//! `docs/commands.md` and the pages beside it, made from the table.

use super::{Command, CommandKind, CommandUnit, Param, Reserved, Show, formats};
use crate::mc::{Format, Tiling};
use std::fmt::Write;

const HEAD: &str = "\
A command buffer is a run of commands in device memory. Each command is a header word and its parameters, all little-endian dwords.
The header is a PM4 type-3 packet: bits 31:30 are 3, bits 29:16 the number of parameters less one, bits 15:8 the opcode, bits 7:0 zero.

*Pipelined* commands may be issued at any time. The others must follow a `wait_for_idle` when a program was started before
them in the same buffer; checked mode reports where one is missing. Registers keep their values from one buffer to the next.

A word that is no command, a header with another number of parameters than the command takes, a buffer that ends within a command, a
reserved bit that is 1 and a number without a meaning stop the buffer at that command: the commands before it have been executed, the device can go
on with the next buffer. Reserved bits are not looked at where the table says *ignored*.

`ctm dis` prints a buffer in the form shown with each command, and `.word` for everything else.

";

const EXTENSIONS: &str = "
## What the extensions mean

### set_params

Programs that were made by a compiler receive interpolants. The address is that of three records `V0`, `V1`, `V2` of 32 single-precision
numbers each (36 when the device is opened with `ParamsStride::Floats36`): 0 and 1 are the record's position (x, y), 2 and 3 are not used,
4 + 4k to 7 + 4k are interpolant k. Interpolants are linear in the position and are taken at (i + 0.5, j + 0.5); for records at
(x0, y0), (x0 + 3w, y0), (x0, y0 + 3h) that is

    T(i, j) = V0 + (V1 - V0) * (i + 0.5 - x0) / (3w) + (V2 - V0) * (j + 0.5 - y0) / (3h)

computed in double precision and rounded once. Which temporary receives which interpolant is said by the program's rasteriser instructions
(`docs/image.md`). The records are read when a program starts that uses interpolants. The opcode that the hardware used is not public; 0x1d is
the first after the Guide's, and 0x01, the only free one below, is accepted too.

### set_inp_sampler

Without it an input is sampled as the Guide says: the nearest element, clamped to the edge, over the whole pitch.

| word | meaning |
|---|---|
| 0 | input, 0..15 |
| 1 | bit 0: 0 nearest, 1 linear; bits 9:8 columns and 17:16 rows outside: 0 clamp, 1 repeat, 2 mirror, 3 border |
| 2 | elements of a row that may be read; 0: the pitch |
| 3..6 | border colour r, g, b, a: bits of single-precision numbers |

It stays until the next `set_inp_sampler` for the same input; `set_inp_fmt` does not change it.

### set_planes

Temporaries hold values that are linear in (i, j) when a program starts. The address is that of `count` records of 104 bytes:

| bytes | type | meaning |
|---|---|---|
| 0..4 | u32 | temporary, 0..127 |
| 4..8 | u32 | bit 0: the value is rounded to an integer whose 32 bits are stored; else to a single-precision number |
| 8..40 | 4 x f64 | r, g, b, a at (0, 0) |
| 40..72 | 4 x f64 | their change per column |
| 72..104 | 4 x f64 | their change per row |

The records are read when a program starts, and applied after its rasteriser instructions. A count of 0 removes them.
";

const R700: &str = "\
An R700 device takes all commands; an X1K device stops at those of R700 devices. What commands of the Guide mean there:

| command | on an R700 device |
|---|---|
| `set_inst_fmt` | the program is an ELF image, of CAL or of LLVM's R600 back end, in place; of several programs the first |
| `set_inp_fmt`, `set_inp_sampler` | texture resource n, two-dimensional, of one level, and sampler n; 2x2 tilings are read as ordinary ones |
| `set_out_fmt` | the same as `set_export kind=pixel` |
| `set_out_mask` | for colours |
| `set_constf_fmt` | the constant file |
| `set_consti_fmt` | the loop constants, a byte each for count, first index and (signed) step |
| `set_constb_fmt` | the boolean constants |
| `set_cond_...` | location DPP: exports of pixel programs are tested; the conditional value is the x of the depth export, otherwise that of `set_cond_val`. \
Location PE with another test than ALWAYS stops the buffer at `start_program` |
| `set_params` | with `set_interpolants` |
| `set_planes` | registers 0..127 |

The last command that says something about a thing counts, whichever of them it is.

## Programs

`set_program` names words or an image in memory; `bytes=0` takes it away. Words are little-endian dwords, at most 1 MiB; images are at most 16 MiB.
`which=fetch` is what `CALL_FS` calls; without one it does nothing. Programs are read when they are first started after `set_program`,
`set_inst_fmt` or `inv_inst_cache`.

The stage is that of `set_stage`; before the first one, what the image says, else pixel. Pixel programs run over quads, all others row by row; threads are
numbered in that order. At the start R0 holds (i, j, 0, 0): numbers for pixel programs, integers for all others. Interpolants (`set_interpolants`) and
planes (`set_planes`) replace what registers hold, all others hold 0.

## Constants and resources

| command | what lies at the address |
|---|---|
| `set_loop_consts` | 32 dwords: bits 11:0 the count, 23:12 the first loop index, 31:24 the step, signed |
| `set_const_buffer` | constants of 16 bytes; beyond them 0 is read |
| `set_vtx_buffer` | items; what does not lie in its bytes reads 0 |
| `set_semantics` | dwords: bits 7:0 the SEMANTIC_ID, 15:8 the register that it writes |
| `set_texture` | texels: level by level, in each slice by slice, in each row by row. Rows of level n are `pitch >> n` texels apart, at least as many as it has in a row |

Tables of constants may be cut off by the end of their arena; what is cut off is 0. Textures of formats whose texels share bytes (compressed blocks, one bit, video) and those
with `gamma=1` are not padded: rows of one-bit texels begin at a byte, blocks are whole, and `pitch` is 0. They are read as a whole when a program first fetches from them.

After `select_resources set=alternate` these commands (and `set_inp_fmt`, `set_inp_sampler`) set the constant buffers, buffers, textures and samplers of another
program type, which clauses and fetches with ALT_CONST name, until `select_resources set=own`. They are copied when a program that names them starts.

`set_index_offsets` is added to the indices of vertex fetches: `vertex` where FETCH_TYPE is VERTEX_DATA, `instance` where it is INSTANCE_DATA.

## Memories

`set_memory` says where MEM instructions write and MEM_RD fetches read. The ring and the streams hold an item of `item` dwords for each thread, in the order of
threads; for the reduction buffer `item` is the number of elements of four dwords that each thread has. Scratch memory is each thread's own and lives as long as it does:
the command is accepted and has to name memory that exists, but nothing is stored there.

## Exports

`set_export` says where element (i, j) of a target goes, in the formats of the Guide; float formats store bits, so integers too. A height of 0 takes the target away.
A colour without a target is a fault when a thread exports it; depth, positions and parameters without one are dropped.

## Geometry programs

`EMIT_VERTEX`, `EMIT_CUT_VERTEX` and `CUT_VERTEX` are stored where `set_vertex_events` says. Dword 0 is the number of events of the last geometry launch, each
of the others one event: bits 11:0 i, 23:12 j of the thread, 31:30 what it was (1 emit, 2 emit and cut, 3 cut). Events of one thread come in order.
More events than there is room for are a fault. `ctm::device::strips` makes strips of them.

No stage starts another: a vertex program writes its ring, a geometry program reads it as a buffer of vertex fetches and writes another ring, and a copy program
reads that. `crates/ctm/examples/geometry_chain.rs` shows how.

## Interpolants

`set_interpolants` says that registers `first`.. receive interpolants 0..`count` of the records of `set_params` in pixel programs.
";

/// The head of each page.
const MADE: &str = "<!-- Made from crates/ctm-device/src/commands/table.rs by the test `device_docs`; UPDATE_EXPECT=1 writes it anew. -->";

/// The pages of `docs/` that are made from the table of commands: file name and text.
///
/// ```
/// let pages = ctm_device::commands::pages();
/// let (name, text) = &pages[0];
/// assert_eq!(*name, "commands.md");
/// assert!(text.contains("| `start_program` |"));
/// ```
#[must_use]
pub fn pages() -> Vec<(&'static str, String)> {
    let guide = |kind: CommandKind| !kind.info().extension && !kind.info().r700_only;
    let of_memory = |kind: CommandKind| kind.cite() == "CTM §2.2.2";
    let r700 = |kind: CommandKind| kind.info().r700_only;
    let in_pe = |kind: CommandKind| kind.info().unit == CommandUnit::Pe;
    let page = |title: &str, text: &str| format!("# {title}\n\n{MADE}\n\n{text}");
    let mut launch = page(
        "Commands: launches and tests",
        "Counters, domain, start, and conditional execution (CTM §2.2.1, §2.2.3).\n",
    );
    commands(&mut launch, |kind| guide(kind) && !of_memory(kind));
    let mut memory = page(
        "Commands: formats, caches and masks",
        "What lies where in memory, and what of it caches hold (CTM §2.2.2).\n",
    );
    commands(&mut memory, |kind| guide(kind) && of_memory(kind));
    let mut extensions = page("Commands: extensions", "These are not in the Guide. Both devices take them.\n");
    commands(&mut extensions, |kind| kind.info().extension && !r700(kind));
    extensions += EXTENSIONS;
    let mut programs = page("Commands of R700 devices", R700);
    programs += "\n## Parameters: programs and threads\n";
    commands(&mut programs, |kind| r700(kind) && in_pe(kind));
    let mut resources = page(
        "Commands of R700 devices: what lies in memory",
        "[Commands of R700 devices](commands-r700.md) says what lies at the addresses.\n",
    );
    commands(&mut resources, |kind| r700(kind) && !in_pe(kind));
    vec![
        ("commands.md", page("Commands", &overview())),
        ("commands-launch.md", launch),
        ("commands-memory.md", memory),
        ("commands-extensions.md", extensions),
        ("commands-r700.md", programs),
        ("commands-r700-memory.md", resources),
    ]
}

/// Common properties of all commands, and one line for each.
fn overview() -> String {
    let mut out = String::from(HEAD);
    out += "| command | word | pipelined | unit | device | what it does |\n|---|---|---|---|---|---|\n";
    for &kind in CommandKind::ALL {
        let info = kind.info();
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "| `{}` | `{:08X}` | {} | {} | {} | {} |",
            kind.name(),
            kind.header(),
            if info.pipelined { "yes" } else { "no" },
            info.unit.name(),
            if info.r700_only { "R700" } else { "both" },
            summary(kind)
        );
    }
    out += "\nThe headers `C0000200` and `C0000500`, which announce the one parameter that the Guide describes for `init_perf_counters` and\n";
    out += "`read_perf_counters`, are accepted too, and so is `C0000100` for `set_params`.\n\n## Parameters\n\n";
    out += "Each command's parameters, bit by bit: [launches and tests](commands-launch.md), [formats, caches and masks](commands-memory.md),\n";
    out += "[extensions](commands-extensions.md); of R700 devices [programs and threads](commands-r700.md) and [what lies in memory](commands-r700-memory.md).\n";
    out += "\n## Data formats and tilings\n\n| number | format | channels | bytes per element | |\n|---|---|---|---|---|\n";
    for &format in Format::ALL {
        let info = format.info();
        let bytes = info.element.bytes();
        let _ = writeln!(
            out,
            "| {} | `{}` | {} | {bytes} | {} |",
            format.code(),
            format.name(),
            info.channels,
            format.doc().trim()
        );
    }
    out += "\n| number | tiling | |\n|---|---|---|\n";
    for &tiling in Tiling::ALL {
        let _ = writeln!(out, "| {} | `{}` | {} |", tiling.code(), tiling.name(), tiling.doc().trim());
    }
    out
}

/// The parameters of these commands.
fn commands(out: &mut String, which: impl Fn(CommandKind) -> bool) {
    CommandKind::ALL.iter().filter(|kind| which(**kind)).for_each(|&kind| command(out, kind));
}

fn summary(kind: CommandKind) -> &'static str {
    kind.doc().trim()
}

fn command(out: &mut String, kind: CommandKind) {
    let cite = match kind.info() {
        info if info.r700_only => "extension, R700 devices",
        info if info.extension => "extension",
        _ => kind.cite(),
    };
    let _ = writeln!(out, "\n### `{}` ({cite})\n", kind.name());
    let _ = writeln!(
        out,
        "    {}\n",
        super::print(&Command::new(kind, &[]).words()).split(';').next().unwrap_or("").trim()
    );
    let _ = writeln!(out, "| parameter | bits | field | meaning |\n|---|---|---|---|");
    for (index, (param, format)) in formats(kind).enumerate() {
        for field in format.fields {
            let bits =
                if field.msb == field.lsb { field.lsb.to_string() } else { format!("{}:{}", field.msb, field.lsb) };
            let mut meaning = if ignored_whole(param) { "ignored".to_owned() } else { field.doc.trim().to_owned() };
            if !field.values.is_empty() && !ignored_whole(param) {
                let values: Vec<_> = field.values.iter().map(|v| format!("{} `{}`", v.code, v.name)).collect();
                let _ = write!(meaning, " {}", values.join(", "));
            }
            let _ = writeln!(out, "| {index} | {bits} | `{}` | {meaning} |", field.name);
            if ignored_whole(param) {
                break;
            }
        }
        if param.reserved == Reserved::Ignored && !ignored_whole(param) {
            let _ = writeln!(out, "| {index} | others | | ignored |");
        }
    }
}

/// Whether the whole word is ignored.
fn ignored_whole(param: &Param) -> bool {
    param.optional && param.show == Show::Hex && param.reserved == Reserved::Ignored
}
