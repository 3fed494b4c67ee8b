//! The text of a shader, line by line.

#[derive(Clone, Debug)]
pub struct Operand {
    pub file: String,
    pub index: usize,
    pub relative: bool,
    pub swizzle: [usize; 4],
    pub neg: bool,
    pub abs: bool,
    pub not: bool,
}

#[derive(Clone, Debug)]
pub struct Line {
    pub name: String,
    pub suffix: Vec<String>,
    pub guard: Option<Operand>,
    pub operands: Vec<Operand>,
    pub mask: [bool; 4],
    pub numbers: Vec<f64>,
}

fn operand(text: &str) -> Operand {
    let mut text = text.trim();
    let mut take = |c: char| {
        let found = text.starts_with(c);
        if found {
            text = text[1..].trim_start();
        }
        found
    };
    let (not, neg) = (take('!'), take('-'));
    let (register, swizzle) = text.split_once('.').unwrap_or((text, ""));
    let abs = register.ends_with("_abs");
    let register = register.trim_end_matches("_abs");
    let (name, inner) = match register.split_once('[') {
        Some((name, rest)) => (name, Some(rest.trim_end_matches(']').to_owned())),
        None => (register, None),
    };
    let digits: String = name.chars().skip_while(|c| !c.is_ascii_digit()).collect();
    let file = name[..name.len() - digits.len()].to_owned();
    let mut index: usize = digits.parse().unwrap_or(0);
    let mut relative = false;
    for term in inner.iter().flat_map(|i| i.split('+')) {
        match term.trim() {
            "aL" => relative = true,
            number => index += number.parse::<usize>().unwrap(),
        }
    }
    let list: Vec<usize> = swizzle.chars().map(|c| "xyzwrgba".find(c).unwrap() % 4).collect();
    let last = list.last().copied();
    let swizzle = std::array::from_fn(|i| list.get(i).copied().or(last).unwrap_or(i));
    Operand { file, index, relative, swizzle, neg, abs, not }
}

pub fn parse(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap().split(';').next().unwrap().trim();
        if line.is_empty() {
            continue;
        }
        let (mut rest, mut guard) = (line, None);
        if let Some(inner) = line.strip_prefix('(') {
            let (inside, behind) = inner.split_once(')').unwrap();
            (guard, rest) = (Some(operand(inside)), behind.trim());
        }
        let (word, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let mut parts = word.split('_').map(str::to_owned);
        let name = parts.next().unwrap();
        let suffix: Vec<String> = parts.collect();
        let list: Vec<&str> = arguments.split(',').map(str::trim).filter(|a| !a.is_empty()).collect();
        let is_number = |a: &str| a.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
        let numbers = list.iter().filter(|a| is_number(a)).map(|a| a.parse().unwrap()).collect();
        let operands: Vec<Operand> = list.iter().filter(|a| !is_number(a)).map(|a| operand(a)).collect();
        let mut mask = [true; 4];
        if let Some((_, letters)) = list.first().and_then(|a| a.split_once('.'))
            && !is_number(list[0])
        {
            mask = std::array::from_fn(|i| {
                letters.contains("xyzw".as_bytes()[i] as char) || letters.contains("rgba".as_bytes()[i] as char)
            });
        }
        lines.push(Line { name, suffix, guard, operands, mask, numbers });
    }
    lines
}
