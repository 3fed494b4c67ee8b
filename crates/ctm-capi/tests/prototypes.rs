//! The prototypes of the headers are those of the library: every function that a header declares is exported with these types, and every
//! function that is exported is declared.
//!
//! Both sides are read as text and brought to one form. Layouts of the structures are compared in `headers.rs`.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::path::Path;

/// Headers whose functions the library exports; the others hold nothing but C++.
const HEADERS: &[&str] = &["amDeviceManaged.h", "amuABI.h", "amuAsm.h", "amuComp.h", "ctm.h"];

/// Types of C by their names in Rust.
const TYPES: &[(&str, &str)] = &[
    ("unsigned int", "u32"),
    ("AMuint32", "u32"),
    ("uint32_t", "u32"),
    ("int32_t", "i32"),
    ("uint8_t", "u8"),
    ("size_t", "usize"),
    ("float", "f32"),
    ("double", "f64"),
    ("char", "c_char"),
    ("int", "c_int"),
    ("void", "c_void"),
    // A result may be any number on its way into the library.
    ("ctm_arena", "c_int"),
    ("ctm_form", "c_int"),
    ("ctm_symbol_kind", "c_int"),
    ("ctm_status", "Status"),
    ("ctm_bytes", "Bytes"),
    ("ctm_findings", "Findings"),
    ("ctm_finding", "FindingRecord"),
    ("ctm_program", "ProgramHandle"),
    ("ctm_run_options", "RunOptions"),
    ("ctm_counters", "Counters"),
    ("ctm_control", "Control"),
    ("ctm_progress", "Progress"),
    ("ctm_job", "Job"),
    ("ctm_result", "JobResult"),
    ("ctm_array", "Array"),
    ("ctm_drawing", "Drawing"),
    ("ctm_picture", "Picture"),
    ("AMUcompCompiler", "*mut c_void"),
    ("AMUcompLogFunction", "LogFunction"),
    ("AMUasmLogFunction", "LogFunction"),
];

/// `text` without comments and preprocessor lines.
fn plain_c(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        out.push_str(before);
        out.push(' ');
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    let lines = out.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join(" ")
}

/// A type of C, with or without a parameter's name after it, as Rust writes it.
fn c_type(text: &str, named: bool) -> String {
    let spaced = text.replace('*', " * ");
    let mut words: Vec<&str> = spaced.split_whitespace().collect();
    if named && words.len() > 1 && words.last().is_some_and(|w| *w != "*") {
        words.pop();
    }
    let stars = words.iter().filter(|w| **w == "*").count();
    let constant = words[0] == "const";
    let name = words.iter().filter(|w| **w != "*" && **w != "const").copied().collect::<Vec<_>>().join(" ");
    let mut out = TYPES.iter().find(|(c, _)| *c == name).map_or(name.as_str(), |(_, rust)| rust).to_owned();
    for star in 0..stars {
        // The const of a declaration belongs to the target of the innermost pointer.
        out = format!("*{} {out}", if constant && star == 0 { "const" } else { "mut" });
    }
    out
}

/// The functions that a header declares: name, and `(parameters) -> result`.
fn declared(text: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    // Braces hold a structure, an enumeration, or the linkage of all declarations.
    let text = plain_c(text).replace("extern \"C\" {", "");
    let mut outside = String::new();
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = 0.max(depth - 1),
            c if depth == 0 => outside.push(c),
            _ => {}
        }
    }
    for statement in outside.split(';') {
        let statement = statement.trim();
        let Some((head, parameters)) = statement.split_once('(') else { continue };
        if statement.starts_with("typedef") {
            continue;
        }
        let name = head.split(|c: char| c.is_whitespace() || c == '*').next_back().unwrap();
        let result = c_type(head[..head.len() - name.len()].trim(), false);
        let parameters = parameters.trim_end().strip_suffix(')').unwrap();
        let parameters: Vec<String> = if parameters.trim() == "void" {
            Vec::new()
        } else {
            parameters.split(',').map(|p| c_type(p, true)).collect()
        };
        all.insert(
            name.to_owned(),
            format!("({}) -> {}", parameters.join(", "), if result == "c_void" { "()" } else { &result }),
        );
    }
    all
}

/// The functions that a source exports, in the same form.
fn exported(text: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for part in text.split("#[unsafe(no_mangle)]").skip(1) {
        let (head, rest) = part.split_once("extern \"C\" fn ").unwrap();
        assert!(head.trim_end().ends_with("pub") || head.trim_end().ends_with("pub unsafe"), "{head}");
        let (name, rest) = rest.split_once('(').unwrap();
        let (parameters, rest) = rest.split_once(')').unwrap();
        let rest = rest.split('{').next().unwrap().trim();
        let result = rest.strip_prefix("->").map_or("()", str::trim);
        let rust = |text: &str| {
            let words: Vec<String> = text
                .split_whitespace()
                .map(|word| word.rsplit("::").next().unwrap().to_owned())
                .map(|word| if ["AMuint32", "c_uint"].contains(&word.as_str()) { "u32".to_owned() } else { word })
                .collect();
            words.join(" ")
        };
        let parameters: Vec<String> = parameters
            .split(',')
            .filter(|p| !p.trim().is_empty())
            .map(|p| rust(p.split_once(':').unwrap().1.trim()))
            .collect();
        all.insert(name.to_owned(), format!("({}) -> {}", parameters.join(", "), rust(result)));
    }
    all
}

fn sources(directory: &Path, all: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|e| e == "rs") {
            all.extend(exported(&std::fs::read_to_string(path).unwrap()));
        }
    }
}

#[test]
fn headers_declare_what_the_library_exports() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut in_c = BTreeMap::new();
    for header in HEADERS {
        in_c.extend(declared(&std::fs::read_to_string(root.join("include").join(header)).unwrap()));
    }
    let mut in_rust = BTreeMap::new();
    sources(&root.join("src"), &mut in_rust);
    assert!(in_rust.len() > 40, "{in_rust:#?}");
    let wrong: Vec<_> = in_rust.iter().filter(|(name, rust)| in_c.get(*name) != Some(rust)).collect();
    for (name, rust) in &wrong {
        assert!(
            wrong.is_empty(),
            "`{name}` is {:?} in C and {rust} in Rust; so many are wrong: {wrong:#?}",
            in_c.get(*name)
        );
    }
    for (name, c) in &in_c {
        assert!(in_rust.contains_key(name), "`{name}` {c} is declared and not exported");
    }
}

#[test]
fn both_sides_are_read() {
    let c = declared(
        "/* f(int); */ typedef int (*F)(void);\nstruct s { int a; };\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\
         const char *name(void); // x\nvoid put(const float **p, ctm_job **to, AMuint32 n);\n#ifdef __cplusplus\n}\n#endif\n",
    );
    let rust = exported(
        "#[unsafe(no_mangle)]\npub extern \"C\" fn name() -> *const c_char {\n}\n#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn put(\n    \
         p: *mut *const f32,\n    to: *mut *mut Job,\n    n: AMuint32,\n) {\n}",
    );
    assert_eq!(c, rust);
    assert_ne!(declared("void f(int a);"), declared("void f(int *a);"));
    assert_ne!(declared("void f(const int *a);"), declared("void f(int *a);"));
}
