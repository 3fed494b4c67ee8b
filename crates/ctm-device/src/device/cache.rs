//! The MC's caches, as checked mode models them (CTM §2.1.4).
//!
//! Memory itself is always coherent; the model only tracks the possible contents of real caches, and reports where the Guide demands a command
//! that did not come. It counts in blocks of 2048 bytes, the alignment of base addresses, so that no two arrays share one.
//!
//! - A read cache may hold a block since it was first read after the last invalidation. Reading it again after it was changed by
//!   another way than through this cache is a missing invalidation.
//! - A write cache may hold a block from the end of the launch that wrote it until the next flush. Reading it by another way is a missing flush.
//! - A block that was written by a launch may be read by a later one only after a `wait_for_idle`, or in another buffer.
//!
//! Writes of a launch count from its end: reads of its own writes are the program's own affair.

use super::report::CommandFinding;
use crate::commands::CommandKind;
use crate::memory::{DeviceMemory, GpuAddr};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher};

/// The read caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cache {
    Instruction,
    Float,
    Int,
    Bool,
    Input,
    Conditional,
}

impl Cache {
    const COUNT: usize = 6;

    const fn name(self) -> &'static str {
        match self {
            Self::Instruction => "instruction cache",
            Self::Float => "floating-point constant cache",
            Self::Int => "integer constant cache",
            Self::Bool => "boolean constant cache",
            Self::Input => "input cache",
            Self::Conditional => "conditional output cache",
        }
    }

    const fn invalidation(self) -> CommandKind {
        match self {
            Self::Instruction => CommandKind::InvInstCache,
            Self::Float => CommandKind::InvConstfCache,
            Self::Int => CommandKind::InvConstiCache,
            Self::Bool => CommandKind::InvConstbCache,
            Self::Input => CommandKind::InvInpCache,
            Self::Conditional => CommandKind::InvCondOutCache,
        }
    }
}

/// By which way memory was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Way {
    /// The host processor.
    Host,
    /// The PE: performance counters.
    Pe,
    /// The output cache.
    Output,
    /// The conditional output cache.
    Conditional,
    /// Uncached writes of a program.
    Uncached,
}

/// A 2048-byte block.
type CacheBlock = u32;

/// When and how a block was last changed.
#[derive(Clone, Copy, Debug)]
struct Change {
    time: u64,
    /// The launch that did it; 0: none did.
    launch: u64,
    way: Way,
}

/// The model.
#[derive(Debug, Default)]
pub(super) struct CacheModel {
    /// Counts everything that happens.
    now: u64,
    /// The number of the last launch that was started.
    launch: u64,
    /// Launches up to this one are known to be over.
    idle_through: u64,
    /// Blocks written by the launch that is running, and how.
    pending: HashSet<(CacheBlock, Way)>,
    changed: HashMap<CacheBlock, Change>,
    held: [HashMap<CacheBlock, u64>; Cache::COUNT],
    /// Contents of the cached blocks at the end of the last submission.
    contents: HashMap<CacheBlock, u64>,
    dirty_output: HashSet<CacheBlock>,
    dirty_conditional: HashSet<CacheBlock>,
    /// Findings already reported at this command.
    reported: HashSet<(&'static str, String)>,
    at: Option<(u32, CommandKind)>,
    findings: Vec<CommandFinding>,
}

fn blocks(address: GpuAddr, bytes: u64) -> std::ops::RangeInclusive<CacheBlock> {
    let end = u64::from(address.0).saturating_add(bytes.max(1) - 1);
    address.0 >> 11..=u32::try_from(end).unwrap_or(u32::MAX) >> 11
}

/// A hash of the block's contents; bytes outside arenas count as zero.
fn hash(memory: &DeviceMemory, block: CacheBlock) -> u64 {
    let mut bytes = [0; 1 << 11];
    memory.copy(GpuAddr(block << 11), &mut bytes);
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes);
    hasher.finish()
}

impl CacheModel {
    /// From here on findings are about this command; `None`: about the host.
    pub(super) fn at(&mut self, at: Option<(u32, CommandKind)>) {
        self.at = at;
        self.reported.clear();
    }

    /// The found value since the last call.
    pub(super) fn take_findings(&mut self) -> Vec<CommandFinding> {
        std::mem::take(&mut self.findings)
    }

    fn report(&mut self, rule: &'static str, what: &str, missing: CommandKind, message: impl FnOnce() -> String) {
        if self.reported.insert((rule, what.to_owned())) {
            let (offset_dwords, command) = self.at.unzip();
            let missing = Some(missing);
            self.findings.push(CommandFinding { rule, offset_dwords, command, missing, message: message() });
        }
    }

    /// Whether a program may still be running.
    pub(super) const fn may_be_running(&self) -> bool {
        self.launch > self.idle_through
    }

    /// `wait_for_idle`, or the end of a buffer.
    pub(super) const fn wait_for_idle(&mut self) {
        self.idle_through = self.launch;
    }

    /// A program begins to run.
    pub(super) fn start_launch(&mut self) {
        self.now += 1;
        self.launch += 1;
        self.pending.clear();
    }

