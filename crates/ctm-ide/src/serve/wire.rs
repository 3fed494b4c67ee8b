//! Questions and answers of the page. `editors/page/src/wire.ts` has the same types for its script, written by the test below.

use super::numbers::OutputFloats;
#[cfg(test)]
use super::question::{Files, Question};
use serde::Serialize;
#[cfg(test)]
use std::collections::BTreeMap;

/// A type with a name in TypeScript.
#[cfg(test)]
pub(super) trait Typed {
    /// Its name there.
    fn name() -> String;
}

#[cfg(test)]
macro_rules! named {
    ($($name:literal: $($type:ty)*;)*) => {
        $($(impl Typed for $type {
            fn name() -> String {
                $name.to_owned()
            }
        })*)*
    };
}

#[cfg(test)]
named! {
    "number": u8 u16 u32 u64 usize f64;
    "string": String &'static str;
    "string | Float32Array": OutputFloats;
    "boolean": bool;
    "Record<string, string>": Files;
    "Question": Question;
}

#[cfg(test)]
impl<T: Typed> Typed for Option<T> {
    fn name() -> String {
        format!("{} | null", T::name())
    }
}

#[cfg(test)]
impl<T: Typed> Typed for Vec<T> {
    fn name() -> String {
        format!("({})[]", T::name())
    }
}

#[cfg(test)]
impl<T: Typed, const N: usize> Typed for [T; N] {
    fn name() -> String {
        format!("[{}]", vec![T::name(); N].join(", "))
    }
}

#[cfg(test)]
impl<A: Typed, B: Typed> Typed for (A, B) {
    fn name() -> String {
        format!("[{}, {}]", A::name(), B::name())
    }
}

#[cfg(test)]
impl<A: Typed, B: Typed, C: Typed> Typed for (A, B, C) {
    fn name() -> String {
        format!("[{}, {}, {}]", A::name(), B::name(), C::name())
    }
}

#[cfg(test)]
impl<T: Typed> Typed for BTreeMap<String, T> {
    fn name() -> String {
        format!("Record<string, {}>", T::name())
    }
}

