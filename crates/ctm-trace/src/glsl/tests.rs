//! Programs of Mesa's r600 driver beside their shaders: which line an instruction is of is read from the shader.

use super::*;
use ctm_jobs::draw::ProgramSource;

const VERTEX: &str = "#version 330
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
uniform mat4 mvp;
uniform vec3 sun;
out vec3 shade;
out vec2 place;
void main() {
    gl_Position = mvp * vec4(position, 1.0);
    shade = vec3(max(dot(normal, sun), 0.1));
    place = position.xy;
}
";

const FRAGMENT: &str = "#version 330
in vec3 shade;
in vec2 place; // sun, tint: only a comment
uniform sampler2D picture;
uniform vec4 tint;
out vec4 colour;
#define FAST 20.0
float wave_of(float at) {
    return sin(at * FAST);
}
void main() {
    vec4 texel = texture(picture, place);
    if (wave_of(place.x) > 0.5)
        texel *= tint;
    colour = vec4(texel.rgb * shade, 1.0);
}
";

const VERTEX_PROGRAM: &str = r#"; $NUM_SPI_VS_OUT_ID = 1
; $SPI_VS_OUT_ID[0].SEMANTIC_0 = 10
; $UNIFORM_BLOCKS[0].name = "uniforms"
; $UNIFORM_BLOCKS[0].size = 256
; $UNIFORM_VARS[0].name = "mvp"
; $UNIFORM_VARS[0].type = "mat4x4"
; $UNIFORM_VARS[0].block = 0
; $UNIFORM_VARS[1].name = "sun"
; $UNIFORM_VARS[1].type = "vec3"
; $UNIFORM_VARS[1].offset = 16
; $UNIFORM_VARS[1].block = 0
; $ATTRIB_VARS[0].name = "position"
; $ATTRIB_VARS[0].type = "vec3"
; $ATTRIB_VARS[1].name = "normal"
; $ATTRIB_VARS[1].type = "vec3"
; $ATTRIB_VARS[1].location = 1
00 CALL_FS
01 ALU: ADDR(4) CNT(24) KCACHE0(CB0:0-15)
      0  x: DOT4_e          ____, R2.x, KC0[4].x DST_GPR(126)
         y: DOT4_e          ____, R2.y, KC0[4].y DST_GPR(126)
         z: DOT4_e          ____, R2.z, KC0[4].z DST_GPR(126)
         w: DOT4_e          R2.w, 0.0f, 0.0f
         t: MOV             R3.y, R1.x
      1  x: MAX_DX10        R3.x, PV0.x, (0x3DCCCCCD, 0.1f).x
         y: MUL_e           R0.y, KC0[1].x, R1.y
         z: MUL_e           R0.z, KC0[1].y, R1.y
         w: MUL_e           R0.w, KC0[1].z, R1.y
         t: MUL_e           R1.w, KC0[1].w, R1.y
      2  x: MULADD_e        R0.x, KC0[0].x, R1.x, PV1.y
         y: MULADD_e        R2.y, KC0[0].y, R1.x, PV1.z
         z: MOV             R3.z, R1.y
         w: MULADD_e        R2.w, KC0[0].z, R1.x, PV1.w
         t: MULADD_e        R3.w, KC0[0].w, R1.x, PS1 SCL_122
      3  x: MULADD_e        R1.x, KC0[2].w, R1.z, PS2
         y: MULADD_e        R1.y, KC0[2].x, R1.z, PV2.x
         z: MULADD_e        R2.z, KC0[2].y, R1.z, PV2.y
         w: MULADD_e        R1.w, KC0[2].z, R1.z, PV2.w
      4  x: ADD             R0.x, PV3.y, KC0[3].x
         y: ADD             R0.y, PV3.z, KC0[3].y
         z: ADD             R0.z, PV3.w, KC0[3].z
         w: ADD             R0.w, PV3.x, KC0[3].w
02 EXP_DONE: POS0, R0.xyzw ELEM_SIZE(3)
03 EXP_DONE: PARAM0, R3.xyz_ ELEM_SIZE(3)
END_OF_PROGRAM
"#;

const PIXEL_PROGRAM: &str = r#"; $SPI_PS_IN_CONTROL_0.NUM_INTERP = 1
; $NUM_SPI_PS_INPUT_CNTL = 1
; $SPI_PS_INPUT_CNTL[0].SEMANTIC = 10
; $UNIFORM_BLOCKS[0].name = "uniforms"
; $UNIFORM_BLOCKS[0].size = 256
; $UNIFORM_VARS[0].name = "tint"
; $UNIFORM_VARS[0].type = "vec4"
; $UNIFORM_VARS[0].block = 0
; $SAMPLER_VARS[0].name = "picture"
; $SAMPLER_VARS[0].type = "sampler2D"
00 ALU: ADDR(4) CNT(9)
      0  x: MOV             R2.x, R0.y
         y: MOV             R2.y, R0.z
         z: MULADD_e        R1.z, (0x404BB7E4, 3.1830988f).x, R0.y, 0.5f
      1  y: FRACT           R0.y, PV0.z
      2  w: ADD             R0.w, PV1.y, (0xBF000000, -0.5f).x
      3  t: SIN             R1.x, PV2.w
      4  y: SETGT_DX10      R0.y, PS3, 0.5f
01 TEX: ADDR(14) CNT(1)
      5  SAMPLE          R1.xyz_, R2.xy__, t0, s0
