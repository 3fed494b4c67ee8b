//! The languages as an editor sees them, on the examples and on small texts.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm_ide::grammar;
use ctm_ide::language::{CompletionKind, Document, Language, NameKind};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every program text of the examples and of the tests.
fn texts() -> Vec<(PathBuf, Document)> {
    let mut found = Vec::new();
    let mut open = vec![root().join("examples"), root().join("tests")];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if let Some(language) = Language::of_path(&path)
                && let Ok(text) = std::fs::read_to_string(&path)
            {
                found.push((path, Document::new(language, text)));
            }
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(found.len() > 20, "{}", found.len());
    found
}

fn x1k(text: &str) -> Document {
    Document::new(Language::X1k, text)
}

fn r700(text: &str) -> Document {
    Document::new(Language::R700, text)
}

fn pvs(text: &str) -> Document {
    Document::new(Language::Pvs, text)
}

/// The offset of the `n`th occurrence of a word.
fn at(document: &Document, word: &str, n: usize) -> usize {
    document.text.match_indices(word).nth(n).unwrap().0
}

#[test]
fn formatting_changes_blanks_only_and_is_done_once() {
    for (path, document) in texts() {
        let formatted = Document::new(document.language, document.formatted());
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(bare(&formatted.text), bare(&document.text), "{}", path.display());
        assert_eq!(formatted.program_words(), document.program_words(), "{}", path.display());
        assert_eq!(formatted.formatted(), formatted.text, "{}", path.display());
    }
}

#[test]
fn lines_are_laid_out_by_their_structure() {
    let document = x1k(
        ".int turns=i0 (4,0,0)\nrep turns\nmov r1.r,0 | mov r1.a, |r0.r|   ; both\n  add r1, r1, 1 ; one\nendrep\nend: mov o0,   r1\n",
    );
    assert_eq!(
        document.formatted(),
        ".int    turns=i0 (4,0,0)\n        rep   turns\n          mov   r1.r,0 | mov  r1.a, |r0.r|  ; both\n          add   r1, r1, 1                   ; one\n        endrep\nend:    mov   o0, r1\n"
    );
    let document =
        r700("ALU:\n 0 x: MOV R1.x,  0.5f ; half\n\ty: MOV R1.y, R0.x\nEXP_DONE:   PIX0, R1.xyxx\nEND_OF_PROGRAM\n");
    assert!(!document.has_errors(), "{:?}", document.findings);
    assert_eq!(
        document.formatted(),
        "ALU:\n  0  x: MOV             R1.x, 0.5f  ; half\n     y: MOV             R1.y, R0.x\nEXP_DONE: PIX0, R1.xyxx\nEND_OF_PROGRAM\n"
    );
    let document = pvs(".reg  n=r0\n(p) mov n,|v0|\nend: mul o0, n, c0  + rcp at0.x, v0.w ; both\n");
    assert!(document.program_words().len() == 8, "{:?}", document.findings);
    assert_eq!(
        document.formatted(),
        ".reg    n=r0\n        (p) mov n,|v0|\nend:    mul   o0, n, c0 + rcp at0.x, v0.w  ; both\n"
    );
    // Unreadable lines keep their words.
    let wrong = x1k("  mov r1,\n");
    assert_eq!(wrong.formatted().split_whitespace().collect::<Vec<_>>(), ["mov", "r1,"]);
}

