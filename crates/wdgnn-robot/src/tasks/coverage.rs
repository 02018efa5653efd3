//! Coverage without motion model, avoidance or checks: cells do not move like bodies.

use wdgnn_core::tasks::coverage::Coverage;

use super::{CollisionAvoidance, Consistency, MotionModel};

impl MotionModel for Coverage {}

impl CollisionAvoidance for Coverage {}

impl Consistency for Coverage {
    type Stats = ();
}
