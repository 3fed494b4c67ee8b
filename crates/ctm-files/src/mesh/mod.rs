//! Meshes: built in, or from files (Wavefront OBJ, glTF, arrays of vertices).

mod gltf;
pub mod vector;

use crate::array::Items;
use crate::kinds::FileKind;
use crate::open::Problem;
use ctm_draw::state::Topology;
use std::fmt;
use std::path::Path;
use vector::{cross, normal_of};

/// The values of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// x, y, z, 1.
    Position,
    /// x, y, z of length 1, 0.
    Normal,
    /// s, t, 0, 1.
    Texcoord,
    /// Red, green, blue, alpha.
    Colour,
    /// Numbers of the four joints that move the vertex.
    Joints,
    /// Their weights.
    Weights,
    /// x, y, z of a morph target less the position, 0.
    Morph(u8),
    /// x, y, z of a morph target's normal less the normal, 0.
    MorphNormal(u8),
}

impl Channel {
    /// Every channel with its name.
    pub const ALL: [(&'static str, Self); 14] = [
        ("position", Self::Position),
        ("normal", Self::Normal),
        ("texcoord", Self::Texcoord),
        ("colour", Self::Colour),
        ("joints", Self::Joints),
        ("weights", Self::Weights),
        ("morph0", Self::Morph(0)),
        ("morph1", Self::Morph(1)),
        ("morph2", Self::Morph(2)),
        ("morph3", Self::Morph(3)),
        ("morph_normal0", Self::MorphNormal(0)),
        ("morph_normal1", Self::MorphNormal(1)),
        ("morph_normal2", Self::MorphNormal(2)),
        ("morph_normal3", Self::MorphNormal(3)),
    ];

    /// Its place among the values that every vertex has; `None` of those of skins and morph targets.
    #[must_use]
    pub fn place(self) -> Option<usize> {
        Self::ALL.iter().take(4).position(|row| row.1 == self)
    }

    /// The channel that an attribute's name speaks of.
    #[must_use]
    pub fn of_attribute(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| name.contains(word));
        let digit = || name.chars().rev().find_map(|c| c.to_digit(10)).and_then(|n| u8::try_from(n).ok()).unwrap_or(0);
        match () {
            () if says(&["morph", "target"]) && says(&["norm"]) => Some(Self::MorphNormal(digit())),
            () if says(&["morph", "target"]) => Some(Self::Morph(digit())),
            () if says(&["weight"]) => Some(Self::Weights),
            () if says(&["joint", "bone"]) => Some(Self::Joints),
            () if says(&["norm"]) => Some(Self::Normal),
            () if says(&["tex", "uv", "coord", "st0"]) => Some(Self::Texcoord),
            () if says(&["col"]) => Some(Self::Colour),
            () if says(&["pos", "vert"]) => Some(Self::Position),
            () => None,
        }
    }
}

/// The files that a mesh file names, by their relative paths, with their contents; none of meshes in one file.
///
/// # Errors
/// The mesh or one of them cannot be read.
pub fn files_beside(path: &Path) -> Result<Vec<(String, Vec<u8>)>, MeshError> {
    if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gltf") || e.eq_ignore_ascii_case("glb")) {
        return Ok(Vec::new());
    }
    let named = |error| MeshError::File { name: path.display().to_string(), error: Box::new(error) };
    let bytes = crate::read(path, FileKind::Mesh).map_err(|error| named(MeshError::Unreadable(error.problem)))?;
    gltf::files_beside(&bytes, path).map_err(|message| named(MeshError::Gltf(message)))
}

/// Vertices and the order in which they are drawn.
///
/// ```
/// use ctm_files::mesh::{BUILT_IN, Channel, Mesh, MeshError};
///
/// for name in BUILT_IN {
///     assert!(!Mesh::built_in(name).unwrap().indices.is_empty());
/// }
/// let mesh = Mesh::from_obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")?;
/// assert_eq!(mesh.channel(Channel::Position)[1], [1.0, 0.0, 0.0, 1.0]);
/// // Faces have the normals of their planes where the file has none.
/// assert_eq!(mesh.channel(Channel::Normal)[0], [0.0, 0.0, 1.0, 0.0]);
/// // Attributes of programs take channels by their names.
/// assert_eq!(Channel::of_attribute("in_UV"), Some(Channel::Texcoord));
///
/// let wrong: MeshError = Mesh::from_obj("v 1 2\n").unwrap_err();
/// assert_eq!(wrong.to_string(), "line 1: `v` has 2 numbers, 3 are needed");
/// # Ok::<(), MeshError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// The kind of primitives.
    pub topology: Topology,
    /// Each vertex: position, normal, texture coordinate, colour.
    pub vertices: Vec<[[f32; 4]; 4]>,
    /// Which vertices.
    pub indices: Vec<u32>,
    /// Its skin, if it has one.
    pub skin: Option<Skin>,
    /// Its morph targets.
    pub morphs: Vec<Morph>,
}

