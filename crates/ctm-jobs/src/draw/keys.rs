//! Every key of a job file of `ctm draw`: one row each. The reader, its suggestions and the test of `docs/draw-jobs.md` are derived from here.
//!
//! ```
//! use ctm::draw::keys;
//!
//! let sections = [
//!     keys::DRAWING, keys::DRAW, keys::TARGET, keys::DEPTH, keys::TEXTURE, keys::BUFFER, keys::CAMERA, keys::STENCIL, keys::BLEND, keys::RUN,
//!     keys::SLIDER,
//! ];
//! assert_eq!(sections.len(), keys::SECTIONS.len());
//! assert!(sections.iter().all(|section| !section.keys.is_empty()));
//! ```

use crate::job::keys::Holds::{Input, Output, Switch};
pub use crate::job::keys::SLIDER;
use crate::job::keys::{Key, Section};

const fn key(name: &'static str, summary: &'static str) -> Key {
    Key::new(name, summary)
}

/// The top of the file. Keys of a draw are at the top for all draws, and in `[[draw]]` where one differs.
#[rustfmt::skip]
pub const DRAWING: Section = Section { name: "the top of the file", keys: &[
    key("size",     "columns and rows of all targets"),
    key("samples",  "samples of a pixel: 1, 2, 4 or 8"),
    key("target",   "colour targets"),
    key("depth",    "the depth target, or `false`: there is none"),
    key("run",      "engine, threads, budgets, checks"),
    key("slider",   "constants that a viewer may change"),
    key("draw",     "the draws, one after the other"),
    key("programs", "a container, or a vertex and a pixel program; or a vertex program of the R5xx (`.pvs`) and an X1K pixel program, or the latter alone").holds(Input),
    key("glsl",     "the vertex and the fragment shader that the programs were compiled from: their lines are named in answers").holds(Input),
    key("mesh",     "triangle, quad, grid, cube, sphere, torus, or a file: .obj, .gltf, .glb, .npy").holds(Input),
    key("topology", "points, lines, line_strip, line_loop, triangles, triangle_strip, triangle_fan, quads, quad_strip, polygon, rectangles"),
    key("instances", "how often the mesh is drawn"),
    key("restart",  "the index that ends a primitive"),
    key("constants", "numbers by a constant's name"),
    key("buffer",   "uniform blocks, constant buffers and attributes from arrays"),
    key("camera",   "matrices of a viewer"),
    key("texture",  "textures"),
    key("attributes", "the mesh's channel of an attribute: position, normal, texcoord, colour, joints, weights, morph0 to morph3, morph_normal0 to morph_normal3"),
    key("interpolants", "X1K programs: the channels that temporaries hold at the start"),
    key("targets",  "the numbers of the targets that are drawn to"),
    key("viewport", "column, row, width and height"),
    key("depth_range", "the depths of the near and the far plane"),
    key("half_z",   "z is cut at 0 and w, instead of -w and w").holds(Switch),
    key("depth_clamp", "nothing is cut at the near and far planes").holds(Switch),
    key("clip_planes", "planes in clip space, four numbers each"),
    key("scissor",  "column, row, width and height of what can be drawn"),
    key("cull",     "faces that are not drawn: none, front or back"),
    key("front",    "counter_clockwise or clockwise, as seen in the picture"),
    key("fill",     "what faces are drawn as: triangles, lines or points"),
    key("provoking", "the vertex that gives flat values: first or last"),
    key("offset",   "added to depths of faces: [scale, units] or [scale, units, clamp]"),
    key("line_width", "in pixels"),
    key("rectangular_lines", "lines are rectangles across their direction").holds(Switch),
    key("stipple",  "a pattern of 16 steps for lines"),
    key("stipple_repeat", "pixels of a step"),
    key("point_size", "in pixels, unless the program exports it"),
    key("multisample", "samples are covered by themselves").holds(Switch),
    key("sample_mask", "samples that may be covered"),
    key("per_sample", "the pixel program runs for each sample").holds(Switch),
    key("depth_test", "how a new depth compares with the stored one, or none"),
    key("depth_write", "whether depth is written where the test passes").holds(Switch),
    key("stencil",  "the stencil test of front faces, and of back faces too"),
    key("stencil_back", "the stencil test of back faces"),
    key("blend",    "none, alpha, premultiplied, add or multiply, or a table; a list has one for each target"),
    key("blend_constant", "the constant colour of blending, four numbers"),
    key("logic",    "a logic operation on stored bits, by OpenGL's name: copy, xor, and, ..."),
    key("mask",     "channels that are written, such as `rgb`; a list has one for each target"),
    key("alpha_test", "how alpha compares with `alpha_reference`"),
    key("alpha_reference", "the reference of the alpha test"),
    key("alpha_to_coverage", "alpha leaves so many samples").holds(Switch),
] };

/// The count of keys of [`DRAWING`] that are not for a draw: the first ones.
const WHOLE: usize = 6;

/// `[[draw]]`: a name, and the keys that differ from the top of the file.
pub const DRAW: Section = Section {
    name: "[[draw]]",
    keys: {
        const ALL: [Key; DRAWING.keys.len() - WHOLE + 1] = {
            let mut all = [key("name", "its name in messages"); DRAWING.keys.len() - WHOLE + 1];
            let mut n = 1;
            while n < all.len() {
                all[n] = DRAWING.keys[n + WHOLE - 1];
                n += 1;
            }
            all
        };
        &ALL
    },
};

