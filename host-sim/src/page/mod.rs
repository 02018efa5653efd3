//! Pages to look at: one HTML file each, with its style, scripts and data inside, so that it opens anywhere and asks for nothing.

pub mod charts;
mod document;
pub mod flights;
pub mod replay;

pub use charts::{Chart, ChartPage, Series, charts};
pub use flights::{FlightsPage, flights};
