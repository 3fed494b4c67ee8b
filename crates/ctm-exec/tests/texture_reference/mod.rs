//! A texture unit written from the definitions, in double precision, one lane at a time: nothing of the implementation is called.
//!
//! It uses only plain descriptions: `Texture`, `Sampler`, texels as bits.

use ctm_exec::r700::Sampler;
use ctm_exec::r700::resources::{Compare, Filter, Image, MipFilter, TextureKind, Wrap};

/// One lookup: the state of the instruction and its lane.
#[derive(Clone, Debug)]
pub struct Query {
    /// The instruction, in the manual's name.
    pub op: &'static str,
    /// Coordinates of the quad's four lanes: (0,0), (1,0), (0,1), (1,1).
    pub quad: [[f64; 4]; 4],
    pub lane: usize,
    /// LOD_BIAS, OFFSET_X to _Z, and COORD_TYPE_X to _Z, true for normalised.
    pub bias: f64,
    pub offset: [f64; 3],
    pub normalised: [bool; 3],
    /// The gradients of SET_GRADIENTS_H and _V.
    pub set: [[f64; 3]; 2],
    pub cube: u32,
    pub black: bool,
}

fn dimensions(kind: TextureKind) -> usize {
    match kind {
        TextureKind::OneD | TextureKind::OneDArray => 1,
        TextureKind::TwoD | TextureKind::TwoDArray | TextureKind::Cube | TextureKind::CubeArray => 2,
        TextureKind::ThreeD => 3,
    }
}

fn cubic(kind: TextureKind) -> bool {
    kind == TextureKind::Cube || kind == TextureKind::CubeArray
}

/// Sizes of a level, from the definition of a mipmap: halved, rounded down, at least 1, in the directions that are filtered.
fn sizes(image: &Image, level: u32) -> [i64; 3] {
    let t = &image.texture;
    let whole = [t.width, t.height, t.depth];
    std::array::from_fn(|axis| {
        let size = i64::from(whole[axis]);
        if axis < dimensions(t.kind) {
            (size / 2i64.pow(level)).max(1)
        } else if axis == 2 {
            size
        } else {
            1
        }
    })
}

/// The texel at a place, wrapped axis by axis; `None` is the border.
fn fold(c: i64, size: i64, wrap: Wrap) -> Option<i64> {
    match wrap {
        Wrap::Clamp => Some(if c < 0 {
            0
        } else if c >= size {
            size - 1
        } else {
            c
        }),
        Wrap::Repeat => Some(((c % size) + size) % size),
        Wrap::Mirror => {
            let period = ((c % (2 * size)) + 2 * size) % (2 * size);
            Some(if period < size { period } else { 2 * size - 1 - period })
        }
        Wrap::Border => (c >= 0 && c < size).then_some(c),
    }
}

pub struct Unit<'a> {
    pub image: &'a Image,
    pub sampler: Sampler,
    pub query: Query,
}

