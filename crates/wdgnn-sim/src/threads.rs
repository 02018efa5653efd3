//! Parallel jobs, and parallel loops over the robots of large swarms.
//!
//! Loops are split into contiguous chunks, so that results do not depend on the number of threads.
//! Parallel iterators of rayon would be compiled for every function, task and network.

use std::{
    ops::Range,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

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
pub fn for_each_chunk<W: Send>(work: impl Iterator<Item = W>, each: impl Fn(W) + Sync) {
    if SINGLE_THREADED {
        return work.for_each(each);
    }
    let chunks: Vec<Mutex<Option<W>>> = work.map(|chunk| Mutex::new(Some(chunk))).collect();
    run(0..chunks.len(), &|index| lock(&chunks[index]).take().into_iter().for_each(&each));
}

/// Returns the results of `count` jobs in order, computed on all threads.
pub fn map<R: Send>(count: usize, job: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let results: Vec<Mutex<Option<R>>> = (0..count).map(|_| Mutex::new(None)).collect();
    run(0..count, &|index| {
        let result = job(index);
        *lock(&results[index]) = Some(result);
    });
    results.into_iter().filter_map(|result| lock(&result).take()).collect()
}

/// Returns the results of `count` jobs in order, or an error. After an error no job starts.
pub fn try_map<R: Send, E: Send>(
    count: usize, job: impl Fn(usize) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let failed = AtomicBool::new(false);
    let results = map(count, |index| {
        let result = (!failed.load(Ordering::Relaxed)).then(|| job(index));
        failed.fetch_or(matches!(result, Some(Err(_))), Ordering::Relaxed);
        result
    });
    results.into_iter().flatten().collect()
}

/// Runs jobs on all threads. It is not generic, so that it is compiled once.
fn run(jobs: Range<usize>, job: &(dyn Fn(usize) + Sync)) {
    if SINGLE_THREADED || jobs.len() <= 1 {
        return jobs.for_each(job);
    }
    let middle = jobs.start + jobs.len() / 2;
    rayon::join(|| run(jobs.start..middle, job), || run(middle..jobs.end, job));
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_errors_are_returned() {
        assert_eq!(map(1000, |index| 3 * index), (0..1000).map(|index| 3 * index).collect::<Vec<_>>());
        assert_eq!(try_map(3, Ok::<_, ()>), Ok(vec![0, 1, 2]));
        let odd = try_map(100, |index| if index == 7 { Err(index) } else { Ok(index) });
        assert_eq!(odd, Err(7));
        assert_eq!(map(0, |index| index), []);
    }
}
