//! Logs of Mesa's drivers: programs by their words, with any text around them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ctm_image::dump::{Cut, Family, read};
use ctm_image::{Kind, foreign, identify};
use ctm_isa::r700::program::Stage;

/// As the r600 driver prints a program of one group and one export.
const R600: &str = "\
bytecode 8 dw -- 1 gprs -- 0 nstack -------------
shader 1 -- 7
0000 00000002 A0000000  ALU 1 @4 
 0004 800000F9 00000C90     1 x:     MOV                    R0.x,  1.0
0002 C0000000 94200688  EXPORT_DONE        PIXEL 0     R0.xyzw      ES:3 EOP 
--------------------------------------
";
const R600_WORDS: [u32; 6] = [2, 0xa000_0000, 0xc000_0000, 0x9420_0688, 0x8000_00f9, 0xc90];

/// With a fetch, whose fourth dword is not printed, and three literals, after which there is a dword of padding.
const FETCHES: &str = "\
bytecode 18 dw -- 2 gprs -- 0 nstack -------------
shader 4 -- 7
0000 00000004 80800000  TEX 1 @8 
 0008 00121210 F01D1001 68810000   SAMPLE     R1.xyzw, R0.xyzz,  RID:18 , SID:0  CT:NNNN 
0002 00000006 A0080000  ALU 3 @12 
 0012 001FA001 00200110     1 x:     MUL_IEEE               R1.x,  R1.x, [0x40400000 3].x
 0014 809FA401 20200110       y:     MUL_IEEE               R1.y,  R1.y, [0x40800000 4].y
 0016 40400000              3.000000 (1077936128)
 0017 40800000              4.000000 (1082130432)
0004 C0008000 94200688  EXPORT_DONE        PIXEL 0     R1.xyzw      ES:3 EOP 
--------------------------------------
";

/// An ALU and an output instruction as the r300 driver prints them, and a lookup.
const R500: &str = "\
R500 Fragment Program:
--------
0\t0:CMN_INST   0x00007807:TEX TEX_WAIT    wmask: ARGB omask: NONE
\t1:TEX_INST:  0x02400000: id: 0 op:LD, ACQ,  SCALED
\t2:TEX_ADDR:  0xe400f400: src: 0 R/G/B/A dst: 0 R/G/B/A
\t3:TEX_DXDY:  0x00000000

1\t0:CMN_INST   0x00078005:OUT TEX_WAIT    wmask: NONE omask: ARGB
\t1:RGB_ADDR   0x08020000:Addr0: 0t, Addr1: 128t, Addr2: 128t, srcp:0
\t2:ALPHA_ADDR 0x08020000:Addr0: 0t, Addr1: 128t, Addr2: 128t, srcp:0
\t3 RGB_INST:  0x00db0220:rgb_A_src:0 R/G/B 0 rgb_B_src:0 1/1/1 0 targ: 0
\t4 ALPHA_INST:0x00c0c000:MAD dest:0 alp_A_src:0 A 0 alp_B_src:0 1 0 targ 0 w:0
\t5 RGBA_INST: 0x20490000:MAD dest:0 rgb_C_src:0 0/0/0 0 alp_C_src:0 0 0
";
const R500_WORDS: [u32; 12] = [
    0x7807,
    0x0240_0000,
    0xe400_f400,
    0,
    0,
    0,
    0x78005,
    0x0802_0000,
    0x0802_0000,
    0x00db_0220,
    0x00c0_c000,
    0x2049_0000,
];

