//! How much memory an answer takes: estimates from above of its large parts, from sizes that are known before anything is read.

use super::entries::Opened;
use ctm::Drawing;
use ctm::draw::{MeshSource, ProgramSource, TextureData};
use ctm::job::r700::Contents;
use ctm::job::{Data, Job, Pass};
use std::collections::BTreeMap;
use std::path::Path;

/// Memory bytes for each byte of a program's file, by its usual line length.
const OF_TEXT: u64 = 64;
/// Bytes for each line of a text: an instruction, or a finding.
const OF_LINE: u64 = 512;
/// Bytes for each word of a text while it is assembled, and as editors keep it.
const OF_WORD: [u64; 2] = [64, 56];
/// Bytes for each element of an output: in device memory, as an array, and as a picture in text.
const OF_ELEMENT: u64 = 16 + 16 + 16;
/// Bytes for each pixel of a target: in the order of the hardware and as colours, as an array, and as a picture.
const OF_PIXEL: u64 = 16 + 16 + OF_ELEMENT;
/// Bytes for each byte of a file of values, as it is and as an array in device memory.
const OF_VALUES: u64 = 4;
/// Bytes for each byte of a compressed texture: half a byte is a texel of four floats there.
const OF_TEXTURE: u64 = 32;
/// Bytes for each texel of a picture.
const OF_TEXEL: u64 = 48;
/// Bytes for each processor of a profile: three counts, two arrays, and their pictures.
const OF_PROCESSOR: u64 = 3 * 4 + 2 * (4 + 8);
/// Bytes for each byte of a capture or recording: itself, and the memory that its buffers fill.
const OF_CAPTURE: u64 = 8;
/// Bytes for each lane and instruction of a trace: places and values, and the same as JSON.
pub(super) const OF_STEP: u64 = 1536;

/// The words of a text, punctuation and comments included, and its lines.
fn counts(text: &str) -> [u64; 2] {
    let (mut words, mut lines, mut within) = (0, 1, false);
    for byte in text.bytes() {
        let is_word = byte.is_ascii_alphanumeric() || byte == b'_';
        words += u64::from(!(byte.is_ascii_whitespace() || within && is_word));
        lines += u64::from(byte == b'\n');
        within = is_word;
    }
    [words, lines]
}

/// Of assembling and checking a text.
pub(super) fn of_check(text: &str) -> u64 {
    let [words, lines] = counts(text);
    words * OF_WORD[0] + lines * OF_LINE + text.len() as u64 * 4
}

/// Of questions about a text.
pub(super) fn of_text(text: &str) -> u64 {
    of_check(text) + counts(text)[0] * OF_WORD[1]
}

/// Of formatting a text: the result is parsed as well.
pub(super) fn of_layout(text: &str) -> u64 {
    2 * of_text(text)
}

/// Of profiling the processors of a domain.
pub(super) const fn of_profile(processors: u64) -> u64 {
    processors * OF_PROCESSOR
}

/// Of running the open entry, and of its pictures.
pub(super) fn of_run(opened: &Opened) -> u64 {
    match opened {
        Opened::Job(job) => of_job(job),
        Opened::Drawing(drawing) => of_drawing(drawing),
        Opened::Capture(_, bytes) => bytes * OF_CAPTURE,
        Opened::Recording(path) => length(path) * OF_CAPTURE,
    }
}

fn length(path: &Path) -> u64 {
    ctm_files::length(path).unwrap_or(0)
}

/// Of a file of elements: a picture by its size in texels, which is in its first chunk.
fn of_file(path: &Path, of_byte: u64) -> u64 {
    let head = ctm_files::beginning(path, 24).unwrap_or_default();
    if head.len() == 24 && head.starts_with(b"\x89PNG") && head[12..16] == *b"IHDR" {
        let side = |at: usize| u64::from(u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]));
        return side(16).saturating_mul(side(20)).saturating_mul(OF_TEXEL);
    }
    length(path).saturating_mul(of_byte)
}

fn of_job(job: &Job) -> u64 {
    // Passes that write the same output write the same memory.
    let mut outputs = BTreeMap::new();
    let mut files = BTreeMap::new();
    let mut bytes = 0u64;
    for pass in &job.passes {
        for output in &pass.outputs {
            let [width, height] = output.size.unwrap_or([pass.domain.width(), pass.domain.height()]).map(u64::from);
            let elements = outputs.entry(&output.slot.value).or_insert(0u64);
            *elements = (*elements).max(width * height);
        }
        bytes = bytes.saturating_add(of_memories(pass));
        for (path, of_byte) in files_of(pass) {
            files.insert(path, of_file(path, of_byte));
        }
    }
    let elements: u64 = outputs.values().sum();
    files.values().fold(bytes.saturating_add(elements * OF_ELEMENT), |sum, &file| sum.saturating_add(file))
}

