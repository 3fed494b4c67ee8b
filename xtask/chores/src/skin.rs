//! The skinned mesh of the examples: a flag with a chain of joints along it, and the joints' matrices where it waves.

use std::error::Error;
use std::path::Path;

/// Joints of the chain.
const JOINTS: usize = 4;
/// From one joint to the next, and where the first is.
const STEP: f32 = 0.75;
const FIRST: f32 = -1.5;
/// Half of the height.
const HALF: f32 = 1.25;
/// Vertices of a column, and columns.
const ROWS: usize = 13;
const COLUMNS: usize = 33;
/// Matrices of the uniform block.
const BONES: usize = 32;

/// A matrix by rows.
type Matrix = [[f32; 4]; 4];

fn times(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..4).map(|k| a[i][k] * b[k][j]).sum()))
}

/// Along x, and turned about y.
fn joint(x: f32, angle: f32) -> Matrix {
    let (s, c) = angle.sin_cos();
    [[c, 0.0, s, x], [0.0, 1.0, 0.0, 0.0], [-s, 0.0, c, 0.0], [0.0, 0.0, 0.0, 1.0]]
}

fn columns(matrix: &Matrix) -> impl Iterator<Item = f32> {
    (0..16).map(|n| matrix[n % 4][n / 4])
}

/// The matrices of a uniform block `mat4 bones[32]`: each row of the array is a column.
fn bones() -> Vec<u8> {
    let mut bytes = header(&[BONES, 4, 4]);
    let mut world = joint(FIRST, 0.0);
    for n in 0..BONES {
        let matrix = if n < JOINTS {
            let (along, angle) = if n == 0 { (0.0, 0.0) } else { (STEP, [0.9, -1.4, 1.1][n - 1]) };
            world = times(&world, &joint(along, angle));
            times(&world, &joint(-FIRST - STEP * n as f32, 0.0))
        } else {
            joint(0.0, 0.0)
        };
        bytes.extend(columns(&matrix).flat_map(f32::to_le_bytes));
    }
    bytes
}

/// The head of an array of single precision (NumPy's format 1.0).
fn header(shape: &[usize]) -> Vec<u8> {
    let sides: Vec<String> = shape.iter().map(usize::to_string).collect();
    let text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", sides.join(", "));
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((length as u16).to_le_bytes());
    out.extend(format!("{text:<width$}\n", width = length - 1).bytes());
    out
}

/// The flag as a binary glTF file.
fn flag() -> Vec<u8> {
    let (mut positions, mut normals, mut colours) = (Vec::new(), Vec::new(), Vec::new());
    let (mut joints, mut weights, mut indices) = (Vec::new(), Vec::new(), Vec::new());
    for column in 0..COLUMNS {
        let along = column as f32 / (COLUMNS - 1) as f32;
        // Between the middles of two joints their weights change over.
        let at = (along * JOINTS as f32 - 0.5).clamp(0.0, (JOINTS - 1) as f32);
        let first = (at as usize).min(JOINTS - 2);
        let second = at - first as f32;
        for row in 0..ROWS {
            let up = 2.0 * row as f32 / (ROWS - 1) as f32 - 1.0;
            positions.extend([FIRST + JOINTS as f32 * STEP * along, HALF * up, 0.0]);
            normals.extend([0.0, 0.0, 1.0]);
            let stripe = if row.div_ceil(2) % 2 == 0 { [0.95f32, 0.55, 0.2, 1.0] } else { [0.2, 0.55, 0.75, 1.0] };
            colours.extend(stripe);
            joints.extend([first as u8, first as u8 + 1, 0, 0]);
            weights.extend([1.0 - second, second, 0.0, 0.0]);
            if column + 1 < COLUMNS && row + 1 < ROWS {
                let corner = (column * ROWS + row) as u16;
                let right = corner + ROWS as u16;
                indices.extend([corner, right, right + 1, corner, right + 1, corner + 1]);
            }
        }
    }
    let inverse: Vec<f32> =
        (0..JOINTS).flat_map(|n| columns(&joint(-FIRST - STEP * n as f32, 0.0)).collect::<Vec<_>>()).collect();
    let floats = |values: &[f32]| -> Vec<u8> { values.iter().flat_map(|x| x.to_le_bytes()).collect() };
    let count = COLUMNS * ROWS;
    // Bytes, component type, count, type of each accessor.
    let parts: [(Vec<u8>, u32, usize, &str); 7] = [
        (floats(&positions), 5126, count, "VEC3"),
        (floats(&normals), 5126, count, "VEC3"),
        (floats(&colours), 5126, count, "VEC4"),
        (joints, 5121, count, "VEC4"),
        (floats(&weights), 5126, count, "VEC4"),
        (indices.iter().flat_map(|n| n.to_le_bytes()).collect(), 5123, indices.len(), "SCALAR"),
        (floats(&inverse), 5126, JOINTS, "MAT4"),
    ];
    let (mut data, mut views, mut accessors) = (Vec::new(), Vec::new(), Vec::new());
    for (n, (bytes, kind, count, shape)) in parts.iter().enumerate() {
        views.push(format!(r#"{{"buffer":0,"byteOffset":{},"byteLength":{}}}"#, data.len(), bytes.len()));
        // Required of positions (glTF 2.0, 3.7.2.1).
        let bounds = if n == 0 { r#","min":[-1.5,-1.25,0.0],"max":[1.5,1.25,0.0]"# } else { "" };
        accessors
            .push(format!(r#"{{"bufferView":{n},"componentType":{kind},"count":{count},"type":"{shape}"{bounds}}}"#));
        data.extend_from_slice(bytes);
        data.resize(data.len().next_multiple_of(4), 0);
    }
    let node = |n: usize| {
        let children = if n + 1 < JOINTS { format!(r#","children":[{}]"#, n + 1) } else { String::new() };
        let x = if n == 0 { FIRST } else { STEP };
        format!(r#"{{"name":"joint {n}","translation":[{x:?},0.0,0.0]{children}}}"#)
    };
    let chain: Vec<String> = (0..JOINTS).map(node).collect();
    let joints: Vec<String> = (0..JOINTS).map(|n| n.to_string()).collect();
    let text = [
        r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0,"#,
        &JOINTS.to_string(),
        r#"]}],"nodes":["#,
        &chain.join(","),
        r#",{"name":"flag","mesh":0,"skin":0}],"skins":[{"inverseBindMatrices":6,"joints":["#,
        &joints.join(","),
        r#"]}],"meshes":[{"primitives":[{"attributes":{"POSITION":0,"NORMAL":1,"COLOR_0":2,"JOINTS_0":3,"WEIGHTS_0":4},"indices":5}]}],"buffers":[{"byteLength":"#,
        &data.len().to_string(),
        r#"}],"bufferViews":["#,
        &views.join(","),
        r#"],"accessors":["#,
        &accessors.join(","),
        "]}",
    ];
    let mut text = text.concat().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let chunk =
        |kind: u32, bytes: &[u8]| [&(bytes.len() as u32).to_le_bytes()[..], &kind.to_le_bytes(), bytes].concat();
    let chunks = [chunk(0x4e4f_534a, &text), chunk(0x004e_4942, &data)].concat();
    [&b"glTF"[..], &2u32.to_le_bytes(), &(12 + chunks.len() as u32).to_le_bytes(), &chunks].concat()
}

/// Writes the mesh and the matrices.
pub fn write(directory: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::write(directory.join("skin.glb"), flag())?;
    Ok(std::fs::write(directory.join("bones.npy"), bones())?)
}
