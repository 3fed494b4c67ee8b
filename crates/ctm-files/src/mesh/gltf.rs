//! Meshes of glTF 2.0 files (`.gltf`, `.glb`): the triangles of the first scene, with the transformations of its nodes.
//!
//! Supported are positions, normals, first texture coordinates, first colours, first joints and weights, morph targets, indices; buffers within the file, beside
//! it and as base64 text. Vertices of a skin stay where the mesh has them, as its joints alone place them (glTF 2.0, 3.7.3.3); other vertices of the same file get a joint that
//! moves nothing. Sparse accessors, extensions and animations are refused or left out.
//!
//! Joints of several skins follow each other.
//!
//! **Invariant.** The memory of a mesh is bounded before it is taken: nodes that share children multiply, so instances, vertices and indices are
//! counted first, each node once.

mod skins;

use super::Mesh;
use crate::beside::{decoded, read_beside};
use crate::kinds::FileKind;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Deepest nodes of a scene.
const DEEPEST: usize = 64;
/// Most nodes of a scene and their primitives, counted once for each path from the scene.
const MOST_INSTANCES: u64 = 1 << 20;
/// Most vertices and indices of all instances.
const MOST: u64 = 1 << 24;
const MOST_INDICES: u64 = 1 << 26;
/// Bytes that may fill a `.glb` file's buffer up to its chunk (glTF 2.0, 3.6.1.2).
const PADDING: usize = 3;

type Matrix = [[f64; 4]; 4];
const IDENTITY: Matrix = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];

/// Reads a file's bytes; other files are beside it.
pub(super) fn read(bytes: &[u8], path: &Path) -> Result<Mesh, String> {
    let (text, binary) = if bytes.starts_with(b"glTF") { chunks(bytes)? } else { (bytes, None) };
    let root: Value = serde_json::from_slice(text).map_err(|error| format!("it is no JSON: {error}"))?;
    let version = root["asset"]["version"].as_str().unwrap_or("");
    if !version.starts_with("2.") {
        return Err(format!("its version is `{version}`, 2.0 can be read"));
    }
    let buffers = list(&root["buffers"])
        .iter()
        .enumerate()
        .map(|(n, buffer)| contents(buffer, binary, path).map_err(|why| format!("buffer {n}: {why}")))
        .collect::<Result<Vec<_>, _>>()?;
    let mut reader = GltfReader {
        root: &root,
        buffers,
        mesh: Mesh::of_triangles(Vec::new(), Vec::new()),
        first_joints: HashMap::new(),
        still: None,
    };
    let scene = &root["scenes"][index(&root["scene"]).unwrap_or(0)];
    let nodes: Vec<usize> = match scene {
        // Without scenes all root nodes.
        Value::Null => {
            let children: HashSet<usize> =
                list(&root["nodes"]).iter().flat_map(|node| list(&node["children"])).filter_map(index).collect();
            (0..list(&root["nodes"]).len()).filter(|n| !children.contains(n)).collect()
        }
        scene => list(&scene["nodes"]).iter().filter_map(index).collect(),
    };
    let mut counting = Counting { root: &root, nodes: HashMap::new(), meshes: HashMap::new() };
    let mut all = Amount::default();
    for &node in &nodes {
        all = all.plus(counting.node(node, 0)?);
    }
    all.bounded()?;
    for node in nodes {
        reader.node(node, &IDENTITY, 0)?;
    }
    reader.even_out();
    if reader.mesh.indices.is_empty() {
        return Err("it has no triangles".into());
    }
    Ok(reader.mesh)
}

