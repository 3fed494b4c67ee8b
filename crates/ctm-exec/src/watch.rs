//! How launches end before their programs do: their time is over, a caller cancels them, or an earlier part of them has faulted.
//!
//! A launch is run in *parts* (groups, or tasks of several groups), numbered in domain order, on several threads and partly by machine code that
//! cannot read clocks. So each part has a flag of its own, which its runner tests now and then: [`Part::is_stopped`]. One thread of the process,
//! the *ticker*, sets the flags of launches whose time is over or that were cancelled; a part that faults sets the flags of those that come
//! after it. Parts that come before the first fault run on: only when they have ended it is certain which fault is the first.

use crate::clock::Instant;
use crate::fault::{Budget, FaultKind};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The ticker's polling interval.
const TICK: Duration = Duration::from_millis(5);
/// Ticks without a launch after which the ticker sleeps until the next one: launches often follow each other.
const IDLE_TICKS: u32 = 200;

/// A caller's hold on launches: ends them, and says how far they are. Clones are one and the same.
///
/// ```
/// use ctm_exec::Control;
///
/// let control = Control::new();
/// let other = control.clone();
/// // On another thread, while a launch runs under `control`:
/// other.cancel();
/// assert!(control.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Control {
    state: Option<Arc<WatchFlags>>,
    deadline: Option<Instant>,
    /// Launches under it have no ticker.
    polled: bool,
}

#[derive(Debug, Default)]
struct WatchFlags {
    cancelled: AtomicBool,
    done: AtomicU64,
    processors: AtomicU64,
    started: Mutex<Option<Instant>>,
}

/// How far the launch is that runs, or ran last, under a [`Control`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Processors of the domain whose programs have ended. Some engines count whole tasks.
    pub done: u64,
    /// Processors of the domain; 0: no launch has begun.
    pub processors: u64,
    /// Time since the launch began.
    pub elapsed: Duration,
}

impl Progress {
    /// The share of the domain that is done, 0 to 1.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a share for people")]
    pub fn share(&self) -> f64 {
        if self.processors == 0 { 0.0 } else { (self.done as f64 / self.processors as f64).min(1.0) }
    }

    /// The time that the rest will take if it goes on as it did; `None` while nothing is done.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        let share = self.share();
        Duration::try_from_secs_f64(self.elapsed.as_secs_f64() * (1.0 - share) / share).ok()
    }
}

impl Control {
    /// A hold that nothing runs under yet.
    #[must_use]
    pub fn new() -> Self {
        Self { state: Some(Arc::default()), deadline: None, polled: false }
    }

    /// No hold: launches under it end by their program or budget only.
    #[must_use]
    pub const fn none() -> Self {
        Self { state: None, deadline: None, polled: false }
    }

    /// The same hold; launches under this one have to have ended at `deadline`, whatever their budget says.
    #[must_use]
    pub fn until(&self, deadline: Instant) -> Self {
        let deadline = self.deadline.map_or(deadline, |own| own.min(deadline));
        Self { deadline: Some(deadline), ..self.clone() }
    }

    /// The same hold; launches under this one read the clock themselves, now and then, as on systems without threads. For tests: results do not depend on it.
    #[must_use]
    pub fn polled(&self) -> Self {
        Self { polled: true, ..self.clone() }
    }

