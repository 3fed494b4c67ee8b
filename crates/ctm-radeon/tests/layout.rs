//! The order of this crate's modules, and that fields of words are read by tables alone.

use ctm_testkit::layout;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn no_module_uses_a_later_one() {
    let order = [
        "error",
        "table",
        "stream",
        "registers",
        "chip",
        "packets",
        "text",
        "environment",
        "capture",
        "execute",
        "check",
        "replay",
        "shown",
        "shared_picture",
    ];
    let arrows = layout::check(CRATE, &order, "error");
    assert!(arrows > 40, "uses are found: {arrows}");
}

/// The parts of an R500 lie below the device and its draws above it, in one folder.
#[test]
fn files_of_folders_have_an_order() {
    let execute: [&[&str]; 24] = [
        &["memory"],
        &["registers"],
        &["set"],
        &["state"],
        &["textures"],
        &["untile"],
        &["converted"],
        &["numbering"],
        &["programs"],
        &["surfaces"],
        &["resources"],
        &["outline"],
        &["targets"],
        &["counters"],
        &["funnel"],
        &["joined"],
        &["queue"],
        &["device", "r500"],
        &["draws"],
        &["queued"],
        &["joins"],
        &["commands"],
        &["submit"],
        &["notes"],
    ];
    assert!(layout::check_folder(CRATE, "execute", &execute) > 20);
    let check: [&[&str]; 7] =
        [&["rules"], &["scratch"], &["checker"], &["surfaces"], &["draws"], &["packets"], &["r500"]];
    assert!(layout::check_folder(CRATE, "check", &check) >= 4);
    assert_eq!(layout::check_folder(CRATE, "text", &[&["print", "parse"]]), 0);
}

/// Where bits are moved that are no fields: the file, a part of the line, and the reason.
const EXCEPTIONS: [(&str, &str, &str); 7] = [
    ("execute/textures.rs", ">> first_level", "the size of a level is halved"),
    ("execute/converted.rs", ">> in_view", "the size of a level is halved"),
    ("check/r500/draws.rs", ">> level", "the size of a level is halved"),
    ("execute/r500/textures.rs", "whole >> ", "the size of a level is halved"),
    ("execute/r500/textures.rs", "all | 1 << n", "a set of units"),
    ("execute/registers.rs", "self.changed", "a set of parts"),
    ("execute/r500/half.rs", "bits", "the parts of a half float are no fields of a word"),
];

/// A line outside of tables that shifts, or masks with a number, reads a field by hand. Sizes that are powers of two are constants.
#[test]
fn fields_are_read_by_tables_alone() {
    let is_table = |file: &str| {
        file == "table.rs" || file.starts_with("registers/") || file == "packets/words.rs" || file == "shown.rs"
    };
    let (mut found, mut used) = (Vec::new(), vec![0; EXCEPTIONS.len()]);
    for (file, text) in layout::sources(CRATE).iter().filter(|(file, _)| !is_table(file)) {
        for line in text.lines().map(str::trim) {
            let shifts = [" << ", " >> ", " <<= ", " >>= "].iter().any(|sign| line.contains(sign));
            // A mask is a number, or all bits but those of a number.
            let by_number = |part: &str| {
                let part = part.strip_prefix('!').unwrap_or(part);
                part.starts_with(|c: char| c.is_ascii_digit() || c == '(')
            };
            let masks = line.split(" & ").skip(1).chain(line.split(" &= ").skip(1)).any(by_number);
            let is_constant = ["const ", "pub const ", "pub(super) const "].iter().any(|begin| line.starts_with(begin));
            if !(shifts && !is_constant || masks) {
                continue;
            }
            match EXCEPTIONS.iter().position(|(of, part, _)| file == of && line.contains(part)) {
                Some(at) => used[at] += 1,
                None => found.push(format!("{file}: {line}")),
            }
        }
    }
    assert!(found.is_empty(), "fields read by hand: {found:#?}");
    assert!(used.iter().all(|&count| count > 0), "exceptions without use: {used:?} of {EXCEPTIONS:?}");
}