#[test]
fn a_program_is_its_columns() {
    assert_eq!(identify(R600.as_bytes()), Kind::R700Dump);
    let dumps = read(R600);
    let [dump] = dumps.as_slice() else { panic!("{dumps:?}") };
    assert_eq!((dump.words.as_slice(), &dump.cut), (R600_WORDS.as_slice(), &None));
    assert_eq!((dump.name.as_str(), dump.line), ("shader 1", 1));
    assert_eq!((dump.family, dump.gprs, dump.stack), (Some(Family::R700), Some(1), Some(0)));
    assert_eq!(dump.stage, Some(Stage::Pixel));

    let dumps = read(FETCHES);
    let [dump] = dumps.as_slice() else { panic!("{dumps:?}") };
    assert_eq!(dump.cut, None);
    assert_eq!(dump.words.len(), 18);
    assert_eq!(dump.words[8..12], [0x0012_1210, 0xf01d_1001, 0x6881_0000, 0]);
    assert_eq!(dump.words[16..18], [0x4040_0000, 0x4080_0000]);

    assert_eq!(identify(R500.as_bytes()), Kind::X1kDump);
    let dumps = read(R500);
    let [dump] = dumps.as_slice() else { panic!("{dumps:?}") };
    assert_eq!((dump.words.as_slice(), &dump.cut, dump.family), (R500_WORDS.as_slice(), &None, Some(Family::R500)));
}

/// Changes of a log by mail, loggers, terminals and editors.
#[test]
fn what_stands_around_the_words_means_nothing() {
    type Change = fn(&str) -> String;
    let changes: [Change; 9] = [
        |line| format!("> {line}"),
        |line| format!("> > {line}"),
        |line| format!("[   12.345678] {line}"),
        |line| format!("Nov 28 10:00:01 host game[1234]: {line}"),
        |line| format!("2026-11-28T10:00:01.123Z {line}"),
        |line| line.replace(' ', "\t"),
        |line| format!("    {line}\r"),
        |line| line.to_lowercase(),
        |line| if line.len() > 40 { format!("{}\n{}", &line[..40], &line[40..]) } else { line.to_owned() },
    ];
    for change in changes {
        for (log, words) in [(R600, &R600_WORDS[..]), (FETCHES, &[]), (R500, &R500_WORDS[..])] {
            let whole = read(log).remove(0).words;
            let words = if words.is_empty() { &whole[..] } else { words };
            let text: String = log.lines().map(|line| change(line) + "\n").collect();
            // Names of words in small letters are no longer the driver's.
            if log == R500 && text.contains("cmn_inst") {
                continue;
            }
            let dumps = read(&text);
            assert_eq!(dumps.len(), 1, "{text}");
            assert_eq!((dumps[0].words.as_slice(), &dumps[0].cut), (words, &None), "{text}");
        }
    }
}

#[test]
fn logs_hold_other_text_and_several_programs() {
    let log = format!(
        "ATTENTION: default value of option vblank_mode overridden\nFRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\n\
         shader: MESA_SHADER_FRAGMENT\n{R600}\n===== SHADER #12 ======================================== PS/RV770/R700 =====\n\
         ===== 8 dw ===== 3 gprs ===== 1 stack =========================================\n\
         0000  00000002 a0000000  ALU 1 @4\n0004  800000f9 00000c90     1 x: MOV   R0.x, 1.0\n\
         0002  c0000000 94200688  EXPORT_DONE PIXEL 0 R0.xyzw ES:3 EOP\n===== SHADER_END ===============\n\
         ===== SHADER #12 OPT ==================================== PS/RV770/R700 =====\n{{ R0.x@R0.x = MOV }}\n\
         ===== SHADER_END ===============\n{FETCHES}"
    );
    assert_eq!(identify(log.as_bytes()), Kind::R700Dump);
    assert_eq!(foreign(log.as_bytes()), None);
    let dumps = read(&log);
    let names: Vec<&str> = dumps.iter().map(|dump| dump.name.as_str()).collect();
    assert_eq!(names, ["shader 1", "SHADER #12", "shader 4"]);
    assert_eq!(dumps[1].words, R600_WORDS);
    assert_eq!((dumps[1].stage, dumps[1].gprs, dumps[1].stack), (Some(Stage::Pixel), Some(3), Some(1)));

    let two = format!("# Radeon Compiler Program\n  0: MOV output[0], input[0];\n{R500}\nsomething\n{R500}");
    assert_eq!(identify(two.as_bytes()), Kind::X1kDump);
    let dumps = read(&two);
    assert_eq!(dumps.len(), 2);
    assert!(dumps.iter().all(|dump| dump.words == R500_WORDS && dump.cut.is_none()), "{dumps:?}");

    // Without headers word 0 begins a program.
    let pasted: String =
        [R600, R600].concat().lines().filter(|l| l.contains("0000")).map(|l| format!("{l}\n")).collect();
    assert_eq!(read(&pasted).len(), 2, "{pasted}");
}

