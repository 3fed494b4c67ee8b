//! The manual on the command line.
#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_isa::isa_help::{Isa, Topic, describe_x1k, draw, list_x1k};
use ctm_isa::x1k::formats::FcAddr;

/// Everything that has a name is found by it, in any case, and says something.
#[test]
fn every_name_is_described() {
    for isa in [Isa::x1k(), Isa::r700(), Isa::pvs()] {
        for name in isa.names() {
            for query in [name.to_owned(), name.to_lowercase()] {
                let topics = isa.find(&query);
                assert!(!topics.is_empty(), "{} {query}", isa.name);
                for topic in topics {
                    assert!(!topic.doc().is_empty() && !topic.cite().is_empty(), "{} {name}", isa.name);
                }
                let text = isa.describe(&query).unwrap();
                assert!(text.lines().all(|line| line.trim_end() == line), "{text}");
            }
        }
    }
}

#[test]
fn an_opcode_tells_formula_operands_and_encoding() {
    assert_eq!(
        describe_x1k("op_alpha_rcp").unwrap(),
        format!(
            "RCP = 10 in ALPHA_OP{}CTM §3.3.4\n    \
             Reciprocal.\n    \
             formula     1 / A\n    \
             operands    A\n    \
             modifiers   any modifier, but not OMOD_DISABLED\n    \
             pairing     RGB_SOP copies the result to red, green and blue\n    \
             encoded     bits 3:0 of ALU_ALPHA_INST (dword 4 of ALU, OUTPUT)\n",
            " ".repeat(80)
        )
    );
    // Both units have CMP, with different numbers; a query may say which is meant.
    assert_eq!(Isa::x1k().find("cmp").len(), 2);
    assert_eq!(Isa::x1k().find("RGB_OP.CMP").len(), 1);
    assert_eq!(Isa::x1k().find("ALPHA_OP=CMP").len(), 1);
    assert_eq!(Isa::x1k().find("alpha_op cmp").len(), 1);
    assert_eq!(Isa::x1k().find("OP_RGB_CMP").len(), 1);
}

#[test]
fn the_names_of_the_guides_prose_are_understood() {
    for (query, value, places) in [
        ("INST_TYPE_TEX", "TEX", 1),
        ("SRCP_OP_SUB", "SUB", 2),
        ("IMOD_NAB", "NAB", 6),
        ("OMOD_DISABLED", "DISABLED", 2),
        ("RNDR_TGT_B", "B", 2),
        ("PRED_OP_LESS", "LESS", 2),
        ("ALU_RESULT_SEL_ALPHA", "ALPHA", 1),
        ("ALU_RESULT_OP_LESS", "LESS", 1),
        ("TEX_INST_LOOKUP_PROJ", "LOOKUP_PROJ", 1),
        ("FC_OP_ENDLOOP", "ENDLOOP", 1),
        ("FC_A_OP_PUSH", "PUSH", 1),
        ("FC_B_OP_DECR", "DECR", 2),
    ] {
        let topics = Isa::x1k().find(query);
        let [Topic::Value { value: found, places: at, .. }] = &topics[..] else { panic!("{query}: {topics:?}") };
        assert_eq!((found.name, at.len()), (value, places), "{query}");
    }
}

#[test]
fn a_word_is_drawn() {
    assert_eq!(
        draw(&FcAddr::FORMAT),
        "     31    28 27    24 23    20 19    16 15    12 11     8 7      4 3      0\n    \
         |d . . . |. . . c |c c c c |c c c c |. . . b |b b b b |. . . a |a a a a |\n"
    );
    let text = describe_x1k("fc_addr").unwrap();
    assert!(text.contains("c  24:16  JUMP_ADDR          Where to jump."), "{text}");
}

#[test]
fn a_field_lists_its_values() {
    let text = describe_x1k("A_OP").unwrap();
    assert!(text.contains("2  PUSH  Push the address stack if jump."), "{text}");
    let text = describe_x1k("ALU_WAIT").unwrap();
    assert!(text.contains("effective   FC, TEX"), "{text}");
    // The same name in two words.
    assert_eq!(Isa::x1k().find("ADDR0").len(), 2);
    assert_eq!(Isa::x1k().find("ALU_ALPHA_ADDR.ADDR0").len(), 1);
}