/// The files that the buffers name, by their decoded relative paths, with their contents.
pub(super) fn files_beside(bytes: &[u8], path: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let (text, _) = if bytes.starts_with(b"glTF") { chunks(bytes)? } else { (bytes, None) };
    let root: Value = serde_json::from_slice(text).map_err(|error| format!("it is no JSON: {error}"))?;
    let mut found: Vec<(String, Vec<u8>)> = Vec::new();
    for (n, buffer) in list(&root["buffers"]).iter().enumerate() {
        let Some(uri) = buffer["uri"].as_str().filter(|uri| !uri.starts_with("data:")) else { continue };
        let name = decoded(uri).unwrap_or_else(|| uri.to_owned());
        if found.iter().all(|(other, _)| *other != name) {
            let bytes = contents(buffer, None, path).map_err(|why| format!("buffer {n}: {why}"))?;
            found.push((name, bytes.into_owned()));
        }
    }
    Ok(found)
}

/// The bytes of a buffer: within the file, as base64 text, or a file beside it. Their count is the stated one.
fn contents<'a>(buffer: &Value, binary: Option<&'a [u8]>, path: &Path) -> Result<Cow<'a, [u8]>, String> {
    let stated = buffer["byteLength"].as_u64().ok_or("it states no byteLength")?;
    let length = usize::try_from(stated).unwrap_or(usize::MAX);
    let short = |bytes: usize| format!("it has {bytes} bytes, and {stated} are stated");
    match buffer["uri"].as_str() {
        None => {
            let chunk = binary.ok_or("it has no data")?;
            match chunk.get(..length) {
                Some(bytes) if chunk.len() - length <= PADDING => Ok(bytes.into()),
                _ => Err(short(chunk.len())),
            }
        }
        Some(uri) => match uri.strip_prefix("data:") {
            Some(data) => {
                let text = data.split_once(";base64,").ok_or("it is no base64 text")?.1;
                let mut bytes = base64(text).ok_or("it is no base64 text")?;
                if bytes.len() < length {
                    return Err(short(bytes.len()));
                }
                bytes.truncate(length);
                Ok(bytes.into())
            }
            None => read_beside(path, uri, stated, FileKind::Mesh).map(Cow::from).map_err(|e| e.to_string()),
        },
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|n| usize::try_from(n).ok())
}

/// The text and the binary chunk of a `.glb` file.
fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), String> {
    let (mut at, mut text, mut binary) = (12usize, None, None);
    let dword = |at: usize| bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    while let (Some(length), Some(kind)) = (dword(at), dword(at + 4)) {
        let end = (at + 8).saturating_add(length as usize);
        let data = bytes
            .get(at + 8..end)
            .ok_or_else(|| format!("a chunk reaches to byte {end}, the file has {}", bytes.len()))?;
        match kind {
            0x4e4f_534a => text = text.or(Some(data)),
            0x004e_4942 => binary = binary.or(Some(data)),
            _ => {}
        }
        at = end;
    }
    Ok((text.ok_or("it has no JSON chunk")?, binary))
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        (bits, count) = (bits << 6 | u32::from(value), count + 6);
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(out)
}

struct GltfReader<'a> {
    root: &'a Value,
    buffers: Vec<Cow<'a, [u8]>>,
    mesh: Mesh,
    /// The number of the first joint of each skin that was used.
    first_joints: HashMap<usize, usize>,
    /// The joint that moves nothing.
    still: Option<usize>,
}

/// The instance of a mesh.
struct Instance<'n> {
    /// Places its vertices; of a mesh with a skin it does not.
    matrix: Matrix,
    /// The number of its skin's first joint, and of its joints.
    joints: Option<(usize, usize)>,
    /// Weights of morph targets.
    weights: &'n [Value],
}

/// Counts of instances, vertices and indices of nodes.
#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    instances: u64,
    vertices: u64,
    indices: u64,
}

impl Amount {
    const fn plus(self, other: Self) -> Self {
        Self {
            instances: self.instances.saturating_add(other.instances),
            vertices: self.vertices.saturating_add(other.vertices),
            indices: self.indices.saturating_add(other.indices),
        }
    }

