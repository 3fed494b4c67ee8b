//! Shaders in languages of other tools: recognised, for messages with a hint.

/// A language that no command reads, or only one that makes programs of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Its name in a sentence.
    pub what: &'static str,
    /// The command that makes programs of it.
    pub reader: Option<&'static str>,
    /// The hint.
    pub advice: &'static str,
}

impl Foreign {
    /// The sentence about a file in the language.
    #[must_use]
    pub fn message(&self, name: &str) -> String {
        match self.reader {
            Some(reader) => {
                format!("{name} is {}, which `{reader}` makes programs of; no other command reads it", self.what)
            }
            None => format!("{name} is {}, which no command reads", self.what),
        }
    }
}

/// The number of lines read.
const LINES: usize = 400;
/// The first word of SPIR-V, as bytes in either order.
const SPIRV: [[u8; 4]; 2] = [[0x03, 0x02, 0x23, 0x07], [0x07, 0x23, 0x02, 0x03]];

const GLSL: &str = "`ctm glsl shader.vert shader.frag -o pair.gsh` compiles a pair with the installed Mesa (`--isa x1k`: the pixel program, up to #version 120)";
const TO_PS3: &str = "compile it to ps_3_0 assembly (`fxc /T ps_3_0 /Fc shader.ps`); `ctm compile` takes that. Translated to GLSL, `ctm glsl` takes it";
const FIRST: &str =
    "translate it to GLSL, which `ctm glsl` takes, or to HLSL and that to ps_3_0 assembly, which `ctm compile` takes";
const OBJECT: &str = "`llc -march=r600 -mcpu=rv770 -filetype=obj` makes an object (.o), which every command takes";
const DUMP: &str = "no line has words of a program: `R600_DEBUG=ps,vs` (r600) and `RADEON_DEBUG=fp` (r300) print them, and every command reads such a log";

/// A language and how a line of it gives it away.
type LanguageRow = (Foreign, fn(&str) -> bool);

const fn of(what: &'static str, advice: &'static str) -> Foreign {
    Foreign { what, reader: None, advice }
}

#[rustfmt::skip]
static TEXTS: &[LanguageRow] = &[
    (of("SPIR-V assembly", FIRST), |line| line.starts_with("OpCapability ") || line.starts_with("OpMemoryModel ")),
    (of("an ARB program", "X1K assembly says the same in nearly the same words: docs/x1k-assembly.md"), |line| line.starts_with("!!ARB")),
    (of("LLVM's intermediate language", OBJECT), |line| {
        line.starts_with("; ModuleID") || line.starts_with("target triple") || (line.starts_with("define ") && line.contains('@'))
    }),
    (of("assembly of LLVM's R600 back end", OBJECT), |line| line.contains("ALU clause starting at ") || line.contains(".AMDGPU.config")),
    (of("a dump of Mesa's r600 driver", DUMP), |line| line.starts_with("===== SHADER #") || line.starts_with("===== SHADER_END")),
    (of("a dump of Mesa's r300 driver", DUMP), |line| line.starts_with("# Radeon Compiler Program") || line.starts_with("Fragment Program: before") || line.starts_with("Vertex Program: before")),
    (of("a NIR dump of Mesa", DUMP), |line| line.starts_with("shader: MESA_SHADER_")),
    (of("TGSI", DUMP), |line| line.starts_with("DCL IN[") || line.starts_with("DCL OUT[") || line.starts_with("DCL TEMP[")),
];

/// How much a line says, and whether it does.
type Sign = (u32, fn(&str) -> bool);

/// Shading languages share most of their lines, so each sign counts once, by how much it says, and the language with most wins.
struct Signs {
    language: Foreign,
    signs: &'static [Sign],
}

/// The least weight of a language's signs in a text of that language.
const ENOUGH: u32 = 3;

/// Whether a line begins with one of these words, and a blank after it.
fn begins(line: &str, words: &[&str]) -> bool {
    line.split_once([' ', '\t']).is_some_and(|(first, _)| words.contains(&first))
}

fn has(line: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| line.contains(part))
}

/// Whether a line declares a variable of one of these types after one of these words: `uniform vec4 tint;`.
fn declares(line: &str, words: &[&str], types: &[&str]) -> bool {
    let mut tokens = line.split_whitespace();
    tokens.next().is_some_and(|first| words.contains(&first))
        && tokens.any(|token| types.iter().any(|t| token.starts_with(t)))
}

const GLSL_TYPES: &[&str] = &[
    "vec2",
    "vec3",
    "vec4",
    "ivec",
    "uvec",
    "mat2",
    "mat3",
    "mat4",
    "sampler1D",
    "sampler2D",
    "sampler3D",
    "samplerCube",
    "isampler",
    "usampler",
];
const HLSL_TYPES: &[&str] = &[
    "float2", "float3", "float4", "half2", "half3", "half4", "float3x3", "float4x4", "int2", "int4", "uint2", "uint4",
];

