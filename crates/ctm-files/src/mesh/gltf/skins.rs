//! Skins and morph targets (glTF 2.0, 3.7.2.2 and 3.7.3).

use super::{DEEPEST, GltfReader, IDENTITY, Instance, Matrix, index, list, product, transformation};
use crate::mesh::Morph;
use serde_json::Value;

/// Morph targets that are read.
const MOST_TARGETS: usize = 4;

impl GltfReader<'_> {
    /// The joints of a skin: the number of the first, and the count.
    pub(super) fn skin(&mut self, number: usize) -> Result<(usize, usize), String> {
        let root = self.root;
        let skin = &root["skins"][number];
        let wrong = |what: &str| format!("skin {number}: {what}");
        let nodes: Vec<usize> = list(&skin["joints"]).iter().filter_map(index).collect();
        if nodes.is_empty() {
            return Err(wrong("it has no joints"));
        }
        if let Some(&first) = self.first_joints.get(&number) {
            return Ok((first, nodes.len()));
        }
        let inverse: Vec<Matrix> = match index(&skin["inverseBindMatrices"]) {
            None => vec![IDENTITY; nodes.len()],
            Some(accessor) => {
                let all = self.filled(accessor)?;
                if all.components != 16 || all.count < nodes.len() {
                    return Err(wrong("its inverseBindMatrices are no matrices for its joints"));
                }
                (0..nodes.len()).map(|n| all.matrix(n)).collect()
            }
        };
        let mut matrices = Vec::new();
        for (node, inverse) in nodes.iter().zip(&inverse) {
            let world = self.world(*node).ok_or_else(|| wrong("a joint is no node of the scene"))?;
            let whole = product(&world, inverse);
            matrices.push(whole.map(|row| row.map(|x| x as f32)));
        }
        let all = &mut self.mesh.skin.get_or_insert_default().matrices;
        let first = all.len();
        all.append(&mut matrices);
        self.first_joints.insert(number, first);
        Ok((first, nodes.len()))
    }

    /// The transformation of a node with those above it.
    fn world(&self, number: usize) -> Option<Matrix> {
        let nodes = list(&self.root["nodes"]);
        let above = |number: usize| {
            nodes.iter().position(|node| list(&node["children"]).iter().filter_map(index).any(|child| child == number))
        };
        let mut whole = transformation(nodes.get(number)?);
        let mut at = number;
        for _ in 0..=DEEPEST {
            match above(at) {
                None => return Some(whole),
                Some(parent) => {
                    whole = product(&transformation(nodes.get(parent)?), &whole);
                    at = parent;
                }
            }
        }
        None
    }

    /// The joints and weights of a primitive's vertices.
    pub(super) fn joints(&mut self, attributes: &Value, instance: &Instance<'_>, count: usize) -> Result<(), String> {
        let Some((first, of_skin)) = instance.joints else { return Ok(()) };
        let (Some(joints), Some(weights)) = (index(&attributes["JOINTS_0"]), index(&attributes["WEIGHTS_0"])) else {
            return Ok(());
        };
        let (joints, weights) = (self.filled(joints)?, self.filled(weights)?);
        if joints.count < count || weights.count < count {
            return Err(format!("{} joints and {} weights, {count} vertices", joints.count, weights.count));
        }
        let mut rows = (Vec::with_capacity(count), Vec::with_capacity(count));
        for n in 0..count {
            let (joint, weight) = (joints.get(n), weights.get(n));
            let used = joint.iter().zip(weight).filter(|(_, weight)| *weight != 0.0);
            if let Some((joint, _)) = used.into_iter().find(|(joint, _)| **joint as usize >= of_skin) {
                return Err(format!("a vertex names joint {joint}, the skin has {of_skin}"));
            }
            rows.0.push(joint.map(|joint| (joint as usize + first) as f32));
            rows.1.push(weight.map(|weight| weight as f32));
        }
        self.fill_joints();
        if let Some(skin) = &mut self.mesh.skin {
            skin.joints.append(&mut rows.0);
            skin.weights.append(&mut rows.1);
        }
        Ok(())
    }

    /// Gives the vertices so far that have no joints the one that moves nothing.
    fn fill_joints(&mut self) {
        let count = self.mesh.vertices.len();
        let Some(skin) = &mut self.mesh.skin else { return };
        if skin.joints.len() < count {
            let still = *self.still.get_or_insert_with(|| {
                skin.matrices.push(IDENTITY.map(|row| row.map(|x| x as f32)));
                skin.matrices.len() - 1
            });
            skin.joints.resize(count, [still as f32, 0.0, 0.0, 0.0]);
            skin.weights.resize(count, [1.0, 0.0, 0.0, 0.0]);
        }
    }

    /// The morph targets of a primitive, whose vertices begin at `first`.
    pub(super) fn morphs(
        &mut self,
        primitive: &Value,
        instance: &Instance<'_>,
        (first, count): (usize, usize),
    ) -> Result<(), String> {
        let matrix = &instance.matrix;
        let turned = |[x, y, z, _]: [f64; 4]| -> [f32; 4] {
            let row = |n: usize| (matrix[n][0] * x + matrix[n][1] * y + matrix[n][2] * z) as f32;
            [row(0), row(1), row(2), 0.0]
        };
        for (n, target) in list(&primitive["targets"]).iter().take(MOST_TARGETS).enumerate() {
            let mut lists = [Vec::new(), Vec::new()];
            for (rows, name) in lists.iter_mut().zip(["POSITION", "NORMAL"]) {
                if let Some(accessor) = index(&target[name]) {
                    let all = self.accessor(accessor)?;
                    rows.extend((0..count.min(all.count)).map(|n| turned(all.get(n))));
                }
            }
            if self.mesh.morphs.len() <= n {
                self.mesh.morphs.push(Morph::default());
            }
            let weight = instance.weights.get(n).and_then(Value::as_f64).unwrap_or(0.0) as f32;
            let morph = &mut self.mesh.morphs[n];
            morph.weight = weight;
            for (all, mut rows) in [&mut morph.positions, &mut morph.normals].into_iter().zip(lists) {
                all.resize(first, [0.0; 4]);
                all.append(&mut rows);
            }
        }
        Ok(())
    }

    /// Gives every vertex as many values as the others have.
    pub(super) fn even_out(&mut self) {
        // A skin that no vertex has is none.
        if self.mesh.skin.as_ref().is_some_and(|skin| skin.joints.is_empty()) {
            self.mesh.skin = None;
        }
        self.fill_joints();
        let count = self.mesh.vertices.len();
        for morph in &mut self.mesh.morphs {
            morph.positions.resize(count, [0.0; 4]);
            morph.normals.resize(count, [0.0; 4]);
        }
    }
}
