//! Large swarms' robots on all threads: in pieces that lie side by side, so that every figure is the same at any number of threads.

/// Pieces for each thread, so that nobody waits long for one that was disturbed.
const PIECES: usize = 4;

/// From so many robots on, their ticks are worth a thread: a microsecond each.
pub const TICKS: usize = 128;

/// From so many on, a look at each is: tens of nanoseconds.
pub const LOOKS: usize = 4096;

/// A browser has one thread, and a page wants to be small.
const ALONE: bool = cfg!(target_family = "wasm");

/// How many robots are in each piece of some work: all of them where it is not worth more than one thread.
pub fn share(robots: usize, worth: usize) -> usize {
    let threads = if ALONE || robots < worth { 1 } else { rayon::current_num_threads() };
    let pieces = if threads > 1 { PIECES * threads } else { 1 };
    robots.div_ceil(pieces).max(1)
}

/// Does every piece of work: several on all threads, a single one on this.
pub fn spread<W: Send>(work: impl Iterator<Item = W> + Send, each: impl Fn(W) + Sync) {
    if ALONE {
        return work.for_each(each);
    }
    let mut work = work;
    let Some(first) = work.next() else { return };
    let Some(second) = work.next() else { return each(first) };
    // By hand: parallel iterators would be compiled anew for every network and every codec.
    let each = &each;
    rayon::scope(|scope| {
        for piece in [first, second].into_iter().chain(work) {
            scope.spawn(move |_| each(piece));
        }
    });
}