    /// Ends the launches that run under it, soon, with [`FaultKind::Cancelled`]; those that begin later too, until [`Self::reset`].
    pub fn cancel(&self) {
        if let Some(state) = &self.state {
            state.cancelled.store(true, Ordering::SeqCst);
        }
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.cancelled.load(Ordering::SeqCst))
    }

    /// Whether nothing more runs under it: it was cancelled, or its deadline has passed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_cancelled() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Lets launches begin again.
    pub fn reset(&self) {
        if let Some(state) = &self.state {
            state.cancelled.store(false, Ordering::SeqCst);
        }
    }

    /// How far the launch is. Of several at a time this is all of them together.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let Some(state) = &self.state else { return Progress::default() };
        Progress {
            done: state.done.load(Ordering::Relaxed),
            processors: state.processors.load(Ordering::Relaxed),
            elapsed: lock(&state.started).map_or(Duration::ZERO, |started| started.elapsed()),
        }
    }

    fn begin(&self, processors: u64) {
        if let Some(state) = &self.state {
            state.done.store(0, Ordering::Relaxed);
            state.processors.store(processors, Ordering::Relaxed);
            *lock(&state.started) = Some(Instant::now());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why a launch is over.
const TIME: u8 = 1;
const CANCELLED: u8 = 2;

/// State shared by a launch, its parts and the ticker.
#[derive(Debug)]
struct WatchShared {
    control: Control,
    deadline: Option<Instant>,
    /// 0, or why it is over.
    over: AtomicU8,
    /// The first part that is known to have faulted.
    faulted: AtomicU64,
    parts: Mutex<Vec<Arc<Flag>>>,
    /// The launch's own time, or the time until the control's deadline.
    limit: Duration,
    /// The ticker polls it. Otherwise parts do.
    ticks: bool,
}

#[derive(Debug)]
struct Flag {
    number: u64,
    stop: AtomicU32,
}

impl WatchShared {
    /// Whether it is over by now. Then all parts are stopped.
    fn look(&self, now: Instant) -> bool {
        let why = if self.over.load(Ordering::SeqCst) != 0 {
            return true;
        } else if self.control.is_cancelled() {
            CANCELLED
        } else if self.deadline.is_some_and(|deadline| now >= deadline) {
            TIME
        } else {
            return false;
        };
        self.over.store(why, Ordering::SeqCst);
        lock(&self.parts).iter().for_each(|part| part.stop.store(1, Ordering::SeqCst));
        true
    }
}

/// A launch under way, as those see it who run it.
#[derive(Debug)]
pub struct Watch {
    shared: Arc<WatchShared>,
}

impl Watch {
    /// The watch of a new launch, with its number of processors.
    #[must_use]
    pub fn new(budget: &Budget, control: &Control, processors: u64) -> Self {
        control.begin(processors);
        let now = Instant::now();
        let own = budget.time.and_then(|limit| now.checked_add(limit));
        let deadline = own.into_iter().chain(control.deadline).min();
        // A launch without a limit of its own has the time until the control's deadline.
        let until = || control.deadline.map_or(Duration::ZERO, |until| until.saturating_duration_since(now));
        let limit = budget.time.unwrap_or_else(until);
        let wanted = deadline.is_some() || control.state.is_some();
        let shared = |ticks| {
            Arc::new(WatchShared {
                control: control.clone(),
                deadline,
                limit,
                over: AtomicU8::new(0),
                faulted: AtomicU64::new(u64::MAX),
                parts: Mutex::default(),
                ticks,
            })
        };
        if !wanted {
            return Self { shared: shared(true) };
        }
        let ticked = shared(true);
        let shared = if !control.polled && Ticker::add(&ticked) { ticked } else { shared(false) };
        shared.look(Instant::now());
        Self { shared }
    }

    /// Whether flags are set by another thread, so that machine code may run long without other polling.
    #[must_use]
    pub fn sets_flags(&self) -> bool {
        self.shared.ticks
    }

    /// A part that begins now. Its runner reports a fault with [`Part::fault`].
    #[must_use]
    pub fn part(&self, number: u64) -> Part {
        let flag = Arc::new(Flag { number, stop: AtomicU32::new(0) });
        lock(&self.shared.parts).push(Arc::clone(&flag));
        let part = Part { shared: Arc::clone(&self.shared), flag };
        if self.is_over() || part.is_abandoned() {
            part.flag.stop.store(1, Ordering::SeqCst);
        }
        part
    }

    /// Whether its time is over, or it was cancelled.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::SeqCst) != 0
    }

    /// Adds ended processors.
    pub fn done(&self, processors: u64) {
        if let Some(state) = &self.shared.control.state {
            state.done.fetch_add(processors, Ordering::Relaxed);
        }
    }

    /// Subtracts ended processors that run again, in another way.
    pub fn undone(&self, processors: u64) {
        if let Some(state) = &self.shared.control.state {
            state.done.fetch_sub(processors, Ordering::Relaxed);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        Ticker::remove(&self.shared);
    }
}

/// A running part of a launch.
#[derive(Debug)]
pub struct Part {
    shared: Arc<WatchShared>,
    flag: Arc<Flag>,
}

impl Part {
    /// Whether it should stop, as whatever it does no longer matters. To be asked often: it reads one number.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.flag.stop.load(Ordering::Relaxed) != 0 || !self.shared.ticks && self.shared.look(Instant::now())
    }

    /// Whether an earlier part has faulted.
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        self.shared.faulted.load(Ordering::SeqCst) < self.flag.number
    }

    /// The flag itself, for machine code: not 0 when the part should stop. It lives as long as the part.
    #[must_use]
    pub fn flag(&self) -> &AtomicU32 {
        &self.flag.stop
    }

    /// The fault of a stopped part. That of an abandoned one is unused.
    #[must_use]
    pub fn fault_kind(&self) -> FaultKind {
        if self.shared.over.load(Ordering::SeqCst) == TIME {
            FaultKind::TimeBudget { limit: self.shared.limit }
        } else {
            FaultKind::Cancelled
        }
    }

    /// It has faulted: parts that come after it stop.
    pub fn fault(&self) {
        self.fault_in(self.flag.number);
    }

    /// The same of a part that is several groups, numbered by its first one: the group `number` has faulted. A second run of that group, to locate the fault, is not stopped.
    pub fn fault_in(&self, number: u64) {
        self.shared.faulted.fetch_min(number, Ordering::SeqCst);
        let parts = lock(&self.shared.parts);
        parts.iter().filter(|part| part.number > number).for_each(|part| part.stop.store(1, Ordering::SeqCst));
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let mut parts = lock(&self.shared.parts);
        if let Some(place) = parts.iter().position(|part| Arc::ptr_eq(part, &self.flag)) {
            parts.swap_remove(place);
        }
    }
}

