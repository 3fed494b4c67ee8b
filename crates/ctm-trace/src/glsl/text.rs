//! GLSL, read for names: of each line, the names that it mentions and the names that its value is made of.
//!
//! It is no compiler: types, scopes of blocks and conditional compilation are not followed. It follows names through local variables, through
//! calls of functions, and from a condition to the assignments under it.

use super::{NameSet, NameTable, likeness};
use std::collections::{BTreeMap, BTreeSet};

/// A name that is linked: of an interface of the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interface {
    In,
    Out,
    Other,
}

/// A line of code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CodeLine {
    /// Its number, from 1.
    pub(super) line: usize,
    /// NameSet that it mentions.
    pub(super) named: NameSet,
    /// NameSet that its value is made of.
    pub(super) made: NameSet,
    /// Outputs that it writes.
    pub(super) writes: NameSet,
    /// Magnitudes of its numbers: bits of floats.
    pub(super) literals: BTreeSet<u32>,
}

/// A shader.
#[derive(Debug, Default)]
pub(super) struct GlslShader {
    /// Its lines of code, in the order of the text; a line with several statements several times.
    pub(super) lines: Vec<CodeLine>,
    /// Its declared interface.
    interface: BTreeMap<String, (usize, Interface, Option<u8>)>,
    /// NameSet that variables are made of at the end: outputs by their names, others with their function's.
    values: BTreeMap<String, NameSet>,
    /// NameSet that parameters stand for, where every call passes one as it is.
    aliases: BTreeMap<String, NameSet>,
}

/// NameSet of the language that are inputs or outputs.
const BUILT_IN: &[(&str, Interface)] = &[
    ("gl_Position", Interface::Out),
    ("gl_PointSize", Interface::Out),
    ("gl_FragColor", Interface::Out),
    ("gl_FragData", Interface::Out),
    ("gl_FragDepth", Interface::Out),
    ("gl_FragCoord", Interface::Other),
    ("gl_FrontFacing", Interface::Other),
    ("gl_VertexID", Interface::Other),
    ("gl_InstanceID", Interface::Other),
    ("gl_PointCoord", Interface::Other),
];

/// Rounds over the whole text: names go from later functions to earlier ones.
const ROUNDS: usize = 3;

/// A token and its line.
type Token<'t> = (&'t str, usize);

/// The tokens of a text without comments and directives, and `#define`s as names with their tokens.
fn tokens(text: &str) -> (Vec<Token<'_>>, BTreeMap<&str, Vec<Token<'_>>>) {
    let (mut out, mut defines) = (Vec::new(), BTreeMap::new());
    let bytes = text.as_bytes();
    let (mut at, mut line) = (0, 1);
    let mut define: Option<(&str, Vec<Token<'_>>)> = None;
    let mut is_fresh = true;
    while at < bytes.len() {
        let rest = &text[at..];
        let c = bytes[at];
        if rest.starts_with("\\\n") {
            (at, line) = (at + 2, line + 1);
            continue;
        }
        if c == b'\n' {
            defines.extend(define.take());
            (at, line, is_fresh) = (at + 1, line + 1, true);
            continue;
        }
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            let end = comment.find("*/").map_or(rest.len(), |end| end + 4);
            line += rest[..end].matches('\n').count();
            at += end;
            continue;
        }
        if c == b'#' && is_fresh {
            let whole = rest.split('\n').next().unwrap_or("");
            let body = whole[1..].trim_start();
            if let Some(body) = body.strip_prefix("define") {
                let body = body.trim_start();
                let end = body.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(body.len());
                define = Some((&body[..end], Vec::new()));
                at = body.as_ptr() as usize - text.as_ptr() as usize + end;
            } else {
                at += whole.len();
            }
            is_fresh = false;
            continue;
        }
        if c.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        is_fresh = false;
        let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let length = if is_word(c) || (c == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)) {
            // Numbers take their point and the sign of their exponent along.
            let number = !c.is_ascii_alphabetic() && c != b'_';
            let mut end = at + 1;
            while end < bytes.len()
                && (is_word(bytes[end])
                    || number && bytes[end] == b'.'
                    || number && matches!(bytes[end], b'+' | b'-') && matches!(bytes[end - 1], b'e' | b'E'))
            {
                end += 1;
            }
            end - at
        } else {
            let two = rest.get(..2).unwrap_or("");
            match two {
                "==" | "!=" | "<=" | ">=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "&&" | "||"
                | "++" | "--" => 2,
                "<<" | ">>" if bytes.get(at + 2) == Some(&b'=') => 3,
                _ => rest.chars().next().map_or(1, char::len_utf8),
            }
        };
        let token = (&text[at..at + length], line);
        match &mut define {
            Some((_, body)) => body.push(token),
            None => out.push(token),
        }
        at += length;
    }
    defines.extend(define);
    (out, defines)
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// The bits of a number as a float.
fn literal(token: &str) -> Option<u32> {
    let number = token.trim_end_matches(['f', 'F', 'u', 'U']);
    token.starts_with(|c: char| c.is_ascii_digit() || c == '.').then(|| number.parse().ok().map(f32::to_bits)).flatten()
}