#[test]
fn names_are_found_where_they_are_defined_and_used() {
    let document = x1k(
        ".reg z = r1, n = r2\n.const k = c1 (1, 2, 3, 4)\n        mov z, 0\n        call step\n        mov o0, z.r\n        end\nstep:   add n, z.rgba, k\n        ret\n",
    );
    assert!(!document.has_errors(), "{:?}", document.findings);
    let names: Vec<String> = document.symbols().iter().map(|s| format!("{} {}", s.name, s.stands_for)).collect();
    assert_eq!(names, ["z r1", "n r2", "k c1", "step "]);
    let symbol = document.symbol_at(at(&document, "step", 0)).unwrap();
    assert_eq!((symbol.kind, symbol.span.start as usize), (NameKind::Label, at(&document, "step", 1)));
    assert_eq!(document.references(&symbol).len(), 2);
    let z = document.symbol_at(at(&document, "z.r", 0)).unwrap();
    assert_eq!(document.references(&z).len(), 4);
    assert_eq!(document.rename(z.span.start as usize, "depth").unwrap().len(), 4);
    for (to, why) in
        [("n", "taken"), ("r5", "something else"), ("3d", "no name"), ("res", "something else"), ("a-b", "no name")]
    {
        let said = document.rename(z.span.start as usize, to).unwrap_err();
        assert!(said.contains(why), "{to}: {said}");
    }
    assert!(document.rename(at(&document, "mov", 0), "move").is_err());

    let document = r700(
        ".reg colour R1\nALU_PUSH_BEFORE:\n  0  x: PRED_SETGT  ____, R0.x, 0.5f  UPDATE_EXEC_MASK UPDATE_PRED\nJUMP POP_CNT(1) ADDR(done)\nALU_POP_AFTER:\n  1  x: MOV colour.x, 1.0f\ndone:\nEXP_DONE: PIX0, colour.xxxx\nEND_OF_PROGRAM\n",
    );
    assert!(!document.has_errors(), "{:?}", document.findings);
    let names: Vec<String> = document.symbols().into_iter().map(|symbol| symbol.name).collect();
    assert_eq!(names, ["colour", "done"]);
    let done = document.symbol_at(at(&document, "done", 0)).unwrap();
    assert_eq!(document.references(&done).len(), 2);
    assert_eq!(document.rename(at(&document, "done", 0), "behind").unwrap().len(), 2);
    assert_eq!(document.references(&document.symbol_at(at(&document, "colour", 1)).unwrap()).len(), 3);
}

#[test]
fn names_of_vertex_programs_are_found() {
    let document = pvs(
        ".input  position = v0\n.const  matrix = c0, light = c4 (0, 1, 0, 1)\n.flow 0 loop after start end bottom count 4\nstart:  mov    r0, light\nbottom: mad    r0, r0, position, r0\n        mul    o0, r0, c[aL+0]\n.last bottom\n",
    );
    assert!(!document.has_errors(), "{:?}", document.findings);
    let names: Vec<String> = document.symbols().iter().map(|s| format!("{} {}", s.name, s.stands_for)).collect();
    assert_eq!(names, ["position v0", "matrix c0", "light c4", "start ", "bottom "]);
    let bottom = document.symbol_at(at(&document, "bottom", 0)).unwrap();
    assert_eq!((bottom.kind, bottom.span.start as usize), (NameKind::Label, at(&document, "bottom", 1)));
    assert_eq!(document.references(&bottom).len(), 3);
    assert_eq!(document.rename(at(&document, "start", 0), "top").unwrap().len(), 2);
    assert!(document.rename(at(&document, "start", 0), "bottom").unwrap_err().contains("taken"));
    assert_eq!(document.references(&document.symbol_at(at(&document, "light", 1)).unwrap()).len(), 2);
}

#[test]
fn every_name_of_the_examples_can_be_renamed() {
    let mut renamed = 0;
    for (path, document) in texts() {
        if document.has_errors() {
            continue;
        }
        for symbol in document.symbols() {
            let places = document.rename(symbol.span.start as usize, "another_name");
            let places = places.unwrap_or_else(|why| panic!("{}: {}: {why}", path.display(), symbol.name));
            assert!(places.contains(&symbol.span));
            renamed += 1;
        }
    }
    assert!(renamed > 60, "{renamed}");
}

