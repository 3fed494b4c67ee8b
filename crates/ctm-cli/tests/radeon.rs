//! `ctm pm4`, and `ctm replay` of captures.

#![allow(clippy::unwrap_used, reason = "a test")]

mod dir;

use dir::Dir;
use std::path::Path;

fn capture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ctm-radeon/tests/captures").join(name);
    path.to_str().unwrap().to_owned()
}

#[test]
fn streams_become_text_and_words_again() {
    let d = Dir::new("pm4");
    let shown = d.good(&["pm4", "dis", &capture("plasma.capture"), "--submission", "1"]);
    assert!(shown.contains("VGT_PRIMITIVE_TYPE = {PRIM_TYPE: TRISTRIP}"), "{shown}");
    assert!(shown.contains("; draw 1") && shown.contains("; buffer "), "{shown}");
    std::fs::write(d.0.join("a.pm4"), &shown).unwrap();
    d.good(&["pm4", "asm", "a.pm4", "-o", "a.ib"]);
    d.good(&["pm4", "dis", "a.ib", "-o", "b.pm4"]);
    d.good(&["pm4", "asm", "b.pm4", "-o", "b.ib"]);
    assert_eq!(std::fs::read(d.0.join("a.ib")).unwrap(), std::fs::read(d.0.join("b.ib")).unwrap());
    assert_eq!(d.good(&["pm4", "check", "a.pm4"]), "");
    assert!(d.good(&["pm4", "check", "--rules"]).contains("missing-relocation"));
    std::fs::write(d.0.join("bad.pm4"), "NUM_INSTANCES count=1\nDRAW_INDEX_AUTO count=3\n").unwrap();
    let (code, _, stderr) = d.ctm(&["pm4", "check", "bad.pm4"]);
    assert!(code == 1 && stderr.contains("dword 2, draw 1: DRAW_INDEX_AUTO has 1 words, allowed is 2"), "{stderr}");
    std::fs::write(d.0.join("worse.pm4"), "NUM_INSTANCE count=1\n").unwrap();
    let (code, _, stderr) = d.ctm(&["pm4", "asm", "worse.pm4"]);
    assert!(code == 1 && stderr.contains("is `NUM_INSTANCES` meant?"), "{stderr}");
}

#[test]
fn captures_are_checked_and_drawn() {
    let d = Dir::new("captures");
    let mrt = capture("mrt2.capture");
    assert_eq!(d.good(&["pm4", "check", &mrt]), "");
    let listed = d.good(&["replay", &mrt, "--list"]);
    assert!(listed.contains("draw 2 (dword ") && listed.contains("TriangleStrip, 4 vertices"), "{listed}");
    assert!(listed.ends_with("4 submissions, 4 draws, 0 problems\n"), "{listed}");
    let json = d.good(&["replay", &mrt, "--draw", "2", "-o", "at2", "--json", "--list"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["draws"], &json["list"][1]["pixels"]), (&2.into(), &4096.into()));
    for file in ["colour0.npy", "colour0.png", "colour1.npy"] {
        assert!(d.0.join("at2").join(file).exists(), "{file}");
    }
    let (code, _, stderr) = d.ctm(&["replay", &mrt, "--draw", "9"]);
    assert!(code == 1 && stderr.contains("has 4 draws, 9 is asked for"), "{stderr}");
    // Cut in the middle: what came before it is drawn.
    let bytes = std::fs::read(&mrt).unwrap();
    std::fs::write(d.0.join("cut.capture"), &bytes[..bytes.len() * 2 / 3]).unwrap();
    let (code, stdout, stderr) = d.ctm(&["replay", "cut.capture"]);
    assert!(code == 1 && stdout.contains("submissions") && stderr.contains("cut.capture"), "{stdout}{stderr}");
}
