//! A scalar evaluator of `ps_3_0`, written from the language's rules: one pixel after the other, straight from the text. It shares nothing with the
//! compiler, not even the reading of the text.
//!
//! Every number carries a bound of how far another correct implementation may be from it; where a comparison, a fraction or a lookup falls within
//! that bound, later values are unknown and not compared.

mod number;
mod text;

use ctm_exec::arrays::Picture;
use number::EPS;
pub use number::{N, UNKNOWN, exact};
use std::collections::HashMap;
use text::{Line, Operand, parse};

type V = [N; 4];

/// The environment of a shader.
pub struct World {
    pub floats: HashMap<usize, [f32; 4]>,
    pub ints: HashMap<usize, [i32; 3]>,
    pub bools: HashMap<usize, bool>,
    /// Value at (0, 0), change per column, change per row of each interpolant.
    pub interpolants: Vec<[[f32; 4]; 3]>,
    pub pictures: Vec<Picture>,
}

/// The results of a pixel.
#[derive(Clone, Debug)]
pub struct Pixel {
    pub killed: bool,
    /// `None`: not known, because some branch could not be decided.
    pub outputs: Option<[[Option<N>; 4]; 4]>,
    pub depth: Option<N>,
}

/// A shader, read.
pub struct Shader {
    lines: Vec<Line>,
    /// For `if`, `else`, loops and their ends: the line of the partner.
    partner: HashMap<usize, usize>,
    labels: HashMap<usize, usize>,
    floats: HashMap<usize, [f32; 4]>,
    ints: HashMap<usize, [i32; 3]>,
    bools: HashMap<usize, bool>,
    /// The interpolant of each channel of v#.
    inputs: HashMap<usize, [usize; 4]>,
}

impl Shader {
    pub fn new(text: &str) -> Self {
        let lines = parse(text);
        let mut shader = Self {
            partner: HashMap::new(),
            labels: HashMap::new(),
            floats: HashMap::new(),
            ints: HashMap::new(),
            bools: HashMap::new(),
            inputs: HashMap::new(),
            lines: Vec::new(),
        };
        let mut open: Vec<usize> = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            match line.name.as_str() {
                "if" | "loop" | "rep" => open.push(at),
                "else" => {
                    shader.partner.insert(open.pop().unwrap(), at);
                    open.push(at);
                }
                "endif" => {
                    shader.partner.insert(open.pop().unwrap(), at);
                }
                "endloop" | "endrep" => {
                    let begin = open.pop().unwrap();
                    shader.partner.insert(begin, at);
                    shader.partner.insert(at, begin);
                }
                "label" => {
                    shader.labels.insert(line.operands[0].index, at);
                }
                "def" => {
                    let v: Vec<f32> = line.numbers.iter().map(|&x| x as f32).collect();
                    shader.floats.insert(line.operands[0].index, [v[0], v[1], v[2], v[3]]);
                }
                "defi" => {
                    let v: Vec<i32> = line.numbers.iter().map(|&x| x as i32).collect();
                    shader.ints.insert(line.operands[0].index, [v[0], v[1], v[2]]);
                }
                "defb" => {
                    shader.bools.insert(line.operands[0].index, line.operands[1].file == "true");
                }
                "dcl" if line.operands[0].file == "v" => {
                    let usage = line.suffix.iter().find(|s| s.starts_with("texcoord")).unwrap();
                    let interpolant = usage.trim_start_matches("texcoord").parse().unwrap_or(0);
                    let entry = shader.inputs.entry(line.operands[0].index).or_insert([usize::MAX; 4]);
                    (0..4).filter(|&c| line.mask[c]).for_each(|c| entry[c] = interpolant);
                }
                _ => {}
            }
        }
        shader.lines = lines;
        shader
    }

    pub fn run(&self, world: &World, x: i64, y: i64) -> Pixel {
        let mut state = State::new(self, world, x, y);
        state.run(None);
        Pixel { killed: state.killed, outputs: (!state.lost).then_some(state.outputs), depth: state.depth }
    }
}