/// `[[target]]`.
#[rustfmt::skip]
pub const TARGET: Section = Section { name: "[[target]]", keys: &[
    key("number", "0 to 7"),
    key("format", "the format by the manual's name, such as `8_8_8_8` or `16_16_16_16_FLOAT`"),
    key("numbers", "unorm, snorm, uscaled, sscaled, uint, sint, srgb or float"),
    key("swap",   "std, alt, std_rev or alt_rev: the order of channels"),
    key("clear",  "its colour before the first draw"),
    key("save",   "the file that it goes to, or several: .png, .pfm, .npy or .raw").holds(Output),
] };

/// `[depth]`.
#[rustfmt::skip]
pub const DEPTH: Section = Section { name: "[depth]", keys: &[
    key("format",  "d16, x8d24, s8d24, x8d24_float, s8d24_float, d32_float or x24s8d32_float"),
    key("clear",   "the depth before the first draw"),
    key("stencil", "the stencil value before the first draw"),
    key("save",    "where depths go, of the first sample: .npy or .pfm").holds(Output),
    key("save_stencil", "where stencil values go, of the first sample: .npy or .png").holds(Output),
] };

/// `[[texture]]`.
#[rustfmt::skip]
pub const TEXTURE: Section = Section { name: "[[texture]]", keys: &[
    key("name",    "the sampler's name in the program, or t and a number"),
    key("data",    "the file; a list: faces, layers or slices").holds(Input),
    key("target",  "instead: the target whose colours it shows as they are when the draw begins"),
    key("depth",   "instead: `true`, the depths as they are when the draw begins").holds(Switch),
    key("kind",    "1d, 2d, 3d, cube, 1d_array, 2d_array or cube_array; as the file says"),
    key("filter",  "nearest or linear"),
    key("minify",  "the filter where the texture is drawn smaller than it is; as `filter`"),
    key("mip",     "none, nearest or linear: how a level is chosen"),
    key("levels",  "`file`: those of the file; `make` (so it is): made where the file has none"),
    key("wrap",    "repeat, mirror, clamp or border; a list: one for each axis"),
    key("border",  "what `border` reads outside, four numbers"),
    key("min_lod", "smallest level of detail"),
    key("max_lod", "largest level of detail"),
    key("lod_bias", "added to computed levels of detail"),
    key("anisotropy", "most lookups along the longer gradient, 1 to 16"),
    key("seamless", "filters of cubes go over edges; so they do").holds(Switch),
    key("compare", "never, less, less_equal, equal, greater_equal, greater, not_equal or always: comparison lookups"),
] };

/// `[[buffer]]`.
#[rustfmt::skip]
pub const BUFFER: Section = Section { name: "[[buffer]]", keys: &[
    key("name", "the name of a block, a uniform or an attribute, or cb and a number"),
    key("data", "the file: .npy, or .raw with the bytes as they are").holds(Input),
] };

/// `[[camera]]`.
#[rustfmt::skip]
pub const CAMERA: Section = Section { name: "[[camera]]", keys: &[
    key("constant", "the constants that get the matrix; without it those with usual names"),
    key("matrix",   "model, view, projection, model_view, view_projection, model_view_projection or normal; as the name of the constants says, else the whole"),
    key("eye",  "the viewer, three numbers"),
    key("at",   "what the viewer looks at"),
    key("fov",  "the angle from the lower to the upper edge, in degrees"),
    key("turn", "how the mesh is turned about x, then y, then z, in degrees"),
    key("spin", "how much further it is turned in the course of an animation"),
    key("rows", "the matrix goes to the program row by row").holds(Switch),
] };

/// `stencil` and `stencil_back`.
#[rustfmt::skip]
pub const STENCIL: Section = Section { name: "the stencil test", keys: &[
    key("compare",    "how the reference compares with the stored value"),
    key("reference",  "0 to 255"),
    key("mask",       "bits that are compared"),
    key("write_mask", "bits that are written"),
    key("fail",       "where the test fails: keep, zero, replace, increment, decrement, invert, increment_wrap or decrement_wrap"),
    key("depth_fail", "where it passes and the depth test fails"),
    key("pass",       "where both pass"),
] };

/// `blend` as a table.
#[rustfmt::skip]
pub const BLEND: Section = Section { name: "blend", keys: &[
    key("source",       "the factor of the program's colour, such as one or source_alpha"),
    key("destination",  "the factor of the stored colour"),
    key("combine",      "add, subtract, reverse_subtract, min or max"),
    key("alpha_source", "the same of alpha; as of colours"),
    key("alpha_destination", "the same of alpha"),
    key("alpha_combine", "the same of alpha"),
] };

/// `[run]`.
#[rustfmt::skip]
pub const RUN: Section = Section { name: "[run]", keys: &[
    key("engine",              "interp, jit or verify"),
    key("threads",             "1: one; 0: all cores"),
    key("budget_instructions", "of a group of a program; 0: none"),
    key("budget_seconds",      "of each draw; 0: none"),
    key("check",               "programs report what is suspicious, and more is looked at").holds(Switch),
] };

/// All tables.
pub const SECTIONS: &[&Section] =
    &[&DRAWING, &DRAW, &TARGET, &DEPTH, &TEXTURE, &BUFFER, &CAMERA, &STENCIL, &BLEND, &RUN, &SLIDER];
