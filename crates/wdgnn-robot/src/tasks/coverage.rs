//! Coverage without motion model, avoidance or checks: cells do not move like bodies.

use wdgnn_core::tasks::coverage::Coverage;

use super::{CollisionAvoidance, Consistency, MotionModel};

impl MotionModel for Coverage {
    fn period(&self) -> f32 {
        self.period
    }
}

impl CollisionAvoidance for Coverage {}

impl Consistency for Coverage {
    type Stats = ();
}
