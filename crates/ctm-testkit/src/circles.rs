//! Circles of files: files of a crate that use each other, straight or through others.
//!
//! Only names count that a file takes by a path: imports, and paths in its code. A path that leads through re-exports counts as a use of the file that
//! defines the item, so a re-export neither makes nor hides a circle. A module sees the items of the modules that it lies in, as their part; these uses do not
//! count. Unit tests are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The names that one file takes from another, for each pair of files with at least one.
pub type Arrows = BTreeMap<(String, String), BTreeSet<String>>;

/// Files that use each other in a circle, with the arrows among them.
#[derive(Debug)]
pub struct Circle {
    pub files: BTreeSet<String>,
    pub arrows: Arrows,
}

impl std::fmt::Display for Circle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} files: {}", self.files.len(), self.files.iter().cloned().collect::<Vec<_>>().join(", "))?;
        for ((from, to), names) in &self.arrows {
            writeln!(f, "  {from} -> {to}: {}", names.iter().cloned().collect::<Vec<_>>().join(", "))?;
        }
        Ok(())
    }
}

/// The circles of a crate whose sources lie in `src`, the largest first.
pub fn of_crate(src: &Path) -> Vec<Circle> {
    circles(&arrows(src))
}

/// The uses among the files of a crate whose sources lie in `src`.
pub fn arrows(src: &Path) -> Arrows {
    SourceTree::read(src).arrows()
}

/// Splits arrows into the circles that they form, the largest first.
pub fn circles(arrows: &Arrows) -> Vec<Circle> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in arrows.keys() {
        next.entry(from).or_default().push(to);
    }
    let reach: BTreeMap<&str, BTreeSet<&str>> = next.keys().map(|file| (*file, reached(&next, file))).collect();
    let mut found: Vec<Circle> = Vec::new();
    for (file, files) in reach.iter().filter(|(file, files)| files.contains(*file)) {
        if found.iter().any(|circle| circle.files.contains(*file)) {
            continue;
        }
        let back = |other: &&&str| reach.get(**other).is_some_and(|files| files.contains(file));
        let files: BTreeSet<String> = files.iter().filter(back).map(|file| (*file).to_owned()).collect();
        let within = arrows.iter().filter(|((from, to), _)| files.contains(from) && files.contains(to));
        let arrows = within.map(|(pair, names)| (pair.clone(), names.clone())).collect();
        found.push(Circle { files, arrows });
    }
    found.sort_by_key(|circle| std::cmp::Reverse(circle.files.len()));
    found
}

/// The files that one uses, straight or through others.
fn reached<'a>(next: &BTreeMap<&'a str, Vec<&'a str>>, from: &'a str) -> BTreeSet<&'a str> {
    let (mut seen, mut todo) = (BTreeSet::new(), vec![from]);
    while let Some(file) = todo.pop() {
        todo.extend(next.get(file).into_iter().flatten().filter(|to| seen.insert(**to)));
    }
    seen
}

/// A file's module. Modules in braces are items of it.
#[derive(Default)]
struct Module {
    file: String,
    tokens: Vec<String>,
    items: BTreeSet<String>,
    /// Of each imported or re-exported name: its path, and whether it is re-exported.
    imports: BTreeMap<String, (Vec<String>, bool)>,
    globs: Vec<Vec<String>>,
}

/// The end of a path.
#[derive(Clone, Debug, PartialEq)]
enum PathEnd {
    Module(Vec<String>),
    /// An item that the file of this module defines.
    Item(Vec<String>),
    Foreign,
}

struct SourceTree(BTreeMap<Vec<String>, Module>);

impl SourceTree {
    fn read(src: &Path) -> Self {
        let mut tree = Self(BTreeMap::new());
        tree.collect(src, src, &[]);
        tree
    }

