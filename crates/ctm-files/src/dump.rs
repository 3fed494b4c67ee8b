//! One program of a log of Mesa's drivers.

use crate::error::JobError;
use crate::render::Report;
use ctm_image::dump::{Cut, Dump, Family, read};
use ctm_isa::diag::Diagnostic;

/// How to paste a program.
const WHOLE: &str = "paste a program whole, from the line with `bytecode`, `===== SHADER` or `R500 Fragment Program` to the line behind its last word";

fn wrong(rule: &'static str, message: String) -> JobError {
    JobError::Wrong(vec![Report::bare(Diagnostic::error(rule, message))])
}

/// The programs of a log for messages: `0 (shader 1, line 2), 1 (SHADER #12 OPT, line 40)`.
fn list(dumps: &[Dump]) -> String {
    /// More would hide the message.
    const MOST: usize = 24;
    let mut list: Vec<String> =
        dumps.iter().take(MOST).enumerate().map(|(i, d)| format!("{i} ({})", d.title())).collect();
    if dumps.len() > MOST {
        list.push(format!("and {} more, as `ctm info` lists them", dumps.len() - MOST));
    }
    list.join(", ")
}

/// The program of a log that `which` names by number or name; one alone needs no name. `any_chip` takes programs of every chip of the family.
///
/// # Errors
/// There is no such program, there are several, or it belongs to another chip or lacks parts.
pub(crate) fn choose(
    text: &str,
    name: &str,
    which: Option<&str>,
    any_chip: bool,
) -> Result<(Dump, Vec<Report>), JobError> {
    let mut dumps = read(text);
    let found = match which {
        Some(which) => dumps.iter().enumerate().position(|(i, dump)| dump.name == which || i.to_string() == which),
        None if dumps.len() == 1 => Some(0),
        None => None,
    };
    match (found, which) {
        (Some(index), _) => checked(dumps.swap_remove(index), name, any_chip),
        (None, _) if dumps.is_empty() => Err(wrong("no-program", format!("{name} holds no program"))),
        (None, Some(which)) => {
            Err(wrong("no-program", format!("{name} has no program `{which}`; it holds {}", list(&dumps))))
        }
        (None, None) => {
            let message = format!("{name} holds {} programs, {}; choose one with --program", dumps.len(), list(&dumps));
            Err(wrong("which-program", message))
        }
    }
}

/// Every usable program of a log, with its number and name. An error of one alone is reported with it.
pub(crate) fn every(text: &str) -> Vec<String> {
    read(text).iter().enumerate().map(|(i, dump)| format!("{i} ({})", dump.title())).collect()
}

fn checked(dump: Dump, name: &str, any_chip: bool) -> Result<(Dump, Vec<Report>), JobError> {
    let title = dump.title();
    match dump.family {
        None | Some(Family::R500 | Family::R700) => {}
        _ if any_chip => {}
        Some(family @ Family::R600) => {
            let message = format!(
                "{name}: {title}: the log names the chip {}, whose ALU words are laid out differently from the R700's",
                family.name()
            );
            let help = "--isa r700 reads it as R700 words all the same";
            return Err(JobError::Wrong(vec![Report::bare(Diagnostic::error("r600-words", message).help(help))]));
        }
        Some(family @ (Family::Evergreen | Family::Cayman)) => {
            let message =
                format!("{name}: {title}: the log names the chip {}, and only programs of the R700 run", family.name());
            let help = "--isa r700 reads it as R700 words all the same";
            return Err(JobError::Wrong(vec![Report::bare(Diagnostic::error("wrong-chip", message).help(help))]));
        }
    }
    let unit = if dump.family == Some(Family::R500) { "instruction" } else { "word" };
    let reports = match &dump.cut {
        None => Vec::new(),
        Some(Cut::End) => {
            let count = if unit == "word" { dump.words.len() } else { dump.words.len() / 6 };
            let message = format!(
                "{name}: {title}: the dump ends before the program does, behind {unit} {}",
                count.saturating_sub(1)
            );
            vec![Report::bare(Diagnostic::warning("cut-dump", message).help(WHOLE))]
        }
        Some(Cut::Missing(ranges)) => {
            let range = |r: &std::ops::Range<u32>| match r.end - r.start {
                1 => format!("{unit} {}", r.start),
                _ => format!("{unit}s {} to {}", r.start, r.end - 1),
            };
            let shown: Vec<String> = ranges.iter().take(8).map(range).collect();
            let more = if ranges.len() > 8 { " and more" } else { "" };
            let message =
                format!("{name}: {title}: the dump lacks {}{more}, which the program needs", shown.join(", "));
            return Err(JobError::Wrong(vec![Report::bare(Diagnostic::error("cut-dump", message).help(WHOLE))]));
        }
    };
    Ok((dump, reports))
}