    fn bounded(self) -> Result<(), String> {
        let all = [
            (self.instances, "nodes and primitives", MOST_INSTANCES),
            (self.vertices, "vertices", MOST),
            (self.indices, "indices", MOST_INDICES),
        ];
        match all.into_iter().find(|(count, _, most)| count > most) {
            Some((_, what, most)) => {
                Err(format!("it has more than {most} {what}, each node counted as often as it is drawn"))
            }
            None => Ok(()),
        }
    }
}

/// Counts each node and each mesh once.
struct Counting<'a> {
    root: &'a Value,
    /// `None`: the node is being counted.
    nodes: HashMap<usize, Option<Amount>>,
    meshes: HashMap<usize, Amount>,
}

impl Counting<'_> {
    /// The amount of a node and all nodes below it.
    fn node(&mut self, number: usize, depth: usize) -> Result<Amount, String> {
        match self.nodes.get(&number) {
            Some(Some(amount)) => return Ok(*amount),
            Some(None) => return Err(format!("node {number} is below itself")),
            None => {}
        }
        let node = &self.root["nodes"][number];
        if node.is_null() || depth > DEEPEST {
            return Err(format!("node {number} does not exist, or nodes lie more than {DEEPEST} deep"));
        }
        self.nodes.insert(number, None);
        let mut amount = Amount { instances: 1, ..Amount::default() };
        if let Some(mesh) = index(&node["mesh"]) {
            amount = amount.plus(self.mesh(mesh));
        }
        for child in list(&node["children"]).iter().filter_map(index) {
            amount = amount.plus(self.node(child, depth + 1)?);
        }
        self.nodes.insert(number, Some(amount));
        Ok(amount)
    }

    fn mesh(&mut self, number: usize) -> Amount {
        let root = self.root;
        *self.meshes.entry(number).or_insert_with(|| {
            let count =
                |accessor: &Value| index(accessor).and_then(|n| root["accessors"][n]["count"].as_u64()).unwrap_or(0);
            let primitives = list(&root["meshes"][number]["primitives"]).iter().map(|primitive| {
                let vertices = count(&primitive["attributes"]["POSITION"]);
                let order = if primitive["indices"].is_null() { vertices } else { count(&primitive["indices"]) };
                // Strips and fans have up to three indices for each vertex.
                let times = if primitive["mode"].as_u64().unwrap_or(4) == 4 { 1 } else { 3 };
                Amount { instances: 1, vertices, indices: order.saturating_mul(times) }
            });
            primitives.fold(Amount::default(), Amount::plus)
        })
    }
}