impl Unit<'_> {
    fn kind(&self) -> TextureKind {
        self.image.texture.kind
    }

    fn wrap(&self, axis: usize) -> Wrap {
        match self.sampler.wrap[axis] {
            // Repeat and mirror are for normalised coordinates; faces have edges.
            Wrap::Repeat | Wrap::Mirror if !self.query.normalised[axis] || cubic(self.kind()) => Wrap::Clamp,
            wrap => wrap,
        }
    }

    /// The slice that the third coordinate names, where it is not filtered.
    fn slice(&self, z: f64, depth: i64) -> i64 {
        let nearest = |z: f64, count: i64| {
            let (floor, rest) = (z.floor(), z - z.floor());
            let up = rest > 0.5 || (rest == 0.5 && floor % 2.0 != 0.0);
            ((floor as i64) + i64::from(up)).max(0).min(count - 1)
        };
        match self.kind() {
            TextureKind::OneD | TextureKind::TwoD => 0,
            TextureKind::CubeArray => nearest(z, 6) + 6 * i64::from(self.query.cube).min(depth / 6 - 1),
            _ => nearest(z, depth),
        }
    }

    /// The place in texels of a level along a filtered axis.
    fn place(&self, at: [f64; 4], axis: usize, size: i64) -> f64 {
        let c = if cubic(self.kind()) { at[axis] - 1.0 } else { at[axis] };
        let texels = (if self.query.normalised[axis] { c * size as f64 } else { c }) + self.query.offset[axis];
        // Mirrored once at 0, and half of a border: OpenGL's MIRROR_CLAMP_TO_EDGE, CLAMP and their like.
        let texels = if self.sampler.mirrors_once[axis] { texels.abs() } else { texels };
        if self.sampler.half_border[axis] { texels.max(0.0).min(size as f64) } else { texels }
    }

    fn texel(&self, level: u32, at: [i64; 3], reference: Option<f64>) -> [f64; 4] {
        let size = sizes(self.image, level);
        let mut place = [0i64; 3];
        let mut border = false;
        for axis in 0..3 {
            if axis < dimensions(self.kind()) {
                // The texel before the first one is the first one's mirror image.
                let mirrored = self.sampler.mirrors_once[axis] && at[axis] < 0;
                match fold(if mirrored { -1 - at[axis] } else { at[axis] }, size[axis], self.wrap(axis)) {
                    Some(c) => place[axis] = c,
                    None => border = true,
                }
            } else {
                place[axis] = at[axis];
            }
        }
        let bits = if border {
            if self.query.black { [1f32.to_bits(); 4] } else { self.sampler.border }
        } else if self.query.black {
            [0; 4]
        } else {
            let index = (place[2] * size[1] + place[1]) * size[0] + place[0];
            self.image.levels[level as usize][index as usize]
        };
        let value = bits.map(|b| f64::from(f32::from_bits(b)));
        let Some(reference) = reference else { return value };
        let passes = match self.sampler.compare {
            Compare::Never => false,
            Compare::Less => reference < value[0],
            Compare::Equal => reference == value[0],
            Compare::LessEqual => reference <= value[0],
            Compare::Greater => reference > value[0],
            Compare::NotEqual => reference != value[0],
            Compare::GreaterEqual => reference >= value[0],
            Compare::Always => true,
        };
        [if passes { 1.0 } else { 0.0 }, 0.0, 0.0, 1.0]
    }

    fn corner(&self, at: [f64; 4], level: u32, back: f64) -> ([i64; 3], [f64; 3]) {
        let size = sizes(self.image, level);
        let n = dimensions(self.kind());
        let mut base = [0i64; 3];
        let mut weight = [0f64; 3];
        for axis in 0..n {
            let u = self.place(at, axis, size[axis]) - back;
            base[axis] = u.floor() as i64;
            weight[axis] = u - u.floor();
        }
        if n < 3 {
            base[2] = self.slice(at[2], size[2]);
        }
        (base, weight)
    }

    fn in_level(&self, at: [f64; 4], level: u32, filter: Filter, reference: Option<f64>) -> [f64; 4] {
        if filter == Filter::Nearest {
            return self.texel(level, self.corner(at, level, 0.0).0, reference);
        }
        let (base, weight) = self.corner(at, level, 0.5);
        let mut sum = [0.0; 4];
        for corner in 0..1 << dimensions(self.kind()) {
            let (mut place, mut share) = (base, 1.0);
            for axis in 0..dimensions(self.kind()) {
                let far = corner >> axis & 1;
                place[axis] += far;
                share *= if far == 1 { weight[axis] } else { 1.0 - weight[axis] };
            }
            // A texel without weight does not count, whatever it holds.
            if share > 0.0 {
                let texel = self.texel(level, place, reference);
                for c in 0..4 {
                    sum[c] += share * texel[c];
                }
            }
        }
        sum
    }

    /// Slopes: right less left of the first row, upper less lower of the first column.
    fn slopes(&self) -> [[f64; 4]; 2] {
        let q = &self.query.quad;
        [1, 2].map(|other| std::array::from_fn(|c| q[other][c] - q[0][c]))
    }

    /// The level of detail: the logarithm of the longer side of a pixel's footprint, in texels of level 0.
    fn computed(&self, gradients: [[f64; 3]; 2]) -> f64 {
        let size = sizes(self.image, 0);
        let length = |g: [f64; 3]| {
            let sum: f64 = (0..dimensions(self.kind()))
                .map(|axis| (g[axis] * if self.query.normalised[axis] { size[axis] as f64 } else { 1.0 }).powi(2))
                .sum();
            sum.sqrt()
        };
        length(gradients[0]).max(length(gradients[1])).log2()
    }

    /// Where the ray through a place of a face (-1..1 from its middle) meets the plane of another face; `None` if it points away.
    fn on_face(face: i64, (other, s, t): (i64, f64, f64)) -> Option<[f64; 2]> {
        let [x, y, z] = match other {
            0 => [1.0, -t, -s],
            1 => [-1.0, -t, s],
            2 => [s, 1.0, t],
            3 => [s, -1.0, -t],
            4 => [s, -t, 1.0],
            _ => [-s, -t, -1.0],
        };
        let (s, t, major) = match face {
            0 => (-z, -y, x),
            1 => (z, -y, -x),
            2 => (x, z, y),
            3 => (x, -z, -y),
            4 => (x, -y, z),
            _ => (-x, -y, -z),
        };
        (major > 0.0).then(|| [s / major, t / major])
    }

    /// The slopes of a lookup: where a quad looks at several faces, on the plane of the lane's.
    fn footprint(&self) -> [[f64; 3]; 2] {
        let raw = self.slopes().map(|[x, y, z, _]| [x, y, z]);
        if !cubic(self.kind()) {
            return raw;
        }
        let place = |lane: usize| {
            let [x, y, z, _] = self.query.quad[lane];
            (z.round_ties_even().clamp(0.0, 5.0) as i64, 2.0 * (x - 1.5), 2.0 * (y - 1.5))
        };
        let own = place(self.query.lane).0;
        std::array::from_fn(|n| {
            let ends = [place(0), place(n + 1)];
            if ends.iter().all(|end| end.0 == own) {
                return raw[n];
            }
            match ends.map(|end| Self::on_face(own, end)) {
                [Some(from), Some(to)] => [(to[0] - from[0]) / 2.0, (to[1] - from[1]) / 2.0, 0.0],
                _ => raw[n],
            }
        })
    }

    fn of_quad(&self) -> f64 {
        self.computed(self.footprint()) + self.query.bias + f64::from(self.sampler.lod_bias)
    }

    /// The level of detail that the sampler allows.
    fn allowed(&self, lod: f64) -> f64 {
        lod.max(f64::from(self.sampler.min_lod)).min(f64::from(self.sampler.max_lod))
    }

    fn clamped(&self, lod: f64) -> f64 {
        self.allowed(lod).max(0.0).min(f64::from(self.image.texture.levels - 1))
    }

    fn first_level(&self, lod: f64) -> u32 {
        match self.sampler.mip {
            MipFilter::None => 0,
            MipFilter::Nearest => ((self.clamped(lod) + 0.5).floor() as u32).min(self.image.texture.levels - 1),
            MipFilter::Linear => self.clamped(lod).floor() as u32,
        }
    }

    /// How far a level of detail is from where the answer jumps: such places are not compared.
    pub fn is_settled(&self, lod: f64) -> bool {
        let distance = |x: f64| (x - x.round()).abs();
        let clamped = self.clamped(lod);
        let at_filter = (self.allowed(lod)).abs();
        let at_level = match self.sampler.mip {
            MipFilter::None | MipFilter::Linear => 1.0,
            MipFilter::Nearest => distance(clamped + 0.5),
        };
        at_level > 1e-5 && (self.sampler.magnify == self.sampler.minify || at_filter > 1e-5)
    }

    /// The level of detail of the instruction before any limit, for those that have one.
    pub fn lod(&self) -> f64 {
        let w = self.query.quad[self.query.lane][3];
        let op = self.query.op.trim_start_matches("SAMPLE").trim_start_matches("_C");
        let set = || self.computed(self.query.set) + self.query.bias + f64::from(self.sampler.lod_bias);
        match op {
            "_L" | "_G_L" => w + f64::from(self.sampler.lod_bias),
            "_LZ" | "_G_LZ" => 0.0,
            "_LB" => self.of_quad() + w,
            "_G" => set(),
            "_G_LB" => set() + w,
            _ => self.of_quad(),
        }
    }

    fn kind_is_flat(&self) -> bool {
        matches!(self.kind(), TextureKind::OneD | TextureKind::TwoD)
    }

    fn sample(&self) -> [f64; 4] {
        let at = self.query.quad[self.query.lane];
        // W; Z where the level or its bias is in W and no layer or face in Z.
        let shares_w = ["_L", "_LB"].iter().any(|end| self.query.op.ends_with(end));
        let place = if shares_w && self.kind_is_flat() { 2 } else { 3 };
        let reference = self.query.op.starts_with("SAMPLE_C").then_some(at[place]);
        let lod = self.lod();
        let filter = if self.allowed(lod) > 0.0 { self.sampler.minify } else { self.sampler.magnify };
        let level = self.first_level(lod);
        let first = self.in_level(at, level, filter, reference);
        let share = self.clamped(lod) - f64::from(level);
        if self.sampler.mip != MipFilter::Linear || share == 0.0 {
            return first;
        }
        let second = self.in_level(at, (level + 1).min(self.image.texture.levels - 1), filter, reference);
        std::array::from_fn(|c| first[c] * (1.0 - share) + second[c] * share)
    }

    /// The result of the instruction, by its page in the manual.
    pub fn answer(&self) -> [f64; 4] {
        let at = self.query.quad[self.query.lane];
        let lane_lod = || self.lod();
        match self.query.op {
            "GET_GRADIENTS_H" => self.slopes()[0],
            "GET_GRADIENTS_V" => self.slopes()[1],
            "GET_COMP_TEX_LOD" => [self.clamped(lane_lod()), lane_lod(), 0.0, 0.0],
            "GET_LERP" => {
                let level = self.first_level(lane_lod());
                let [x, y, z] = self.corner(at, level, 0.5).1;
                let mip = if self.sampler.mip == MipFilter::Linear {
                    self.clamped(lane_lod()) - f64::from(level)
                } else {
                    0.0
                };
                [x, y, z, mip]
            }
            "FETCH4" => {
                let level = self.first_level(lane_lod());
                let (base, _) = self.corner(at, level, 0.5);
                let one = |dx: i64, dy: i64| {
                    let dy = if dimensions(self.kind()) > 1 { dy } else { 0 };
                    self.texel(level, [base[0] + dx, base[1] + dy, base[2]], None)[0]
                };
                [one(1, 0), one(0, 1), one(1, 1), one(0, 0)]
            }
            "KEEP_GRADIENTS" => self.sampler.border.map(|b| f64::from(f32::from_bits(b))),
            _ => self.sample(),
        }
    }
}
