//! Constants of the flocking task.

/// Flocking of robots that move along `D` axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flocking<const D: usize = 2> {
    /// Distance floor of the features, in meters.
    pub floor: f32,
    /// Control period T_s, in seconds.
    pub period: f32,
    /// Largest acceleration per component, in m/s².
    pub limit: f32,
    /// Distance that collision avoidance enforces, in meters; 0 disables it.
    pub separation: f32,
    /// Prediction horizon of collision avoidance, in seconds.
    pub horizon: f32,
    /// Whether features are divided by the number of neighbors plus 1.
    ///
    /// The paper's features are plain sums.
    pub normalized: bool,
    /// Distance below which neighbors repel, in meters; 0 disables it, as in the paper.
    pub repulsion: f32,
    /// Strength of the repulsion, in m²/s².
    ///
    /// The repulsion `strength · (1/d − 1/repulsion)`, in m/s², is added to the network's output
    /// before the output is limited. It therefore yields while a robot brakes with full
    /// acceleration. It separates robots that stopped close to each other.
    pub strength: f32,
    /// Largest standard deviation of position noise per axis, in meters.
    ///
    /// Each robot measures its own noise. The gate for neighbors uses at most this value.
    pub position_noise: f32,
    /// Largest standard deviation of velocity noise per axis, in m/s.
    pub velocity_noise: f32,
}

impl Flocking {
    /// [`Flocking::SUMMED_FEATURES`] in the plane.
    pub const DEFAULT: Self = Self::SUMMED_FEATURES;
}

impl<const D: usize> Flocking<D> {
    /// The paper's robots: 10 ms, ±10 m/s², features as sums.
    ///
    /// The distance floor is the one with the best training result. Sensor noise is up to 0.3 m and
    /// 0.1 m/s.
    pub const SUMMED_FEATURES: Self = Self {
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

    /// [`Flocking::SUMMED_FEATURES`] with features as means and a repulsion below 0.5 m.
    ///
    /// The repulsion costs 0.5 % of the total velocity variation. Without it, ten times as many
    /// pairs come within 0.3 m of each other.
    pub const MEAN_FEATURES: Self =
        Self { normalized: true, repulsion: 0.5, strength: 20.0, ..Self::SUMMED_FEATURES };
}
