//! `ctm check`.

use crate::args::programs::CheckArgs;
use crate::console::{Console, Ending, Exit, Failure, exit_of, program_bytes, tally};
use crate::values::ProgramIsa;
use ctm::job::{Loaded, Reader};
use ctm::r700::{every_program, is_r700};
use ctm::render::Report;
use ctm_image::swap_words;
use ctm_isa::diag::Severity;
use ctm_isa::pvs::check as pvs;
use ctm_isa::r700::check as r700;
use ctm_isa::r700::text::TextOptions;
use ctm_isa::x1k::check::{Theme, check_allowing, rule, rules};
use std::path::Path;

pub(crate) fn run(console: &Console, args: &CheckArgs) -> Ending {
    if args.rules {
        return match args.isa {
            Some(ProgramIsa::R700) => list(console, r700::Theme::ALL, r700::Theme::title, r700::rules()),
            Some(ProgramIsa::Pvs) => list(console, pvs::Theme::ALL, pvs::Theme::title, pvs::rules()),
            Some(ProgramIsa::X1k) | None => list(console, Theme::ALL, Theme::title, rules()),
        };
    }
    for name in &args.allow {
        if rule(name).is_none() && r700::rule(name).is_none() && pvs::rule(name).is_none() && name != "unmet-semantic" {
            return Err(Failure::usage(
                "unknown-name",
                format!("no rule is named `{name}`; `ctm check --rules` lists them"),
            ));
        }
    }
    let (mut errors, mut warnings) = (0, 0);
    let mut exit = Exit::Done;
    for file in &args.files {
        let reports = match findings(args, file) {
            Ok(reports) => reports,
            Err(e) => {
                exit = exit_of(&e);
                e.reports().to_vec()
            }
        };
        for report in &reports {
            match report.diagnostic.severity {
                Severity::Error => errors += 1,
                Severity::Warning => warnings += 1,
                Severity::Note => {}
            }
            if args.json { console.json_of(report, file)? } else { console.report(&named(report, file)) }
        }
    }
    if !args.json && errors + warnings > 0 {
        console.note(&tally(errors, warnings));
    }
    Ok(if exit != Exit::Done {
        exit
    } else if errors > 0 || args.strict && warnings > 0 {
        Exit::Wrong
    } else {
        Exit::Done
    })
}

fn findings(args: &CheckArgs, file: &Path) -> Result<Vec<Report>, ctm::job::JobError> {
    let isa = args.isa.and_then(ProgramIsa::launched);
    if is_job(file) {
        return Reader::for_file(file)?.finish()?.check();
    }
    let (bytes, file) = program_bytes(file)?;
    let bytes = if args.big_endian { swap_words(&bytes) } else { bytes };
    let allowed: Vec<&str> = args.allow.iter().map(String::as_str).collect();
    if crate::pvs::is_wanted(args.isa, file) {
        return crate::pvs::findings(&bytes, file, &allowed);
    }
    if is_r700(&bytes, file, isa) {
        let options = TextOptions::default();
        let programs = match &args.program {
            Some(which) => vec![(None, ctm::r700::Loaded::from_bytes(&bytes, file, isa, Some(which), &options)?)],
            None => every_program(&bytes, file, isa, &options)?,
        };
        let mut reports = Vec::new();
        for (which, loaded) in programs {
            let found = r700::check_allowing(&loaded.program, &allowed);
            // Assembler warnings with a rule's name are repeated by the rule for each place; a text without an end is a program that runs off.
            let runs_off = found.iter().any(|finding| finding.rule == "runs-off");
            let said_by_rule = |report: &Report| match report.diagnostic.rule {
                "no-end" => runs_off,
                name => r700::rule(name).is_some(),
            };
            reports.extend(loaded.reports.into_iter().filter(|report| report.is_error() || !said_by_rule(report)));
            for mut diagnostic in found {
                if let Some(which) = &which {
                    diagnostic.message = format!("program {which}: {}", diagnostic.message);
                }
                reports.push(Report { diagnostic, source: loaded.source.clone() });
            }
        }
        let unmet = if args.program.is_none() { ctm::r700::unmet_semantics(&bytes) } else { Vec::new() };
        reports.extend(unmet.into_iter().filter(|report| !allowed.contains(&report.diagnostic.rule)));
        return Ok(reports);
    }
    let loaded = Loaded::choose(&bytes, file, isa, args.program.as_deref(), None)?;
    let found = check_allowing(&loaded.program, &allowed);
    let mut reports = loaded.reports;
    reports.extend(found.into_iter().map(|diagnostic| Report { diagnostic, source: loaded.source.clone() }));
    Ok(reports)
}

/// Whether a file is a job by its name.
pub(crate) fn is_job(file: &Path) -> bool {
    file.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"))
}

/// Programs that came as words have no lines to show: the file's name goes in front.
fn named(report: &Report, file: &Path) -> Report {
    let mut report = report.clone();
    if report.source.is_none() && !report.diagnostic.message.starts_with(&file.display().to_string()) {
        report.diagnostic.message = format!("{}: {}", file.display(), report.diagnostic.message);
    }
    report
}

/// The rules of an instruction set, theme by theme.
fn list<T: Copy + PartialEq + 'static>(
    console: &Console,
    themes: &[T],
    title: impl Fn(T) -> &'static str,
    rules: impl Iterator<Item = &'static ctm_isa::ProgramRule<T>> + Clone,
) -> Ending {
    let mut out = String::new();
    for &theme in themes {
        out.push_str(&format!("{}\n", title(theme)));
        for rule in rules.clone().filter(|r| r.theme == theme) {
            out.push_str(&format!("  {:<32} {:<8} {} ({})\n", rule.name, rule.severity.name(), rule.doc, rule.cite));
        }
    }
    console.print(&out)?;
    Ok(Exit::Done)
}
