//! Programs as other tools print them: logs of Mesa's drivers, words in the other byte order, raw bytes, other languages; and findings on other people's listings.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use crate::dir;

use dir::Dir;

const R600: &str = "\
bytecode 8 dw -- 1 gprs -- 0 nstack -------------
shader 1 -- 7
0000 00000002 A0000000  ALU 1 @4 
 0004 800000F9 00000C90     1 x:     MOV                    R0.x,  1.0
0002 C0000000 94200688  EXPORT_DONE        PIXEL 0     R0.xyzw      ES:3 EOP 
";
const R500: &str = "\
R500 Fragment Program:
--------
0\t0:CMN_INST   0x00078005:OUT TEX_WAIT    wmask: NONE omask: ARGB
\t1:RGB_ADDR   0x08020000:Addr0: 0t, Addr1: 128t, Addr2: 128t, srcp:0
\t2:ALPHA_ADDR 0x08020000:Addr0: 0t, Addr1: 128t, Addr2: 128t, srcp:0
\t3 RGB_INST:  0x00db0220:rgb_A_src:0 R/G/B 0 rgb_B_src:0 1/1/1 0 targ: 0
\t4 ALPHA_INST:0x00c0c000:MAD dest:0 alp_A_src:0 A 0 alp_B_src:0 1 0 targ 0 w:0
\t5 RGBA_INST: 0x20490000:MAD dest:0 rgb_C_src:0 0/0/0 0 alp_C_src:0 0 0
";
const R600_HEX: &str = "00000002 A0000000\nC0000000 94200688\n800000F9 00000C90\n";
const R500_HEX: &str = "00078005 08020000 08020000 00DB0220 00C0C000 20490000\n";

#[test]
fn every_command_takes_a_log() {
    let d = Dir::new("logs");
    d.file("r600.txt", R600).file("r600.hex", R600_HEX).file("r500.txt", R500).file("r500.hex", R500_HEX);
    d.file("quoted", R600.lines().map(|line| format!("> {line}\n")).collect::<String>());
    for log in ["r600.txt", "quoted"] {
        let text = d.good(&["dis", log]);
        assert!(text.contains("MOV") && text.contains("EXP_DONE: PIX0"), "{text}");
        d.file("back.r700", &text).good(&["asm", "back.r700", "-o", "back.hex"]);
        assert_eq!(d.read("back.hex"), R600_HEX.as_bytes());
        d.good(&["asm", log, "-o", "words.hex"]);
        assert_eq!(d.read("words.hex"), R600_HEX.as_bytes());
        d.good(&["check", log]);
        assert_eq!(d.good(&["run", log, "--size", "1x1"]), d.good(&["run", "r600.hex", "--size", "1x1"]));
        let info = d.good(&["info", log]);
        assert!(info.contains("kind: r700-dump") && info.contains("shader 1"), "{info}");
    }
    let text = d.good(&["dis", "r500.txt"]);
    assert_eq!(text, d.good(&["dis", "r500.hex"]));
    d.good(&["asm", "r500.txt", "-o", "words.hex"]);
    assert_eq!(d.read("words.hex"), R500_HEX.as_bytes());
    d.good(&["check", "r500.txt"]);
    assert_eq!(d.good(&["run", "r500.txt", "--size", "1x1"]), d.good(&["run", "r500.hex", "--size", "1x1"]));
    assert!(d.good(&["info", "r500.txt"]).contains("kind: x1k-dump"));
}