impl GltfReader<'_> {
    fn node(&mut self, number: usize, parent: &Matrix, depth: usize) -> Result<(), String> {
        let root = self.root;
        let node = &root["nodes"][number];
        if node.is_null() || depth > DEEPEST {
            return Err(format!("node {number} does not exist, or nodes lie more than {DEEPEST} deep"));
        }
        let own = transformation(node);
        let matrix = product(parent, &own);
        if let Some(mesh) = index(&node["mesh"]) {
            let mesh = &root["meshes"][mesh];
            let joints = index(&node["skin"]).map(|skin| self.skin(skin)).transpose()?;
            let weights = if node["weights"].is_array() { &node["weights"] } else { &mesh["weights"] };
            let placed = if joints.is_some() { IDENTITY } else { matrix };
            let instance = Instance { matrix: placed, joints, weights: list(weights) };
            for primitive in list(&mesh["primitives"]) {
                self.primitive(primitive, &instance)?;
            }
        }
        for child in list(&node["children"]).iter().filter_map(index) {
            self.node(child, &matrix, depth + 1)?;
        }
        Ok(())
    }

    fn primitive(&mut self, primitive: &Value, instance: &Instance<'_>) -> Result<(), String> {
        let matrix = &instance.matrix;
        let mode = primitive["mode"].as_u64().unwrap_or(4);
        if !(4..=6).contains(&mode) {
            return Err(format!("a primitive has mode {mode}; triangles (4), strips (5) and fans (6) can be read"));
        }
        let attributes = &primitive["attributes"];
        let Some(positions) = index(&attributes["POSITION"]) else { return Ok(()) };
        let positions = self.filled(positions)?;
        let optional = |name: &str| index(&attributes[name]).map(|n| self.accessor(n)).transpose();
        let (normals, texcoords, colours) = (optional("NORMAL")?, optional("TEXCOORD_0")?, optional("COLOR_0")?);
        let has_normals = normals.is_some();
        let (first, mut vertices) = (self.mesh.vertices.len(), Vec::with_capacity(positions.count));
        let times = |v: [f64; 4]| -> [f64; 4] { std::array::from_fn(|i| (0..4).map(|k| matrix[i][k] * v[k]).sum()) };
        // Normals by the cofactors, which is right for scaled nodes, too.
        let cofactor = |i: usize, j: usize| {
            let m = |a: usize, b: usize| matrix[(i + a) % 3][(j + b) % 3];
            m(1, 1) * m(2, 2) - m(1, 2) * m(2, 1)
        };
        for n in 0..positions.count {
            let [x, y, z, _] = positions.get(n);
            let at = times([x, y, z, 1.0]);
            let of = |all: &Option<Accessor<'_>>| all.as_ref().filter(|all| n < all.count).map(|all| all.get(n));
            let normal = of(&normals).unwrap_or([0.0; 4]);
            let turned: [f64; 3] = std::array::from_fn(|i| (0..3).map(|j| cofactor(i, j) * normal[j]).sum());
            let length = turned.iter().map(|x| x * x).sum::<f64>().sqrt();
            let unit = turned.map(|x| if length > 0.0 { x / length } else { 0.0 });
            let [s, t, ..] = of(&texcoords).unwrap_or([0.0; 4]);
            let colour = of(&colours).unwrap_or([0.8, 0.8, 0.8, 1.0]);
            let single = |v: [f64; 4]| v.map(|x| x as f32);
            vertices.push([
                single([at[0], at[1], at[2], 1.0]),
                single([unit[0], unit[1], unit[2], 0.0]),
                single([s, t, 0.0, 1.0]),
                single(colour),
            ]);
        }
        let order: Vec<u32> = match index(&primitive["indices"]) {
            Some(n) => {
                let indices = self.filled(n)?;
                (0..indices.count).map(|n| indices.get(n)[0] as u32).collect()
            }
            None => (0..positions.count as u32).collect(),
        };
        if let Some(&high) = order.iter().find(|&&n| n as usize >= positions.count) {
            return Err(format!("index {high} names no vertex, there are {}", positions.count));
        }
        let count = positions.count;
        self.joints(attributes, instance, count)?;
        self.morphs(primitive, instance, (first, count))?;
        self.mesh.vertices.append(&mut vertices);
        let start = self.mesh.indices.len();
        let place = |n: usize| order[n] + first as u32;
        match mode {
            4 => self.mesh.indices.extend((0..order.len() / 3 * 3).map(place)),
            5 => {
                for n in 0..order.len().saturating_sub(2) {
                    let (a, b) = if n % 2 == 0 { (n, n + 1) } else { (n + 1, n) };
                    self.mesh.indices.extend([place(a), place(b), place(n + 2)]);
                }
            }
            _ => (1..order.len().saturating_sub(1))
                .for_each(|n| self.mesh.indices.extend([place(0), place(n), place(n + 1)])),
        }
        if !has_normals {
            // Those of the faces.
            let corner = |n: u32| [0, 1, 2].map(|axis: usize| self.mesh.vertices[n as usize][0][axis]);
            let faces: Vec<(u32, [f32; 3])> = self.mesh.indices[start..]
                .chunks_exact(3)
                .flat_map(|t| {
                    let normal = super::vector::normal_of(corner(t[0]), corner(t[1]), corner(t[2]));
                    [(t[0], normal), (t[1], normal), (t[2], normal)]
                })
                .collect();
            for (vertex, [x, y, z]) in faces {
                self.mesh.vertices[vertex as usize][1] = [x, y, z, 0.0];
            }
        }
        Ok(())
    }

    /// An accessor with data: without it all items are 0, which is invalid for positions and indices.
    fn filled(&self, number: usize) -> Result<Accessor<'_>, String> {
        self.accessor(number)?.filled().ok_or_else(|| format!("accessor {number}: it has no bufferView"))
    }

    /// An accessor whose items all lie in its buffer.
    fn accessor(&self, number: usize) -> Result<Accessor<'_>, String> {
        let accessor = &self.root["accessors"][number];
        let wrong = |what: &str| format!("accessor {number}: {what}");
        if !accessor["sparse"].is_null() {
            return Err(wrong("sparse accessors are not done"));
        }
        let components = match accessor["type"].as_str() {
            Some("SCALAR") => 1,
            Some("VEC2") => 2,
            Some("VEC3") => 3,
            Some("VEC4") => 4,
            Some("MAT4") => 16,
            other => return Err(wrong(&format!("type {other:?} is not known here"))),
        };
        let kind = accessor["componentType"].as_u64().unwrap_or(0);
        let size = match kind {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            5125 | 5126 => 4,
            other => return Err(wrong(&format!("component type {other} is not known"))),
        };
        let normalised = accessor["normalized"].as_bool().unwrap_or(false);
        let count = index(&accessor["count"])
            .filter(|&count| count as u64 <= MOST_INDICES)
            .ok_or_else(|| wrong("its count is wrong"))?;
        let item = Accessor { data: None, count, stride: size * components, components, size, kind, normalised };
        let Some(view) = index(&accessor["bufferView"]) else { return Ok(item) };
        let view = &self.root["bufferViews"][view];
        let buffer =
            index(&view["buffer"]).and_then(|n| self.buffers.get(n)).ok_or_else(|| wrong("it has no buffer"))?;
        let whole = |value: &Value| index(value).unwrap_or(0);
        let start = whole(&view["byteOffset"]).saturating_add(whole(&accessor["byteOffset"]));
        let stride = index(&view["byteStride"]).filter(|&n| n > 0).unwrap_or(item.stride);
        if stride < item.stride && stride < LEAST_STRIDE {
            return Err(wrong(&format!("its byteStride is {stride}, {LEAST_STRIDE} to 252 are allowed")));
        }
        let end = count.saturating_sub(1).checked_mul(stride).and_then(|last| last.checked_add(item.stride));
        let data = buffer.get(start..).filter(|data| count == 0 || end.is_some_and(|end| end <= data.len()));
        let data = data.ok_or_else(|| wrong("it reaches beyond its buffer"))?;
        Ok(Accessor { data: Some(data), stride, ..item })
    }
}

