//! The robot of a task that comes with the core, `WDGNN_TASK`: flocking, unless the build is told otherwise.

#![no_std]
#![no_main]

// `type Task`, from the table in build.rs.
include!(concat!(env!("OUT_DIR"), "/task.rs"));

firmware::robot!(Task, env!("WDGNN_MODEL"));