macro_rules! wire {
    ($($(#[$of_type:meta])* struct $name:ident { $($(#[doc = $doc:literal])* $field:ident: $type:ty,)* })*) => {
        $($(#[$of_type])*
        #[derive(Clone, Debug, Serialize)]
        pub(super) struct $name {
            $($(#[doc = $doc])* pub(super) $field: $type,)*
        }

        #[cfg(test)]
        impl Typed for $name {
            fn name() -> String {
                stringify!($name).to_owned()
            }
        })*

        /// Every type of an answer in TypeScript.
        #[cfg(test)]
        fn types() -> String {
            let mut out = String::new();
            $(out.push_str(concat!("\nexport interface ", stringify!($name), " {\n"));
            $(for line in [$($doc),*] as [&str; [$($doc),*].len()] {
                out.push_str(&format!("  /**{line} */\n"));
            }
            out.push_str(&format!("  {}: {};\n", stringify!($field), <$type>::name()));)*
            out.push_str("}\n");)*
            out
        }
    };
}

wire! {
    /// Everything that can be opened.
    struct Entries {
        /// The user's files first.
        entries: Vec<Entry>,
    }
    /// Something to open.
    struct Entry {
        /// Its name: unique.
        name: String,
        /// `own`, or the part of the gallery.
        part: String,
        /// One sentence: a thing to look at.
        says: String,
        /// A pixel worth a look: column and row.
        at: Option<[u32; 2]>,
    }
    /// An opened entry.
    struct Opened {
        /// Its texts, the job first; empty for captures and recordings.
        files: Vec<TextFile>,
        /// `capture` or `recording`, whose texts cannot be edited.
        given: Option<&'static str>,
        /// It draws: pixels have histories, and draws have primitives.
        draws: bool,
    }
    /// A text.
    struct TextFile {
        /// The file's name without its folder.
        name: String,
        /// Its text.
        text: String,
        /// Its language, as editors call it.
        language: Option<&'static str>,
    }
    /// Findings of a text.
    struct Findings {
        /// In the order of the text.
        findings: Vec<PageFinding>,
    }
    /// A finding; places count units of UTF-16.
    struct PageFinding {
        /// Its first unit.
        from: usize,
        /// The unit after it.
        to: usize,
        /// `error`, `warning` or `info`.
        severity: &'static str,
        /// The rule.
        rule: String,
        /// What is wrong, and help.
        message: String,
    }
    /// A text, where there is one.
    struct MaybeText {
        /// It.
        text: Option<String>,
    }
    /// Completions.
    struct Completions {
        /// The best first.
        items: Vec<Completion>,
    }
    /// A completion.
    struct Completion {
        /// The word.
        label: String,
        /// What it is.
        detail: String,
    }
    /// A place in the text.
    struct Definition {
        /// In units of UTF-16.
        offset: Option<usize>,
    }
    /// A manual page.
    struct Page {
        /// Its text.
        text: String,
    }
    /// Passes, draws or launches.
    struct Launches {
        /// One line each.
        launches: Vec<String>,
    }
    /// The result of a run.
    struct Run {
        /// The outputs that can be shown.
        outputs: Vec<Output>,
        /// Findings.
        said: String,
        /// How long it took.
        milliseconds: f64,
        /// First column and row, last column and row.
        domain: Option<[u32; 4]>,
        /// The programs of a capture or recording.
        files: Vec<TextFile>,
        /// The sliders of the job file.
        sliders: Vec<SliderState>,
        /// It is a draw job with a viewer, which can be moved.
        viewer: bool,
        /// Meshes turn in the course of its animation.
        spins: bool,
    }
    /// A slider.
    struct SliderState {
        /// The constant.
        constant: String,
        /// Which of its numbers.
        element: usize,
        /// The least value.
        from: f64,
        /// The largest value.
        to: f64,
        /// The value of this run.
        value: f64,
        /// How long the way takes when it is played.
        seconds: Option<f64>,
    }
    /// An output.
    struct Output {
        /// Its name.
        name: String,
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
        /// Channels.
        channels: usize,
        /// The column of its first element.
        left: u32,
        /// The row of its first element.
        top: u32,
        /// Of large outputs, which have no numbers: as a picture, the address of a PNG.
        picture: Option<String>,
        /// The numbers, row by row: floats of 32 bits, little end first. A server sends them in base 64.
        values: Option<OutputFloats>,
    }
    /// A small picture.
    struct Thumbnail {
        /// The address of a PNG; none where there is no output that can be shown.
        picture: Option<String>,
    }
    /// The steps of a group.
    struct Trace {
        /// In words.
        title: String,
        /// `x1k` or `r700`.
        isa: &'static str,
        /// The name of the text.
        name: String,
        /// The text.
        text: String,
        /// The asked-for lane.
        lane: usize,
        /// Column and row of each lane.
        positions: Vec<[u32; 2]>,
        /// Names of places.
        places: Vec<String>,
        /// Places that hold yes or no.
        flags: Vec<u32>,
        /// Values at the start: lane, place, bits.
        start: Vec<[u32; 3]>,
        /// Instructions.
        instructions: Vec<Instruction>,
        /// Sets of executing lanes.
        masks: Vec<Vec<usize>>,
        /// The steps in order.
        steps: Vec<TraceStep>,
        /// The fault that ended the group.
        fault: Option<String>,
        /// It goes on after the last step.
        cut: bool,
        /// The GLSL that the program was compiled from, where the job names it.
        glsl: Option<GlslText>,
    }
    /// The GLSL text that a program was compiled from.
    struct GlslText {
        /// Its file's name without its folder.
        name: String,
        /// Its text.
        text: String,
        /// Lines of the program's text with lines of this one, both from 1.
        pairs: Vec<(usize, usize)>,
    }
    /// An instruction.
    struct Instruction {
        /// Its place in the program.
        pc: String,
        /// Its line, from 1; 0 without one.
        line: usize,
        /// The text of the line.
        text: String,
    }
    /// A step.
    struct TraceStep {
        /// The instruction's number in `instructions`.
        at: u32,
        /// The executing lanes: their number in `masks`.
        mask: u32,
        /// Lane; its reads as place, bits, ...; its writes as place, old bits, new bits, line, ...
        lanes: Vec<(u16, Vec<u32>, Vec<u32>)>,
        /// Changed states: first lane, a letter each, the stack.
        flow: Option<(u16, String, Vec<String>)>,
    }
    /// Origins of values.
    struct Why {
        /// One for each place.
        trees: Vec<WhyTree>,
    }
    /// The origin of one value.
    struct WhyTree {
        /// The place.
        place: String,
        /// The values, the asked-for one first; empty where nothing wrote it.
        nodes: Vec<WhyNode>,
    }
    /// A value and what made it.
    struct WhyNode {
        /// Its place.
        place: String,
        /// Column and row of its lane.
        position: Option<[u32; 2]>,
        /// Its bits.
        bits: u32,
        /// It is yes or no.
        flag: bool,
        /// `made`, `constant`, `memory` or `start`.
        kind: &'static str,
        /// The step that made it.
        step: Option<usize>,
        /// The line of the instruction.
        line: Option<usize>,
        /// The text of the line.
        text: String,
        /// The line of the GLSL, where it is known.
        glsl: Option<usize>,
        /// The values that it was made of, by number.
        from: Vec<usize>,
    }
    /// How far a profile is.
    struct ProfileShare {
        /// The share that is counted, 0 to 1; none before it begins and after its end.
        share: Option<f64>,
    }
    /// Counts of a launch.
    struct ProfileCounts {
        /// The name of the text.
        name: String,
        /// Lines that were executed.
        lines: Vec<LineCount>,
        /// Instructions of each processor.
        instructions: CountMap,
        /// Instructions for which each processor waited.
        waited: CountMap,
        /// The fault that ended it.
        fault: Option<String>,
        /// Basic blocks of the executed instructions, in the order of the text.
        blocks: Vec<GraphBlock>,
        /// Edges between them.
        edges: Vec<GraphEdge>,
    }
    /// A basic block.
    struct GraphBlock {
        /// The lines of its instructions.
        lines: Vec<usize>,
        /// Executions.
        runs: u64,
        /// Lanes that executed it, on average.
        lanes: f64,
    }
    /// An edge of the control-flow graph.
    struct GraphEdge {
        /// The number of a block.
        from: usize,
        /// The number of the next block.
        to: usize,
        /// How often.
        times: u64,
    }
    /// Counts of a line.
    struct LineCount {
        /// The line, from 1.
        line: usize,
        /// Executions.
        runs: u64,
        /// Lanes that executed it, on average.
        lanes: f64,
        /// The share of executions with some lanes off.
        split: f64,
        /// Fetches.
        fetches: u64,
        /// Clocks.
        clocks: u64,
        /// The text of the line.
        text: String,
    }
    /// The draws of an entry, inspected.
    struct Inspected {
        /// In order.
        draws: Vec<InspectedDraw>,
    }
    /// Where primitives and pixels of a draw ended, and the fragments of a pixel.
    struct InspectedDraw {
        /// In words.
        name: String,
        /// Primitives.
        primitives: u64,
        /// Of these, those with a pixel in the targets.
        rasterised: u64,
        /// The pixels of the targets that these cover.
        covered: u64,
        /// Of these, those whose colours changed.
        stored: u64,
        /// Where the others ended.
        lost: Vec<LostCount>,
        /// The draw failed: nothing is counted.
        failed: bool,
        /// The first primitives in the window.
        shapes: Vec<Shape>,
        /// There are more primitives.
        cut: bool,
        /// Fragments of the pixel, in order.
        fragments: Vec<HistoryFragment>,
    }
    /// A count of primitives or pixels.
    struct LostCount {
        /// Pixels, not primitives.
        pixels: bool,
        /// The stage.
        key: &'static str,
        /// In words.
        words: &'static str,
        /// How many.
        count: u64,
        /// The state that decides.
        state: String,
    }
    /// A primitive in the window.
    struct Shape {
        /// Its number.
        primitive: u32,
        /// Its instance.
        instance: u32,
        /// The numbers of its vertices.
        vertices: [u32; 3],
        /// Column, row and depth of its corners; none where it ended before the window.
        corners: Option<[[f64; 3]; 3]>,
        /// A front face.
        front: bool,
        /// Where it ended.
        lost: Option<&'static str>,
    }
    /// A fragment of a pixel.
    struct HistoryFragment {
        /// The number of its primitive.
        primitive: u32,
        /// Its instance.
        instance: u32,
        /// A front face.
        front: bool,
        /// The sample that the program ran for.
        sample: Option<u8>,
        /// Covered samples, a bit each.
        covered: u8,
        /// Samples that passed.
        passed: u8,
        /// Which run of the pixel program for the pixel it was.
        run: Option<u64>,
        /// How it ended.
        ending: &'static str,
        /// It was stored.
        kept: bool,
        /// Depth and stencil.
        tests: Vec<HistoryTest>,
        /// Exports of the program.
        exported: Vec<HistoryExport>,
        /// Stores.
        stored: Vec<HistoryStore>,
    }
    /// Depth and stencil of a sample.
    struct HistoryTest {
        /// The sample.
        sample: u8,
        /// The new depth.
        depth: f64,
        /// The depth that was there.
        stored_depth: f64,
        /// The stencil value that was there.
        stored_stencil: u8,
        /// The depth test passed.
        depth_passes: bool,
        /// The stencil test passed.
        stencil_passes: bool,
    }
    /// An export.
    struct HistoryExport {
        /// The output.
        output: u8,
        /// Bits.
        bits: [u32; 4],
    }
    /// A store.
    struct HistoryStore {
        /// The target.
        target: u8,
        /// The sample.
        sample: u8,
        /// Bits that were there.
        before: [u32; 4],
        /// Bits after.
        after: [u32; 4],
    }
    /// Vertices of a draw.
    struct Vertices {
        /// Names of fetched values.
        inputs: Vec<String>,
        /// Names of exported values.
        outputs: Vec<String>,
        /// In order.
        rows: Vec<VertexRow>,
        /// There are more.
        cut: bool,
    }
    /// A vertex.
    struct VertexRow {
        /// Its number.
        vertex: u32,
        /// Its instance.
        instance: u32,
        /// The bits of fetched values.
        inputs: Vec<Option<u32>>,
        /// The bits of exported values.
        outputs: Vec<Option<u32>>,
    }
    /// A count for each processor, as a picture.
    struct CountMap {
        /// The address of a PNG.
        picture: String,
        /// The largest count, which is white.
        most: u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The script's types are these. `CTM_WRITE=1` writes them.
    #[test]
    #[allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]
    fn the_script_has_these_types() {
        let questions = super::super::api::types();
        let text = format!(
            "// Made of crates/ctm-ide/src/serve/wire.rs by its test (CTM_WRITE=1 writes it); not by hand.\n{}{}{questions}",
            super::super::question::types(),
            types()
        );
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/page/src/wire.ts");
        if std::env::var_os("CTM_WRITE").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        // A package of this crate alone has no script.
        if let Ok(known) = std::fs::read_to_string(&path) {
            assert_eq!(known, text, "CTM_WRITE=1 writes {}", path.display());
        }
    }

    /// The bundle was made of the sources that are there: `cargo xtask page` makes it again.
    #[test]
    #[allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]
    fn the_bundle_is_made_of_these_sources() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/page");
        let Ok(files) = std::fs::read_dir(folder.join("src")) else { return };
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        files.push(folder.join("package-lock.json"));
        // FNV-1a.
        let bytes = files.iter().flat_map(|file| std::fs::read(file).unwrap());
        let digest = bytes
            .fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let head = super::super::script().lines().next().unwrap();
        assert_eq!(head, format!("// sources {digest:016x}"), "`cargo xtask page` bundles the script");
    }
}
