//! Task that comes with the crate: flocking. `examples` has more.

pub mod flocking;
