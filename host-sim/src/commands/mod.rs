//! The subcommands, one file each: arguments in, tables and files out.

pub mod air;
pub mod faults;
pub mod flock;
pub mod flock_tables;
pub mod movie;
pub mod shift;
pub mod sniff;
pub mod swarm;
pub mod swarm_chips;
pub mod sweep;
pub mod theorem;
pub mod train;
