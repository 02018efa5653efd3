//! Pictures that move, drawn here: what a page shows, where no page can be, such as at the top of a README.

pub mod animation;
pub mod canvas;