#[rustfmt::skip]
static SHADING: &[Signs] = &[
    Signs {
        language: Foreign { what: "GLSL", reader: Some("ctm glsl"), advice: GLSL },
        signs: &[
            (8, |line| begins(line, &["#version"])),
            (8, |line| has(line, &["#extension GL_"])),
            (6, |line| has(line, &["gl_FragColor", "gl_FragData", "gl_Position", "gl_FragCoord", "gl_VertexID", "gl_Vertex", "gl_MultiTexCoord", "gl_ModelView", "ftransform("])),
            (6, |line| begins(line, &["precision"]) && has(line, &["mediump ", "highp ", "lowp "])),
            (4, |line| begins(line, &["varying", "attribute"])),
            (4, |line| line.starts_with("layout(") || line.starts_with("layout (")),
            (4, |line| declares(line, &["uniform", "in", "out", "varying", "attribute", "flat", "const", "smooth", "highp", "mediump", "lowp"], GLSL_TYPES)),
            (3, |line| line.starts_with("void main(") || line.starts_with("void main (")),
            (3, |line| has(line, &["texture2D(", "textureCube(", "texelFetch(", "textureLod("])),
            (3, |line| begins(line, &["vec2", "vec3", "vec4", "mat2", "mat3", "mat4"])),
            (1, |line| has(line, &["vec2(", "vec3(", "vec4(", "mix(", "fract("])),
            (1, |line| begins(line, &["uniform"])),
        ],
    },
    Signs {
        language: of("HLSL", TO_PS3),
        signs: &[
            (8, |line| has(line, &[": SV_", ":SV_"])),
            (8, |line| has(line, &[": register(", ":register("])),
            (6, |line| begins(line, &["cbuffer", "tbuffer", "technique", "technique10", "technique11"])),
            (6, |line| begins(line, &["SamplerState", "SamplerComparisonState", "StructuredBuffer"]) || has(line, &["Texture2D<", "Texture2D ", "RWTexture2D", "TextureCube "])),
            (6, |line| line.starts_with("[numthreads(")),
            (5, |line| has(line, &[": COLOR", ": TEXCOORD", ": POSITION", ": NORMAL", ":TEXCOORD", ":COLOR", ":POSITION", ": VPOS", ": VFACE"])),
            (4, |line| has(line, &[".Sample(", ".SampleLevel(", "tex2D(", "tex2Dlod(", "texCUBE("])),
            (3, |line| begins(line, &["sampler2D", "samplerCUBE", "sampler", "sampler3D"])),
            (3, |line| begins(line, HLSL_TYPES)),
            (3, |line| begins(line, &["float", "half", "void", "static"]) && has(line, HLSL_TYPES)),
            (2, |line| begins(line, &["float", "half"]) && line.contains('(') && !has(line, GLSL_TYPES)),
            (1, |line| has(line, &["mul(", "lerp(", "saturate(", "frac(", "float4(", "float3("])),
            (1, |line| has(line, &["mul("]) && has(line, &["saturate("])),
        ],
    },
    Signs {
        language: of("WGSL", FIRST),
        signs: &[
            (8, |line| has(line, &["@fragment", "@vertex", "@compute", "@group(", "@binding(", "@location(", "@builtin("])),
            (6, |line| has(line, &["vec2<f32>", "vec3<f32>", "vec4<f32>", "mat4x4<f32>", "texture_2d<", "vec2f", "vec3f", "vec4f"])),
            (6, |line| line.starts_with("var<") || line.contains("array<")),
            (4, |line| line.starts_with("fn ") && line.contains('(')),
            (2, |line| line.contains("-> ")),
            (1, |line| has(line, &[": f32", ": u32", ": i32"])),
            (1, |line| begins(line, &["let"])),
        ],
    },
];

/// The shading language that a text is in.
fn shading(text: &str) -> Option<Foreign> {
    let lines = || {
        let code = text.lines().take(LINES).map(str::trim);
        code.filter(|line| !["//", ";", "*", "/*"].iter().any(|mark| line.starts_with(mark)))
    };
    // Assembly of ours and of Direct3D, whatever its comments say.
    let first = lines().find(|line| !line.is_empty())?;
    if ["ps_", "vs_", "."].iter().any(|mark| first.starts_with(mark)) {
        return None;
    }
    let points = |signs: &Signs| -> u32 {
        signs.signs.iter().filter(|(_, gives_away)| lines().any(gives_away)).map(|(points, _)| points).sum()
    };
    // Of equals the first.
    let mut best: Option<(u32, Foreign)> = None;
    for signs in SHADING {
        let points = points(signs);
        if points >= ENOUGH && best.is_none_or(|(most, _)| points > most) {
            best = Some((points, signs.language));
        }
    }
    best.map(|(_, language)| language)
}