/// The joints that move the vertices of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// Of each vertex the numbers of four joints.
    pub joints: Vec<[f32; 4]>,
    /// Of each vertex their weights.
    pub weights: Vec<[f32; 4]>,
    /// Of each joint the matrix by which it moves vertices, at rest: by rows.
    pub matrices: Vec<[[f32; 4]; 4]>,
}

/// A morph target: differences that are added to the vertices by a weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Morph {
    /// Of each vertex the difference of the position, and 0.
    pub positions: Vec<[f32; 4]>,
    /// Of each vertex the difference of the normal, and 0.
    pub normals: Vec<[f32; 4]>,
    /// The weight that the file gives it.
    pub weight: f32,
}

/// The reason why there is no mesh.
#[derive(Debug)]
#[non_exhaustive]
pub enum MeshError {
    /// Neither a built-in mesh nor a file of a known kind.
    Unknown(String),
    /// The file cannot be read.
    Unreadable(Problem),
    /// A line of an OBJ file is wrong.
    Line {
        /// Its number, from 1 on.
        number: usize,
        /// The value and the allowed ones; lower case, no full stop.
        message: String,
    },
    /// An OBJ file without faces.
    NoFaces,
    /// Rows of vertices of a length without a meaning.
    Columns(usize),
    /// An array without vertices.
    NoVertices,
    /// The bytes are no array.
    Array(crate::array::ArrayError),
    /// An array that holds no rows of single precision; its shape.
    Shape(Vec<usize>),
    /// A glTF file is wrong, or uses a feature that is not supported; lower case, no full stop.
    Gltf(String),
    /// One of these in a file.
    File {
        /// Its name, as it was given.
        name: String,
        /// The error.
        error: Box<MeshError>,
    },
}

impl fmt::Display for MeshError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(
                f,
                "there is no mesh `{name}`; there are {}, and files (.obj, .gltf, .glb, .npy)",
                BUILT_IN.join(", ")
            ),
            Self::Unreadable(error) => write!(f, "it cannot be read: {error}"),
            Self::Line { number, message } => write!(f, "line {number}: {message}"),
            Self::NoFaces => f.write_str("it has no faces"),
            Self::Columns(columns) => write!(
                f,
                "vertices have {columns} numbers; allowed are 3 (position), 5 (and s, t), 6 (and normal), 8 (all three) and 12 (and colour)"
            ),
            Self::NoVertices => f.write_str("there are no vertices"),
            Self::Array(error) => error.fmt(f),
            Self::Shape(shape) => write!(f, "its shape is {shape:?}; vertices are rows of float32"),
            Self::Gltf(message) => f.write_str(message),
            Self::File { name, error } => match &**error {
                Self::Unreadable(error) => write!(f, "{name} cannot be read: {error}"),
                error => write!(f, "{name}: {error}"),
            },
        }
    }
}