#[test]
fn registers_lead_to_who_wrote_their_values() {
    let document = x1k("        add   r1.r, r0.r, 1\n        add   r1.r, r1.r, r1.r\n        mov   o0, r1.r\n");
    let line = |offset: usize| {
        let places = document.register_places(offset);
        places.iter().map(|span| document.line_of(span.start as usize)).collect::<Vec<_>>()
    };
    assert_eq!(line(at(&document, "r1", 4)), [1]);
    assert_eq!(line(at(&document, "r1", 2)), [0]);
    // Nothing wrote it: where the line's own value is read.
    assert_eq!(line(at(&document, "r1", 0)), [1]);
    let hints = document.hints(0, 3);
    assert_eq!(
        hints.iter().map(|h| h.text.as_str()).collect::<Vec<_>>(),
        ["r1.r to 2; 1 live", "r1.r to 3; 1 live", "1 live"]
    );
    let document = pvs("        add    r1.x, v0, 1\n        (p)    mov r1.x, v0.y\n        mov    o0, r1.x\n");
    let hints = document.hints(0, 3);
    assert_eq!(
        hints.iter().map(|h| h.text.as_str()).collect::<Vec<_>>(),
        ["r1.x to 3; 0 live", "r1.x to 3; 1 live", "1 live"],
        "a predicated write ends no value"
    );
    assert!(x1k("        add   r1.r\n").hints(0, 9).is_empty(), "of a text with errors nothing is known");
}

#[test]
fn the_manual_is_at_every_word() {
    let document = x1k(".reg z = r1\n        rcp   z.a, r0.r sat\n        mov   o0, z\n");
    let hover = |word: &str, n: usize| document.hover(at(&document, word, n)).map_or(String::new(), |h| h.markdown);
    assert!(hover("rcp", 0).contains("1 / A"), "{}", hover("rcp", 0));
    assert!(hover("reg", 0).contains("a name for a temporary"), "{}", hover("reg", 0));
    assert!(
        hover("z.a", 0).contains("stands for `r1`") && hover("z.a", 0).contains("read on line 3"),
        "{}",
        hover("z.a", 0)
    );
    assert!(hover("r0", 0).contains("CTM §3.3.1"), "{}", hover("r0", 0));
    let document = r700("ALU:\n  0  t: RCP_e  R1.x, R0.x\nEXP_DONE: PIX0, R1.xxxx\nEND_OF_PROGRAM\n");
    let text = document.hover(at(&document, "RCP_e", 0)).unwrap().markdown;
    assert!(text.contains("special"), "special values: {text}");
    assert!(document.hover(at(&document, "EXP_DONE", 0)).is_some());
    assert!(document.hover(at(&document, "R1", 1)).unwrap().markdown.contains("written on line 2"));
}

#[test]
fn the_manual_of_vertex_programs_is_at_every_word() {
    let document = pvs(
        ".reg n = r1\n.flow 0 jump after 1 to 3\n        rcp    n.x, v0.w\n        mov    at0.x, n.x\n        arl    a0.x, v0\n        mov    ox1, c[a0.x+2]\n",
    );
    let hover = |word: &str, n: usize| document.hover(at(&document, word, n)).map_or(String::new(), |h| h.markdown);
    for (word, n, says) in [
        ("rcp", 0, "ME_RECIP_DX"),
        ("mov", 0, "the sum of the source and zero"),
        ("flow", 0, "a slot of flow control"),
        ("jump", 0, "after A, go on at B"),
        ("n.x", 0, "stands for `r1`"),
        ("n.x", 1, "was written on line 3"),
        ("v0", 0, "`v0`: input vector, see R5xx PVS_SRC"),
        ("at0", 0, "alternate temporary"),
        ("a0", 0, "four integers, see R5xx PVS_OP_DST"),
        ("ox1", 0, "receives x"),
    ] {
        assert!(hover(word, n).contains(says), "{word}: {}", hover(word, n));
    }
}

/// No word of the instruction sets is without a page.
#[test]
fn every_instruction_has_a_page() {
    for language in Language::ALL {
        for (kind, word) in language.vocabulary() {
            use ctm_isa::vocabulary::WordKind::{Arithmetic, Flow, Memory};
            if matches!(kind, Arithmetic | Memory | Flow) && word != "end" && word != "fc" && word != "END_OF_PROGRAM" {
                let text = format!("{word} ");
                let document = Document::new(language, text);
                let found = document.hover(0);
                assert!(found.is_some(), "{} {word}", language.title());
            }
        }
    }
}

