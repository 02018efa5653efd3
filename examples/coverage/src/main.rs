//! Simulator program on a computer, and firmware on a robot.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
firmware::robot!(coverage::task::Coverage, "../model.wdgnn");

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    host_sim::cli::main(&[&const { host_sim::tasks::Of::<coverage::world::Area>::new() }])
}
