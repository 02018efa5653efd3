//! The constants of the flocking task.

/// The flocking task of robots that move along `D` axes, with its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Flocking<const D: usize = 2> {
    /// The distance floor of the features, in meters.
    pub floor: f32,
    /// The control period T_s, in seconds.
    pub period: f32,
    /// The largest acceleration per component, in m/s².
    pub limit: f32,
    /// The separation guard: neighbors are kept from coming closer than this, in meters; 0 switches it off.
    pub separation: f32,
    /// How far ahead the separation guard looks, in seconds.
    pub horizon: f32,
    /// Whether features are divided by the number of neighbors and the robot itself; the paper's are plain sums.
    pub normalized: bool,
    /// Neighbors nearer than this repel, in meters; 0 for none, as in the paper.
    pub repulsion: f32,
    /// How strongly: `strength · (1/d − 1/repulsion)` in m/s², added to what the network says before it is limited. So it gives way
    /// while a robot brakes as hard as it can, and parts robots that have come to rest side by side.
    pub strength: f32,
    /// The largest standard deviation that the noise of neighbors' positions can have, per axis, in meters. A neighbor's own is
    /// measured; what is beyond this is no sensor's.
    pub position_noise: f32,
    /// The same of velocities, in m/s.
    pub velocity_noise: f32,
}

impl Flocking {
    /// [`Flocking::SUMS`] in the plane.
    pub const DEFAULT: Self = Self::SUMS;

    /// [`Flocking::MEANS`] in the plane.
    pub const NORMALIZED: Self = Self::MEANS;
}

impl<const D: usize> Flocking<D> {
    /// The paper's robots: 10 ms, ±10 m/s², with the distance floor that training likes best, and with sensors that err by up to
    /// 30 cm and 0.1 m/s.
    pub const SUMS: Self = Self {
        floor: 0.3,
        period: 0.01,
        limit: 10.0,
        separation: 0.15,
        horizon: 0.1,
        normalized: false,
        repulsion: 0.0,
        strength: 0.0,
        position_noise: 0.3,
        velocity_noise: 0.1,
    };

    /// The same with features that are means, and with a repulsion from 0.5 m on. It costs half a percent of the total velocity
    /// variation; without it, ten times as many pairs come within 0.3 m of each other.
    pub const MEANS: Self = Self { normalized: true, repulsion: 0.5, strength: 20.0, ..Self::SUMS };

    /// With the constants of a weight file, which says nothing of noise.
    pub(super) fn of(constants: &[f32; 8]) -> Self {
        let &[floor, period, limit, separation, horizon, normalized, repulsion, strength] = constants;
        let normalized = normalized > 0.0;
        Self { floor, period, limit, separation, horizon, normalized, repulsion, strength, ..Self::SUMS }
    }

    /// The constants as a weight file keeps them.
    pub(super) fn constants_array(self) -> [f32; 8] {
        let normalized = if self.normalized { 1.0 } else { 0.0 };
        let Self { floor, period, limit, separation, horizon, repulsion, strength, .. } = self;
        [floor, period, limit, separation, horizon, normalized, repulsion, strength]
    }
}