/// The memories of R700 passes.
fn of_memories(pass: &Pass) -> u64 {
    let memories = pass.r700().into_iter().flat_map(|own| &own.memories);
    let sizes = memories.filter_map(|memory| memory.size_bytes);
    sizes.fold(0, |sum, size| sum.saturating_add(size.saturating_mul(2)))
}

fn file(data: &Data) -> Option<&Path> {
    match data {
        Data::File(path) => Some(path),
        Data::Array(_) => None,
    }
}

fn files_of(pass: &Pass) -> Vec<(&Path, u64)> {
    let mut files = vec![(pass.program.value.as_path(), OF_TEXT)];
    for texture in &pass.textures {
        let data = texture.data().map(|data| &data.value);
        files.extend(data.filter_map(file).map(|path| (path, OF_TEXTURE)));
    }
    if let Some(own) = pass.r700() {
        let memories = own.memories.iter().filter_map(|memory| memory.data.as_ref()).map(|data| &data.value);
        let buffers = own.buffers.iter().map(|buffer| &buffer.contents);
        let contents = buffers.chain(own.constant_buffers.iter().map(|buffer| &buffer.contents));
        let data = contents.filter_map(|contents| match contents {
            Contents::Data(data) => Some(&data.value),
            Contents::Values(_) | Contents::Memory(_) => None,
        });
        files.extend(memories.chain(data).filter_map(file).map(|path| (path, OF_VALUES)));
    }
    files
}

fn of_drawing(drawing: &Drawing) -> u64 {
    let [width, height] = drawing.size.map(u64::from);
    let pixels = width * height;
    let samples = u64::from(drawing.samples);
    // Every sample is stored; one value a pixel is shown.
    let targets = drawing.targets.len() as u64 * pixels * (samples * 16 + OF_PIXEL);
    let depth = drawing.depth.iter().count() as u64 * pixels * (samples * 8 + 12);
    let mut files = BTreeMap::new();
    for draw in &drawing.draws {
        for program in &draw.programs {
            if let ProgramSource::File(path) = program {
                files.insert(path.as_path(), of_file(path, OF_TEXT));
            }
        }
        if let MeshSource::Named(name) = &draw.mesh {
            files.insert(Path::new(name), of_file(Path::new(name), OF_TEXTURE));
        }
        for texture in &draw.textures {
            if let TextureData::Files(paths) = &texture.data {
                files.extend(paths.iter().map(|path| (path.as_path(), of_file(path, OF_TEXTURE))));
            }
        }
    }
    files.values().fold(targets.saturating_add(depth), |sum, &file| sum.saturating_add(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_run_is_known_before_it() {
        let text = "program = \"a.x1k\"\ndomain = [0, 0, 4095, 4095]\n[[output]]\nslot = 0\n[[output]]\nslot = 1\n";
        let job = Job::parse(text, "job.toml", Path::new("nowhere")).unwrap();
        assert_eq!(of_job(&job), 2 * 4096 * 4096 * OF_ELEMENT);
        let drawing =
            Drawing::parse("programs = [\"a.vsh\", \"a.psh\"]\nsize = [100, 10]\n", "job.toml", Path::new("nowhere"));
        assert_eq!(of_drawing(&drawing.unwrap()), 1000 * (16 + OF_PIXEL + 8 + 12));
    }

    #[test]
    fn a_text_costs_by_its_words_and_lines() {
        assert_eq!(counts("l1: add r0.x, r1\n ; \u{fc}"), [11, 2]);
        assert!(of_check("") > 0 && of_layout("a b\n") > of_text("a b\n") && of_text("a b\n") > of_check("a b\n"));
    }

    #[test]
    fn a_picture_counts_by_its_texels() {
        let path = std::env::temp_dir().join(format!("ctm-cost-{}.png", std::process::id()));
        let mut head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        head.extend(20_000u32.to_be_bytes().into_iter().chain(10_000u32.to_be_bytes()));
        std::fs::write(&path, head).unwrap();
        assert_eq!(of_file(&path, 1), 20_000 * 10_000 * OF_TEXEL);
        let _ = std::fs::remove_file(&path);
    }
}
