//! The examples: programs that are part of the command.

/// A built-in program.
pub(super) struct Example {
    /// Its name: its folder in `examples`, or `lessons/...`.
    pub(super) name: &'static str,
    /// Its part of the gallery.
    pub(super) part: &'static str,
    /// One sentence: a thing to look at.
    pub(super) says: &'static str,
    /// Its files by their place beside the job, the job first.
    pub(super) files: &'static [(&'static str, &'static [u8])],
}

/// Pixels worth a look where the middle is not: at the edge of the set, on a dark face, on the diagonal, in the shadow, beside the light.
const PIXELS: [(&str, [u32; 2]); 9] = [
    ("mandelbrot", [120, 200]),
    ("r700/mandelbrot", [120, 200]),
    ("draw/cube", [70, 60]),
    ("lessons/branch", [17, 14]),
    ("lessons/loop", [14, 16]),
    ("lessons/shadow", [190, 150]),
    ("lessons/glow", [128, 150]),
    ("draw/skin", [160, 120]),
    ("lessons/marble", [128, 96]),
];

impl Example {
    /// A pixel worth a look.
    pub(super) fn at(&self) -> Option<[u32; 2]> {
        PIXELS.iter().find(|known| known.0 == self.name).map(|known| known.1)
    }
}

macro_rules! examples {
    ($($folder:literal $part:literal { $($name:literal $says:literal: $($file:literal)*;)* })*) => {
        /// All, in the order of the gallery.
        pub(super) const EXAMPLES: &[Example] = &[$($(Example {
            name: $name,
            part: $part,
            says: $says,
            files: &[$(($file, include_bytes!(concat!("../../", $folder, "/", $name, "/", $file))),)*],
        },)*)*];
    };
}

examples! {
    "embedded/examples" "First steps" {
        "mandelbrot" "A loop that each pixel leaves at a turn of its own: click one near the edge and watch its group thin out.":
            "job.toml" "mandelbrot.x1k";
        "draw/cube" "A vertex and a pixel program: click a dark face and ask why it is dark.":
            "job.toml" "cube.vsh" "cube.psh" "../../../docs/mandelbrot.png";
        "saxpy" "The smallest useful program: one instruction from two arrays to a third.":
            "job.toml" "saxpy.x1k" "x.npy" "y.npy";
    }
    "embedded" "Divergence" {
        "lessons/branch" "Two ways of a branch in one group: lanes of one wait while the others go theirs.": "job.toml" "branch.x1k";
        "lessons/loop" "Each column turns as often as its number says, and a group takes as long as its slowest lane.": "job.toml" "loop.x1k";
    }
    "embedded" "Animation" {
        "lessons/waves" "A constant named time: play it below the picture, or move it by hand.": "job.toml" "waves.x1k";
    }
    "embedded/examples" "X1K kernels" {
        "life" "A hundred generations, each a pass that reads what the one before wrote.": "job.toml" "life.x1k" "start.png";
        "conv5x5" "A loop whose counter walks over 25 weights.": "job.toml" "conv5x5.x1k" "photo.png";
        "matmul" "Five fetches in flight before the first is waited for.": "job.toml" "matmul.x1k" "a.npy" "b.npy";
        "nbody" "Nested loops over an array, and ten steps, each on the results of the one before.":
            "job.toml" "nbody.x1k" "body.npy" "speed.npy";
        "black-scholes" "Logarithms and exponentials, one in each slot of the scalar unit.": "job.toml" "black-scholes.x1k" "option.npy";
        "nearest-surface" "The conditional unit as a depth test: four spheres in any order.": "job.toml" "sphere.x1k";
        "histogram" "Scattered writes that a second program sums up.": "job.toml" "count.x1k" "sum.x1k" "image.npy";
        "reduce" "A sum as a tree: eight passes, each a quarter of the one before.": "job.toml" "reduce.x1k" "values.npy";
    }
    "embedded/examples" "R700 kernels" {
        "r700/mandelbrot" "One clause is one turn, and its predicate decides which lanes go on.": "job.toml" "mandelbrot.psh";
        "r700/deep-zoom" "Double precision: pairs and quads of slots make one number.": "job.toml" "deep-zoom.psh";
        "r700/hash" "Integers: the t unit multiplies while the others shift and mix.": "job.toml" "hash.psh";
        "r700/conv5x5" "25 fetches with offsets from one coordinate.": "job.toml" "conv5x5.psh" "../../conv5x5/photo.png";
        "r700/matmul" "Four full groups a step; look at how few slots are empty.": "job.toml" "matmul.psh" "../../matmul/a.npy" "../../matmul/b.npy";
        "r700/nbody" "DOT4 makes the distance, and two outputs are stored at once.": "job.toml" "nbody.psh" "../../nbody/body.npy" "../../nbody/speed.npy";
        "r700/black-scholes" "Transcendentals in t beside the vector units.": "job.toml" "black-scholes.psh" "../../black-scholes/option.npy";
        "r700/saxpy" "The smallest useful program of the R700.": "job.toml" "saxpy.psh" "../../saxpy/x.npy" "../../saxpy/y.npy";
        "r700/reduce" "Thread groups sum in the local data share; barriers keep them together.": "job.toml" "reduce.csh" "../../reduce/values.npy";
        "r700/transpose" "A compute program that scatters its pixels.": "job.toml" "transpose.csh" "../../conv5x5/photo.png";
    }
    "embedded/examples" "Draws" {
        "draw/skin" "A skinned mesh: each vertex fetches up to four matrices of joints; its vertices and its GLSL are there.":
            "job.toml" "skin.gsh" "skin.glb" "bones.npy" "skin.vert" "skin.frag";
        "draw/pair" "Two draws into one picture, the second one blended over the first.": "job.toml" "pair.vsh" "pair.psh";
        "draw/lit" "A pair of the R5xx: the vertex program lights each vertex, the X1K pixel program darkens the rim.": "job.toml" "lit.pvs" "lit.x1k";
    }
    "embedded" "Compiler output" {
        "lessons/marble" "A driver's program below its GLSL: lines of one colour belong together, a click on a line of GLSL goes to its instructions.":
            "job.toml" "marble.gsh" "marble.vert" "marble.frag";
    }
    "embedded" "Draws in passes" {
        "lessons/glow" "Post-processing: a square over the picture reads target 0 and adds the light of its neighbours; move glow.":
            "job.toml" "glow.vsh" "glow.psh" "torus.vsh" "torus.psh";
        "lessons/shadow" "A shadow map: click the dark part of the wall, and see the comparison with the depth of the light's picture.":
            "job.toml" "scene.vsh" "scene.psh" "map.vsh" "map.psh";
    }
}
