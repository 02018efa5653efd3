//! Parallel loops over the robots of large swarms.
//!
//! Work is split into contiguous chunks, so that results do not depend on the number of threads.

/// Chunks per thread, so that a delayed thread does not hold up the others.
const CHUNKS_PER_THREAD: usize = 4;

/// Smallest swarm whose ticks run in parallel; a tick takes about a microsecond.
pub const MIN_PARALLEL_TICKS: usize = 128;

/// Smallest swarm whose lookups run in parallel; a lookup takes tens of nanoseconds.
pub const MIN_PARALLEL_LOOKUPS: usize = 4096;

/// Browsers have one thread, and without thread code a page is smaller.
const SINGLE_THREADED: bool = cfg!(target_family = "wasm");

/// Returns the number of robots per chunk; all of them below `worth` robots.
pub fn chunk_len(robots: usize, worth: usize) -> usize {
    let threads = if SINGLE_THREADED || robots < worth { 1 } else { rayon::current_num_threads() };
    let chunks = if threads > 1 { CHUNKS_PER_THREAD * threads } else { 1 };
    robots.div_ceil(chunks).max(1)
}

/// Runs `each` for every chunk, on all threads if there are several chunks.
pub fn for_each_chunk<W: Send>(work: impl Iterator<Item = W> + Send, each: impl Fn(W) + Sync) {
    if SINGLE_THREADED {
        return work.for_each(each);
    }
    let mut work = work;
    let Some(first) = work.next() else { return };
    let Some(second) = work.next() else { return each(first) };
    // Parallel iterators would be compiled for every network and every codec.
    let each = &each;
    rayon::scope(|scope| {
        for chunk in [first, second].into_iter().chain(work) {
            scope.spawn(move |_| each(chunk));
        }
    });
}
