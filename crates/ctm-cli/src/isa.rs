//! `ctm isa`: the manual on the command line.

use crate::Ending;
use crate::args::IsaArgs;
use crate::console::{Console, Exit, Failure};
use ctm_isa::isa_help::Isa;

pub(crate) fn run(console: &Console, args: &IsaArgs) -> Ending {
    let (isas, words) = match args.topic.first().map(|t| t.to_ascii_lowercase()).as_deref() {
        Some("x1k") => (vec![Isa::x1k()], &args.topic[1..]),
        Some("r700") => (vec![Isa::r700()], &args.topic[1..]),
        _ => (vec![Isa::x1k(), Isa::r700()], &args.topic[..]),
    };
    if words.is_empty() {
        let lists: Vec<String> = isas.iter().map(Isa::list).collect();
        console.print(&lists.join("\n"))?;
        return Ok(Exit::Done);
    }
    let topic = words.join(" ");
    let mut found: Vec<String> = Vec::new();
    for isa in &isas {
        // Both may have it; the heading says whose it is.
        if let Some(text) = isa.describe(&topic) {
            found.push(if isas.len() > 1 { format!("{}:\n{text}", isa.name) } else { text });
        }
    }
    if found.is_empty() {
        let near: Vec<&str> = isas.iter().flat_map(|isa| isa.suggest(&topic)).collect();
        let hint = if near.is_empty() {
            "`ctm isa` lists what there is".to_owned()
        } else {
            format!("there is {}", near.join(", "))
        };
        return Err(Failure::wrong(format!("nothing is called `{topic}`; {hint}")));
    }
    console.print(&found.join("\n"))?;
    Ok(Exit::Done)
}
