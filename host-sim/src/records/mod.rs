//! What a flight leaves to take home: every frame (for Wireshark), every robot at every tick (for tables), a scene (for Foxglove).

pub mod mcap;
pub mod scene;
pub mod trajectories;