/// Whether a file is a shader in a language that no command reads, or only one that makes programs of it. Only its first lines are read.
#[must_use]
pub fn foreign(bytes: &[u8]) -> Option<Foreign> {
    if bytes.len() >= 20 && bytes.len().is_multiple_of(4) && SPIRV.iter().any(|magic| bytes.starts_with(magic)) {
        return Some(of("SPIR-V", FIRST));
    }
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // Logs of drivers hold all kinds of text beside the words.
    if crate::dump::kind(text).is_some() {
        return None;
    }
    let lines = || text.lines().take(LINES).map(str::trim);
    TEXTS.iter().find(|(_, gives_away)| lines().any(gives_away)).map(|row| row.0).or_else(|| shading(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_recognised() {
        for (text, what) in [
            ("#version 330\nout vec4 c;\nvoid main() { c = vec4(1.0); }\n", "GLSL"),
            ("precision mediump float;\nvoid main() {}\n", "GLSL"),
            ("float4 main(float2 uv : TEXCOORD0) : SV_Target { return 1; }\n", "HLSL"),
            ("sampler2D s;\nstruct In {\n", "HLSL"),
            ("float4 main(float2 uv : TEXCOORD0) : COLOR0 { return 1; }\n", "HLSL"),
            ("float3 lit(float3 n) {\n", "HLSL"),
            ("#version 330\nfloat lit(float x) { return x * 2.0; }\nout vec4 c;\n", "GLSL"),
            (
                "#version 120\nuniform sampler2D s;\nfloat f(vec2 p) { return p.x; }\nvoid main() { gl_FragColor = vec4(f(gl_TexCoord[0].xy)); }\n",
                "GLSL",
            ),
            (
                "// float4 main() : SV_Target\nvarying vec2 uv;\nfloat f(float x) { return x; }\nvoid main() { gl_FragColor = vec4(uv, f(1.0), 1.0); }\n",
                "GLSL",
            ),
            ("uniform vec4 tint;\nvoid main() { gl_FragColor = tint; }\n", "GLSL"),
            ("void main() {\n}\n", "GLSL"),
            ("in vec2 uv;\nout vec4 c;\nuniform float k;\nfloat g(float x) { return x; }\n", "GLSL"),
            ("float4x4 m;\nvoid main(float4 p : POSITION, out float4 q : POSITION) { q = mul(m, p); }\n", "HLSL"),
            (
                "Texture2D t;\nSamplerState s;\nfloat4 main(float2 uv : TEXCOORD) : SV_Target { return t.Sample(s, uv); }\n",
                "HLSL",
            ),
            (
                "uniform float4 tint;\nsampler2D map;\nfloat4 main(float2 uv : TEXCOORD0) : COLOR { return tex2D(map, uv) * tint; }\n",
                "HLSL",
            ),
            ("struct V { @builtin(position) p: vec4<f32> }\n@vertex fn main() -> V { var v: V; return v; }\n", "WGSL"),
            ("fn lit(x: f32) -> f32 {\n  return x;\n}\n", "WGSL"),
            ("var<private> a: array<vec3<f32>, 3>;\nfn f(v: vec3<f32>) -> f32 { return v.x; }\n", "WGSL"),
            ("@fragment\nfn main() -> @location(0) vec4f { return vec4f(1); }\n", "WGSL"),
            ("; SPIR-V\nOpCapability Shader\n", "SPIR-V assembly"),
            ("; ModuleID = 'a'\ndefine amdgpu_ps void @main() {\n", "LLVM's intermediate language"),
            ("\tALU 12, @4\n\tALU clause starting at 4:\n", "assembly of LLVM's R600 back end"),
            ("===== SHADER #1 ==== PS/RV770/R700 =====\n", "a dump of Mesa's r600 driver"),
            ("shader: MESA_SHADER_FRAGMENT\n", "a NIR dump of Mesa"),
            ("FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\n", "TGSI"),
            ("!!ARBfp1.0\nMOV result.color, 1;\nEND\n", "an ARB program"),
        ] {
            assert_eq!(foreign(text.as_bytes()).map(|f| f.what), Some(what), "{text}");
        }
        let spirv: Vec<u8> = [0x0723_0203u32, 0x1_0000, 0, 1, 0].iter().flat_map(|w| w.to_le_bytes()).collect();
        assert_eq!(foreign(&spirv).map(|f| f.what), Some("SPIR-V"));
        for ours in [
            "mov o0, r0\nend\n",
            "00 ALU:\n x: MOV R0.x, R1.x\nEND_OF_PROGRAM\n",
            "ps_3_0\nmov oC0, c0\n",
            "",
            "//   float4 tint;\n//   sampler2D map;\nps_3_0\nmov oC0, c0\n",
            "; $UNIFORM_VARS[0].type = \"vec4\"\n00 CALL_FS\nEND_OF_PROGRAM\n",
            ".output float4 = o0\nmov o0, r0\n",
        ] {
            assert_eq!(foreign(ours.as_bytes()), None, "{ours}");
        }
    }
}