/// The place after the bracket that closes the one at `at`; the end where none does.
fn closed(tokens: &[Token<'_>], at: usize) -> usize {
    let mut depth = 0usize;
    for (n, (token, _)) in tokens.iter().enumerate().skip(at) {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return n + 1;
        }
    }
    tokens.len()
}

/// Parts between commas that are in no bracket.
fn split<'s, 't>(tokens: &'s [Token<'t>], mark: &str) -> Vec<&'s [Token<'t>]> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0usize, 0);
    for (n, (token, _)) in tokens.iter().enumerate() {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            token if token == mark && depth == 0 => {
                parts.push(&tokens[from..n]);
                from = n + 1;
            }
            _ => {}
        }
    }
    parts.push(&tokens[from..]);
    parts
}

const ASSIGNMENTS: [&str; 9] = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="];

/// A function: its name, its parameters and its body.
struct GlslFunction<'s, 't> {
    name: &'t str,
    parameters: Vec<&'t str>,
    body: &'s [Token<'t>],
}

/// A round over the text.
struct Round<'r, 't> {
    shader: &'r mut GlslShader,
    names: &'r NameTable,
    defines: &'r BTreeMap<&'t str, Vec<Token<'t>>>,
    parameters: BTreeMap<&'t str, Vec<&'t str>>,
    function: &'t str,
    /// NameSet of the conditions around.
    conditions: Vec<NameSet>,
}

impl GlslShader {
    pub(super) fn read(text: &str, names: &mut NameTable) -> Self {
        let (tokens, defines) = tokens(text);
        let mut shader = Self::default();
        for &(name, kind) in BUILT_IN {
            shader.interface.insert(name.to_owned(), (names.of(name), kind, None));
        }
        let (mut functions, mut initial) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < tokens.len() {
            let from = at;
            while at < tokens.len() && !matches!(tokens[at].0, ";" | "{") {
                at = if matches!(tokens[at].0, "(" | "[") { closed(&tokens, at) } else { at + 1 };
            }
            let head = &tokens[from..at];
            if at < tokens.len() && tokens[at].0 == "{" {
                let end = closed(&tokens, at);
                let body = &tokens[at + 1..(end - 1).max(at + 1)];
                let opens = head.iter().position(|token| token.0 == "(");
                let is_block = head.iter().any(|token| matches!(token.0, "uniform" | "in" | "out" | "buffer"))
                    && head.last().is_some_and(|token| is_name(token.0));
                at = end;
                match opens.filter(|_| !is_block && head.last().is_some_and(|token| token.0 == ")")) {
                    Some(open) if open > 0 => {
                        let parameters = split(&head[open + 1..head.len() - 1], ",");
                        let name_of = |part: &[Token<'_>]| -> Option<usize> {
                            let end = part.iter().position(|token| token.0 == "[").unwrap_or(part.len());
                            (0..end).rev().find(|&n| is_name(part[n].0))
                        };
                        let parameters =
                            parameters.into_iter().map(|part| name_of(part).map_or("", |n| part[n].0)).collect();
                        functions.push(GlslFunction { name: head[open - 1].0, parameters, body });
                    }
                    _ if is_block => {
                        let until = (at..tokens.len()).find(|&n| tokens[n].0 == ";").unwrap_or(tokens.len());
                        shader.block(head, body, &tokens[at..until], names);
                        at = until + 1;
                    }
                    _ => {
                        // A structure, or an initial list.
                        at = (at..tokens.len()).find(|&n| tokens[n].0 == ";").map_or(tokens.len(), |n| n + 1);
                    }
                }
                continue;
            }
            at += 1;
            shader.declared(head, names);
            initial.push(head);
        }
        let known: BTreeMap<&str, Vec<&str>> = functions.iter().map(|f| (f.name, f.parameters.clone())).collect();
        for _ in 0..ROUNDS {
            shader.lines.clear();
            // Arguments and results go from round to round, other variables begin anew.
            shader.values.retain(|key, _| {
                key.split_once(':').is_some_and(|(function, name)| {
                    name.is_empty() || known.get(function).is_some_and(|parameters| parameters.contains(&name))
                })
            });
            let mut round = Round {
                shader: &mut shader,
                names,
                defines: &defines,
                parameters: known.clone(),
                function: "",
                conditions: Vec::new(),
            };
            for head in &initial {
                if split(head, "=").len() > 1 {
                    round.statement(head);
                }
            }
            for function in &functions {
                round.function = function.name;
                round.block(function.body);
            }
        }
        shader
    }

