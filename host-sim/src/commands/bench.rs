//! `host-sim bench`: speed of training and simulation in seconds of processor time.

use clap::Args;

use super::output::{OutputArguments, Results};
use crate::{
    bench::{self, Figures},
    error::Result,
    option_range::OptionRange,
    origin::Origin,
    page::{self, Bar, Bars, ChartPage, flights::counted},
    table,
};

/// Largest cost of a robot step relative to that in a swarm of [`REFERENCE`] robots.
const MAX_GROWTH: f64 = 1.5;
/// See [`MAX_GROWTH`].
const REFERENCE: usize = 1_000;

/// Robots of the largest swarm.
const ROBOTS: OptionRange = OptionRange::whole(1_000, 20_000_000);

/// Measure training and simulation in seconds of processor time.
///
/// All figures but the speedup are for one thread. Compare only figures of one run on one machine. `host-sim/benches/peer` measures
/// PyTorch with the same workload.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  host-sim bench\n  host-sim bench --json\n  host-sim bench --max-robots 20000\n  host-sim bench --svg growth.svg"
)]
pub struct BenchArguments {
    /// Robots of the largest swarm; a million robots need some gigabytes.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = ROBOTS.parser::<usize>())]
    pub max_robots: usize,
    #[command(flatten)]
    pub outputs: OutputArguments,
}

impl BenchArguments {
    /// Runs the benchmarks and prints them.
    pub fn run(&self) -> Result {
        self.outputs.check()?;
        let figures = bench::measure(self.max_robots, &|what| eprintln!("measuring {what} …"))?;
        let command = format!("host-sim bench --max-robots {}", self.max_robots);
        let page = page(&figures, Origin::new(command, "supplied"));
        self.outputs.deliver(&Results {
            origin: &page.origin,
            json: &figures,
            print: &|| table::print(&page.table),
            csv: &|| page.table.clone(),
            page: &|| Ok(page::charts(&page)),
            plots: &|| page.plots(),
        })
    }
}

fn rows(figures: &Figures) -> Vec<Vec<String>> {
    let mut rows = vec![["quantity", "value", "unit"].map(str::to_owned).to_vec()];
    let mut row = |what: String, value: String, unit: &str| rows.push(vec![what, value, unit.to_owned()]);
    let thousands = |number: &f64| format!("{:.0}", number / 1.0e3);
    let batch = format!("training batch of 200,000 ({})", figures.registers);
    row(batch, format!("{:.4}", figures.train_cpu_seconds_per_batch), "CPU s");
    row("through time, one swarm".into(), format!("{:.5}", figures.bptt_cpu_seconds_per_swarm), "CPU s");
    let unit = "thousand robot-steps per CPU s";
    for (robots, steps) in &figures.robot_steps_per_cpu_second {
        row(counted(*robots, "robot"), thousands(steps), unit);
    }
    for (robots, steps) in &figures.quadrotor_steps_per_cpu_second {
        row(counted(*robots, "quadrotor"), thousands(steps), unit);
    }
    for (robots, steps) in &figures.robot_steps_through_sealed_bytes_per_cpu_second {
        row(format!("{robots} robots in sealed bytes"), thousands(steps), unit);
    }
    for (threads, times) in &figures.thread_speedup {
        row(format!("{threads} threads, 20,000 robots"), format!("{times:.2}"), "times as fast as one");
    }
    if let Some(bytes) = figures.bytes_per_robot {
        row("a robot of the largest swarm".into(), format!("{bytes:.0}"), "bytes");
    }
    rows
}

/// Returns the page: the cost of a robot step by number of robots.
fn page(figures: &Figures, origin: Origin) -> ChartPage {
    let steps = &figures.robot_steps_per_cpu_second;
    let limit = steps.get(&REFERENCE).map(|steps| MAX_GROWTH * 1.0e6 / steps);
    let bar = |(robots, steps): (&usize, &f64)| {
        let value = 1.0e6 / steps;
        Bar {
            label: counted(*robots, "robot"),
            value,
            limit: limit.filter(|_| *robots > REFERENCE),
            text: format!("{value:.2} µs"),
            failed: *robots > REFERENCE && limit.is_some_and(|limit| value > limit),
        }
    };
    let growth = Bars {
        title: "Cost of a robot step by number of robots".into(),
        x_label: format!(
            "µs of processor time; marks: {MAX_GROWTH} times the cost with {}",
            counted(REFERENCE, "robot")
        ),
        log: false,
        rows: steps.iter().map(bar).collect(),
    };
    ChartPage {
        title: "Speed of training and simulation".into(),
        intro: "Processor time on one thread, except for the speedup.".into(),
        bars: vec![growth],
        table: rows(figures),
        note: "Compare only figures of one run on one machine.".into(),
        origin,
        ..ChartPage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excessive_costs_are_marked() {
        let figures = Figures {
            train_cpu_seconds_per_batch: 0.02,
            bptt_cpu_seconds_per_swarm: 0.003,
            robot_steps_per_cpu_second: [(50, 2.0e6), (1_000, 1.0e6), (20_000, 0.7e6), (1_000_000, 0.6e6)]
                .into(),
            quadrotor_steps_per_cpu_second: [(50, 1.5e6)].into(),
            robot_steps_through_sealed_bytes_per_cpu_second: [(50, 2.0e5)].into(),
            thread_speedup: [(2, 1.8)].into(),
            bytes_per_robot: None,
            registers: "AVX2",
        };
        let page = page(&figures, Origin::default());
        let failed: Vec<bool> = page.bars[0].rows.iter().map(|bar| bar.failed).collect();
        assert_eq!(failed, [false, false, false, true]);
        assert_eq!(page.bars[0].rows[3].limit, Some(1.5));
        assert!(
            page.table
                .iter()
                .any(|row| row == &["50 robots in sealed bytes", "200", "thousand robot-steps per CPU s"])
        );
    }
}