/// aL and its step.
type Counter = (i32, i32);

struct State<'a> {
    shader: &'a Shader,
    world: &'a World,
    at: (i64, i64),
    r: Vec<V>,
    p: [Option<bool>; 4],
    outputs: [[Option<N>; 4]; 4],
    depth: Option<N>,
    killed: bool,
    lost: bool,
    /// Open loops: the line, iterations left, aL and its step.
    loops: Vec<(usize, i32, Option<Counter>)>,
    steps: usize,
}

impl<'a> State<'a> {
    fn new(shader: &'a Shader, world: &'a World, x: i64, y: i64) -> Self {
        Self {
            shader,
            world,
            at: (x, y),
            r: vec![[UNKNOWN; 4]; 32],
            p: [Some(false); 4],
            outputs: [[None; 4]; 4],
            depth: None,
            killed: false,
            lost: false,
            loops: Vec::new(),
            steps: 0,
        }
    }

    fn input(&self, index: usize, channel: usize) -> N {
        let Some(interpolants) = self.shader.inputs.get(&index) else { return UNKNOWN };
        let Some(plane) = self.world.interpolants.get(interpolants[channel]) else { return UNKNOWN };
        let [o, dx, dy] = plane.map(|p| f64::from(p[channel]));
        exact((o + self.at.0 as f64 * dx + self.at.1 as f64 * dy) as f32)
    }

    fn read(&self, o: &Operand) -> V {
        let counter = self.loops.iter().rev().find_map(|l| l.2).map_or(0, |l| l.0);
        let index = (o.index as i32 + if o.relative { counter } else { 0 }) as usize;
        let raw: V = match o.file.as_str() {
            "r" => self.r[index],
            "v" => std::array::from_fn(|c| self.input(index, c)),
            "c" => {
                let value = self.shader.floats.get(&index).or_else(|| self.world.floats.get(&index));
                value.copied().unwrap_or([0.0; 4]).map(exact)
            }
            "vPos" => [exact(self.at.0 as f32), exact(self.at.1 as f32), UNKNOWN, UNKNOWN],
            "vFace" => [exact(1.0); 4],
            other => panic!("{other} is no number"),
        };
        o.swizzle.map(|c| {
            let v = if o.abs { raw[c].abs() } else { raw[c] };
            if o.neg { v.neg() } else { v }
        })
    }

    fn condition(&self, line: &Line) -> Option<bool> {
        let relation = line.suffix.iter().find_map(|s| relation(s));
        if let Some(relation) = relation {
            let [a, b] = [0, 1].map(|n| self.read(&line.operands[n])[0]);
            return a.add(b.neg()).sign().map(relation);
        }
        let o = line.operands.iter().find(|o| o.file == "b" || o.file == "p")?;
        let value = if o.file == "b" {
            let value = self.shader.bools.get(&o.index).or_else(|| self.world.bools.get(&o.index));
            Some(value.copied().unwrap_or(false))
        } else {
            self.p[o.swizzle[0]]
        };
        value.map(|v| v != o.not)
    }