    fn collect(&mut self, src: &Path, folder: &Path, path: &[String]) {
        for entry in fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
            let below = [path, std::slice::from_ref(&stem)].concat();
            if file.is_dir() {
                self.collect(src, &file, &below);
            } else if file.extension().is_some_and(|e| e == "rs") && stem != "tests" {
                let is_folder = matches!(stem.as_str(), "mod" | "lib" | "main");
                let module = Module::parse(
                    &file.strip_prefix(src).unwrap().display().to_string(),
                    &fs::read_to_string(&file).unwrap(),
                );
                self.0.insert(if is_folder { path.to_vec() } else { below }, module);
            }
        }
    }

    /// Where a path leads from a module; a module with the name of an item counts only where the path goes on.
    fn resolve(&self, from: &[String], path: &[String], depth: usize) -> PathEnd {
        let (mut at, mut rest) = (from.to_vec(), path);
        let mut is_local = false;
        while let Some((first, after)) = rest.split_first() {
            match first.as_str() {
                "crate" => at.clear(),
                "self" => (),
                "super" => drop(at.pop()),
                _ => break,
            }
            (rest, is_local) = (after, true);
        }
        while let Some((first, after)) = rest.split_first() {
            match self.find(&at, first, after.is_empty(), depth) {
                Some(PathEnd::Module(module)) => (at, rest) = (module, after),
                Some(end) => return end,
                // A macro may define it.
                None if is_local && self.0.contains_key(&at) => return PathEnd::Item(at),
                None => return PathEnd::Foreign,
            }
            is_local = true;
        }
        PathEnd::Module(at)
    }

    fn find(&self, at: &[String], name: &str, is_last: bool, depth: usize) -> Option<PathEnd> {
        let module = self.0.get(at)?;
        if depth > 8 {
            return None;
        }
        let child = [at, &[name.to_owned()]].concat();
        let child = || self.0.contains_key(&child).then(|| PathEnd::Module(child.clone()));
        let import = || {
            let (path, _) = module.imports.get(name)?;
            let is_child = path.first().is_some_and(|first| path.len() > 1 && first == name);
            Some(self.resolve(at, path, depth + if is_child { 4 } else { 1 }))
        };
        let item = || module.items.contains(name).then(|| PathEnd::Item(at.to_vec()));
        let glob = || {
            module.globs.iter().find_map(|path| match self.resolve(at, path, depth + 1) {
                PathEnd::Module(from) if from != at => self.find(&from, name, is_last, depth + 1),
                PathEnd::Foreign if name.starts_with(char::is_uppercase) => Some(PathEnd::Foreign),
                _ => None,
            })
        };
        if is_last { import().or_else(item).or_else(child) } else { child().or_else(import).or_else(item) }
            .or_else(glob)
    }

    fn arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (at, module) in &self.0 {
            let mut add = |path: &[String], end: PathEnd| {
                let PathEnd::Item(to) = end else { return };
                if at.starts_with(&to) {
                    return;
                }
                let to = &self.0[&to].file;
                if *to != module.file {
                    let name = path.last().cloned().unwrap_or_default();
                    arrows.entry((module.file.clone(), to.clone())).or_default().insert(name);
                }
            };
            for (path, _) in module.imports.values().filter(|(_, is_public)| !is_public) {
                add(path, self.resolve(at, path, 0));
            }
            for path in module.paths() {
                let first = &path[0];
                let is_known = matches!(first.as_str(), "crate" | "self" | "super");
                if is_known || path.len() > 1 || !module.globs.is_empty() && !module.imports.contains_key(first) {
                    add(&path, self.resolve(at, &path, 0));
                }
            }
        }
        arrows
    }
}

impl Module {
    fn parse(file: &str, text: &str) -> Self {
        let tokens = without_tests(&tokens(text));
        let mut module = Self { file: file.to_owned(), ..Self::default() };
        let mut at = 0;
        while at < tokens.len() {
            let word = |n: usize| tokens.get(at + n).map_or("", String::as_str);
            match word(0) {
                "use" => {
                    let end = tokens[at..].iter().position(|t| t == ";").map_or(tokens.len(), |n| at + n);
                    let is_public = at > 0 && (tokens[at - 1] == "pub" || tokens[at - 1] == ")");
                    module.import(&tokens[at + 1..end], &[], is_public);
                    at = end;
                }
                "struct" | "enum" | "union" | "trait" | "type" | "fn" | "const" | "static" => {
                    module.items.insert(word(1).to_owned());
                    module.tokens.push(word(0).to_owned());
                }
                "mod" if word(2) == "{" => {
                    module.items.insert(word(1).to_owned());
                    at += 1;
                }
                "mod" => at += 2,
                "macro_rules" => {
                    module.items.insert(word(2).to_owned());
                    at += 2;
                }
                other => module.tokens.push(other.to_owned()),
            }
            at += 1;
        }
        module
    }

