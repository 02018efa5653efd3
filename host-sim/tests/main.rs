//! All tests of the program from outside, in one program.

#![forbid(unsafe_code)]

mod air;
mod faults_alarms;
mod faults_table;
mod flock_cli;
mod movie_cli;
mod program;
mod sniff_cli;
mod swarm_cli;
mod tasks_cli;
mod train_cli;