#[test]
fn an_unknown_name_gets_suggestions() {
    let isa = Isa::x1k();
    assert!(isa.describe("MDA").is_none());
    assert!(isa.suggest("MDA").contains(&"MDH"));
    assert!(isa.suggest("rccp").contains(&"RCP"));
    assert!(isa.suggest("PRED_SEL").contains(&"RGB_PRED_SEL"));
    assert!(isa.suggest("xyzzyxyzzy").is_empty());
    for odd in ["", " ", ".", "a.b.c", "..", "=", "é", "RGB_OP.", ".MAD"] {
        let _ = (isa.describe(odd), isa.suggest(odd));
    }
}

#[test]
fn the_listing_has_every_word_and_opcode() {
    let list = list_x1k();
    for name in ["CMN_INST", "ALU_RGBA_INST", "FC_ADDR", "DP4", "RSQ", "KILL_LT_0", "BREAKREP"] {
        assert!(list.contains(name), "{name}");
    }
}

/// Where the manual contradicts itself or is silent, the pages of the R700 give our choice.
#[test]
fn r700_pages_say_what_operations_do() {
    for (name, texts) in [
        ("JUMP", &["Pops and jumps when no pixel passes; does nothing otherwise"][..]),
        ("ELSE", &["pops and jumps when none is active then"]),
        ("PUSH_ELSE", &["active pixels that do not pass go on; jumps when there is none"]),
        ("MOVA", &["an index above 255 or below -256, and NaN, becomes -256", "reference ctm_exec::r700::ops::mova "]),
        ("MOVA_FLOOR", &["becomes -256", "reference ctm_exec::r700::ops::mova_floor "]),
        ("MOVA_INT", &["becomes -256", "reference ctm_exec::r700::ops::mova_int "]),
        ("MULADD", &["two roundings: of the product, then of the sum", "zero times anything", "ops::muladd "]),
        ("MULADD_IEEE", &["two roundings", "0 times infinity is NaN", "ops::muladd_ieee "]),
        ("DOT4", &["in the order w, z, y, x", "open", "ops::dot4 "]),
        ("MAX4", &["a NaN gives way to the element behind it, and stays in x", "ops::max4 "]),
    ] {
        // However its lines are broken.
        let page = Isa::r700().describe(name).unwrap();
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        for text in texts {
            assert!(page.contains(text), "{name}: no `{text}` in\n{page}");
        }
    }
    // Every operation that computes names the function that says how.
    for op in ctm_isa::r700::ops::AluOp::all() {
        let page = Isa::r700().describe(op.name()).unwrap();
        let function = ctm_isa::r700::ops::notes::reference_function(op);
        assert_eq!(page.contains("reference   "), function.is_some(), "{page}");
    }
}

#[test]
fn operations_of_vertex_programs_are_found_by_both_names() {
    let isa = Isa::pvs();
    assert_eq!(
        isa.describe("VE_MULTIPLY_ADD").unwrap(),
        "VE_MULTIPLY_ADD = 4 in PVS_DST_OPCODE".to_owned()
            + &" ".repeat(58)
            + "pvs-encoding §4\n    \
         Multiply and add.\n    \
         formula     A * B + C\n    \
         operands    A, B, C\n    \
         mnemonic    mad\n    \
         engine      vector\n    \
         encoded     bits 5:0 of PVS_OP_DST (dword 0)\n"
    );
    assert!(isa.describe("pseq_push").unwrap().contains("sets the predicate"));
    assert!(isa.describe("rcp_sat").unwrap().contains("ME_RECIP_DX = 6"));
    assert!(isa.describe("VAP_PVS_FLOW_CNTL_LOOP_INDEX").unwrap().contains("PVS_FC_LOOP_REPEAT_NO_FLI"));
    let list = isa.list();
    for op in ctm_isa::pvs::ops::Op::all() {
        assert!(list.contains(op.name()), "{}", op.name());
    }
}