    /// Runs to the end, or for a number of statements, and returns the current line.
    fn run(&mut self, until: Option<usize>) -> usize {
        let mut pc = 0;
        let mut calls: Vec<(usize, usize)> = Vec::new();
        while pc < self.shader.lines.len() && !self.lost {
            if until == Some(self.steps) {
                return pc;
            }
            self.steps += 1;
            assert!(self.steps < 100_000, "the shader does not end");
            let line = &self.shader.lines[pc];
            let partner = self.shader.partner.get(&pc).copied().unwrap_or(0);
            let mut next = pc + 1;
            match line.name.as_str() {
                "ps" | "dcl" | "def" | "defi" | "defb" | "nop" | "endif" => {}
                "if" => match self.condition(line) {
                    Some(true) => {}
                    Some(false) => next = partner + 1,
                    None => self.lost = true,
                },
                "else" => next = partner,
                "loop" | "rep" => {
                    let index = line.operands.iter().find(|o| o.file == "i").unwrap().index;
                    let value = self.shader.ints.get(&index).or_else(|| self.world.ints.get(&index));
                    let [count, start, step] = value.copied().unwrap_or([0; 3]);
                    if count == 0 {
                        next = partner + 1;
                    } else {
                        self.loops.push((pc, count, (line.name == "loop").then_some((start, step))));
                    }
                }
                "endloop" | "endrep" => {
                    let frame = self.loops.last_mut().unwrap();
                    frame.1 -= 1;
                    if let Some((counter, step)) = &mut frame.2 {
                        *counter += *step;
                    }
                    if frame.1 > 0 {
                        next = frame.0 + 1;
                    } else {
                        self.loops.pop();
                    }
                }
                "break" | "breakp" => {
                    let taken =
                        if line.name == "break" && line.suffix.is_empty() { Some(true) } else { self.condition(line) };
                    match taken {
                        Some(true) => {
                            let (begin, ..) = self.loops.pop().unwrap();
                            next = self.shader.partner[&begin] + 1;
                        }
                        Some(false) => {}
                        None => self.lost = true,
                    }
                }
                "call" | "callnz" => {
                    let taken = if line.name == "call" { Some(true) } else { self.condition(line) };
                    match taken {
                        Some(true) => {
                            calls.push((pc + 1, self.loops.len()));
                            next = self.shader.labels[&line.operands[0].index] + 1;
                        }
                        Some(false) => {}
                        None => self.lost = true,
                    }
                }
                "ret" => match calls.pop() {
                    Some((to, _)) => next = to,
                    None => return pc,
                },
                "label" => return pc,
                _ => self.arithmetic(line),
            }
            pc = next;
        }
        pc
    }

    /// The language names no order of the sum: a sum exact in one may not be in another.
    fn dp(&self, a: V, b: V, count: usize) -> N {
        let mut terms = [exact(0.0); 4];
        (0..count).for_each(|c| terms[c] = a[c].mul(b[c]));
        let [x, y, z, w] = terms;
        let sums = [x.add(y).add(z).add(w), x.add(y).add(z.add(w)), x.add(z).add(y.add(w)), x.add(w).add(y.add(z))];
        N { e: sums.iter().fold(0.0, |e, s| f64::max(e, s.e)), ..sums[0] }
    }

    fn write(&mut self, line: &Line, value: V) {
        let to = &line.operands[0];
        for c in 0..4 {
            if !line.mask[c] && to.file != "oDepth" {
                continue;
            }
            let passes = match &line.guard {
                None => Some(true),
                Some(g) => self.p[g.swizzle[c]].map(|p| p != g.not),
            };
            let mut value = value[c];
            if line.suffix.iter().any(|s| s == "sat") {
                value = value.saturate();
            }
            let old = match to.file.as_str() {
                "r" => Some(self.r[to.index][c]),
                "oC" => self.outputs[to.index][c],
                _ => self.depth,
            };
            let new = match passes {
                Some(true) => Some(value),
                Some(false) => old,
                None => Some(UNKNOWN),
            };
            match to.file.as_str() {
                "r" => self.r[to.index][c] = new.unwrap(),
                "oC" => self.outputs[to.index][c] = new,
                "oDepth" => {
                    self.depth = new;
                    return;
                }
                other => panic!("{other} is written"),
            }
        }
    }

    fn lookup(&self, coordinates: [N; 2], picture: usize) -> V {
        let picture = &self.world.pictures[picture];
        let floor = |c: N| {
            let near = (c.v - c.v.round()).abs();
            // An exact whole number names its element.
            (c.known() && (c.e == 0.0 || near > c.e)).then(|| c.v.floor())
        };
        match coordinates.map(floor) {
            [Some(x), Some(y)] => {
                let x = x.clamp(0.0, f64::from(picture.width - 1)) as u32;
                let y = y.clamp(0.0, f64::from(picture.height - 1)) as u32;
                picture.get(x, y).unwrap().map(|bits| exact(f32::from_bits(bits)))
            }
            _ => [UNKNOWN; 4],
        }
    }