    /// NameSet of a declaration at the top: inputs, outputs, uniforms.
    fn declared(&mut self, head: &[Token<'_>], names: &mut NameTable) {
        let qualifier = head.iter().find_map(|token| match token.0 {
            "in" | "attribute" => Some(Interface::In),
            "out" => Some(Interface::Out),
            "varying" | "uniform" => Some(Interface::Other),
            _ => None,
        });
        let Some(kind) = qualifier else { return };
        let is_varying = head.iter().any(|token| token.0 == "varying");
        let location =
            head.iter().position(|token| token.0 == "location").and_then(|n| head.get(n + 2)?.0.parse().ok());
        // After `layout(...)`: qualifiers, the type, names.
        let open = head.iter().position(|token| token.0 == "layout").map_or(0, |n| closed(head, n + 1));
        for (n, part) in split(&head[open.min(head.len())..], ",").into_iter().enumerate() {
            let end = part.iter().position(|token| matches!(token.0, "[" | "=")).unwrap_or(part.len());
            // `float[3] name`: the name is after the brackets.
            let after = part.iter().rposition(|token| token.0 == "]").map_or(0, |n| n + 1);
            let name = part[..end].iter().rev().find(|token| is_name(token.0));
            let name = part.get(after).filter(|token| after > 0 && is_name(token.0)).or(name);
            if let Some((name, _)) = name {
                let location = if n == 0 { location } else { None };
                let kind = if is_varying { Interface::In } else { kind };
                self.interface.insert((*name).to_owned(), (names.of(name), kind, location));
                if is_varying {
                    // Out of the vertex shader, into the fragment shader.
                    self.interface.insert((*name).to_owned(), (names.of(name), Interface::Out, None));
                }
            }
        }
    }

    /// Members of an interface block.
    fn block(&mut self, head: &[Token<'_>], body: &[Token<'_>], after: &[Token<'_>], names: &mut NameTable) {
        let kind = head.iter().find_map(|token| match token.0 {
            "in" => Some(Interface::In),
            "out" => Some(Interface::Out),
            _ => None,
        });
        let instance = after.first().filter(|token| is_name(token.0)).map(|token| token.0);
        let block = head.last().map_or("", |token| token.0);
        for member in split(body, ";") {
            for part in split(member, ",") {
                let end = part.iter().position(|token| token.0 == "[").unwrap_or(part.len());
                let Some((name, _)) = part[..end].iter().rev().find(|token| is_name(token.0)) else { continue };
                // Members of a block with an instance have the block's name in containers.
                let number = match instance {
                    Some(_) => names.of(&format!("{block}.{name}")),
                    None => names.of(name),
                };
                let written = instance.map_or_else(|| (*name).to_owned(), |instance| format!("{instance}.{name}"));
                self.interface.insert(written, (number, kind.unwrap_or(Interface::Other), None));
            }
        }
    }

    /// The output that a value of these names is: the one whose value is made of the most similar names, among those that the fragment shader reads; `None` where
    /// several are as similar.
    pub(super) fn varying(&self, made: &NameSet, fragment: &Self) -> Option<usize> {
        let linked =
            |number: usize| fragment.interface.values().any(|known| known.0 == number && known.1 != Interface::Other);
        let outputs = self
            .interface
            .iter()
            .filter(|(name, known)| known.1 == Interface::Out && !name.starts_with("gl_") && linked(known.0));
        let mut scored: Vec<(f64, usize)> =
            outputs.filter_map(|(name, known)| Some((likeness(self.values.get(name)?, made), known.0))).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        match scored.as_slice() {
            [(best, name), rest @ ..] if *best > 0.0 && rest.first().is_none_or(|next| next.0 < *best) => Some(*name),
            _ => None,
        }
    }

    /// The outputs of a fragment shader by the number of their target.
    pub(super) fn colours(&self, names: &NameTable) -> BTreeMap<u8, usize> {
        let mut all = BTreeMap::new();
        for (name, n) in [("gl_FragColor", 0), ("gl_FragData", 0)] {
            if self.values.contains_key(name) {
                all.extend(names.find(name).map(|number| (n, number)));
            }
        }
        let own = self.interface.iter().filter(|(name, known)| known.1 == Interface::Out && !name.starts_with("gl_"));
        for (_, (number, _, location)) in own {
            all.insert(location.unwrap_or(0), *number);
        }
        all
    }
}

impl<'t> Round<'_, 't> {
    fn local(&self, name: &str) -> String {
        if self.shader.interface.contains_key(name) { name.to_owned() } else { format!("{}:{name}", self.function) }
    }

    /// NameSet that tokens mention, and names that their value is made of.
    fn value(&mut self, tokens: &[Token<'t>]) -> (Vec<(usize, usize)>, NameSet) {
        let (mut named, mut made) = (Vec::new(), NameSet::new());
        let mut at = 0;
        while at < tokens.len() {
            let (token, line) = tokens[at];
            let is_member = at > 0 && tokens[at - 1].0 == ".";
            if !is_name(token) || is_member {
                at += 1;
                continue;
            }
            if let Some(body) = self.defines.get(token).cloned() {
                let (inner, of) = self.value(&body);
                named.extend(inner.into_iter().map(|(number, _)| (number, line)));
                made.extend(of);
                at += 1;
                continue;
            }
            if let Some(parameters) = self.parameters.get(token).cloned()
                && tokens.get(at + 1).is_some_and(|next| next.0 == "(")
            {
                let end = closed(tokens, at + 1);
                for (argument, parameter) in
                    split(&tokens[at + 2..(end - 1).max(at + 2)], ",").into_iter().zip(parameters)
                {
                    let (arguments, of) = self.value(argument);
                    let is_plain = argument.iter().all(|token| is_name(token.0) || token.0 == ".");
                    let alias = arguments.into_iter().map(|(number, _)| number).filter(|_| is_plain);
                    self.shader.aliases.entry(format!("{token}:{parameter}")).or_default().extend(alias);
                    self.shader.values.entry(format!("{token}:{parameter}")).or_default().extend(of);
                }
                made.extend(self.shader.values.get(&format!("{token}:")).cloned().unwrap_or_default());
                // The arguments themselves are read below.
                at += 1;
                continue;
            }
            // A chain of members: the longest one that has a name.
            let (mut chain, mut end) = (token.to_owned(), at + 1);
            let mut found = self.shader.interface.get(&chain).map(|known| known.0);
            let mut longest = token.to_owned();
            loop {
                while tokens.get(end).is_some_and(|next| next.0 == "[") {
                    end = closed(tokens, end);
                }
                let member = tokens.get(end).filter(|next| next.0 == ".").and_then(|_| tokens.get(end + 1));
                let Some((member, _)) = member else { break };
                chain = format!("{chain}.{member}");
                let known = self.shader.interface.get(&chain).map(|known| known.0).or_else(|| self.names.find(&chain));
                if known.is_some() {
                    (found, longest) = (known, chain.clone());
                }
                end += 2;
            }
            if let Some(number) = found {
                named.push((number, line));
                made.insert(number);
            }
            let local = self.local(&longest);
            if found.is_none() {
                named.extend(self.shader.aliases.get(&local).into_iter().flatten().map(|&number| (number, line)));
            }
            made.extend(self.shader.values.get(&local).into_iter().flatten());
            made.extend(self.shader.values.get(&format!(":{longest}")).into_iter().flatten());
            at += 1;
        }
        (named, made)
    }

    /// Notes a statement's lines.
    fn note(&mut self, tokens: &[Token<'t>], named: &[(usize, usize)], made: &NameSet, writes: Option<usize>) {
        let mut last = 0;
        for &(_, line) in tokens {
            if line == last {
                continue;
            }
            last = line;
            let own: NameSet = named.iter().filter(|of| of.1 == line).map(|of| of.0).collect();
            let writes = writes.into_iter().collect();
            let literals = tokens.iter().filter(|of| of.1 == line).filter_map(|(token, _)| literal(token)).collect();
            self.shader.lines.push(CodeLine { line, named: own, made: made.clone(), writes, literals });
        }
    }

    fn statement(&mut self, tokens: &[Token<'t>]) {
        let Some(&(first, _)) = tokens.first() else { return };
        let mut depth = 0usize;
        let assignment = tokens.iter().position(|(token, _)| {
            match *token {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                token => return depth == 0 && ASSIGNMENTS.contains(&token),
            }
            false
        });
        let parts = split(tokens, ",");
        if assignment.is_some() && parts.len() > 1 {
            parts.into_iter().for_each(|part| self.statement(part));
            return;
        }
        let Some(at) = assignment else {
            let (named, made) = self.value(tokens);
            if first == "return" {
                self.shader.values.entry(format!("{}:", self.function)).or_default().extend(&made);
            }
            if !made.is_empty() {
                self.note(tokens, &named, &made, None);
            }
            return;
        };
        let (left, right) = (&tokens[..at], &tokens[at + 1..]);
        let (mut named, mut made) = self.value(right);
        // Of a declaration the last name, otherwise the first one: `vec3 a`, `a.xy`, `a[3]`.
        let is_declared = left.len() > 1 && is_name(left[0].0) && is_name(left[1].0);
        let plain = left.iter().position(|token| token.0 == "[").unwrap_or(left.len());
        let target = if is_declared {
            left[..plain].iter().rev().find(|token| is_name(token.0)).map_or("", |token| token.0)
        } else {
            left.iter().find(|token| is_name(token.0)).map_or("", |token| token.0)
        };
        let is_part = !is_declared && left.len() > 1;
        // NameSet in indices are read.
        let (indices, of) = self.value(left);
        let output = self.shader.interface.get(target).map(|known| known.0);
        named.extend(indices);
        for condition in &self.conditions {
            made.extend(condition);
        }
        if tokens[at].0 != "=" || is_part || !self.conditions.is_empty() {
            made.extend(of.into_iter().filter(|number| Some(*number) != output));
        }
        if let Some(output) = output {
            made.remove(&output);
        }
        self.shader.values.insert(self.local(target), made.clone());
        self.note(tokens, &named, &made, output);
    }

    fn block(&mut self, tokens: &[Token<'t>]) {
        let mut at = 0;
        while at < tokens.len() {
            at = self.one(tokens, at);
        }
    }

    /// The statement at a place, and the place after it.
    fn one(&mut self, tokens: &[Token<'t>], at: usize) -> usize {
        match tokens.get(at).map_or("", |token| token.0) {
            "{" => {
                let end = closed(tokens, at);
                self.block(&tokens[at + 1..(end - 1).max(at + 1)]);
                end
            }
            word @ ("if" | "while" | "for" | "switch") if tokens.get(at + 1).is_some_and(|next| next.0 == "(") => {
                let end = closed(tokens, at + 1);
                let inside = &tokens[at + 2..(end - 1).max(at + 2)];
                let mut condition = NameSet::new();
                let parts = split(inside, ";");
                for (n, part) in parts.iter().enumerate() {
                    // The middle part of `for` is its condition; the last one belongs to each iteration.
                    if n == usize::from(word == "for") {
                        let (named, made) = self.value(part);
                        self.note(part, &named, &made, None);
                        condition = made;
                    } else {
                        self.statement(part);
                    }
                }
                self.conditions.push(condition);
                let mut end = self.one(tokens, end);
                if tokens.get(end).is_some_and(|token| token.0 == "else") {
                    end = self.one(tokens, end + 1);
                }
                self.conditions.pop();
                end
            }
            "do" | "else" | ";" | "" => at + 1,
            _ => {
                let mut end = at;
                while end < tokens.len() && tokens[end].0 != ";" {
                    end = if matches!(tokens[end].0, "(" | "[" | "{") { closed(tokens, end) } else { end + 1 };
                }
                self.statement(&tokens[at..end]);
                end + 1
            }
        }
    }
}
