//! Shaders in languages of other tools: recognised, so that a message can say what to do with them.

/// A language that no command reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// What it is, for a sentence.
    pub what: &'static str,
    /// What to do with it.
    pub advice: &'static str,
}

/// How many lines are looked at.
const LINES: usize = 400;
/// The first word of SPIR-V, as bytes in either order.
const SPIRV: [[u8; 4]; 2] = [[0x03, 0x02, 0x23, 0x07], [0x07, 0x23, 0x02, 0x03]];

const WORDS: &str =
    "a compiler for the chip makes words of it; these can be given as .hex (R700: two dwords a line, X1K: six words)";
const TO_PS3: &str = "compile it to ps_3_0 assembly (`fxc /T ps_3_0 /Fc shader.ps`); `ctm compile` takes that";
const FIRST: &str = "translate it to HLSL and that to ps_3_0 assembly, which `ctm compile` takes";
const OBJECT: &str = "`llc -march=r600 -mcpu=rv770 -filetype=obj` makes an object (.o), which every command takes";
const DUMP: &str = "take the words out of the dump, as .hex: two dwords a line for R700, six words for X1K";

/// A language and how a line of it gives it away.
type Row = (Foreign, fn(&str) -> bool);

const fn of(what: &'static str, advice: &'static str) -> Foreign {
    Foreign { what, advice }
}

#[rustfmt::skip]
static TEXTS: &[Row] = &[
    (of("SPIR-V assembly", FIRST), |line| line.starts_with("OpCapability ") || line.starts_with("OpMemoryModel ")),
    (of("WGSL", FIRST), |line| ["@fragment", "@vertex", "@compute", "@group("].iter().any(|word| line.starts_with(word))),
    (of("HLSL", TO_PS3), |line| {
        let semantic = [": SV_", ":SV_", ": register(", ": COLOR", ": TEXCOORD", ": POSITION"];
        semantic.iter().any(|word| line.contains(word))
            || line.starts_with("cbuffer ")
            || line.starts_with("sampler2D ")
            || ["float ", "float2 ", "float3 ", "float4 ", "half4 ", "float4x4 "].iter().any(|word| line.starts_with(word) && line.contains('('))
    }),
    (of("GLSL", WORDS), |line| {
        line.starts_with("#version ")
            || line.starts_with("precision mediump ")
            || line.starts_with("precision highp ")
            || line.starts_with("gl_FragColor ")
            || line.starts_with("gl_Position ")
            || line.starts_with("void main(")
    }),
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

/// Whether a file is a shader in a language that no command reads. Only its first lines are looked at.
#[must_use]
pub fn foreign(bytes: &[u8]) -> Option<Foreign> {
    if bytes.len() >= 20 && bytes.len().is_multiple_of(4) && SPIRV.iter().any(|magic| bytes.starts_with(magic)) {
        return Some(of("SPIR-V", FIRST));
    }
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = || text.lines().take(LINES).map(str::trim);
    TEXTS.iter().find(|(_, gives_away)| lines().any(gives_away)).map(|row| row.0)
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
        for ours in ["mov o0, r0\nend\n", "00 ALU:\n x: MOV R0.x, R1.x\nEND_OF_PROGRAM\n", "ps_3_0\nmov oC0, c0\n", ""]
        {
            assert_eq!(foreign(ours.as_bytes()), None, "{ours}");
        }
    }
}