    /// The operand's value in the neighbour on the right or below, minus its value in the first pixel of the quad.
    fn difference(&self, o: &Operand, dx: i64, dy: i64) -> V {
        let (x, y) = (self.at.0 & !1, self.at.1 & !1);
        let there = |x: i64, y: i64| {
            let mut state = State::new(self.shader, self.world, x, y);
            let me = self.steps - 1;
            let mut mine = State::new(self.shader, self.world, self.at.0, self.at.1);
            // Both are at the same line, or nothing can be said.
            let same = state.run(Some(me)) == mine.run(Some(me));
            if same && !state.lost { state.read(o) } else { [UNKNOWN; 4] }
        };
        let (a, b) = (there(x, y), there(x + dx, y + dy));
        std::array::from_fn(|c| b[c].add(a[c].neg()))
    }

    #[allow(clippy::too_many_lines)]
    fn arithmetic(&mut self, line: &Line) {
        let name = line.name.as_str();
        if name == "texkill" {
            // The suffix after the point is a mask.
            let from = self.read(&Operand { swizzle: [0, 1, 2, 3], ..line.operands[0].clone() });
            for c in (0..4).filter(|&c| line.mask[c]) {
                match from[c].sign() {
                    Some(-1) => self.killed = true,
                    Some(_) => {}
                    None => self.lost = true,
                }
            }
            return;
        }
        if name == "setp" {
            let relation = line.suffix.iter().find_map(|s| relation(s)).unwrap();
            let [a, b] = [1, 2].map(|n| self.read(&line.operands[n]));
            for c in (0..4).filter(|&c| line.mask[c]) {
                self.p[c] = a[c].add(b[c].neg()).sign().map(relation);
            }
            return;
        }
        let source = |s: &Self, n: usize| s.read(&line.operands[n]);
        let each = |f: &dyn Fn(usize) -> N| -> V { std::array::from_fn(f) };
        let value: V = match name {
            "mov" => source(self, 1),
            "abs" => source(self, 1).map(N::abs),
            "add" | "sub" | "mul" | "min" | "max" | "slt" | "sge" => {
                let (a, b) = (source(self, 1), source(self, 2));
                each(&|c| {
                    let (a, b) = (a[c], b[c]);
                    let sign = a.add(b.neg()).sign();
                    match name {
                        "add" => a.add(b),
                        "sub" => a.add(b.neg()),
                        "mul" => a.mul(b),
                        // Near each other, either will do.
                        "min" => {
                            if a.known() && b.known() {
                                N { v: a.v.min(b.v), e: a.e.max(b.e) }
                            } else {
                                UNKNOWN
                            }
                        }
                        "max" => {
                            if a.known() && b.known() {
                                N { v: a.v.max(b.v), e: a.e.max(b.e) }
                            } else {
                                UNKNOWN
                            }
                        }
                        "slt" => N::pick(sign, exact(1.0), exact(0.0), |s| s < 0),
                        _ => N::pick(sign, exact(1.0), exact(0.0), |s| s >= 0),
                    }
                })
            }
            "mad" => {
                let (a, b, d) = (source(self, 1), source(self, 2), source(self, 3));
                each(&|c| a[c].mul(b[c]).add(d[c]))
            }
            "lrp" => {
                let (a, b, d) = (source(self, 1), source(self, 2), source(self, 3));
                each(&|c| a[c].mul(b[c].add(d[c].neg())).add(d[c]))
            }
            "cmp" => {
                let (a, b, d) = (source(self, 1), source(self, 2), source(self, 3));
                each(&|c| N::pick(a[c].sign(), b[c], d[c], |s| s >= 0))
            }
            "frc" => {
                let a = source(self, 1);
                each(&|c| {
                    let a = a[c];
                    let near = (a.v - a.v.round()).abs();
                    if !a.known() || (a.e > 0.0 && near <= a.e) {
                        UNKNOWN
                    } else {
                        N { v: a.v - a.v.floor(), e: a.e + EPS }
                    }
                })
            }
            "dp2add" => {
                let (a, b, d) = (source(self, 1), source(self, 2), source(self, 3));
                [self.dp(a, b, 2).add(d[0]); 4]
            }
            "dp3" => [self.dp(source(self, 1), source(self, 2), 3); 4],
            "dp4" => [self.dp(source(self, 1), source(self, 2), 4); 4],
            "rcp" | "rsq" | "exp" | "expp" | "log" | "logp" => [scalar(name, source(self, 1)[0]); 4],
            "pow" => {
                let (a, b) = (source(self, 1)[0], source(self, 2)[0]);
                [scalar("exp", scalar("log", a).mul(b)); 4]
            }
            "sincos" => {
                let a = source(self, 1)[0];
                let e = 1e-6 + a.v.abs() * 2e-7;
                let f = |f: fn(f64) -> f64| {
                    let r = a.map(f, 1.0);
                    N { e: r.e + e, ..r }
                };
                [f(f64::cos), f(f64::sin), UNKNOWN, UNKNOWN]
            }
            "nrm" => {
                let a = source(self, 1);
                let f = scalar("rsq", self.dp(a, a, 3));
                each(&|c| a[c].mul(f))
            }
            "crs" => {
                let (a, b) = (source(self, 1), source(self, 2));
                each(&|c| {
                    if c == 3 {
                        return UNKNOWN;
                    }
                    let (i, j) = ((c + 1) % 3, (c + 2) % 3);
                    a[i].mul(b[j]).add(a[j].mul(b[i]).neg())
                })
            }
            "m3x2" | "m3x3" | "m3x4" | "m4x3" | "m4x4" => {
                let a = source(self, 1);
                let count = name[1..2].parse().unwrap();
                let rows: usize = name[3..4].parse().unwrap();
                each(&|row| {
                    if row >= rows {
                        return UNKNOWN;
                    }
                    let mut o = line.operands[2].clone();
                    o.index += row;
                    self.dp(a, self.read(&o), count)
                })
            }
            "dsx" => self.difference(&line.operands[1], 1, 0),
            "dsy" => self.difference(&line.operands[1], 0, 1),
            "texld" | "texldp" | "texldb" | "texldl" | "texldd" => {
                let mut at = source(self, 1);
                if name == "texldp" {
                    let q = scalar("rcp", at[3]);
                    at = at.map(|c| c.mul(q));
                }
                let o = &line.operands[2];
                let element = self.lookup([at[0], at[1]], o.index);
                o.swizzle.map(|c| element[c])
            }
            other => panic!("the evaluator does not know {other}"),
        };
        self.write(line, value);
    }
}

