//! Lines of GLSL for the lines of a listing.
//!
//! Drivers' programs carry no lines, but names do survive: a container has those of attributes, uniforms and samplers with their registers and constants. Both texts
//! are read for the names that each value is made of: `text` reads the shaders, `flow` the programs. An instruction belongs to the line that mentions the names it
//! reads and whose value is made of the same names, and that has the same numbers. That is the right statement or one beside it with the same names, as in `a = x * y; b = x + y;`; where nothing
//! matches, an instruction has no line.
//!
//! Varyings have no names in containers. Each exported element gets the `out` variable that is made of the same names, and the pixel program's inputs the
//! names of the elements they are linked to.

mod flow;
mod text;

use ctm_exec::observe::At;
use ctm_jobs::draw::Pair;
use flow::{ExportedElement, FlowValue, KnownConstants, NameFlow};
use std::collections::{BTreeMap, BTreeSet};
use text::GlslShader;

/// NameSet, by their numbers in a [`NameTable`].
type NameSet = BTreeSet<usize>;

/// All names of a pair of shaders.
#[derive(Debug, Default)]
struct NameTable {
    numbers: BTreeMap<String, usize>,
}

impl NameTable {
    fn of(&mut self, name: &str) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(name.to_owned()).or_insert(next)
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }
}

/// How alike two sets are: 1 the same, 0 nothing in common.
#[allow(clippy::cast_precision_loss, reason = "counts of names")]
fn likeness(a: &NameSet, b: &NameSet) -> f64 {
    let both = a.intersection(b).count();
    let all = a.len() + b.len() - both;
    if all == 0 { 1.0 } else { both as f64 / all as f64 }
}

/// The GLSL text of a program, and its line for each instruction that has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlslLines {
    /// The file.
    pub name: String,
    /// Its lines, from line 1.
    pub lines: Vec<String>,
    /// By instruction, and the unit of a group (x = 0 to t = 4) where it is one of a group.
    line_of: BTreeMap<(At, Option<u8>), usize>,
}

impl GlslLines {
    /// The lines of a linked pair: of the vertex program, then of the pixel program. Each shader is given as its name and its text.
    #[must_use]
    pub fn of_pair(pair: &Pair, vertex: (&str, &str), pixel: (&str, &str)) -> [Self; 2] {
        let mut names = NameTable::default();
        let shaders = [vertex.1, pixel.1].map(|text| GlslShader::read(text, &mut names));
        let links = pair.links();
        // Attributes come in registers; a matrix has one for each column, at the next locations.
        let mut start = BTreeMap::new();
        let mut last = None;
        for attribute in pair.attributes() {
            let name = if attribute.name.is_empty() { last.clone() } else { Some(attribute.name.clone()) };
            if let Some(number) = name.as_deref().and_then(|name| names.find(name)) {
                start.extend((0..4).map(|element| ((attribute.gpr, element), FlowValue::named(number))));
            }
            last = name;
        }
        let constants = KnownConstants::of(&pair.vertex, &names);
        let position = names.find("gl_Position");
        let of_vertex = |output| match output {
            ExportedElement::Position => position,
            ExportedElement::Pixel(_) | ExportedElement::Depth | ExportedElement::Parameter(..) => None,
        };
        let mut flow = NameFlow::of(&pair.vertex.program, &start, &constants, &shaders[0], &of_vertex);
        // Exported elements with names.
        let mut exported = BTreeMap::new();
        for (&place, made) in &flow.parameters {
            if let Some(number) = shaders[0].varying(made, &shaders[1]) {
                exported.insert(place, number);
            }
        }
        let of_parameters = |output| match output {
            ExportedElement::Parameter(number, element) => exported.get(&(number, element)).copied(),
            other => of_vertex(other),
        };
        flow = NameFlow::of(&pair.vertex.program, &start, &constants, &shaders[0], &of_parameters);

        let mut start = BTreeMap::new();
        for (register, input) in (0u8..).zip(&links.inputs) {
            let Some(number) = links.semantics.iter().position(|&semantic| semantic == input.semantic) else {
                continue;
            };
            for element in 0..4u8 {
                let name = u8::try_from(number).ok().and_then(|number| exported.get(&(number, element)));
                start.extend(name.map(|&name| ((register, element), FlowValue::named(name))));
            }
        }
        let fragment = names.find("gl_FragCoord");
        if let (Some(register), Some(fragment)) = (links.position, fragment) {
            start.extend((0..4).map(|element| ((register, element), FlowValue::named(fragment))));
        }
        if let (Some((register, element)), Some(front)) = (links.face, names.find("gl_FrontFacing")) {
            start.insert((register, element), FlowValue::named(front));
        }
        let (depth, colours) = (names.find("gl_FragDepth"), shaders[1].colours(&names));
        let of_pixel = |output| match output {
            ExportedElement::Pixel(number) => colours.get(&number).copied(),
            ExportedElement::Depth => depth,
            ExportedElement::Position | ExportedElement::Parameter(..) => None,
        };
        let pixels =
            NameFlow::of(&pair.pixel.program, &start, &KnownConstants::of(&pair.pixel, &names), &shaders[1], &of_pixel);
        let lines = |(name, text): (&str, &str), flow: NameFlow| Self {
            name: name.to_owned(),
            lines: text.lines().map(str::to_owned).collect(),
            line_of: flow.lines,
        };
        [lines(vertex, flow), lines(pixel, pixels)]
    }

    /// The line of the instruction that makes one of an instruction's results, by the result's bits ([`Write::part`](ctm_exec::observe::Write::part)).
    #[must_use]
    pub fn line_of_part(&self, at: At, part: u8) -> Option<usize> {
        let unit = u8::try_from(part.trailing_zeros()).ok().filter(|_| part.count_ones() == 1);
        let of_unit = unit.and_then(|unit| self.line_of.get(&(at, Some(unit))));
        of_unit.or_else(|| self.line_of.get(&(at, None))).copied()
    }

    /// The first line of an instruction; of a group, of its first unit that has one.
    #[must_use]
    pub fn line(&self, at: At) -> Option<usize> {
        self.line_of.range((at, None)..=(at, Some(u8::MAX))).next().map(|(_, &line)| line)
    }

    /// The text of a line without the space around it.
    #[must_use]
    pub fn text(&self, line: usize) -> &str {
        line.checked_sub(1).and_then(|n| self.lines.get(n)).map_or("", |line| line.trim())
    }

    /// The lines of instructions: of each, and the unit of a group where it is one of a group.
    pub(crate) fn instructions(&self) -> impl Iterator<Item = (At, Option<u8>, usize)> {
        self.line_of.iter().map(|(&(at, unit), &line)| (at, unit, line))
    }
}

#[cfg(test)]
mod tests;
