//! All tests of the program from outside, in one program.

#![forbid(unsafe_code)]

mod air;
mod capture_cli;
mod errors_cli;
mod everyday_cli;
mod fast_path;
mod faults_cli;
mod faults_table;
mod flock_cli;
mod pages_cli;
mod program;
mod scenario_cli;
mod schema_cli;
mod shards_cli;
mod swarm_cli;
mod tasks_cli;
mod train_cli;