/// The least byteStride (glTF 2.0, 5.11.4).
const LEAST_STRIDE: usize = 4;

/// The items of an accessor.
struct Accessor<'a> {
    /// From the first item on; all items lie in it. `None`: all components are 0.
    data: Option<&'a [u8]>,
    count: usize,
    stride: usize,
    components: usize,
    /// Bytes of a component.
    size: usize,
    kind: u64,
    normalised: bool,
}

impl Accessor<'_> {
    /// An item of sixteen floats as a matrix by rows: the file has columns.
    fn matrix(&self, n: usize) -> Matrix {
        let Some(data) = self.data.filter(|_| self.components == 16 && self.size == 4) else { return IDENTITY };
        let first = n * self.stride;
        let number = |at: usize| {
            let at = first + 4 * at;
            data.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0.0, |b| f64::from(f32::from_le_bytes(b)))
        };
        std::array::from_fn(|row| std::array::from_fn(|column| number(4 * column + row)))
    }

    fn filled(self) -> Option<Self> {
        self.data.is_some().then_some(self)
    }

    /// An item; components that it lacks are 0, the fourth 1.
    fn get(&self, n: usize) -> [f64; 4] {
        let mut out = [0.0, 0.0, 0.0, 1.0];
        let Some(data) = self.data else { return out };
        let first = n * self.stride;
        for (c, place) in out.iter_mut().enumerate().take(self.components) {
            let at = first + c * self.size;
            let (value, most) = match (self.kind, &data[at..at + self.size]) {
                (5120, &[a]) => (f64::from(a.cast_signed()), 127.0),
                (5121, &[a]) => (f64::from(a), 255.0),
                (5122, &[a, b]) => (f64::from(i16::from_le_bytes([a, b])), 32767.0),
                (5123, &[a, b]) => (f64::from(u16::from_le_bytes([a, b])), 65535.0),
                (5125, &[a, b, c, d]) => (f64::from(u32::from_le_bytes([a, b, c, d])), 4_294_967_295.0),
                (_, &[a, b, c, d]) => (f64::from(f32::from_le_bytes([a, b, c, d])), 1.0),
                _ => continue,
            };
            *place = if self.normalised && self.kind != 5126 { (value / most).max(-1.0) } else { value };
        }
        out
    }
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..4).map(|k| a[i][k] * b[k][j]).sum()))
}

