//! Fast clears that memory keeps from stream to stream, and draws that wait for others, leave the same as stores of each draw by itself.

use ctm_jit::Jit;
use ctm_radeon::execute::{Device, FastClear, GpuMemory};
use ctm_radeon::replay::Replay;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Buffers by address, and fast clears of targets in them.
#[derive(Default)]
struct Memory {
    buffers: BTreeMap<u64, Vec<u8>>,
    clears: Vec<(u64, FastClear)>,
    kept: usize,
}

impl Memory {
    fn find(&self, address: u64) -> Option<u64> {
        self.buffers.range(..=address).next_back().map(|(start, _)| *start)
    }

    /// Stores the fast clears of a buffer.
    fn store(&mut self, start: u64) {
        for (address, mut clear) in std::mem::take(&mut self.clears) {
            if self.find(address) == Some(start) {
                let bytes = self.buffers.get_mut(&start).unwrap();
                clear.store(&mut bytes[(address - start) as usize..]);
            } else {
                self.clears.push((address, clear));
            }
        }
    }
}

impl GpuMemory for Memory {
    fn bytes(&self, address: u64, length: u64) -> Option<&[u8]> {
        let start = self.find(address)?;
        self.buffers[&start].get((address - start) as usize..(address - start + length) as usize)
    }

    fn bytes_mut(&mut self, address: u64, length: u64) -> Option<&mut [u8]> {
        let start = self.find(address)?;
        let bytes = self.buffers.get_mut(&start)?;
        bytes.get_mut((address - start) as usize..(address - start + length) as usize)
    }

    fn take_clears(&mut self) -> Vec<(u64, FastClear)> {
        std::mem::take(&mut self.clears)
    }

    fn keep_clear(&mut self, address: u64, clear: &FastClear) -> bool {
        self.clears.push((address, FastClear::from_words(&clear.words().collect::<Vec<_>>()).unwrap()));
        self.kept += 1;
        true
    }

    fn buffers_mut(&mut self) -> Option<Vec<(u64, &mut [u8])>> {
        Some(self.buffers.iter_mut().map(|(start, bytes)| (*start, bytes.as_mut_slice())).collect())
    }
}

/// Truth: the same capture in memory that keeps nothing, and whose targets are copied for each draw.
#[test]
fn kept_fast_clears_leave_the_bytes_of_stores() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let (mut kept, mut compared, mut queued) = (0, 0, 0);
    // Draws wait only where there are several.
    let threads = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let scenes = std::fs::read_dir(folder.join("scenes")).unwrap().map(|entry| entry.unwrap().path());
    for path in scenes.chain([folder.join("joined/sprites.capture")]) {
        if path.extension().is_none_or(|extension| extension != "capture") {
            continue;
        }
        let mut replay = Replay::new(std::fs::File::open(&path).unwrap(), Box::<Jit>::default()).unwrap();
        let (mut memory, mut device) = (Memory::default(), Device::new(Box::<Jit>::default()));
        let mut last: HashMap<u32, Vec<u8>> = HashMap::new();
        let mut number = 0;
        while let Some(submission) = replay.read().unwrap() {
            device.set_chip(replay.chip());
            let relocations = replay.relocations(&submission);
            for of in &relocations {
                let bytes = &replay.buffers()[&of.handle].bytes;
                if last.get(&of.handle) != Some(bytes) {
                    // The process wrote the buffer, or it is a new one.
                    memory.store(of.base);
                    memory.buffers.insert(of.base, bytes.clone());
                }
            }
            threads.install(|| device.submit(&submission.words, &relocations, &mut memory));
            replay.run_at_once(submission);
            number += 1;
            for of in &relocations {
                let bytes = &replay.buffers()[&of.handle].bytes;
                last.insert(of.handle, bytes.clone());
                if number % 3 == 0 {
                    memory.store(of.base);
                }
                if !memory.clears.iter().any(|(address, _)| memory.find(*address) == Some(of.base)) {
                    assert!(memory.buffers[&of.base] == *bytes, "{}: submission {number}", path.display());
                    compared += 1;
                }
            }
        }
        kept += memory.kept;
        queued += device.queued_draws();
    }
    assert!(kept > 5 && compared > 100, "{kept} fast clears were kept, {compared} buffers compared");
    assert!(queued > 20, "{queued} draws were queued");
}
