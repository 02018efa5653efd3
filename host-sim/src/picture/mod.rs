//! Pictures, drawn here: plots as files, and what moves where no page can be, such as at the top of a README.

pub mod animation;
pub mod canvas;
pub mod chart;
mod ink;
pub mod plot;
pub mod raster;
pub mod scale;
pub mod sketch;
