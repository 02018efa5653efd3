//! HTML pages: one file each with style, scripts and data, without requests.

pub mod charts;
mod document;
pub mod flights;
pub mod replay;
pub mod visible_faults;

pub use charts::{ChartPage, charts};
pub use flights::{FlightsPage, flights};

pub use crate::chart::{Bar, Bars, Chart, Series};
