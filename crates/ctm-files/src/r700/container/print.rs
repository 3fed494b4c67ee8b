//! Containers as text.

use super::super::gfd::{copy_program, described_program};
use super::{DATA_LINE, Document, FILE_HEAD, block, head_of, stage_named, usual_head};
use ctm_image::r700::ExtractedProgram;
use ctm_image::r700::ShaderStage as CodeStage;
use ctm_image::r700::gfd::header::HeaderLayout;
use ctm_image::r700::gfd::print::Described;
use ctm_image::r700::gfd::{BlockKind, Gfd, GfdBlock, Shader};
use ctm_image::{Kind, identify};
use ctm_isa::diag::Span;
use ctm_isa::r700::program::{Program, Setting};
use ctm_isa::r700::text::{TextOptions, disassemble};
use std::fmt::Write as _;

/// The text of a file that is a GFD container; `None` of other files, and of those that cannot be read.
#[must_use]
pub fn gfd_text(bytes: &[u8]) -> Option<String> {
    if identify(bytes) != Kind::Gfd {
        return None;
    }
    Gfd::read(bytes).ok().map(|container| print_gfd(&container))
}

/// A container as text. `ctm asm` makes the same bytes of it.
#[must_use]
pub fn print_gfd(container: &Gfd) -> String {
    let mut out = String::from(".container gfd");
    if container.header[2..] != FILE_HEAD {
        let _ = write!(out, " HEAD({})", list(&container.header[2..]));
    }
    out.push('\n');
    let shaders = container.shaders().unwrap_or_default();
    let mut at = 0;
    while let Some(one) = container.blocks.get(at) {
        let shader = |index: usize| shaders.iter().find(|s| s.program == index);
        let is_header = one.kind().and_then(HeaderLayout::of).is_some();
        let with_header = shader(at + 1).filter(|s| is_header && s.header == Some(at));
        if let Some((text, blocks)) = with_header.and_then(|s| whole_program(container, at, s, shader(at + 2))) {
            out.push_str(&text);
            at += blocks;
        } else if let Some(shader) = shader(at).filter(|s| stage_named(s.code.stage).is_some()) {
            let heads =
                if head_of(one) == usual_head(at) { String::new() } else { format!(" WORDS({})", list(&head_of(one))) };
            let _ = write!(
                out,
                "\n.program {} NO_HEADER{heads}\n{}",
                shader.code.stage.name(),
                listing(&shader.code, Vec::new())
            );
            at += 1;
        } else {
            let closes = one.kind() == Some(BlockKind::End) && one.data.is_empty() && at + 1 == container.blocks.len();
            if !(closes && *one == GfdBlock { at: one.at, ..block(BlockKind::End.code(), usual_head(at), Vec::new()) })
            {
                let kind = one.kind().map_or_else(|| one.header[4].to_string(), |kind| kind.name().to_owned());
                let _ = writeln!(out, "\n.block {kind} HEAD({})", list(&head_of(one)));
                data_lines(&mut out, &one.data);
            }
            at += 1;
        }
    }
    if container.blocks.last().and_then(GfdBlock::kind) != Some(BlockKind::End) {
        out.push_str("\n.open\n");
    }
    if !container.rest.is_empty() {
        out.push_str("\n.rest\n");
        data_lines(&mut out, &container.rest);
    }
    out
}

fn list(words: &[u32]) -> String {
    words.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn data_lines(out: &mut String, data: &[u8]) {
    for line in data.chunks(DATA_LINE) {
        let bytes: Vec<String> = line.iter().map(|b| format!("{b:02X}")).collect();
        let _ = writeln!(out, ".data {}", bytes.join(" "));
    }
}

pub(super) fn listing(code: &ExtractedProgram, settings: Vec<(String, String)>) -> String {
    let settings = settings.into_iter().map(|(name, value)| Setting { name, value, span: Span::default() }).collect();
    disassemble(&Program { settings, ..code.program() }, &TextOptions::default())
}

/// The header block at `at` and its words as text, if the text reproduces both, and their count of blocks. A copy program after a geometry
/// program belongs to its header.
fn whole_program(container: &Gfd, at: usize, shader: &Shader, next: Option<&Shader>) -> Option<(String, usize)> {
    let copy = next.filter(|n| n.code.stage == CodeStage::Copy && n.header == Some(at));
    let settings = settings_of(container, shader, copy)?;
    let mut out = String::new();
    let mut blocks = 0;
    for one in [Some(shader), copy].into_iter().flatten() {
        let first = blocks == 0;
        let mut heads = String::new();
        if first {
            let head = head_of(&container.blocks[at]);
            if head != usual_head(at) {
                let _ = write!(heads, " HEAD({})", list(&head));
            }
            blocks += 1;
        }
        let head = head_of(&container.blocks[at + blocks]);
        if head != usual_head(at + blocks) {
            let _ = write!(heads, " WORDS({})", list(&head));
        }
        let said = if first { settings.clone() } else { Vec::new() };
        let _ = write!(out, "\n.program {}{heads}\n{}", one.code.stage.name(), listing(&one.code, said));
        blocks += 1;
    }
    // The text, assembled again.
    let text = format!(".container gfd\n{out}");
    let again = Document::read(&text, "the container's text", &TextOptions::default()).ok()?.blocks(at).ok()?;
    let same = |(a, b): (&GfdBlock, &GfdBlock)| a.header == b.header && a.data == b.data;
    (again.len() >= blocks && again[..blocks].iter().zip(&container.blocks[at..]).all(same)).then_some((out, blocks))
}

/// The settings for header values of a program that do not follow from its words.
fn settings_of(container: &Gfd, shader: &Shader, copy: Option<&Shader>) -> Option<Vec<(String, String)>> {
    let header = container.blocks.get(shader.header?)?;
    let layout = header.kind().and_then(HeaderLayout::of)?;
    let described = Described::of(header, layout).ok()?;
    let mut base = described_program(&shader.code.program(), shader.code.stage, &described);
    if let Some(copy) = copy {
        copy_program(&mut base, &copy.code.program());
    }
    described.settings(layout, &base.code.registers)
}

/// The settings of a container's program, by its place in [`Gfd::shaders`]: as far as its header's values have names.
pub(in crate::r700) fn settings_at(container: &Gfd, index: usize) -> Vec<Setting> {
    let shaders = container.shaders().unwrap_or_default();
    let Some(shader) = shaders.get(index).filter(|s| s.code.stage != CodeStage::Copy) else { return Vec::new() };
    let copy = shaders.get(index + 1).filter(|s| s.code.stage == CodeStage::Copy && s.header == shader.header);
    let found = settings_of(container, shader, copy).unwrap_or_default();
    found.into_iter().map(|(name, value)| Setting { name, value, span: Span::default() }).collect()
}