impl std::error::Error for MeshError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Array(error) => Some(error),
            Self::File { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// Names of the built-in meshes.
pub const BUILT_IN: [&str; 6] = ["triangle", "quad", "cube", "sphere", "torus", "grid"];

/// Colours of corners and faces.
const PALETTE: [[f32; 4]; 6] = [
    [0.9, 0.3, 0.25, 1.0],
    [0.3, 0.7, 0.35, 1.0],
    [0.25, 0.45, 0.9, 1.0],
    [0.95, 0.8, 0.3, 1.0],
    [0.7, 0.35, 0.8, 1.0],
    [0.3, 0.8, 0.85, 1.0],
];

fn vertex([x, y, z]: [f32; 3], [nx, ny, nz]: [f32; 3], [s, t]: [f32; 2], colour: [f32; 4]) -> [[f32; 4]; 4] {
    [[x, y, z, 1.0], [nx, ny, nz, 0.0], [s, t, 0.0, 1.0], colour]
}

impl Skin {
    /// The sum of a vertex's joints, by their weights: the matrix that moves it, by rows.
    #[must_use]
    pub fn matrix(&self, vertex: usize) -> [[f32; 4]; 4] {
        let mut sum = [[0.0; 4]; 4];
        let (joints, weights) = (self.joints.get(vertex), self.weights.get(vertex));
        for (joint, weight) in joints.into_iter().flatten().zip(weights.into_iter().flatten()) {
            let Some(matrix) = self.matrices.get(*joint as usize) else { continue };
            for (sum, row) in sum.as_flattened_mut().iter_mut().zip(matrix.as_flattened()) {
                *sum += weight * row;
            }
        }
        sum
    }

    /// Moves a vertex and its normal.
    fn pose(&self, n: usize, vertex: &mut [[f32; 4]; 4]) {
        let matrix = self.matrix(n);
        let [position, normal, ..] = *vertex;
        let moved = |value: [f32; 4]| -> [f32; 4] {
            std::array::from_fn(|row| (0..4).map(|k| matrix[row][k] * value[k]).sum())
        };
        let ([x, y, z, _], [nx, ny, nz, _]) = (moved(position), moved(normal));
        let length = (nx * nx + ny * ny + nz * nz).sqrt();
        let unit = |value: f32| if length > 0.0 { value / length } else { 0.0 };
        (vertex[0], vertex[1]) = ([x, y, z, 1.0], [unit(nx), unit(ny), unit(nz), 0.0]);
    }
}

impl Mesh {
    /// The values of a channel, vertex by vertex.
    #[must_use]
    pub fn channel(&self, channel: Channel) -> Vec<[f32; 4]> {
        let none = |first: f32| vec![[first, 0.0, 0.0, 0.0]; self.vertices.len()];
        let of_target = |n: u8, list: fn(&Morph) -> &Vec<[f32; 4]>| self.morphs.get(usize::from(n)).map(list).cloned();
        match channel {
            Channel::Position | Channel::Normal | Channel::Texcoord | Channel::Colour => {
                let at = channel.place().unwrap_or(0);
                self.vertices.iter().map(|vertex| vertex[at]).collect()
            }
            Channel::Joints => self.skin.as_ref().map_or_else(|| none(0.0), |skin| skin.joints.clone()),
            // All of joint 0.
            Channel::Weights => self.skin.as_ref().map_or_else(|| none(1.0), |skin| skin.weights.clone()),
            Channel::Morph(n) => of_target(n, |morph| &morph.positions).unwrap_or_else(|| none(0.0)),
            Channel::MorphNormal(n) => of_target(n, |morph| &morph.normals).unwrap_or_else(|| none(0.0)),
        }
    }

    /// Morphs and moves the vertices as the file's own weights and joints do, for programs that do not do it themselves.
    pub fn pose(&mut self, morphs: bool, skin: bool) {
        if morphs {
            for morph in std::mem::take(&mut self.morphs) {
                for (n, vertex) in self.vertices.iter_mut().enumerate() {
                    for (place, list) in [(0, &morph.positions), (1, &morph.normals)] {
                        let difference = list.get(n).copied().unwrap_or_default();
                        (0..3).for_each(|axis| vertex[place][axis] += morph.weight * difference[axis]);
                    }
                }
            }
        }
        if let (true, Some(skin)) = (skin, self.skin.take_if(|_| skin)) {
            for (n, vertex) in self.vertices.iter_mut().enumerate() {
                skin.pose(n, vertex);
            }
        }
    }

    /// Triangles without a skin.
    #[must_use]
    pub const fn of_triangles(vertices: Vec<[[f32; 4]; 4]>, indices: Vec<u32>) -> Self {
        Self { topology: Topology::Triangles, vertices, indices, skin: None, morphs: Vec::new() }
    }

    /// A built-in mesh: all lie within -1 to 1; front faces are counter-clockwise with y up. Texture coordinates begin in the upper left
    /// corner.
    ///
    /// | name | mesh |
    /// |---|---|
    /// | `triangle` | one, with a colour at each corner |
    /// | `quad` | a square |
    /// | `grid` | a square of 16 x 16 squares |
    /// | `cube` | six squares, a colour for each face |
    /// | `sphere` | 32 x 16 squares |
    /// | `torus` | 32 x 16 squares, upright |
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        let mesh = |vertices, indices| Some(Self::of_triangles(vertices, indices));
        match name {
            "triangle" => {
                let corners = [([-0.8f32, -0.8], [0.0, 1.0]), ([0.8, -0.8], [1.0, 1.0]), ([0.0, 0.8], [0.5, 0.0])];
                let colours = [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]];
                let of = corners.into_iter().zip(colours);
                let all = of.map(|(([x, y], st), colour)| vertex([x, y, 0.0], [0.0, 0.0, 1.0], st, colour));
                mesh(all.collect(), vec![0, 1, 2])
            }
            "quad" => Some(Self::surface(1, 1, |s, t| ([2.0 * s - 1.0, 1.0 - 2.0 * t, 0.0], [0.0, 0.0, 1.0]))),
            "grid" => Some(Self::surface(16, 16, |s, t| ([2.0 * s - 1.0, 1.0 - 2.0 * t, 0.0], [0.0, 0.0, 1.0]))),
            "sphere" => Some(Self::surface(32, 16, |s, t| {
                let (around, down) = (s * std::f32::consts::TAU, t * std::f32::consts::PI);
                let at = [around.cos() * down.sin(), down.cos(), -around.sin() * down.sin()];
                (at, at)
            })),
            "torus" => Some(Self::surface(32, 16, |s, t| {
                let (around, tube) = (s * std::f32::consts::TAU, t * std::f32::consts::TAU);
                let normal = [around.cos() * tube.cos(), -tube.sin(), -around.sin() * tube.cos()];
                let part = |n: usize, middle: f32| middle * 0.68 + normal[n] * 0.32;
                ([part(0, around.cos()), part(1, 0.0), part(2, -around.sin())], normal)
            })),
            "cube" => {
                let (mut vertices, mut indices) = (Vec::new(), Vec::new());
                // For each face its normal and the direction to its right; up follows from them.
                let faces: [([f32; 3], [f32; 3]); 6] = [
                    ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]),
                    ([1.0, 0.0, 0.0], [0.0, 0.0, -1.0]),
                    ([0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]),
                    ([-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]),
                    ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0]),
                    ([0.0, -1.0, 0.0], [1.0, 0.0, 0.0]),
                ];
                for ((normal, right), colour) in faces.into_iter().zip(PALETTE) {
                    let up = cross(normal, right);
                    let first = vertices.len() as u32;
                    for [s, t] in [[0.0f32, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]] {
                        let (a, b) = (2.0 * s - 1.0, 1.0 - 2.0 * t);
                        let at = std::array::from_fn(|n| normal[n] + a * right[n] + b * up[n]);
                        vertices.push(vertex(at, normal, [s, t], colour));
                    }
                    indices.extend([0, 3, 2, 0, 2, 1].map(|n| first + n));
                }
                mesh(vertices, indices)
            }
            _ => None,
        }
    }

    /// A surface over s and t of 0 to 1, t downwards, in columns and rows of squares. Colours change from corner to corner.
    #[allow(clippy::cast_precision_loss, reason = "small numbers")]
    fn surface(columns: u32, rows: u32, at: impl Fn(f32, f32) -> ([f32; 3], [f32; 3])) -> Self {
        let (mut vertices, mut indices) = (Vec::new(), Vec::new());
        for row in 0..=rows {
            for column in 0..=columns {
                let (s, t) = (column as f32 / columns as f32, row as f32 / rows as f32);
                let (position, normal) = at(s, t);
                let mix = |c: usize| {
                    let (top, bottom) =
                        (PALETTE[0][c] * (1.0 - s) + PALETTE[1][c] * s, PALETTE[2][c] * (1.0 - s) + PALETTE[3][c] * s);
                    top * (1.0 - t) + bottom * t
                };
                vertices.push(vertex(position, normal, [s, t], [mix(0), mix(1), mix(2), 1.0]));
            }
        }
        for row in 0..rows {
            for column in 0..columns {
                let first = row * (columns + 1) + column;
                let below = first + columns + 1;
                indices.extend([first, below, below + 1, first, below + 1, first + 1]);
            }
        }
        Self::of_triangles(vertices, indices)
    }

    /// A Wavefront OBJ file: `v`, `vt`, `vn` and `f`; everything else is passed over. Faces of more than three corners become fans. Where normals are
    /// missing, faces have those of their planes. Texture coordinates are turned to begin in the upper left corner.
    ///
    /// # Errors
    /// The number of the first line that is wrong, and why.
    pub fn from_obj(text: &str) -> Result<Self, MeshError> {
        let (mut positions, mut texcoords, mut normals) = (Vec::new(), Vec::new(), Vec::new());
        let mut mesh = Self::of_triangles(Vec::new(), Vec::new());
        for (number, line) in text.lines().enumerate() {
            let wrong = |message: String| MeshError::Line { number: number + 1, message };
            let mut words = line.split('#').next().unwrap_or("").split_whitespace();
            let kind = words.next().unwrap_or("");
            let numbers = |words: std::str::SplitWhitespace<'_>| -> Result<Vec<f32>, MeshError> {
                words.map(|word| word.parse().map_err(|_| wrong(format!("`{word}` is no number")))).collect()
            };
            let given = |all: &mut Vec<[f32; 3]>, least: usize| -> Result<(), MeshError> {
                let values = numbers(words.clone())?;
                if values.len() < least {
                    return Err(wrong(format!("`{kind}` has {} numbers, {least} are needed", values.len())));
                }
                all.push(std::array::from_fn(|n| values.get(n).copied().unwrap_or(0.0)));
                Ok(())
            };
            match kind {
                "v" => given(&mut positions, 3)?,
                "vt" => given(&mut texcoords, 2)?,
                "vn" => given(&mut normals, 3)?,
                "f" => {
                    let mut corners = Vec::new();
                    for word in words {
                        let mut parts = word.split('/').map(|part| match part {
                            "" => Ok(None),
                            part => part.parse::<i64>().map(Some).map_err(|_| wrong(format!("`{word}` is no corner"))),
                        });
                        let mut next = || parts.next().transpose().map(Option::flatten);
                        let (p, t, n) = (next()?, next()?, next()?);
                        let pick =
                            |all: &[[f32; 3]], index: Option<i64>, what: &str| -> Result<Option<[f32; 3]>, MeshError> {
                                let Some(index) = index else { return Ok(None) };
                                // From 1 on, or from the end.
                                let at = if index < 0 { all.len() as i64 + index } else { index - 1 };
                                let found = usize::try_from(at).ok().and_then(|at| all.get(at).copied());
                                found.map(Some).ok_or_else(|| {
                                    wrong(format!("there is no {what} {index}, there are {}", all.len()))
                                })
                            };
                        let position =
                            pick(&positions, p, "vertex")?.ok_or_else(|| wrong(format!("`{word}` names no vertex")))?;
                        corners.push((
                            position,
                            pick(&texcoords, t, "texture coordinate")?,
                            pick(&normals, n, "normal")?,
                        ));
                    }
                    if corners.len() < 3 {
                        return Err(wrong(format!("a face has {} corners, at least 3 are needed", corners.len())));
                    }
                    let flat = normal_of(corners[0].0, corners[1].0, corners[2].0);
                    let first = mesh.vertices.len() as u32;
                    for &(position, st, normal) in &corners {
                        let [s, t, _] = st.unwrap_or([0.0; 3]);
                        mesh.vertices.push(vertex(
                            position,
                            normal.unwrap_or(flat),
                            [s, 1.0 - t],
                            [0.8, 0.8, 0.8, 1.0],
                        ));
                    }
                    for n in 1..corners.len() as u32 - 1 {
                        mesh.indices.extend([first, first + n, first + n + 1]);
                    }
                }
                _ => {}
            }
        }
        if mesh.indices.is_empty() {
            return Err(MeshError::NoFaces);
        }
        Ok(mesh)
    }

    /// An array of vertices as triangles: rows of x, y, z; x, y, z, s, t; x, y, z and a normal; x, y, z, a normal, s, t; or those and a colour of four.
    ///
    /// # Errors
    /// Another number of columns, or of vertices.
    pub fn from_rows(rows: &[f32], columns: usize) -> Result<Self, MeshError> {
        if !matches!(columns, 3 | 5 | 6 | 8 | 12) {
            return Err(MeshError::Columns(columns));
        }
        let (has_normal, st) = (columns >= 6, if columns == 5 { 3 } else { 6 });
        let vertices: Vec<[[f32; 4]; 4]> = rows
            .chunks_exact(columns)
            .map(|row| {
                let get = |n: usize| row.get(n).copied().unwrap_or(0.0);
                let normal = if has_normal { [get(3), get(4), get(5)] } else { [0.0, 0.0, 1.0] };
                let colour = if columns == 12 { [get(8), get(9), get(10), get(11)] } else { [0.8, 0.8, 0.8, 1.0] };
                let st = if columns == 5 || columns >= 8 { [get(st), get(st + 1)] } else { [0.0; 2] };
                vertex([get(0), get(1), get(2)], normal, st, colour)
            })
            .collect();
        if vertices.is_empty() {
            return Err(MeshError::NoVertices);
        }
        let indices = (0..vertices.len() as u32).collect();
        Ok(Self::of_triangles(vertices, indices))
    }

    /// A built-in mesh by its name, or a file: OBJ, glTF, or an array of vertices.
    ///
    /// # Errors
    /// The name is unknown, or the file is invalid.
    pub fn of(name: &str) -> Result<Self, MeshError> {
        if let Some(mesh) = Self::built_in(name) {
            return Ok(mesh);
        }
        let path = Path::new(name);
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        let named = |error: MeshError| MeshError::File { name: name.to_owned(), error: Box::new(error) };
        let bytes = || crate::read(path, FileKind::Mesh).map_err(|error| named(MeshError::Unreadable(error.problem)));
        match extension.as_str() {
            "obj" => Self::from_obj(&String::from_utf8_lossy(&bytes()?)).map_err(named),
            "gltf" | "glb" => gltf::read(&bytes()?, path).map_err(|message| named(MeshError::Gltf(message))),
            "npy" => {
                let items = Items::from_npy(&bytes()?).map_err(|error| named(MeshError::Array(error)))?;
                match items.shape[..] {
                    [_, columns] if items.class == b'f' && items.item_bytes == 4 => {
                        let rows: Vec<f32> = items.dwords().into_iter().map(f32::from_bits).collect();
                        Self::from_rows(&rows, columns).map_err(named)
                    }
                    ref shape => Err(named(MeshError::Shape(shape.to_vec()))),
                }
            }
            _ => Err(MeshError::Unknown(name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_meshes_face_outwards() {
        for name in BUILT_IN {
            let Some(mesh) = Mesh::built_in(name) else { panic!("{name}") };
            assert!(mesh.indices.iter().all(|&n| (n as usize) < mesh.vertices.len()));
            for triangle in mesh.indices.chunks_exact(3) {
                let [a, b, c] = [triangle[0], triangle[1], triangle[2]].map(|n| {
                    let [x, y, z, _] = mesh.vertices[n as usize][0];
                    [x, y, z]
                });
                let face = super::normal_of(a, b, c);
                // Squares at the poles of the sphere have no area.
                let normal = mesh.vertices[triangle[1] as usize][1];
                let along: f32 = (0..3).map(|n| face[n] * normal[n]).sum();
                assert!(along > 0.5 || face == [0.0; 3], "{name}: {face:?} {normal:?}");
            }
        }
    }

    #[test]
    fn obj_files_are_read() {
        let text = "# a square\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 1\nf 1/1 2/2 3/2 -1/1\n";
        let Ok(mesh) = Mesh::from_obj(text) else { panic!() };
        assert_eq!(mesh.indices, [0, 1, 2, 0, 2, 3]);
        assert_eq!(mesh.vertices[3][0], [0.0, 1.0, 0.0, 1.0]);
        assert_eq!(mesh.vertices[0][1], [0.0, 0.0, 1.0, 0.0]);
        assert_eq!(mesh.vertices[1][2], [1.0, 0.0, 0.0, 1.0]);
        let wrong = |text: &str| Mesh::from_obj(text).err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(wrong("v 1 2\n"), "line 1: `v` has 2 numbers, 3 are needed");
        assert_eq!(wrong("v 1 2 3\nf 1 2 3\n"), "line 2: there is no vertex 2, there are 1");
        assert_eq!(wrong("v 1 x 3\n"), "line 1: `x` is no number");
        assert_eq!(wrong(""), "it has no faces");
    }
}
