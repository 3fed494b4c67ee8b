//! From indices to primitives of points, lines and triangles.
//!
//! Primitives are made of vertex numbers; vertices are not read here.

use crate::state::{Draw, Indices, InputState, Topology};

/// The shape of a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One vertex.
    Point,
    /// Two vertices.
    Line,
    /// Three vertices.
    Triangle,
    /// Three corners of a rectangle.
    Rectangle,
}

/// One primitive, or a triangle of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Primitive {
    /// Its shape.
    pub shape: Shape,
    /// Vertex numbers; missing ones repeat the last one.
    pub vertices: [u32; 3],
    /// The provoking vertex, whose values flat parameters have; of a quad's triangle it may be the fourth one.
    pub provoking: u32,
    /// The number of the primitive, or of the one it belongs to, in the draw and instance.
    pub number: u32,
    /// The number of its instance.
    pub instance: u32,
    /// Of a triangle: edge k, from vertex k to the next one, is an edge of the primitive, not one within a quad or polygon.
    pub edges: u8,
    /// The first line of a list's element or of a strip, where a stipple pattern may begin again.
    pub begins: bool,
    /// The inputs of a geometry program, adjacent vertices included; missing ones repeat the first one.
    pub inputs: [u32; 6],
    /// How many of them there are: 1, 2, 3, 4 or 6.
    pub input_count: u8,
}

/// The vertex numbers of a draw, in order; `None` where a restart ends the primitive.
pub fn vertex_numbers<'a>(draw: &Draw<'a>, input: &'a InputState) -> impl Iterator<Item = Option<u32>> + 'a {
    let Draw { indices, count, .. } = *draw;
    let there = match indices {
        Indices::Counted => count,
        Indices::U8(all) => length(all, count),
        Indices::U16(all) => length(all, count),
        Indices::U32(all) => length(all, count),
    };
    (0..there).map(move |n| {
        let at = n as usize;
        let index = match indices {
            Indices::Counted => n,
            Indices::U8(all) => u32::from(all[at]),
            Indices::U16(all) => u32::from(all[at]),
            Indices::U32(all) => all[at],
        };
        let restarts = !matches!(indices, Indices::Counted) && input.restart == Some(index);
        // Limits that contradict each other: the upper one counts.
        let limited = index.max(input.least_index).min(input.most_index);
        (!restarts).then(|| limited.wrapping_add_signed(input.index_offset))
    })
}

fn length<T>(all: &[T], count: u32) -> u32 {
    u32::try_from(all.len()).unwrap_or(u32::MAX).min(count)
}

/// Makes primitives of vertex numbers that come one by one.
#[derive(Clone, Debug)]
pub struct Assembler {
    topology: Topology,
    last_provokes: bool,
    /// The vertices that the next primitive may need, oldest first.
    held: Vec<u32>,
    /// The first vertex since the last restart, and the count of vertices since then.
    first: u32,
    seen: usize,
    number: u32,
    instance: u32,
    /// The last triangle of a polygon: the next vertex decides whether its last edge is one of the polygon.
    pending: Option<Primitive>,
}

impl Assembler {
    /// The assembler of a topology, for one instance. `last_provokes`: the last vertex gives flat values, not the first.
    #[must_use]
    pub const fn new(topology: Topology, last_provokes: bool, instance: u32) -> Self {
        Self { topology, last_provokes, held: Vec::new(), first: 0, seen: 0, number: 0, instance, pending: None }
    }