/// The thread that reads clocks.
struct Ticker {
    launches: Vec<Arc<WatchShared>>,
    /// It exists.
    runs: bool,
    /// It sleeps until it is woken.
    sleeps: bool,
}

static TICKER: Mutex<Ticker> = Mutex::new(Ticker { launches: Vec::new(), runs: false, sleeps: false });
static WAKE: Condvar = Condvar::new();

impl Ticker {
    /// Adds a launch; `false` when there can be no such thread.
    fn add(launch: &Arc<WatchShared>) -> bool {
        let mut ticker = lock(&TICKER);
        if !ticker.runs {
            ticker.runs = std::thread::Builder::new().name("ctm-ticker".into()).spawn(Self::run).is_ok();
        }
        if ticker.runs {
            ticker.launches.push(Arc::clone(launch));
            if ticker.sleeps {
                WAKE.notify_one();
            }
        }
        ticker.runs
    }

    fn remove(launch: &Arc<WatchShared>) {
        if launch.ticks && (launch.deadline.is_some() || launch.control.state.is_some()) {
            lock(&TICKER).launches.retain(|other| !Arc::ptr_eq(other, launch));
        }
    }

    fn run() {
        let mut idle = 0;
        let mut ticker = lock(&TICKER);
        loop {
            let now = Instant::now();
            ticker.launches.iter().for_each(|launch| _ = launch.look(now));
            idle = if ticker.launches.is_empty() { idle + 1 } else { 0 };
            if idle < IDLE_TICKS {
                ticker = WAKE.wait_timeout(ticker, TICK).unwrap_or_else(PoisonError::into_inner).0;
            } else {
                ticker.sleeps = true;
                ticker = WAKE.wait(ticker).unwrap_or_else(PoisonError::into_inner);
                ticker.sleeps = false;
                idle = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDLESS: Budget = Budget { instructions_per_group: None, time: None };

    fn waits_for(part: &Part) {
        let since = Instant::now();
        while !part.is_stopped() {
            assert!(since.elapsed() < Duration::from_secs(20), "nobody stops the part");
            std::thread::sleep(TICK);
        }
    }

    #[test]
    fn the_ticker_stops_parts_when_time_is_over() {
        let limit = Duration::from_millis(20);
        let since = Instant::now();
        let watch = Watch::new(&Budget { time: Some(limit), ..ENDLESS }, &Control::none(), 1);
        let part = watch.part(0);
        assert!(!part.is_stopped());
        waits_for(&part);
        assert!(since.elapsed() >= limit);
        assert_eq!(part.fault_kind(), FaultKind::TimeBudget { limit });
        assert!(watch.part(1).is_stopped(), "parts that begin later");
    }

    #[test]
    fn a_cancelled_launch_stops_and_later_ones_too() {
        let control = Control::new();
        let watch = Watch::new(&ENDLESS, &control, 8);
        let part = watch.part(3);
        watch.done(2);
        assert_eq!((control.progress().done, control.progress().processors), (2, 8));
        control.clone().cancel();
        waits_for(&part);
        assert_eq!(part.fault_kind(), FaultKind::Cancelled);
        assert!(Watch::new(&ENDLESS, &control, 8).part(0).is_stopped());
        control.reset();
        assert!(!Watch::new(&ENDLESS, &control, 8).part(0).is_stopped());
    }

    #[test]
    fn a_fault_stops_what_comes_after_it_and_nothing_before() {
        let watch = Watch::new(&ENDLESS, &Control::none(), 1);
        let [before, at, after] = [3, 4, 5].map(|number| watch.part(number));
        at.fault();
        assert!(!before.is_stopped() && after.is_stopped() && after.is_abandoned());
        assert!(watch.part(9).is_abandoned() && !watch.part(0).is_stopped());
    }

    #[test]
    fn a_group_within_a_part_that_faulted_can_be_run_again() {
        let watch = Watch::new(&ENDLESS, &Control::none(), 1);
        let (task, next) = (watch.part(16), watch.part(32));
        task.fault_in(19);
        assert!(!task.is_stopped() && next.is_stopped());
        let [before, again, behind] = [18, 19, 20].map(|group| watch.part(group).is_stopped());
        assert_eq!([before, again, behind], [false, false, true]);
    }

    #[test]
    fn a_hold_with_a_deadline_is_the_same_hold() {
        let control = Control::new();
        let watch = Watch::new(&ENDLESS, &control.until(Instant::now()), 1);
        let part = watch.part(0);
        assert!(part.is_stopped() && !control.is_cancelled());
        assert!(matches!(part.fault_kind(), FaultKind::TimeBudget { .. }));
    }

    #[test]
    fn what_is_left_follows_from_what_is_done() {
        let progress = Progress { done: 1, processors: 4, elapsed: Duration::from_secs(3) };
        assert_eq!(progress.left(), Some(Duration::from_secs(9)));
        assert_eq!(Progress::default().left(), None);
    }
}