#[test]
fn what_can_stand_somewhere_is_offered() {
    let document = x1k(".reg z = r1\n        mo\n        mov   z, \nhere:   call \n        .\n ; r\n");
    let found = |offset: usize| document.completions(offset);
    let has = |offset: usize, text: &str, kind: CompletionKind| {
        found(offset).iter().any(|c| c.text == text && c.kind == kind)
    };
    assert!(has(at(&document, "mo", 0) + 2, "mov", CompletionKind::Instruction));
    assert!(has(at(&document, "z, ", 0) + 3, "z", CompletionKind::Name));
    assert!(has(at(&document, "z, ", 0) + 3, "r2", CompletionKind::Register));
    assert!(has(at(&document, "call ", 0) + 5, "here", CompletionKind::Label));
    assert!(has(at(&document, "        .", 0) + 9, "const", CompletionKind::Directive));
    assert!(found(at(&document, "; r", 0) + 3).is_empty(), "nothing in comments");
    let document = pvs(".flow 0 loop after \n.flow 1 \n        mu\nhere:   mov o0, \n.entry \n");
    let has = |offset: usize, text: &str| document.completions(offset).iter().any(|c| c.text == text);
    assert!(has(at(&document, "mu", 0) + 2, "mulc") && !has(at(&document, "mu", 0) + 2, "jump"));
    assert!(has(at(&document, "after ", 0) + 6, "here") && has(at(&document, ".entry ", 0) + 7, "here"));
    assert!(has(at(&document, "flow 1 ", 0) + 7, "jsr") && has(at(&document, "o0, ", 0) + 4, "at0"));
    let document = r700("ALU:\n  0  x: MU\nJUMP ADDR(\nout:\n");
    assert!(document.completions(at(&document, "MU", 0) + 2).iter().any(|c| c.text == "MULADD"));
    assert!(document.completions(at(&document, "ADDR(", 0) + 5).iter().any(|c| c.text == "out"));
}

#[test]
fn languages_are_known_by_name_and_by_text() {
    assert_eq!(Language::of_path(Path::new("a/b.PSH")), Some(Language::R700));
    assert_eq!(Language::of_path(Path::new("b.x1k")), Some(Language::X1k));
    assert_eq!(Language::of_path(Path::new("lit.pvs")), Some(Language::Pvs));
    assert_eq!(Language::of_path(Path::new("job.toml")), None);
    assert_eq!(Language::of_text("ALU:\n  0  x: MOV R0.x, R0.x\n"), Language::R700);
    assert_eq!(Language::of_text("00 EXP_DONE: PIX0, R0.xyzw\n"), Language::R700);
    assert_eq!(Language::of_text("        mov o0, r0\n"), Language::X1k);
}

/// No place of any text, whole or cut off anywhere, makes anything panic. An emulator cuts at a tenth of the places.
#[test]
fn nothing_panics_anywhere() {
    let cuts = if ctm_testkit::in_emulator() { 6 } else { 60 };
    for (_, document) in texts().into_iter().filter(|(path, _)| path.starts_with(root().join("examples"))) {
        let step = (document.text.len() / cuts).max(1);
        for cut in (0..document.text.len()).step_by(step).filter(|&cut| document.text.is_char_boundary(cut)) {
            let part = Document::new(document.language, &document.text[..cut]);
            for offset in [0, cut / 2, cut, cut + 7] {
                let _ = (
                    part.hover(offset),
                    part.completions(offset),
                    part.symbol_at(offset),
                    part.register_places(offset),
                );
                let _ = part.rename(offset, "other");
            }
            let _ = (part.hints(0, 1000), part.formatted(), part.symbols());
        }
    }
}

#[test]
fn grammars_are_up_to_date() {
    for language in Language::ALL {
        let path = root().join("editors/vscode/syntaxes").join(grammar::file_name(language));
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(there, grammar::file(language), "run `cargo xtask grammars`");
    }
}