    /// Takes the next vertex, or a restart; adds the primitives that it completes.
    pub fn push(&mut self, vertex: Option<u32>, out: &mut Vec<Primitive>) {
        let Some(vertex) = vertex else {
            self.restart(out);
            return;
        };
        if self.seen == 0 {
            self.first = vertex;
        }
        self.seen += 1;
        if let (Topology::Triangles, &[a, b]) = (self.topology, self.held.as_slice()) {
            // The most frequent topology.
            self.held.clear();
            let (number, instance) = (self.number, self.instance);
            out.push(Primitive {
                shape: Shape::Triangle,
                vertices: [a, b, vertex],
                provoking: self.provoking([a, vertex]),
                number,
                instance,
                edges: 0b111,
                begins: true,
                inputs: [a, b, vertex, a, a, a],
                input_count: 3,
            });
            self.number = number.wrapping_add(1);
            return;
        }
        self.held.push(vertex);
        let first_line = self.seen == 2;
        match (self.topology, self.held.as_slice()) {
            (Topology::Points, &[a]) => {
                self.emit(out, Shape::Point, [a, a, a], [a, a], true);
                self.held.clear();
            }
            (Topology::Lines, &[a, b]) => {
                self.emit(out, Shape::Line, [a, b, b], [a, b], true);
                self.held.clear();
            }
            (Topology::LinesAdjacent, &[before, a, b, after]) => {
                self.emit_with(out, Shape::Line, [a, b, b], [a, b], true, &[before, a, b, after]);
                self.held.clear();
            }
            (Topology::LineStrip | Topology::LineLoop, &[a, b]) => {
                self.emit(out, Shape::Line, [a, b, b], [a, b], first_line);
                self.held.remove(0);
            }
            (Topology::LineStripAdjacent, &[before, a, b, after]) => {
                let begins = self.seen == 4;
                self.emit_with(out, Shape::Line, [a, b, b], [a, b], begins, &[before, a, b, after]);
                self.held.remove(0);
            }
            (Topology::Rectangles, &[a, b, c]) => {
                self.emit(out, Shape::Rectangle, [a, b, c], [a, c], true);
                self.held.clear();
            }
            (Topology::TrianglesAdjacent, &[a, ab, b, bc, c, ca]) => {
                self.emit_with(out, Shape::Triangle, [a, b, c], [a, c], true, &[a, ab, b, bc, c, ca]);
                self.held.clear();
            }
            (Topology::TriangleStrip, &[a, b, c]) => {
                let vertices = if self.seen % 2 == 1 { [a, b, c] } else { [b, a, c] };
                self.emit(out, Shape::Triangle, vertices, [a, c], true);
                self.held.remove(0);
            }
            // Triangle n is known when the next one is complete, with vertex 2n + 7, or at the end.
            (Topology::TriangleStripAdjacent, held) if held.len() > 7 && held.len().is_multiple_of(2) => {
                self.adjacent_triangle(out, (held.len() - 8) / 2, false);
            }
            (Topology::TriangleFan, &[a, b]) if self.seen > 2 => {
                self.emit(out, Shape::Triangle, [self.first, a, b], [a, b], true);
                self.held.remove(0);
            }
            (Topology::Polygon, &[a, b]) if self.seen > 2 => {
                self.flush(out);
                let (first, begins) = (self.first, self.seen == 3);
                let provoking = self.provoking([first, first]);
                // The edge back to the first vertex is one of the polygon if no more triangles follow.
                let edges = u8::from(begins) | 0b010;
                let vertices = [first, a, b];
                let (number, instance) = (self.number, self.instance);
                let inputs = [first, a, b, first, first, first];
                let shape = Shape::Triangle;
                self.pending = Some(Primitive {
                    shape,
                    vertices,
                    provoking,
                    number,
                    instance,
                    edges,
                    begins,
                    inputs,
                    input_count: 3,
                });
                self.held.remove(0);
            }
            (Topology::TriangleFan | Topology::Polygon, &[_, _]) => {
                self.held.remove(0);
            }
            (Topology::Quads, &[a, b, c, d]) => {
                self.quad(out, [a, b, c, d], [a, d]);
                self.held.clear();
            }
            (Topology::QuadStrip, &[a, b, c, d]) => {
                self.quad(out, [a, b, d, c], [a, d]);
                self.held.drain(..2);
            }
            _ => {}
        }
    }

