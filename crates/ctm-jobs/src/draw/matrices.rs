//! Matrices and skins that programs usually have, by the names of their uniforms.
//!
//! A camera gives the model, view, projection and normal matrix and their products; a mesh with a skin gives the matrices of its joints, one with morph targets
//! their weights. Uniforms with usual names get them where nothing else is given.

/// A matrix of a viewer.
///
/// ```
/// use ctm::draw::MatrixKind;
///
/// assert_eq!(MatrixKind::of_name("u_modelMatrix"), Some(MatrixKind::Model));
/// assert_eq!(MatrixKind::of_name("Camera.ViewProj"), Some(MatrixKind::ViewProjection));
/// assert_eq!(MatrixKind::of_name("tint"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatrixKind {
    /// From the mesh to the world: its turn.
    Model,
    /// From the world to the viewer.
    View,
    /// From the viewer to clip space.
    Projection,
    /// From the mesh to the viewer.
    ModelView,
    /// From the world to clip space.
    ViewProjection,
    /// From the mesh to clip space.
    ModelViewProjection,
    /// Of normals, from the mesh to the viewer: the inverse transpose of the upper three rows and columns of [`Self::ModelView`].
    Normal,
}

impl MatrixKind {
    /// Every kind with its name in job files.
    pub const ALL: [(&'static str, Self); 7] = [
        ("model", Self::Model),
        ("view", Self::View),
        ("projection", Self::Projection),
        ("model_view", Self::ModelView),
        ("view_projection", Self::ViewProjection),
        ("model_view_projection", Self::ModelViewProjection),
        ("normal", Self::Normal),
    ];

    /// The matrix that a uniform's name speaks of.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        const WORDS: [(MatrixKind, &[&str]); 7] = [
            (MatrixKind::Model, &["model", "world", "m", "object", "objecttoworld", "modeltoworld"]),
            (MatrixKind::View, &["view", "v", "worldtoview", "worldtocamera", "lookat"]),
            (MatrixKind::Projection, &["projection", "proj", "p", "perspective", "viewtoclip"]),
            (MatrixKind::ModelView, &["modelview", "mv", "worldview", "wv"]),
            (
                MatrixKind::ViewProjection,
                &["viewprojection", "viewproj", "vp", "projectionview", "projview", "worldtoclip"],
            ),
            (
                MatrixKind::ModelViewProjection,
                &["modelviewprojection", "modelviewproj", "mvp", "worldviewprojection", "worldviewproj", "wvp"],
            ),
            (MatrixKind::Normal, &["normal", "normals", "n"]),
        ];
        let bare = bare(name);
        WORDS.iter().find(|(_, words)| words.contains(&bare.as_str())).map(|row| row.0)
    }
}

/// A name in small letters without the struct or block before it, a prefix of its kind (`u_`, `g_`), underscores, and words for matrices at its end.
fn bare(name: &str) -> String {
    let last = name.rsplit('.').next().unwrap_or(name);
    let last = last.split('[').next().unwrap_or(last);
    let mut letters = last.chars();
    let second = letters.by_ref().nth(1);
    let has_prefix = last.starts_with(['u', 'g', 'm']) && second.is_some_and(|c| c == '_' || c.is_ascii_uppercase());
    let last = if has_prefix { &last[1..] } else { last };
    let small: String = last.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect();
    let ends = ["matrix", "mat", "mtx", "transform"];
    let end = ends.iter().find_map(|end| small.strip_suffix(end).filter(|rest| !rest.is_empty()));
    end.map_or_else(|| small.clone(), str::to_owned)
}

/// Whether a uniform's name speaks of the matrices of a skin's joints.
pub(super) fn names_joints(name: &str) -> bool {
    let bare = bare(name);
    ["joint", "bone", "skin", "palette"].iter().any(|word| bare.contains(word))
}

/// Whether a uniform's name speaks of the weights of morph targets.
pub(super) fn names_morph_weights(name: &str) -> bool {
    let bare = bare(name);
    ["morph", "influence", "targetweight"].iter().any(|word| bare.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_names_are_known() {
        let all = [
            ("model", Some(MatrixKind::Model)),
            ("uModel", Some(MatrixKind::Model)),
            ("modelMatrix", Some(MatrixKind::Model)),
            ("u_ViewMatrix", Some(MatrixKind::View)),
            ("ProjMtx", Some(MatrixKind::Projection)),
            ("gl_ModelViewMatrix", None),
            ("model_view", Some(MatrixKind::ModelView)),
            ("uMVP", Some(MatrixKind::ModelViewProjection)),
            ("mvp", Some(MatrixKind::ModelViewProjection)),
            ("normalMatrix", Some(MatrixKind::Normal)),
            ("frame.viewProj", Some(MatrixKind::ViewProjection)),
            ("colour", None),
            ("matrix", None),
        ];
        for (name, kind) in all {
            assert_eq!(MatrixKind::of_name(name), kind, "{name}");
        }
        assert!(names_joints("u_jointMat") && names_joints("bones[0]") && !names_joints("joy"));
        assert!(names_morph_weights("morphTargetInfluences") && !names_morph_weights("weights"));
    }
}