#[test]
fn logs_with_several_programs_and_of_other_chips() {
    let d = Dir::new("logs-several");
    d.file("two.txt", [R600, &R600.replace("shader 1", "shader 2").replace("00000C90", "00200C90")].concat());
    d.bad(&["dis", "two.txt"], 1, &["error[which-program]", "0 (shader 1, line 1), 1 (shader 2, line 6)", "--program"]);
    assert!(d.good(&["dis", "two.txt", "--program", "1"]).contains("R1.x"));
    assert!(d.good(&["dis", "two.txt", "--program", "shader 1"]).contains("R0.x"));
    d.bad(&["dis", "two.txt", "--program", "7"], 1, &["error[no-program]", "has no program `7`"]);
    assert_eq!(d.ctm(&["check", "two.txt"]).0, 0);
    d.file("x1k.txt", [R500, R500].concat());
    d.bad(&["dis", "x1k.txt"], 1, &["error[which-program]", "fragment program 0, line 3", "--program"]);
    d.bad(&["check", "x1k.txt"], 1, &["error[which-program]"]);
    assert!(d.good(&["dis", "x1k.txt", "--program", "1"]).contains("o0"));

    d.file("r600.txt", R600.replace("-- 7", "-- 6"));
    d.bad(&["dis", "r600.txt"], 1, &["error[r600-words]", "the log names the chip R600"]);
    d.file("evergreen.txt", R600.replace("-- 7", "-- E"));
    d.bad(&["check", "evergreen.txt"], 1, &["error[wrong-chip]", "Evergreen"]);

    // Cut in the middle, and at the end.
    d.file("middle.txt", R600.lines().filter(|l| !l.contains(" 0004 ")).map(|l| format!("{l}\n")).collect::<String>());
    let (code, _, stderr) = d.ctm(&["dis", "middle.txt"]);
    assert!(code == 0 && stderr.contains("warning[cut-dump]"), "{stderr}");
    d.file("front.txt", R600.replace("0000 00000002 A0000000  ALU 1 @4 \n", ""));
    d.bad(&["dis", "front.txt"], 1, &["error[cut-dump]", "lacks words 0 to 1"]);
}

#[test]
fn words_in_the_other_byte_order() {
    let d = Dir::new("big-endian");
    let words =
        |hex: &str| -> Vec<u32> { hex.split_whitespace().map(|w| u32::from_str_radix(w, 16).unwrap()).collect() };
    for (name, hex, per_line) in [("r700", R600_HEX, 2), ("x1k", R500_HEX, 6)] {
        let words = words(hex);
        let swapped: Vec<String> = words.iter().map(|w| format!("{:08X}", w.swap_bytes())).collect();
        let swapped: String = swapped.chunks(per_line).map(|line| line.join(" ") + "\n").collect();
        d.file("right.hex", hex).file("swapped.hex", swapped);
        d.file("right.bin", words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>());
        d.file("swapped.bin", words.iter().flat_map(|w| w.to_be_bytes()).collect::<Vec<u8>>());
        let text = d.good(&["dis", "right.hex"]);
        for form in ["hex", "bin"] {
            // Raw bytes are recognised by their words.
            assert_eq!(d.good(&["dis", &format!("right.{form}")]), text, "{name}.{form}");
            let file = format!("swapped.{form}");
            for command in ["dis", "check"] {
                d.bad(&[command, &file], 1, &["error[big-endian]", "--big-endian"]);
                d.good(&[command, &file, "--big-endian"]);
            }
            d.bad(&["run", &file, "--size", "1x1"], 1, &["error[big-endian]"]);
            assert_eq!(d.good(&["dis", &file, "--big-endian"]), text, "{name}.{form}");
        }
        assert!(d.good(&["info", "swapped.hex", "--big-endian"]).contains(&format!("kind: {name}-hex")));
    }
    // Neither instruction set's: taken for X1K, with a warning.
    d.file("noise.bin", [0xabu8; 24]);
    let (_, _, stderr) = d.ctm(&["dis", "noise.bin"]);
    assert!(stderr.contains("which-isa"), "{stderr}");
}

#[test]
fn other_languages_name_the_command_that_reads_them() {
    let d = Dir::new("languages");
    let glsl =
        "#version 330\nfloat lit(float x) { return x * 2.0; }\nout vec4 c;\nvoid main() { c = vec4(lit(0.5)); }\n";
    d.file("a.frag", glsl).file("a.vert", "#version 330\nvoid main() { gl_Position = vec4(0.0); }\n");
    for command in ["asm", "check", "dis", "info", "compile"] {
        d.bad(&[command, "a.frag"], 1, &["error[foreign-language]", "a.frag is GLSL", "`ctm glsl`"]);
    }
    // Refused before any driver is looked for.
    d.bad(
        &["glsl", "a.vert", "a.frag", "--isa", "x1k", "-o", "a.x1k"],
        1,
        &["error[glsl-version]", "#version 330", "up to #version 120"],
    );
    d.file(
        "a.hlsl",
        "Texture2D t;\nSamplerState s;\nfloat4 main(float2 uv : TEXCOORD) : SV_Target { return t.Sample(s, uv); }\n",
    );
    d.bad(&["check", "a.hlsl"], 1, &["a.hlsl is HLSL", "fxc"]);
    d.file("a.wgsl", "struct V { @builtin(position) p: vec4<f32> }\n@fragment fn main() -> @location(0) vec4<f32> { return vec4<f32>(1.0); }\n");
    d.bad(&["check", "a.wgsl"], 1, &["a.wgsl is WGSL"]);
}

