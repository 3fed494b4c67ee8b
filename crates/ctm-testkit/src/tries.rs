//! Numbers of random cases, and all cores trying them.
#![allow(dead_code, reason = "every test file uses its part")]

use std::io::Write as _;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The number that an environment variable holds.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The part of random cases that an emulator tries.
const EMULATED: u64 = 16;

/// A number of cases; in an emulator a sixteenth of it.
pub fn part(count: u64) -> u64 {
    if crate::in_emulator() { count.div_ceil(EMULATED) } else { count }
}

/// Numbers of cases: the one that `CTM_SEED` names, or `count` times `CTM_RANDOM`, from `CTM_FIRST` on; in an emulator a sixteenth of them.
pub fn seeds(count: u64) -> Range<u64> {
    match number("CTM_SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            let first = number("CTM_FIRST").unwrap_or(0);
            let count = count * number("CTM_RANDOM").unwrap_or(1);
            first..first + part(count)
        }
    }
}

/// Says something at once, also in tests whose output is kept back.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Numbers of a long run, `CTM_PROGRAMS` or a million, from `CTM_SEED` on; says now and then how far it is.
pub fn many() -> impl Iterator<Item = u64> + Send {
    let (first, count) = (number("CTM_SEED").unwrap_or(0), number("CTM_PROGRAMS").unwrap_or(1_000_000));
    let begun = Instant::now();
    (0..count).map(move |n| {
        if n > 0 && n.is_multiple_of(10_000) {
            let rate = n as f64 / begun.elapsed().as_secs_f64();
            say(&format!("{n} of {count}, {rate:.0} a second, {:.0} s to go", (count - n) as f64 / rate));
        }
        first + n
    })
}

/// Differences so far: the case's number and a message.
#[derive(Default)]
pub struct Differences(Mutex<Vec<(u64, String)>>);

impl Differences {
    fn all(&self) -> MutexGuard<'_, Vec<(u64, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is none yet: only the first one is worth being made small.
    pub fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    /// One more.
    pub fn add(&self, seed: u64, text: String) {
        say(&format!("seed {seed}, {text}"));
        self.all().push((seed, text));
    }
}

/// Tries cases on all cores; fails when some differ, eight or `CTM_DIFFERENCES` of them. Each thread has a state of its own; gives these.
pub fn on_all_cores<S: Send>(
    seeds: impl Iterator<Item = u64> + Send,
    state: impl Fn() -> S + Sync,
    try_one: impl Fn(&S, u64, &Differences) + Sync,
) -> Vec<S> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let enough = number("CTM_DIFFERENCES").unwrap_or(8) as usize;
    let (seeds, found) = (Mutex::new(seeds), Differences::default());
    let next = || seeds.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let state = state();
        while found.all().len() < enough
            && let Some(seed) = next()
        {
            try_one(&state, seed, &found);
        }
        state
    };
    let states = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut states = vec![work()];
        // A thread that panicked has said why.
        states.extend(others.into_iter().map(|thread| thread.join().expect("a thread stopped")));
        states
    });
    let mut all = std::mem::take(&mut *found.all());
    all.sort();
    let texts: Vec<String> = all.into_iter().map(|(seed, text)| format!("seed {seed}, {text}")).collect();
    assert!(texts.is_empty(), "{}", texts.join("\n"));
    states
}

/// Runs these tests of this test program once for each of the engine's passes, in a process that leaves it out: `CTM_PASSES` is read once.
///
/// # Panics
/// When one of them fails, or is not there.
#[allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]
pub fn without_each(passes: impl Iterator<Item = &'static str>, tests: &[&str]) {
    for pass in passes {
        let mut command = crate::again();
        command.args(tests).arg("--exact").env("CTM_PASSES", format!("-{pass}"));
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        let all = text.contains(&format!(" {} passed", tests.len()));
        assert!(output.status.success() && all, "without {pass}:\n{text}");
    }
}