    /// Ends the last primitive.
    pub fn finish(&mut self, out: &mut Vec<Primitive>) {
        self.restart(out);
    }

    fn restart(&mut self, out: &mut Vec<Primitive>) {
        if self.topology == Topology::TriangleStripAdjacent && self.held.len() > 5 {
            // The leftover vertices form no triangle.
            self.adjacent_triangle(out, (self.held.len() - 6) / 2, true);
        }
        if self.topology == Topology::LineLoop
            && self.seen > 1
            && let &[last] = self.held.as_slice()
        {
            self.emit(out, Shape::Line, [last, self.first, self.first], [last, self.first], false);
        }
        if let Some(pending) = &mut self.pending {
            pending.edges |= 0b100;
            self.flush(out);
            self.number = self.number.wrapping_add(1);
        }
        self.held.clear();
        self.seen = 0;
    }

    fn flush(&mut self, out: &mut Vec<Primitive>) {
        out.extend(self.pending.take());
    }

    /// Of the provoking vertices under both conventions.
    const fn provoking(&self, [first, last]: [u32; 2]) -> u32 {
        if self.last_provokes { last } else { first }
    }

    fn emit(&mut self, out: &mut Vec<Primitive>, shape: Shape, vertices: [u32; 3], provoking: [u32; 2], begins: bool) {
        let count = match shape {
            Shape::Point => 1,
            Shape::Line => 2,
            Shape::Triangle | Shape::Rectangle => 3,
        };
        self.emit_with(out, shape, vertices, provoking, begins, &vertices[..count]);
    }

    /// The same, with the inputs of a geometry program.
    fn emit_with(
        &mut self,
        out: &mut Vec<Primitive>,
        shape: Shape,
        vertices: [u32; 3],
        provoking: [u32; 2],
        begins: bool,
        given: &[u32],
    ) {
        let (provoking, number, instance) = (self.provoking(provoking), self.number, self.instance);
        let mut inputs = [given.first().copied().unwrap_or(0); 6];
        inputs.iter_mut().zip(given).for_each(|(to, from)| *to = *from);
        let input_count = given.len().min(6) as u8;
        out.push(Primitive { shape, vertices, provoking, number, instance, edges: 0b111, begins, inputs, input_count });
        self.number = self.number.wrapping_add(1);
    }

    /// Triangle n of a strip with neighbours. Of odd ones the chip delivers the vertices turned by two places against OpenGL's order; UNVERIFIED: it follows
    /// from how a driver turns them back.
    fn adjacent_triangle(&mut self, out: &mut Vec<Primitive>, n: usize, is_last: bool) {
        let at = |i: usize| self.held.get(i).copied().unwrap_or_default();
        let before = if n == 0 { at(1) } else { at(2 * n - 2) };
        let after = if is_last { at(2 * n + 5) } else { at(2 * n + 6) };
        let (a, b, c) = (at(2 * n), at(2 * n + 2), at(2 * n + 4));
        let (vertices, given) = if n.is_multiple_of(2) {
            ([a, b, c], [a, before, b, after, c, at(2 * n + 3)])
        } else {
            ([b, a, c], [a, at(2 * n + 3), c, after, b, before])
        };
        self.emit_with(out, Shape::Triangle, vertices, [a, c], true, &given);
    }