    /// The program has ended: its writes count from now on.
    pub(super) fn end_launch(&mut self) {
        self.now += 1;
        let (time, launch) = (self.now, self.launch);
        for (block, way) in std::mem::take(&mut self.pending) {
            self.changed.insert(block, Change { time, launch, way });
            match way {
                Way::Output => {
                    self.dirty_output.insert(block);
                }
                Way::Conditional => {
                    self.dirty_conditional.insert(block);
                }
                Way::Host | Way::Pe | Way::Uncached => {}
            }
        }
    }

    /// The running program writes.
    pub(super) fn launch_writes(&mut self, way: Way, address: GpuAddr, bytes: u64) {
        for block in blocks(address, bytes) {
            self.pending.insert((block, way));
        }
    }

    /// The host or the PE writes.
    pub(super) fn writes(&mut self, way: Way, address: GpuAddr, bytes: u64) {
        self.now += 1;
        for block in blocks(address, bytes) {
            self.changed.insert(block, Change { time: self.now, launch: 0, way });
        }
    }

    /// Finds cached blocks that the host has changed through its own pointers since the last submission.
    pub(super) fn notice_changes(&mut self, memory: &DeviceMemory) {
        let contents = std::mem::take(&mut self.contents);
        for (block, before) in contents {
            if hash(memory, block) != before {
                self.writes(Way::Host, GpuAddr(block << 11), 1);
            }
        }
    }

    /// Records the contents of blocks that a cache may hold.
    pub(super) fn remember_contents(&mut self, memory: &DeviceMemory) {
        let blocks: HashSet<CacheBlock> = self.held.iter().flat_map(|held| held.keys().copied()).collect();
        self.contents = blocks.into_iter().map(|block| (block, hash(memory, block))).collect();
    }

    /// A client reads through `cache`, or past all caches. `what` names the data, such as `input 3`.
    pub(super) fn reads(&mut self, cache: Option<Cache>, address: GpuAddr, bytes: u64, what: impl Fn() -> String) {
        for block in blocks(address, bytes) {
            self.reads_block(cache, block, &what);
        }
    }

    fn reads_block(&mut self, cache: Option<Cache>, block: CacheBlock, what: impl Fn() -> String) {
        let held = cache.and_then(|c| self.held[c as usize].get(&block).copied());
        if held == Some(self.now) {
            return;
        }
        let at = GpuAddr(block << 11);
        if self.dirty_output.contains(&block) {
            let what = what();
            self.report("missing-flush", &what, CommandKind::FlushOutCache, || {
                format!("{what} at {at} is read while the output cache may hold what was written there")
            });
        }
        if self.dirty_conditional.contains(&block) && cache != Some(Cache::Conditional) {
            let what = what();
            self.report("missing-flush", &what, CommandKind::FlushCondOutCache, || {
                format!("{what} at {at} is read while the conditional output cache may hold what was written there")
            });
        }
        if let Some(change) = self.changed.get(&block).copied() {
            if change.launch > self.idle_through && change.launch < self.launch {
                let what = what();
                self.report("missing-wait-for-idle", &what, CommandKind::WaitForIdle, || {
                    format!("{what} at {at} is read while the program that writes it may still be running")
                });
            }
            if let (Some(cache), Some(held)) = (cache, held)
                && change.time > held
                && !(cache == Cache::Conditional && change.way == Way::Conditional)
            {
                let what = what();
                self.report("missing-invalidate", &what, cache.invalidation(), || {
                    let name = cache.name();
                    format!("{what} at {at} is read through the {name}, which may hold it from before it was changed")
                });
            }
        }
        if let Some(cache) = cache {
            // Cached data does not become newer by a second read.
            self.held[cache as usize].entry(block).or_insert(self.now);
        }
    }

    /// `inv_*_cache`.
    pub(super) fn invalidate(&mut self, cache: Cache) {
        self.now += 1;
        self.held[cache as usize].clear();
        if cache == Cache::Conditional && !self.dirty_conditional.is_empty() {
            self.dirty_conditional.clear();
            self.report("lost-writes", cache.name(), CommandKind::FlushCondOutCache, || {
                "the conditional output cache is invalidated while it may hold writes, which are lost".to_owned()
            });
        }
    }

    /// `flush_out_cache`.
    pub(super) fn flush_output(&mut self) {
        self.now += 1;
        self.dirty_output.clear();
    }

    /// `flush_cond_out_cache`.
    pub(super) fn flush_conditional(&mut self) {
        self.now += 1;
        self.dirty_conditional.clear();
    }

    /// The buffer has ended: the host may read system memory now.
    pub(super) fn end_of_buffer(&mut self, is_system: impl Fn(GpuAddr) -> bool) {
        self.wait_for_idle();
        let lost = |dirty: &mut HashSet<CacheBlock>| {
            let first = dirty.iter().copied().filter(|&b| is_system(GpuAddr(b << 11))).min();
            dirty.retain(|&b| !is_system(GpuAddr(b << 11)));
            first
        };
        let (output, conditional) = (lost(&mut self.dirty_output), lost(&mut self.dirty_conditional));
        let caches = [
            (output, "output cache", CommandKind::FlushOutCache),
            (conditional, "conditional output cache", CommandKind::FlushCondOutCache),
        ];
        for (block, name, missing) in caches {
            if let Some(block) = block {
                let at = GpuAddr(block << 11);
                self.report("missing-flush", name, missing, || {
                    format!("the buffer ends while the {name} may hold what was written to system memory at {at}")
                });
            }
        }
    }
}
