//! Every stream of captures through text and back, and through the checks.
//!
//!     ctm radeon --capture captures -- piglit run ...
//!     cargo run --release -p ctm-radeon --example streams -- captures/*.capture
//!
//! With `--seeds DIR` in front, nothing is checked: each stream goes to a file of its own with the first pages of its buffers, which the fuzz target `streams`
//! begins with.
//!
//! Prints how many streams, words, draws and kinds of packets there were, and a line for each stream whose text does not assemble to the same words, has words
//! that are no packet, or about which a check says anything. Exit code 1 if there was such a line.

#![allow(clippy::print_stdout, reason = "a chore that prints what it found")]

use ctm_exec::Interp;
use ctm_radeon::capture::Submission;
use ctm_radeon::chip::Family;
use ctm_radeon::packets::Packets;
use ctm_radeon::replay::Replay;
use ctm_radeon::text::assemble_for;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::process::ExitCode;

#[derive(Default)]
struct Sums {
    captures: u64,
    streams: u64,
    words: u64,
    draws: u64,
    packets: BTreeMap<String, u64>,
    faults: u64,
}

fn stream(replay: &Replay<BufReader<File>>, submission: &Submission, sums: &mut Sums) -> Vec<String> {
    let words = &submission.words;
    sums.streams += 1;
    sums.words += words.len() as u64;
    for packet in Packets::of(replay.chip(), words).flatten() {
        sums.draws += u64::from(packet.draws());
        let name = packet.info().map_or_else(|| format!("{:?}", packet.kind), |info| info.name.to_owned());
        *sums.packets.entry(name).or_default() += 1;
    }
    let mut faults = Vec::new();
    let text = replay.text(submission);
    match assemble_for(replay.chip(), &text) {
        Ok(again) if again == *words => {}
        Ok(again) => {
            let at = again.iter().zip(words).position(|(a, b)| a != b).unwrap_or(words.len().min(again.len()));
            faults.push(format!("the text gives other words, from word {at} on"));
        }
        Err(errors) => faults.push(format!("the text does not assemble: {:?}", errors.first())),
    }
    if let Some(line) = text.lines().find(|line| line.contains(".word") || line.trim_start().starts_with("0x")) {
        faults.push(format!("no packet, or a register without a name: {line}"));
    }
    faults.extend(replay.findings(submission).iter().map(ToString::to_string));
    faults
}

/// A stream as the fuzz target reads it.
fn seed(replay: &Replay<BufReader<File>>, submission: &Submission) -> Vec<u8> {
    let count = u32::try_from(submission.words.len()).unwrap_or(0);
    let chip = if replay.chip().family == Family::R500 { 1 << 31 } else { 0 };
    let mut bytes = (count | chip).to_le_bytes().to_vec();
    bytes.extend(submission.words.iter().flat_map(|word| word.to_le_bytes()));
    for relocation in &submission.relocations {
        let buffer = replay.buffers().get(&relocation.buffer).map_or(&[][..], |buffer| &buffer.bytes);
        let mut page = buffer[..buffer.len().min(4096)].to_vec();
        page.resize(4096, 0);
        bytes.extend(page);
    }
    bytes
}

fn capture(path: &str, seeds: Option<&str>, sums: &mut Sums) -> Result<(), String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut replay = Replay::new(BufReader::new(file), Box::new(Interp)).map_err(|error| error.to_string())?;
    sums.captures += 1;
    while let Some(submission) = replay.read().map_err(|error| error.to_string())? {
        if let Some(folder) = seeds {
            let name = format!("{folder}/{}-{}", sums.captures, submission.number);
            std::fs::write(name, seed(&replay, &submission)).map_err(|error| error.to_string())?;
            continue;
        }
        for fault in stream(&replay, &submission, sums) {
            println!("{path}: submission {}: {fault}", submission.number);
            sums.faults += 1;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut sums = Sums::default();
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let seeds = (args.first().is_some_and(|first| first == "--seeds") && args.len() > 1).then(|| args.remove(1));
    if let Some(folder) = &seeds {
        args.remove(0);
        if let Err(error) = std::fs::create_dir_all(folder) {
            println!("{folder}: {error}");
            return ExitCode::FAILURE;
        }
    }
    for path in args {
        if let Err(error) = capture(&path, seeds.as_deref(), &mut sums) {
            println!("{path}: {error}");
            sums.faults += 1;
        }
    }
    let Sums { captures, streams, words, draws, packets, faults } = &sums;
    println!("{captures} captures, {streams} streams, {words} words, {draws} draws, {faults} faults");
    for (name, count) in packets {
        println!("    {count:9} {name}");
    }
    if *faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
