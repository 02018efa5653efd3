//! Processor time and memory of this process.

/// Processor time of all threads of this process in seconds; wall time on systems without it.
pub fn cpu_seconds() -> f64 {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 * 1.0e-9
    }
    #[cfg(not(unix))]
    {
        static BEGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        BEGIN.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
    }
}

/// Minimum processor time over a few runs in seconds.
pub fn shortest<E>(runs: usize, mut run: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    let mut shortest = f64::INFINITY;
    for _ in 0..runs {
        let begin = cpu_seconds();
        run()?;
        shortest = shortest.min(cpu_seconds() - begin);
    }
    Ok(shortest)
}

/// Resident memory of this process in bytes, on systems that report it.
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_the_minimum_over_runs() {
        let mut rounds = [3_000_000_u64, 1, 3_000_000].into_iter();
        let work = || -> Result<(), ()> {
            std::hint::black_box((0..rounds.next().unwrap_or(0)).map(std::hint::black_box).sum::<u64>());
            Ok(())
        };
        let shortest = shortest(3, work).unwrap();
        assert!((0.0..cpu_seconds()).contains(&shortest));
    }
}