/// A shader listing of Mesa's Direct3D 9.
#[test]
fn a_dump_of_direct3d_is_compiled() {
    let d = Dir::new("nine");
    let dump = "PS3.0\nDCL v0.xy__ TEXCOORD0\nDCL s0 2D\nTEX r0 v0 s0\nMUL oC0 r0 c0\n";
    d.file("dump.ps", dump).file("dump.txt", dump);
    d.file("text.ps", "ps_3_0\ndcl_texcoord0 v0.xy\ndcl_2d s0\ntexld r0, v0, s0\nmul oC0, r0, c0\n");
    let expected = d.good(&["compile", "text.ps", "-o", "-"]);
    for file in ["dump.ps", "dump.txt"] {
        assert_eq!(d.good(&["compile", file, "-o", "-"]), expected);
        d.good(&["check", file]);
    }
}

#[test]
fn findings_say_what_is_meant() {
    let d = Dir::new("misleading");
    // Input 1 is the place of the position: its semantic number means nothing.
    let pixel = "\
; $NUM_SPI_PS_INPUT_CNTL = 2
; $SPI_PS_INPUT_CNTL[0].SEMANTIC = 0
; $SPI_PS_INPUT_CNTL[1].SEMANTIC = 9
; $SPI_PS_IN_CONTROL_0.POSITION_ENA = true
; $SPI_PS_IN_CONTROL_0.POSITION_ADDR = 1
00 EXP_DONE: PIX0, R1.xy01
END_OF_PROGRAM
";
    let vertex = "\
; $NUM_SPI_VS_OUT_ID = 1
; $SPI_VS_OUT_ID[0].SEMANTIC_0 = 0
; $ATTRIB_VARS[0].name = \"position\"
; $ATTRIB_VARS[0].type = \"vec3\"
00 CALL_FS
01 EXP_DONE: POS0, R1.xyz1
02 EXP_DONE: PARAM0, R1
END_OF_PROGRAM
";
    d.file("a.vsh", vertex).file("a.psh", pixel);
    d.good(&["asm", "a.vsh", "a.psh", "-o", "a.gsh"]);
    d.good(&["check", "a.gsh"]);
    for other in ["POSITION_ADDR = 0", "POSITION_ENA = false"] {
        let (key, _) = other.split_once(" =").unwrap();
        let line = pixel.lines().find(|l| l.contains(key)).unwrap();
        d.file("b.psh", pixel.replace(line, &format!("; $SPI_PS_IN_CONTROL_0.{other}")));
        d.good(&["asm", "a.vsh", "b.psh", "-o", "b.gsh"]);
        let (_, _, stderr) = d.ctm(&["check", "b.gsh"]);
        assert!(stderr.contains("warning[unmet-semantic]: b.gsh: input 1"), "{stderr}");
    }

    d.file("twice.vsh", vertex.replace("00 CALL_FS", "; $ATTRIB_VARS[0].name = \"place\"\n00 CALL_FS"));
    let (code, _, stderr) = d.ctm(&["asm", "twice.vsh"]);
    assert!(
        code == 0 && stderr.contains("warning[setting-twice]") && stderr.contains("$ATTRIB_VARS[0].name"),
        "{stderr}"
    );

    // A name that is none is one finding, wherever it is used.
    d.file(
        "names.x1k",
        ".input p = s0\n.const w = c1\n.output o = o0\nmov p, w\nmov r1, w\nmad r2, r1, w, p\nmov o, r2\nmvo o, r2\n",
    );
    let (_, _, stderr) = d.ctm(&["check", "names.x1k"]);
    assert_eq!(stderr.matches("error[").count(), 3, "{stderr}");
    assert!(stderr.contains("`mvo`"), "{stderr}");

    d.file("largest.x1k", ".const k = c1 (-3.4028235e38, 1e30, 1e-38, 0.5)\n.output o = o0\nmov o, k\n");
    assert_eq!(d.good(&["run", "largest.x1k", "--size", "1x1"]), "o (0, 0) = -3.4028235e38 1e30 1e-38 0.5\n");
}
