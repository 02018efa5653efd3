//! All integration tests in one program.

#![forbid(unsafe_code)]

mod errors_cli;
mod eval_cli;
mod fast_path;
mod faults_cli;
mod outputs_cli;
mod program;
mod run_cli;
mod scenario_cli;
mod shards_cli;
mod tasks_cli;
mod train_cli;
