//! The gallery: every example with its program, its pictures, and the cost of divergence.

use super::{root, told, write};
use ctm::array::{Array, ArrayFileKind};
use ctm::ctm_exec::GroupSize;
use ctm::job::{Job, Reader};
use std::fs;
use std::path::Path;

/// A page with all examples, and one for each.
pub(super) fn pages(src: &Path) -> Result<Vec<(usize, String)>, String> {
    let readme = fs::read_to_string(root().join("examples/README.md")).map_err(|e| e.to_string())?;
    write(&src.join("examples/README.md"), &readme)?;
    let mut out = vec![(0, "examples/README.md".to_owned())];
    for directory in ["examples", "examples/r700"] {
        let place = root().join(directory);
        let mut names: Vec<String> = Vec::new();
        for entry in fs::read_dir(&place).map_err(|e| told(&place, &e))? {
            let path = entry.map_err(|e| told(&place, &e))?.path();
            if path.join("job.toml").is_file() {
                names.extend(path.file_name().and_then(|n| n.to_str()).map(str::to_owned));
            }
        }
        names.sort();
        for name in names {
            out.push((1, page(src, &format!("{directory}/{name}"))?));
        }
    }
    Ok(out)
}

fn read(path: &Path) -> Result<Job, String> {
    Reader::for_file(path).and_then(Reader::finish).map_err(|e| e.to_string())
}

/// An example's page: job, programs, pictures, and for X1K programs how group sizes matter.
fn page(src: &Path, example: &str) -> Result<String, String> {
    let from = root().join(example);
    let job = read(&from.join("job.toml"))?;
    let report = job.without_files().run(|_| {}).map_err(|e| format!("{example}: {e}"))?;
    let name = example.trim_start_matches("examples/").replace("r700/", "R700: ");
    let mut text = format!("# {name}\n");
    if let Ok(readme) = fs::read_to_string(from.join("README.md")) {
        let body: String = readme.lines().skip_while(|line| line.starts_with("# ")).collect::<Vec<_>>().join("\n");
        text.push_str(&format!("{body}\n"));
    }
    for output in &report.outputs {
        let Some(array) = report.array(output.slot).filter(is_picture) else { continue };
        let file = format!("{}-{}.png", example.rsplit('/').next().unwrap_or_default(), output.number());
        let Ok(bytes) = array.to_bytes(ArrayFileKind::Png) else { continue };
        let place = src.join(example).join(&file);
        fs::create_dir_all(src.join(example)).map_err(|e| told(&place, &e))?;
        fs::write(&place, bytes).map_err(|e| told(&place, &e))?;
        text.push_str(&format!("\n![{} of {name}]({file})\n", output.name));
    }
    text.push_str(&groups(&job)?);
    let mut files: Vec<_> = super::files(&from)?;
    files.sort_by_key(|f| f.extension().is_some_and(|e| e == "toml"));
    for file in files {
        let is_text = file
            .extension()
            .and_then(|e| e.to_str())
            .is_some_and(|e| matches!(e, "x1k" | "psh" | "vsh" | "gsh" | "csh" | "toml"));
        if is_text {
            let code = fs::read_to_string(from.join(&file)).map_err(|e| told(&file, &e))?;
            text.push_str(&format!("\n## {}\n\n```text\n{}\n```\n", file.display(), code.trim_end()));
        }
    }
    text.push_str(&format!("\n    ctm run {example}/job.toml\n"));
    let page = format!("{example}/index.md");
    write(&src.join(&page), &text)?;
    Ok(page)
}

/// Whether it is a picture worth looking at: large enough, and with numbers within 0 to 1.
fn is_picture(array: &Array) -> bool {
    let values = array.to_f32();
    array.width >= 32 && array.height >= 32 && values.iter().all(|v| (-0.01..=1.01).contains(v))
}

/// The lesson of groups: how many lanes do work, by how many decide together.
fn groups(job: &Job) -> Result<String, String> {
    let mut rows = String::new();
    let mut first = None;
    for lanes in [4, 16, 64, 256] {
        let Some(group) = GroupSize::new(lanes) else { continue };
        let mut job = job.without_files();
        job.run.group = group;
        job.run.counters = true;
        // Some R700 programs need the wavefronts that they were written for.
        let Ok(report) = job.run(|_| {}) else { return Ok(String::new()) };
        let c = report.counters();
        if c.total_lanes == 0 {
            return Ok(String::new());
        }
        #[allow(clippy::cast_precision_loss, reason = "a share for people")]
        let share = 100.0 * c.active_lanes as f64 / c.total_lanes as f64;
        rows.push_str(&format!("| {lanes} | {} | {share:.1} % | {} |\n", c.instructions(), c.clocks()));
        let seen = *first.get_or_insert(share);
        if lanes == 256 && (seen - share).abs() < 0.05 {
            return Ok(String::new());
        }
    }
    Ok(format!(
        "\n## Groups\n\nThe same result, by how many processors decide a jump together (`--group`). Those that wait for the last of their group are not active.\n\n\
         | group | instructions | lanes active | clocks |\n|---|---|---|---|\n{rows}"
    ))
}