    /// Adds the names of a tree of imports.
    fn import(&mut self, tree: &[String], before: &[String], is_public: bool) {
        let mut path = before.to_vec();
        let mut at = 0;
        while at < tree.len() {
            match tree[at].as_str() {
                "::" => (),
                "*" => return self.globs.push(path),
                "{" => {
                    let (mut depth, mut first) = (0, at + 1);
                    for n in at..tree.len() {
                        match tree[n].as_str() {
                            "{" => depth += 1,
                            "}" => depth -= 1,
                            "," if depth == 1 => {
                                self.import(&tree[first..n], &path, is_public);
                                first = n + 1;
                            }
                            _ => continue,
                        }
                        if depth == 0 {
                            return self.import(&tree[first..n], &path, is_public);
                        }
                    }
                    return;
                }
                "as" => {
                    let name = tree.get(at + 1).cloned().unwrap_or_default();
                    self.imports.insert(name, (path, is_public));
                    return;
                }
                "self" if !path.is_empty() => (),
                name => path.push(name.to_owned()),
            }
            at += 1;
        }
        if let Some(name) = path.last().filter(|_| path.len() > before.len() || !tree.is_empty()) {
            self.imports.insert(name.clone(), (path.clone(), is_public));
        }
    }

    /// The paths of the code: names joined by `::`, and names alone that a glob may import.
    fn paths(&self) -> BTreeSet<Vec<String>> {
        let mut found = BTreeSet::new();
        let mut at = 0;
        while at < self.tokens.len() {
            let before = at.checked_sub(1).map_or("", |n| self.tokens[n].as_str());
            let start = at;
            let mut path = Vec::new();
            while self.tokens.get(at).is_some_and(|token| is_name(token)) {
                path.push(self.tokens[at].clone());
                if self.tokens.get(at + 1).is_none_or(|token| token != "::") {
                    break;
                }
                at += 2;
            }
            at = at.max(start) + 1;
            let called = self.tokens.get(at).is_some_and(|token| token == "(" || token == "!");
            let may_be_item =
                path.len() > 1 || path.first().is_some_and(|p| called || p.starts_with(char::is_uppercase));
            if may_be_item && !matches!(before, "$" | "." | "fn" | "struct" | "enum" | "trait" | "type") {
                found.insert(path);
            }
        }
        found
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The names and signs of a text, without comments, lifetimes and the contents of strings.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let (mut found, mut at) = (Vec::new(), 0);
    let get = |n: usize| chars.get(n).copied().unwrap_or('\n');
    while at < chars.len() {
        let c = chars[at];
        let rest = |n: usize| chars[n..].iter();
        if c == '/' && get(at + 1) == '/' {
            at += rest(at).take_while(|c| **c != '\n').count();
        } else if c == 'r' && (get(at + 1) == '"' || get(at + 1) == '#' && matches!(get(at + 2), '"' | '#')) {
            let hashes = rest(at + 1).take_while(|c| **c == '#').count();
            let end: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
            at += hashes + 2;
            while at < chars.len() && !chars[at..].starts_with(&end) {
                at += 1;
            }
            at += end.len();
        } else if c == '"' {
            at += 1;
            while at < chars.len() && chars[at] != '"' {
                at += if chars[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
        } else if c == '\'' {
            let is_char = get(at + 1) == '\\' || get(at + 2) == '\'';
            at += if !is_char { 1 + rest(at + 1).take_while(|c| c.is_alphanumeric()).count() } else { 2 };
            if is_char {
                at += rest(at).take_while(|c| **c != '\'').count() + 1;
            }
        } else if c.is_alphanumeric() || c == '_' {
            let word: String = rest(at).take_while(|c| c.is_alphanumeric() || **c == '_').collect();
            at += word.chars().count();
            found.push(word);
        } else if c == ':' && get(at + 1) == ':' {
            found.push("::".to_owned());
            at += 2;
        } else {
            if !c.is_whitespace() {
                found.push(c.to_string());
            }
            at += 1;
        }
    }
    found
}

/// The tokens without the items that only tests have.
fn without_tests(tokens: &[String]) -> Vec<String> {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
    let (mut found, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if !(at + mark.len() <= tokens.len() && tokens[at..].iter().zip(mark).all(|(token, sign)| token == sign)) {
            found.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let mut depth = 0;
        at += mark.len();
        while at < tokens.len() {
            match tokens[at].as_str() {
                "{" | "[" | "(" => depth += 1,
                "}" | "]" | ")" => depth -= 1,
                _ => (),
            }
            at += 1;
            if depth == 0 && matches!(tokens[at - 1].as_str(), ";" | "}") {
                break;
            }
        }
    }
    found
}
