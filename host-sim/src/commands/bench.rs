//! `host-sim bench`: how fast training and flying are, in seconds of processor time.

use std::path::PathBuf;

use clap::Args;

use crate::{
    bench::{self, instructions},
    commands::outputs::print_json,
    error::Result,
    origin::Origin,
    table,
};

/// Measure training and flying in seconds of processor time, on one thread unless said otherwise.
///
/// Figures depend on the machine, and somewhat on what else it does: compare those of one run. `host-sim/benches/peer` has the same work
/// for PyTorch.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  host-sim bench\n  host-sim bench --json\n  host-sim bench --largest 20000"
)]
pub struct BenchArguments {
    /// The most robots to fly; a million take some gigabytes.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub largest: usize,
    /// Print JSON in place of the table.
    #[arg(long)]
    pub json: bool,
    /// Count the hot kernels' instructions with valgrind instead, which no other program disturbs.
    #[arg(long, conflicts_with = "json")]
    pub instructions: bool,
    /// Hold the counts against those of this file; `BLESS=1` writes it anew.
    #[arg(long, value_name = "FILE", requires = "instructions")]
    pub golden: Option<PathBuf>,
    /// Run one kernel, to be counted.
    #[arg(long, value_name = "NAME", hide = true)]
    pub kernel: Option<String>,
    /// So many rounds of it.
    #[arg(long, value_name = "N", hide = true, default_value_t = 1, requires = "kernel")]
    pub rounds: usize,
}

impl BenchArguments {
    /// Measures and prints.
    ///
    /// # Errors
    /// What ends a flight.
    pub fn run(&self) -> Result {
        if let Some(kernel) = &self.kernel {
            return instructions::run(kernel, self.rounds);
        }
        if self.instructions {
            let table = instructions::count()?;
            print!("{table}");
            return self.golden.as_deref().map_or(Ok(()), |golden| instructions::compare(&table, golden));
        }
        let figures = bench::measure(self.largest, &|what| eprintln!("measuring {what} …"))?;
        if self.json {
            let command = format!("host-sim bench --largest {}", self.largest);
            print_json(&Origin::new(command, "those that come with the program"), &figures);
            return Ok(());
        }
        let mut rows = vec![["what", "value", "unit"].map(str::to_owned).to_vec()];
        let mut row = |what: String, value: String, unit: &str| rows.push(vec![what, value, unit.to_owned()]);
        let thousands = |number: &f64| format!("{:.0}", number / 1.0e3);
        row(
            "training batch of 200,000".into(),
            format!("{:.4}", figures.train_cpu_seconds_per_batch),
            "CPU s",
        );
        row(
            format!("share of peak ({})", figures.registers),
            format!("{:.1}", 100.0 * figures.train_share_of_peak),
            "%",
        );
        row(
            "peak of one thread".into(),
            format!("{:.1}", figures.peak_operations_per_second / 1.0e9),
            "GFLOP/s",
        );
        row("through time, one swarm".into(), format!("{:.5}", figures.bptt_cpu_seconds_per_swarm), "CPU s");
        let unit = "thousand robot-steps per CPU s";
        for (robots, steps) in &figures.robot_steps_per_cpu_second {
            row(format!("{robots} robots"), thousands(steps), unit);
        }
        for (robots, steps) in &figures.robot_steps_through_sealed_bytes_per_cpu_second {
            row(format!("{robots} robots in sealed bytes"), thousands(steps), unit);
        }
        for (threads, times) in &figures.thread_speedup {
            row(format!("{threads} threads, 20000 robots"), format!("{times:.2}"), "times as fast as one");
        }
        if let Some(bytes) = figures.bytes_per_robot {
            row("a robot of the largest swarm".into(), format!("{bytes:.0}"), "bytes");
        }
        table::print(&rows);
        Ok(())
    }
}
