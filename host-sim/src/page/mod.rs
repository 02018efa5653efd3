//! Pages to look at: one HTML file each, with its style, scripts and data inside, so that it opens anywhere and asks for nothing.

pub mod charts;
mod document;
pub mod flights;
pub mod map;
pub mod replay;
pub mod troubles;

pub use charts::{ChartPage, charts};
pub use flights::{FlightsPage, flights};

pub use crate::chart::{Bar, Bars, Chart, Series};
