//! Chores that run the project's own libraries. `cargo xtask` starts them, so that its other chores need none of these libraries built.

use std::path::Path;
use std::process::ExitCode;
use xtask::{root, say};

mod book;
mod example_data;
mod grammars;
mod seeds;
mod site;
mod skin;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["book", ctm] => book::book(Path::new(ctm)),
        ["example-data"] => example_data::write(&root().join("examples")).map_err(|e| e.to_string()),
        ["site", ctm, to] => site::site(Path::new(ctm), Path::new(to)),
        ["site-checks", to] => site::checks(Path::new(to)),
        ["grammars"] => grammars::write(&root()),
        ["seeds"] => seeds::check(),
        _ => Err("usage: cargo run --package chores -- book CTM | example-data | grammars | seeds | site CTM DIR | site-checks DIR".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            say(&message);
            ExitCode::FAILURE
        }
    }
}
