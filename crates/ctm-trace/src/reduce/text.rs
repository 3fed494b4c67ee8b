//! Makes a program smaller while a test still holds.

use ctm_exec::Control;

/// A program text that still passes, with nothing left that can be taken away line by line or half by half; when `control` is cancelled, the smallest so far.
///
/// First runs of lines go, long ones before short ones, then halves of co-issued pairs, modifiers and comments; operands become zero. `holds` is asked for every text that
/// is tried; it has to be true for `text` itself, or `text` comes back. Its answer for the text during which it was cancelled is ignored.
pub fn reduce(text: &str, control: &Control, holds: &mut dyn FnMut(&str) -> bool) -> String {
    let holds = &mut |text: &str| !control.is_cancelled() && holds(text) && !control.is_cancelled();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let joined = |lines: &[String]| lines.iter().fold(String::new(), |all, line| all + line + "\n");
    if !holds(&joined(&lines)) {
        return text.to_owned();
    }
    loop {
        let before = joined(&lines);
        let mut size = lines.len().div_ceil(2).max(1);
        loop {
            let mut at = 0;
            while at < lines.len() && !control.is_cancelled() {
                let end = (at + size).min(lines.len());
                let rest: Vec<String> = lines[..at].iter().chain(&lines[end..]).cloned().collect();
                if holds(&joined(&rest)) {
                    lines = rest;
                } else {
                    at = end;
                }
            }
            if size == 1 {
                break;
            }
            size = size.div_ceil(2);
        }
        pairs(&mut lines, control, holds, &joined);
        for n in 0..lines.len() {
            let mut tried = 0;
            while let Some(simpler) = simpler(&lines[n]).into_iter().nth(tried).filter(|_| !control.is_cancelled()) {
                let old = std::mem::replace(&mut lines[n], simpler);
                if holds(&joined(&lines)) {
                    tried = 0;
                } else {
                    lines[n] = old;
                    tried += 1;
                }
            }
        }
        let now = joined(&lines);
        if now == before || control.is_cancelled() {
            return now;
        }
    }
}

/// Two lines at a time: the beginning and the end of a block go together or not at all.
fn pairs(
    lines: &mut Vec<String>,
    control: &Control,
    holds: &mut dyn FnMut(&str) -> bool,
    joined: &dyn Fn(&[String]) -> String,
) {
    const OPENS: [&str; 6] = ["if", "loop", "rep", "LOOP_START", "PUSH", "call"];
    let mut at = 0;
    while at < lines.len() {
        let word = |line: &str| {
            line.split_whitespace().find(|w| !w.chars().all(|c| c.is_ascii_digit())).unwrap_or("").to_owned()
        };
        let opens = OPENS.iter().any(|open| word(&lines[at]).starts_with(open));
        let mut gone = false;
        if opens {
            for other in (at + 1..lines.len()).take_while(|_| !control.is_cancelled()) {
                let mut rest = lines.clone();
                rest.remove(other);
                rest.remove(at);
                if holds(&joined(&rest)) {
                    *lines = rest;
                    gone = true;
                    break;
                }
            }
        }
        at += usize::from(!gone);
    }
}

/// Shorter forms of a line.
fn simpler(line: &str) -> Vec<String> {
    let mut forms = Vec::new();
    if let Some((code, _)) = line.split_once(';') {
        forms.push(code.trim_end().to_owned());
    }
    if let Some((rgb, alpha)) = line.split_once('|') {
        forms.push(rgb.trim_end().to_owned());
        forms.push(alpha.trim().to_owned());
    }
    for modifier in [" *2", " *4", " *8", " /2", " /4", " /8", " sat", " CLAMP"] {
        if line.contains(modifier) {
            forms.push(line.replace(modifier, ""));
        }
    }
    if line.contains(", -") {
        forms.push(line.replace(", -", ", "));
    }
    // An operand becomes zero, as either language writes it.
    let code = line.split(';').next().unwrap_or("");
    for (comma, _) in code.match_indices(", ") {
        let from = code.len() - code[comma + 2..].trim_start().len();
        let to = code[from..].find([',', '|', ' ']).map_or(code.len(), |at| from + at);
        for zero in ["0", "0.0f"] {
            if !code[from..to].starts_with('0') {
                forms.push(format!("{}{zero}{}", &line[..from], &line[to..]));
            }
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_matters_is_left() {
        let text = (0..300).map(|n| format!("line {n}\n")).collect::<String>();
        let mut tries = 0;
        let small = reduce(&text, &Control::none(), &mut |text| {
            tries += 1;
            text.contains("line 17\n") && text.contains("line 250\n")
        });
        assert_eq!(small, "line 17\nline 250\n");
        assert!(tries < 400, "{tries}");
    }

    #[test]
    fn what_does_not_hold_at_first_comes_back() {
        assert_eq!(reduce("a\nb\n", &Control::none(), &mut |_| false), "a\nb\n");
    }

    #[test]
    fn the_smallest_so_far_is_left_when_it_is_cancelled() {
        let text = (0..300).map(|n| format!("line {n}\n")).collect::<String>();
        let is_kept = |text: &str| text.contains("line 17\n") && text.contains("line 250\n");
        let mut whole = 0;
        reduce(&text, &Control::none(), &mut |text| {
            whole += 1;
            is_kept(text)
        });
        for asked in 1..=whole {
            let (control, mut tries, mut best) = (Control::new(), 0, text.clone());
            let small = reduce(&text, &control, &mut |text| {
                tries += 1;
                if tries == asked {
                    control.cancel();
                } else if is_kept(text) {
                    best = text.to_owned();
                }
                is_kept(text)
            });
            assert_eq!((small, tries), (best, asked), "what is said of a try during which it ends does not count");
        }
    }
}