    fn quad(&mut self, out: &mut Vec<Primitive>, [a, b, c, d]: [u32; 4], provoking: [u32; 2]) {
        let (provoking, number, instance) = (self.provoking(provoking), self.number, self.instance);
        let triangle = |vertices: [u32; 3], edges, begins| {
            let [p, q, r] = vertices;
            let (shape, inputs) = (Shape::Triangle, [p, q, r, p, p, p]);
            Primitive { shape, vertices, provoking, number, instance, edges, begins, inputs, input_count: 3 }
        };
        out.extend([triangle([a, b, c], 0b011, true), triangle([a, c, d], 0b110, false)]);
        self.number = self.number.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assembled(topology: Topology, vertices: &[Option<u32>], last_provokes: bool) -> Vec<Primitive> {
        let mut assembler = Assembler::new(topology, last_provokes, 0);
        let mut out = Vec::new();
        vertices.iter().for_each(|&vertex| assembler.push(vertex, &mut out));
        assembler.finish(&mut out);
        out
    }

    /// Vertices of each primitive, its provoking vertex under both conventions, its number.
    type Row = (Topology, u32, &'static [([u32; 3], [u32; 2], u32)]);

    /// Truth: the tables of OpenGL 3.3 (2.6.1, 2.19), which the chip's drivers rely on.
    const TABLE: &[Row] = &[
        (Topology::Points, 2, &[([0, 0, 0], [0, 0], 0), ([1, 1, 1], [1, 1], 1)]),
        (Topology::Lines, 5, &[([0, 1, 1], [0, 1], 0), ([2, 3, 3], [2, 3], 1)]),
        (Topology::LineStrip, 3, &[([0, 1, 1], [0, 1], 0), ([1, 2, 2], [1, 2], 1)]),
        (Topology::LineStrip, 1, &[]),
        (Topology::LineLoop, 3, &[([0, 1, 1], [0, 1], 0), ([1, 2, 2], [1, 2], 1), ([2, 0, 0], [2, 0], 2)]),
        (Topology::LineLoop, 1, &[]),
        (Topology::LinesAdjacent, 8, &[([1, 2, 2], [1, 2], 0), ([5, 6, 6], [5, 6], 1)]),
        (Topology::LineStripAdjacent, 5, &[([1, 2, 2], [1, 2], 0), ([2, 3, 3], [2, 3], 1)]),
        (Topology::Triangles, 7, &[([0, 1, 2], [0, 2], 0), ([3, 4, 5], [3, 5], 1)]),
        (Topology::TriangleStrip, 5, &[([0, 1, 2], [0, 2], 0), ([2, 1, 3], [1, 3], 1), ([2, 3, 4], [2, 4], 2)]),
        (Topology::TriangleFan, 5, &[([0, 1, 2], [1, 2], 0), ([0, 2, 3], [2, 3], 1), ([0, 3, 4], [3, 4], 2)]),
        (Topology::TrianglesAdjacent, 7, &[([0, 2, 4], [0, 4], 0)]),
        (
            Topology::TriangleStripAdjacent,
            10,
            &[([0, 2, 4], [0, 4], 0), ([4, 2, 6], [2, 6], 1), ([4, 6, 8], [4, 8], 2)],
        ),
        (Topology::Quads, 5, &[([0, 1, 2], [0, 3], 0), ([0, 2, 3], [0, 3], 0)]),
        (
            Topology::QuadStrip,
            7,
            &[([0, 1, 3], [0, 3], 0), ([0, 3, 2], [0, 3], 0), ([2, 3, 5], [2, 5], 1), ([2, 5, 4], [2, 5], 1)],
        ),
        (Topology::Polygon, 5, &[([0, 1, 2], [0, 0], 0), ([0, 2, 3], [0, 0], 0), ([0, 3, 4], [0, 0], 0)]),
        (Topology::Polygon, 2, &[]),
        (Topology::Rectangles, 3, &[([0, 1, 2], [0, 2], 0)]),
    ];

    #[test]
    fn primitives_are_made_in_order() {
        for &(topology, count, expected) in TABLE {
            let vertices: Vec<Option<u32>> = (0..count).map(Some).collect();
            for last in [false, true] {
                let found = assembled(topology, &vertices, last);
                let found: Vec<_> = found.iter().map(|p| (p.vertices, p.provoking, p.number)).collect();
                let expected: Vec<_> =
                    expected.iter().map(|&(v, provoking, number)| (v, provoking[usize::from(last)], number)).collect();
                assert_eq!(found, expected, "{topology:?} of {count}");
            }
        }
    }

    #[test]
    fn geometry_programs_get_neighbours() {
        let of = |topology, count| -> Vec<Vec<u32>> {
            let vertices: Vec<_> = (0..count).map(Some).collect();
            let all = assembled(topology, &vertices, true);
            all.iter().map(|p| p.inputs[..usize::from(p.input_count)].to_vec()).collect()
        };
        assert_eq!(of(Topology::LinesAdjacent, 4), [[0, 1, 2, 3]]);
        assert_eq!(of(Topology::LineStripAdjacent, 5), [[0, 1, 2, 3], [1, 2, 3, 4]]);
        assert_eq!(of(Topology::TrianglesAdjacent, 6), [[0, 1, 2, 3, 4, 5]]);
        assert_eq!(of(Topology::TriangleStripAdjacent, 6), [[0, 1, 2, 5, 4, 3]]);
        // From OpenGL's table (GL 3.3, 2.6.1) the first, a middle and the last one; odd ones turned.
        let strip = of(Topology::TriangleStripAdjacent, 11);
        assert_eq!(strip, [[0, 1, 2, 6, 4, 3], [2, 5, 6, 8, 4, 0], [4, 2, 6, 9, 8, 7]]);
        assert_eq!(of(Topology::TriangleStrip, 4), [[0, 1, 2], [2, 1, 3]]);
        assert_eq!(of(Topology::Quads, 4), [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn a_restart_begins_anew() {
        for &(topology, count, expected) in TABLE {
            let part = |first: u32| (first..first + count).map(Some);
            let vertices: Vec<_> = part(0).chain([None, None]).chain(part(100)).collect();
            let found = assembled(topology, &vertices, true);
            let twice: Vec<[u32; 3]> =
                [0, 100].iter().flat_map(|by| expected.iter().map(move |(v, ..)| v.map(|v| v + by))).collect();
            assert_eq!(found.iter().map(|p| p.vertices).collect::<Vec<_>>(), twice, "{topology:?}");
            let numbers = expected.last().map_or(0, |last| last.2 + 1);
            assert_eq!(found.last().map(|p| p.number + 1), Some(2 * numbers).filter(|&n| n > 0), "{topology:?}");
        }
    }

    #[test]
    fn edges_within_quads_and_polygons_are_known() {
        let edges = |topology, count| -> Vec<u8> {
            let vertices: Vec<_> = (0..count).map(Some).collect();
            assembled(topology, &vertices, true).iter().map(|p| p.edges).collect()
        };
        assert_eq!(edges(Topology::Polygon, 3), [0b111]);
        assert_eq!(edges(Topology::Polygon, 5), [0b011, 0b010, 0b110]);
        assert_eq!(edges(Topology::Quads, 4), [0b011, 0b110]);
        assert_eq!(edges(Topology::TriangleFan, 4), [0b111, 0b111]);
    }

    #[test]
    fn indices_are_compared_limited_and_moved() {
        let input = InputState {
            restart: Some(0xff),
            least_index: 2,
            most_index: 9,
            index_offset: -3,
            ..InputState::default()
        };
        let draw = |indices, count| Draw { indices, count, ..Draw::default() };
        let of = |draw: &Draw<'_>| vertex_numbers(draw, &input).collect::<Vec<_>>();
        let bytes = [0, 5, 0xff, 200];
        let expected = [Some(u32::MAX), Some(2), None, Some(6)];
        assert_eq!(of(&draw(Indices::U8(&bytes), 9)), expected);
        assert_eq!(of(&draw(Indices::U16(&[0, 5, 0xff, 0xffff]), 4)), expected);
        assert_eq!(of(&draw(Indices::U32(&[0, 5, 0xff, 0xffff_ff00]), 3)), expected[..3]);
        assert_eq!(of(&draw(Indices::Counted, 256)).iter().filter(|v| v.is_none()).count(), 0);
    }
}