/// The driver's dump before 2013: a line for each dword, and the chip's letter alone.
#[test]
fn old_forms_are_read() {
    let old = "\
bytecode 8 dw -- 1 gprs ---------------------
     7
0000 00000002 ALU ADDR:4 KCACHE_MODE0:0 KCACHE_BANK0:0 KCACHE_BANK1:0
0001 A0000000 ALU INST:8 KCACHE_MODE1:0 KCACHE_ADDR0:0 KCACHE_ADDR1:0 BARRIER:1 COUNT:1
0004 800000F9   SRC0(SEL:249 REL:0 CHAN:0 NEG:0) LAST:1)
0005 00000C90 * INST:25 DST(SEL:0 CHAN:0 REL:0 CLAMP:0) BANK_SWIZZLE:0
0002 C0000000 EXPORT GPR:0 ELEM_SIZE:3 ARRAY_BASE:0 TYPE:0
0003 94200688 EXPORT SWIZ_X:0 SWIZ_Y:1 SWIZ_Z:2 SWIZ_W:3 BARRIER:1 INST:40 BURST_COUNT:1 EOP:1
--------------------------------------
";
    let dumps = read(old);
    assert_eq!(dumps.len(), 1);
    assert_eq!((dumps[0].words.as_slice(), &dumps[0].cut), (R600_WORDS.as_slice(), &None));
    assert_eq!(dumps[0].family, Some(Family::R700));
    for (letter, family) in [('6', Family::R600), ('E', Family::Evergreen), ('C', Family::Cayman)] {
        for log in [R600.replace("-- 7", &format!("-- {letter}")), old.replace("     7", &format!("     {letter}"))] {
            assert_eq!(read(&log)[0].family, Some(family), "{log}");
        }
    }
}

/// A letter of two bytes in front of a word once ended the process; found by the fuzz target `info`.
#[test]
fn letters_of_several_bytes_are_no_names() {
    for line in ["0{\u{89}0x.", "\u{e4}0x00078005", "\u{1f600} 0x00078005"] {
        assert!(read(line).iter().all(|dump| dump.words.is_empty()), "{line:?}");
        assert!(!matches!(identify(line.as_bytes()), Kind::X1kDump | Kind::R700Dump), "{line:?}");
    }
}

/// Two lookups and a multiply-add of the X1K: their words also read as control flow of the R700.
#[test]
fn short_programs_of_the_x1k_are_the_x1ks() {
    let words = [
        [0x0000_7803, 0x0840_0000, 0xe401_f400, 0, 0, 0],
        [0x0000_7807, 0x0a41_0000, 0xe402_f400, 0, 0, 0],
        [0x0007_8005, 0x0020_0500, 0x0020_0500, 0x0044_2220, 0x0068_c000, 0x1c22_2000],
    ];
    assert_eq!(ctm_image::machine_of(words.as_flattened()), Some(ctm_image::InstructionSet::X1k));
}

#[test]
fn what_is_missing_is_known() {
    let without = |log: &str, line: &str| -> String {
        log.lines().filter(|l| !l.contains(line)).map(|l| format!("{l}\n")).collect()
    };
    let cut = |log: &str| read(log).remove(0).cut;
    let lacks = |start: u32, end: u32| Some(Cut::Missing(std::iter::once(start..end).collect()));
    // The middle: an instruction of the control flow, a group's, a fetch.
    assert_eq!(cut(&without(FETCHES, "0002 00000006")), lacks(2, 4));
    assert_eq!(cut(&without(FETCHES, " 0014 ")), lacks(14, 16));
    assert_eq!(cut(&without(FETCHES, " 0008 ")), lacks(8, 12));
    // The front.
    assert_eq!(cut(&without(R600, "0000 0000")), lacks(0, 2));
    // The end.
    let lines: Vec<&str> = FETCHES.lines().collect();
    assert!(cut(&lines[..4].join("\n")).is_some());
    let lines_of = |n: usize| R600.lines().take(n).collect::<Vec<_>>().join("\n");
    assert_eq!((cut(&lines_of(3)), cut(&lines_of(4))), (Some(Cut::End), lacks(2, 4)));
    let lines: Vec<&str> = R500.lines().collect();
    assert_eq!(cut(&lines[..10].join("\n")), Some(Cut::End));
    assert_eq!(read(&lines[..10].join("\n"))[0].words.len(), 6);
    assert_eq!(cut(&without(R500, "RGB_ADDR")), Some(Cut::End));
    assert_eq!(cut(&without(R500, "TEX_ADDR")), lacks(0, 1));
    let gap = R500.replace("\n1\t0:CMN", "\n3\t0:CMN");
    assert_eq!(cut(&gap), lacks(1, 3));
    // A number far off takes no memory.
    let far = format!("{R600}999999 00000000 00000000 NOP\n");
    assert!(matches!(cut(&far), Some(Cut::Missing(_))));
}