fn relation(suffix: &str) -> Option<fn(i32) -> bool> {
    Some(match suffix {
        "gt" => |s| s > 0,
        "lt" => |s| s < 0,
        "ge" => |s| s >= 0,
        "le" => |s| s <= 0,
        "eq" => |s| s == 0,
        "ne" => |s| s != 0,
        _ => return None,
    })
}

fn scalar(name: &str, a: N) -> N {
    if !a.known() {
        return UNKNOWN;
    }
    // A little wider than a step of single precision: the language asks for less.
    let wide = |r: N| if r.known() { N { e: r.e + r.v.abs() * 4e-7 + 1e-7, ..r } } else { r };
    let low = a.v.abs() - a.e;
    match name {
        "rcp" if low > 1e-6 => wide(a.map(|v| 1.0 / v, 1.0 / (low * low))),
        "rsq" if low > 1e-6 => wide(a.map(|v| 1.0 / v.abs().sqrt(), 0.5 / low.powf(1.5))),
        "log" | "logp" if low > 1e-6 => wide(a.map(|v| v.abs().log2(), 1.5 / low)),
        "exp" | "expp" if a.v.abs() < 40.0 && a.e < 1.0 => wide(a.map(f64::exp2, (a.v + a.e).exp2())),
        _ => UNKNOWN,
    }
}
