//! Meshes of glTF 2.0 files (`.gltf`, `.glb`): the triangles of the first scene, with the transformations of its nodes.
//!
//! What is read: positions, normals, first texture coordinates, first colours, indices; buffers within the file, beside it and as base64 text.
//! Sparse accessors, extensions, skins and morph targets are refused or left out.

use super::mesh::Mesh;
use ctm_draw::state::Topology;
use serde_json::Value;
use std::path::Path;

/// Deepest nodes of a scene, and most vertices of a mesh.
const DEEPEST: usize = 64;
const MOST: usize = 1 << 24;

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
    let buffers: Vec<Vec<u8>> = list(&root["buffers"])
        .iter()
        .enumerate()
        .map(|(n, buffer)| match buffer["uri"].as_str() {
            None => binary.map(<[u8]>::to_vec).ok_or_else(|| format!("buffer {n} has no data")),
            Some(uri) => match uri.strip_prefix("data:") {
                Some(data) => {
                    let (_, text) =
                        data.split_once(";base64,").ok_or_else(|| format!("buffer {n} is no base64 text"))?;
                    base64(text).ok_or_else(|| format!("buffer {n} is no base64 text"))
                }
                None => {
                    let file = path.parent().unwrap_or(Path::new("")).join(uri);
                    std::fs::read(&file).map_err(|error| format!("{} cannot be read: {error}", file.display()))
                }
            },
        })
        .collect::<Result<_, _>>()?;
    let mut reader = Reader {
        root: &root,
        buffers,
        mesh: Mesh { topology: Topology::Triangles, vertices: Vec::new(), indices: Vec::new() },
    };
    let scene = &root["scenes"][index(&root["scene"]).unwrap_or(0)];
    let nodes: Vec<usize> = match scene {
        // Without scenes all nodes that are nobody's children.
        Value::Null => {
            let children: Vec<usize> =
                list(&root["nodes"]).iter().flat_map(|node| list(&node["children"])).filter_map(index).collect();
            (0..list(&root["nodes"]).len()).filter(|n| !children.contains(n)).collect()
        }
        scene => list(&scene["nodes"]).iter().filter_map(index).collect(),
    };
    for node in nodes {
        reader.node(node, &IDENTITY, 0)?;
    }
    if reader.mesh.indices.is_empty() {
        return Err("it has no triangles".into());
    }
    Ok(reader.mesh)
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

struct Reader<'a> {
    root: &'a Value,
    buffers: Vec<Vec<u8>>,
    mesh: Mesh,
}