/// Texts of ours, and numbers that are in columns for other reasons.
#[test]
fn other_texts_are_no_dumps() {
    for (text, kind) in [
        ("; 0000 00000002 A0000000  ALU 1 @4\n00 NOP\nEND_OF_PROGRAM\n", Kind::R700Text),
        ("00000002 A0000000\nC0000000 94200688\n", Kind::R700Hex),
        ("0000 00000002\n", Kind::R700Hex),
        ("ps_3_0\n// 0000 00000002 A0000000 ALU\nmov oC0, c0\n", Kind::Ps3Text),
        ("PS3.0\nMOV oC0 c0\n", Kind::Ps3Text),
        ("sold 2026 12345678 of it\n", Kind::X1kText),
    ] {
        assert_eq!(identify(text.as_bytes()), kind, "{text}");
        assert_eq!(read(text), [], "{text}");
    }
}

#[test]
fn no_log_makes_the_reader_panic() {
    let mut random = ctm_testkit::seeded::Random::new(7);
    for log in [R600, FETCHES, R500] {
        for _ in 0..3000 {
            let mut text = log.as_bytes().to_vec();
            for _ in 0..=random.below(6) {
                if text.is_empty() {
                    break;
                }
                let at = random.below(text.len());
                match random.below(3) {
                    0 => text[at] = b"0123456789ABCDEFx:>@- \n\t/"[random.below(25)],
                    1 => drop(text.remove(at)),
                    _ => text.truncate(at.max(1)),
                }
            }
            let _ = read(&String::from_utf8_lossy(&text));
        }
    }
}

/// Parts of real logs; the words are those of the driver's command stream (`corpus/dumps/README.md`).
#[test]
fn logs_of_real_drivers_give_what_the_drivers_submit() {
    let words = |hex: &str, per_line| ctm_image::hex::read_words(hex, per_line).unwrap();
    let r600 = read(include_str!("corpus/dumps/r600.log"));
    let [dump] = r600.as_slice() else { panic!("{r600:?}") };
    assert_eq!((&dump.words, &dump.cut), (&words(include_str!("corpus/dumps/r600.hex"), 2), &None));
    assert_eq!((dump.family, dump.stage), (Some(Family::R700), Some(Stage::Pixel)));

    let sb = read(include_str!("corpus/dumps/r600-sb.log"));
    let [before, behind] = sb.as_slice() else { panic!("{sb:?}") };
    assert_eq!((&before.words, &before.cut, &behind.cut), (&dump.words, &None, &None));
    assert_eq!((before.name.as_str(), behind.name.as_str()), ("SHADER #16", "SHADER #16 OPT"));
    assert_eq!((behind.family, behind.stage), (Some(Family::R700), Some(Stage::Pixel)));
    assert!(behind.words.len() < before.words.len());
    assert!(ctm_image::is_r700(&before.words) && ctm_image::is_r700(&behind.words));

    let r500 = read(include_str!("corpus/dumps/r500.log"));
    let [dump] = r500.as_slice() else { panic!("{r500:?}") };
    assert_eq!((&dump.words, &dump.cut), (&words(include_str!("corpus/dumps/r500.hex"), 6), &None));
}