02 ALU: ADDR(16) CNT(9) KCACHE0(CB0:0-15)
      6  x: MUL_e           R2.x, R1.z, KC0[0].z
         z: MUL_e           R0.z, R1.x, KC0[0].x
         w: MUL_e           R0.w, R1.y, KC0[0].y
      7  y: CNDE_INT        R3.y, R0.y, R1.x, PV6.z
         z: CNDE_INT        R3.z, R0.y, R1.y, PV6.w
         w: CNDE_INT        R1.w, R0.y, R1.z, PV6.x
      8  x: MUL_e           R2.x, PV7.y, R0.x
         y: MUL_e           R2.y, PV7.z, R0.x
         z: MUL_e           R2.z, PV7.w, R0.x
03 EXP_DONE: PIX0, R2.xyz1 ELEM_SIZE(3)
END_OF_PROGRAM
"#;

fn source(text: &str, name: &str) -> ProgramSource {
    ProgramSource::Bytes(text.as_bytes().into(), name.into())
}

/// Lines of GLSL with the instructions of each, as `pc.item unit`.
fn shown(lines: &GlslLines) -> BTreeMap<usize, Vec<String>> {
    let mut all: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (&(at, unit), &line) in &lines.line_of {
        let unit = unit.map_or(String::new(), |unit| format!(" {}", ["x", "y", "z", "w", "t"][usize::from(unit)]));
        all.entry(line).or_default().push(format!("{at}{unit}"));
    }
    all
}

fn of(vertex: &str, fragment: &str) -> [GlslLines; 2] {
    let pair = Pair::load(&[source(VERTEX_PROGRAM, "a.vsh"), source(PIXEL_PROGRAM, "a.psh")]).unwrap();
    GlslLines::of_pair(&pair, ("a.vert", vertex), ("a.frag", fragment))
}

#[test]
fn instructions_have_the_lines_of_their_names() {
    let [vertex, pixel] = of(VERTEX, FRAGMENT);
    let vertex = shown(&vertex);
    // Line 10: the dot product, and the maximum of it. Line 11: copies of the position. Line 9: everything that reads mvp.
    assert_eq!(vertex[&10], ["1.0 x", "1.0 y", "1.0 z", "1.0 w", "1.1 x"]);
    assert_eq!(vertex[&11], ["1.0 t", "1.2 z", "3"], "{vertex:?}");
    assert_eq!(vertex[&9].len(), 4 + 4 + 4 + 4 + 1, "{vertex:?}");
    let pixel = shown(&pixel);
    // Line 12 samples; the varyings are packed as shade, place.x and place.y by the driver, and are known by the names that they are made of.
    assert!(pixel[&12].contains(&"1.0".to_owned()), "{pixel:?}");
    // Line 9: the sine in the function, from its scaled argument on.
    for unit in ["0.0 z", "0.1 y", "0.2 w", "0.3 t"] {
        assert!(
            [9, 13].iter().any(|line| pixel.get(line).is_some_and(|all| all.contains(&unit.to_owned()))),
            "{unit}: {pixel:?}"
        );
    }
    assert_eq!(pixel[&14], ["2.0 x", "2.0 z", "2.0 w", "2.1 y", "2.1 z", "2.1 w"]);
    assert_eq!(pixel[&15], ["2.2 x", "2.2 y", "2.2 z", "3"]);
}

/// The numbers of two statements with the same names decide between them.
#[test]
fn numbers_tell_lines_apart() {
    let fragment =
        FRAGMENT.replace("    return sin(at * FAST);", "    float a = at * 7.0;\n    return sin(a + at * 3.1830988);");
    let [_, pixel] = of(VERTEX, &fragment);
    assert_eq!(pixel.line_of.get(&(At { pc: 0, item: Some(0), fetch: false }, Some(2))), Some(&10));
}

/// NameSet of other shaders, and none at all: no line is invented.
#[test]
fn what_does_not_fit_has_no_line() {
    let [vertex, pixel] = of("void main() { gl_PointSize = 1.0; }", "uniform vec4 other; void main() { }");
    assert!(shown(&vertex).is_empty() && shown(&pixel).is_empty());
    let [_, pixel] = of(VERTEX, "uniform sampler2D picture;\n(((}}{{ #define\n/* void main() {");
    assert!(shown(&pixel).is_empty());
}

#[test]
fn values_follow_assignments_calls_and_conditions() {
    let text = "uniform float a, b[3], c; in vec2 d; uniform Block { vec4 inner; } instance;
float twice(float x) { return x + c; }
const float e = a * 2.0;
out vec4 f;
void main() {
    float g = twice(b[1]), h = 1.0;
    if (d.x > 0.0) { h = g; }
    for (int n = 0; n < 3; n++) h += instance.inner.x;
    f.x = e;
    f.y =
        h;
}";
    let mut names = NameTable::default();
    let shader = GlslShader::read(text, &mut names);
    let made = |line: usize| {
        let found = shader.lines.iter().filter(|of| of.line == line).max_by_key(|of| of.made.len()).unwrap();
        let mut all: Vec<String> =
            names.numbers.iter().filter(|(_, n)| found.made.contains(n)).map(|(name, _)| name.clone()).collect();
        all.sort();
        all
    };
    assert_eq!(made(2), ["b", "c"], "the argument and the uniform");
    assert_eq!(made(3), ["a"]);
    assert_eq!(made(6), ["b", "c"]);
    assert_eq!(made(7), ["b", "c", "d"], "an assignment under a condition");
    assert_eq!(made(8), ["Block.inner", "b", "c", "d"]);
    assert_eq!(made(9), ["a"]);
    assert_eq!(made(11), ["Block.inner", "a", "b", "c", "d"], "a statement of two lines, and the part that was there");
    assert!(
        shader.lines.iter().any(|line| line.line == 11 && line.writes == NameSet::from([names.find("f").unwrap()]))
    );
}
