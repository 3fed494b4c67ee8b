//! How well shaders are compiled: counts that `docs/ps3.md` shows. `UPDATE_EXPECT=1 cargo test -p ctm-ps3 --test suite quality` writes them there.
#![allow(clippy::unwrap_used, clippy::format_push_string, reason = "a test stops at what it did not expect")]

use crate::harness;

use ctm_isa::x1k::Inst;
use ctm_ps3::table::{From, ROWS, To};
use ctm_ps3::{Options, compile};
use std::path::{Path, PathBuf};

fn shaders() -> Vec<(String, String)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/quality");
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    let name = |p: &Path| p.file_stem().unwrap().to_str().unwrap().to_owned();
    files.iter().map(|p| (name(p), std::fs::read_to_string(p).unwrap())).collect()
}

/// Instructions of the text: not declarations, definitions and comments.
fn written(text: &str) -> usize {
    text.lines()
        .filter(|l| !["ps_", "dcl", "def", "//"].iter().any(|p| l.trim().starts_with(p)) && !l.trim().is_empty())
        .count()
}

fn counts() -> String {
    let mut table =
        "| shader | instructions written | slots | ALU | both halves in use | lookups | flow control | temporaries |\n\
                     |---|---|---|---|---|---|---|---|\n"
            .to_owned();
    for (name, text) in shaders() {
        let program = compile(&text, &Options::default()).program.unwrap();
        let (mut alu, mut pairs, mut tex, mut flow) = (0, 0, 0, 0);
        for words in &program.words {
            match Inst::decode(words).unwrap() {
                Inst::Alu(inst) => {
                    alu += 1;
                    let rgb = inst.cmn.rgb_wmask | inst.cmn.rgb_omask;
                    pairs +=
                        usize::from(rgb != 0 && (inst.cmn.alpha_wmask || inst.cmn.alpha_omask || inst.alpha.w_omask));
                }
                Inst::Tex(_) => tex += 1,
                Inst::Fc(_) => flow += 1,
            }
        }
        let temps = program.usage().highest_temp + 1;
        let slots = program.words.len();
        table += &format!("| {name} | {} | {slots} | {alu} | {pairs} | {tex} | {flow} | {temps} |\n", written(&text));
    }
    table
}

fn instructions() -> String {
    let mut table = "| instruction | computes | becomes |\n|---|---|---|\n".to_owned();
    for row in ROWS {
        let mut operands: Vec<&str> = Vec::new();
        operands.extend(match row.to {
            To::Nothing => None,
            To::Vector(3) => Some("d.xy"),
            To::Vector(7) => Some("d.xyz"),
            To::Vector(_) => Some("d"),
            To::Predicate => Some("p0"),
            To::Examined => Some("r"),
        });
        let letters = ["a", "b", "c"];
        for (n, from) in row.from.iter().enumerate() {
            operands.push(match from {
                From::Vector | From::Rows(_) => letters[n.min(2)],
                From::Scalar => ["a.x", "b.x", "c.x"][n.min(2)],
                From::Sampler => "s#",
                From::Int => "i#",
                From::LoopCounter => "aL",
                From::Condition => "b# or p0.x",
                From::Predicate => "p0.x",
                From::Label => "l#",
                From::Ignored => "c#",
            });
        }
        let name = if row.compares { format!("{}_lt", row.name) } else { row.name.to_owned() };
        let means = row.means.replace('|', "\\|");
        table += &format!("| `{}` | {means} | {} |\n", format!("{name} {}", operands.join(", ")).trim(), row.becomes);
    }
    table
}

#[test]
fn the_page_has_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ps3.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let mut new = page.clone();
    for (name, table) in [("instructions", instructions()), ("counts", counts())] {
        let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
        let from = new.find(&begin).unwrap() + begin.len();
        let to = new.find(&end).unwrap();
        new.replace_range(from..to, &format!("\n{table}\n"));
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, new).unwrap();
    } else {
        assert_eq!(page, new, "run with UPDATE_EXPECT=1 and review the difference");
    }
}

#[test]
fn the_shaders_are_right() {
    for (name, text) in shaders() {
        let compared = harness::compare(&text);
        assert!(compared.known > 30, "{name}: only {compared:?}");
    }
}
