//! Charts as SVG, for files and pages.

pub mod chart;
mod ink;
pub mod plot;
pub mod scale;
pub mod sketch;