/// A node's own matrix, by rows.
fn transformation(node: &Value) -> Matrix {
    let numbers = |key: &str| -> Vec<f64> { list(&node[key]).iter().filter_map(Value::as_f64).collect() };
    let m = numbers("matrix");
    if m.len() == 16 {
        return std::array::from_fn(|row| std::array::from_fn(|column| m[4 * column + row]));
    }
    let (t, r, s) = (numbers("translation"), numbers("rotation"), numbers("scale"));
    let t = <[f64; 3]>::try_from(t).unwrap_or([0.0; 3]);
    let [x, y, z, w] = <[f64; 4]>::try_from(r).unwrap_or([0.0, 0.0, 0.0, 1.0]);
    let s = <[f64; 3]>::try_from(s).unwrap_or([1.0; 3]);
    let turn = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ];
    std::array::from_fn(|i| match i {
        3 => [0.0, 0.0, 0.0, 1.0],
        i => [turn[i][0] * s[0], turn[i][1] * s[1], turn[i][2] * s[2], t[i]],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_with_a_turned_node_is_read() {
        // Three corners of three floats, then three indices of 16 bits.
        let mut data: Vec<u8> =
            [0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        data.extend([0u16, 1, 2].iter().flat_map(|n| n.to_le_bytes()));
        let text = r#"{"asset":{"version":"2.0"},"buffers":[{"byteLength":42}],
            "bufferViews":[{"buffer":0,"byteLength":36},{"buffer":0,"byteOffset":36,"byteLength":6}],
            "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"},
                         {"bufferView":1,"componentType":5123,"count":3,"type":"SCALAR"}],
            "meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1}]}],
            "nodes":[{"mesh":0,"translation":[0,0,5],"scale":[2,2,2]}],"scenes":[{"nodes":[0]}]}"#;
        let chunk = |kind: u32, data: &[u8]| {
            let length = data.len() as u32;
            [length.to_le_bytes().as_slice(), kind.to_le_bytes().as_slice(), data].concat()
        };
        let mut glb = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
        glb.extend(chunk(0x4e4f_534a, text.as_bytes()));
        glb.extend(chunk(0x004e_4942, &data));
        let mesh = read(&glb, Path::new("a.glb")).unwrap();
        assert_eq!(mesh.indices, [0, 1, 2]);
        assert_eq!(mesh.vertices[1][0], [2.0, 0.0, 5.0, 1.0]);
        assert_eq!(mesh.vertices[0][1], [0.0, 0.0, 1.0, 0.0]);
        let cut = read(&glb[..glb.len() - 4], Path::new("a.glb"));
        assert!(cut.unwrap_err().contains("a chunk reaches"));
        assert_eq!(base64("AAEC/w=="), Some(vec![0, 1, 2, 255]));
    }
}
