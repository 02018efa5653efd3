//! Trains the network, flies swarms of `wdgnn-core` nodes, and shows what came out.

#![forbid(unsafe_code)]

pub mod air;
pub mod airtime;
pub mod capture;
pub mod chips;
pub mod cli;
pub mod commands;
pub mod data_error;
pub mod error;
pub mod evaluate;
pub mod faults;
pub mod files;
pub mod flight;
pub mod key;
pub mod lineup;
pub mod links;
pub mod model;
pub mod models;
pub mod movie;
pub mod page;
pub mod pcap;
pub mod profiles;
pub mod progress;
pub mod radio;
pub mod recipe;
pub mod scene;
pub mod seeds;
pub mod shapes;
pub mod shift;
pub mod sniff;
pub mod swarm;
pub mod symmetric;
pub mod table;
pub mod tally;
pub mod tasks;
pub mod theorem;
pub mod train;
pub mod world;
