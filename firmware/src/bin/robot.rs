//! Robot image of a built-in task, selected by `WDGNN_TASK` (default: flocking).

#![no_std]
#![no_main]

// Defines `type Task`, from the table in build.rs.
include!(concat!(env!("OUT_DIR"), "/task.rs"));

firmware::robot!(Task, env!("WDGNN_MODEL"));