impl Reader<'_> {
    fn node(&mut self, number: usize, parent: &Matrix, depth: usize) -> Result<(), String> {
        let root = self.root;
        let node = &root["nodes"][number];
        if node.is_null() || depth > DEEPEST {
            return Err(format!("node {number} does not exist, or nodes lie more than {DEEPEST} deep"));
        }
        let own = transformation(node);
        let matrix: Matrix =
            std::array::from_fn(|i| std::array::from_fn(|j| (0..4).map(|k| parent[i][k] * own[k][j]).sum()));
        if let Some(mesh) = index(&node["mesh"]) {
            for primitive in list(&root["meshes"][mesh]["primitives"]) {
                self.primitive(primitive, &matrix)?;
            }
        }
        for child in list(&node["children"]).iter().filter_map(index) {
            self.node(child, &matrix, depth + 1)?;
        }
        Ok(())
    }

    fn primitive(&mut self, primitive: &Value, matrix: &Matrix) -> Result<(), String> {
        let mode = primitive["mode"].as_u64().unwrap_or(4);
        if !(4..=6).contains(&mode) {
            return Err(format!("a primitive has mode {mode}; triangles (4), strips (5) and fans (6) can be read"));
        }
        let attributes = &primitive["attributes"];
        let Some(positions) = index(&attributes["POSITION"]) else { return Ok(()) };
        let positions = self.accessor(positions)?;
        let optional = |name: &str| index(&attributes[name]).map(|n| self.accessor(n)).transpose();
        let (normals, texcoords, colours) = (optional("NORMAL")?, optional("TEXCOORD_0")?, optional("COLOR_0")?);
        let first = self.mesh.vertices.len();
        if first + positions.len() > MOST {
            return Err(format!("it has more than {MOST} vertices"));
        }
        let times = |v: [f64; 4]| -> [f64; 4] { std::array::from_fn(|i| (0..4).map(|k| matrix[i][k] * v[k]).sum()) };
        // Normals by the cofactors, which is right for scaled nodes, too.
        let cofactor = |i: usize, j: usize| {
            let m = |a: usize, b: usize| matrix[(i + a) % 3][(j + b) % 3];
            m(1, 1) * m(2, 2) - m(1, 2) * m(2, 1)
        };
        for (n, &[x, y, z, _]) in positions.iter().enumerate() {
            let at = times([x, y, z, 1.0]);
            let of = |all: &Option<Vec<[f64; 4]>>| all.as_ref().and_then(|all| all.get(n).copied());
            let normal = of(&normals).unwrap_or([0.0; 4]);
            let turned: [f64; 3] = std::array::from_fn(|i| (0..3).map(|j| cofactor(i, j) * normal[j]).sum());
            let length = turned.iter().map(|x| x * x).sum::<f64>().sqrt();
            let unit = turned.map(|x| if length > 0.0 { x / length } else { 0.0 });
            let [s, t, ..] = of(&texcoords).unwrap_or([0.0; 4]);
            let colour = of(&colours).unwrap_or([0.8, 0.8, 0.8, 1.0]);
            let single = |v: [f64; 4]| v.map(|x| x as f32);
            self.mesh.vertices.push([
                single([at[0], at[1], at[2], 1.0]),
                single([unit[0], unit[1], unit[2], 0.0]),
                single([s, t, 0.0, 1.0]),
                single(colour),
            ]);
        }
        let order: Vec<u32> = match index(&primitive["indices"]) {
            Some(n) => self.accessor(n)?.iter().map(|value| value[0] as u32).collect(),
            None => (0..positions.len() as u32).collect(),
        };
        if let Some(&high) = order.iter().find(|&&n| n as usize >= positions.len()) {
            return Err(format!("index {high} names no vertex, there are {}", positions.len()));
        }
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
        if normals.is_none() {
            // Those of the faces.
            let corner = |n: u32| [0, 1, 2].map(|axis: usize| self.mesh.vertices[n as usize][0][axis]);
            let faces: Vec<(u32, [f32; 3])> = self.mesh.indices[start..]
                .chunks_exact(3)
                .flat_map(|t| {
                    let normal = super::camera::normal_of(corner(t[0]), corner(t[1]), corner(t[2]));
                    [(t[0], normal), (t[1], normal), (t[2], normal)]
                })
                .collect();
            for (vertex, [x, y, z]) in faces {
                self.mesh.vertices[vertex as usize][1] = [x, y, z, 0.0];
            }
        }
        Ok(())
    }

    /// The items of an accessor; components that it lacks are 0, the fourth 1.
    fn accessor(&self, number: usize) -> Result<Vec<[f64; 4]>, String> {
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
            other => return Err(wrong(&format!("type {other:?} is not known here"))),
        };
        let kind = accessor["componentType"].as_u64().unwrap_or(0);
        let (size, most) = match kind {
            5120 => (1, 127.0),
            5121 => (1, 255.0),
            5122 => (2, 32767.0),
            5123 => (2, 65535.0),
            5125 => (4, 4_294_967_295.0),
            5126 => (4, 1.0),
            other => return Err(wrong(&format!("component type {other} is not known"))),
        };
        let normalised = accessor["normalized"].as_bool().unwrap_or(false);
        let count =
            index(&accessor["count"]).filter(|&count| count <= MOST).ok_or_else(|| wrong("its count is wrong"))?;
        let Some(view) = index(&accessor["bufferView"]) else { return Ok(vec![[0.0, 0.0, 0.0, 1.0]; count]) };
        let view = &self.root["bufferViews"][view];
        let buffer =
            index(&view["buffer"]).and_then(|n| self.buffers.get(n)).ok_or_else(|| wrong("it has no buffer"))?;
        let whole = |value: &Value| index(value).unwrap_or(0);
        let start = whole(&view["byteOffset"]).saturating_add(whole(&accessor["byteOffset"]));
        let stride = index(&view["byteStride"]).filter(|&n| n > 0).unwrap_or(size * components);
        let item = |n: usize| -> Option<[f64; 4]> {
            let mut out = [0.0, 0.0, 0.0, 1.0];
            let first = start.checked_add(n.checked_mul(stride)?)?;
            for (c, place) in out.iter_mut().enumerate().take(components) {
                let bytes = buffer.get(first + c * size..first + (c + 1) * size)?;
                let value = match (kind, bytes) {
                    (5120, &[a]) => f64::from(a.cast_signed()),
                    (5121, &[a]) => f64::from(a),
                    (5122, &[a, b]) => f64::from(i16::from_le_bytes([a, b])),
                    (5123, &[a, b]) => f64::from(u16::from_le_bytes([a, b])),
                    (5125, &[a, b, c, d]) => f64::from(u32::from_le_bytes([a, b, c, d])),
                    (_, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
                    _ => return None,
                };
                *place = if normalised && kind != 5126 { (value / most).max(-1.0) } else { value };
            }
            Some(out)
        };
        (0..count).map(item).collect::<Option<_>>().ok_or_else(|| wrong("it reaches beyond its buffer"))
    }
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
