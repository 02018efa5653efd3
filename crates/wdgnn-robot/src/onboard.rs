//! The robot: the one node type that firmware flies and a simulator simulates, for any task that comes with a network.
//!
//! Flocking in the plane has the paper's network (six features, K = 3, 32 hidden features, two accelerations) in its folded form,
//! with room for 16 neighbors. Another task says by [`Onboard`] which network it flies; nothing else changes.

use crate::tasks::RobotTask;
use crate::{config::Behavior, node::Node};
use wdgnn_core::{
    model::{
        Model,
        deep::{Layer, Top},
        network::Network,
        shape::{OneLayer, Shape},
    },
    task::{NodeId, State},
    tasks::{coverage::Coverage, flocking::Flocking},
    weights::{Weights, WeightsError},
};
use wdgnn_link::encoding::{Codec, exact::Exact, half::TAG_BYTES};

/// A task as robots carry it: with its network.
pub trait Onboard: RobotTask + Sized + 'static {
    /// The network's shape.
    type Shape: Shape<Self>;
}

impl Onboard for Flocking<2> {
    type Shape = OneLayer<FEATURES, TAPS, HIDDEN, OUTPUTS>;
}

impl Onboard for Flocking<3> {
    type Shape = OneLayer<9, TAPS, HIDDEN, 3>;
}

impl Onboard for Coverage {
    type Shape = OneLayer<6, TAPS, HIDDEN, 2>;
}

/// Input features F of flocking in the plane.
pub const FEATURES: usize = 6;
/// K + 1.
pub const TAPS: usize = 4;
/// Hidden features G.
pub const HIDDEN: usize = 32;
/// Outputs O of flocking in the plane: the two components of an acceleration.
pub const OUTPUTS: usize = 2;
/// Neighbors in the table. Fifty robots on rings with 2 m of radio have nine on average; the rest is for close company.
pub const NEIGHBORS: usize = 16;

/// The network of a task, as flown.
pub type ModelOf<'w, T> = <<T as Onboard>::Shape as Shape<T>>::Model<'w>;
/// The robot, on the link profile `P`, with the task `T`.
pub type Robot<'w, P = Exact, T = Flocking> = Node<ModelOf<'w, T>, T, NEIGHBORS, P>;

/// The deep part of flocking in the plane.
pub type RobotLayers<'w> = Layer<'w, TAPS, FEATURES, HIDDEN, Top>;
/// The network of flocking in the plane, as trained.
pub type RobotNetwork<'w> = Network<'w, FEATURES, TAPS, HIDDEN, OUTPUTS, RobotLayers<'w>>;
/// The network of flocking in the plane, as flown.
pub type RobotModel<'w> = ModelOf<'w, Flocking>;
/// The parameters that it learns in flight.
pub type RobotWide<'w> = <RobotModel<'w> as Model>::Wide;

/// The length of frames of flocking in the plane in bytes on the `exact` profile, the longest of all.
pub const FRAME_BYTES: usize = <Robot<'_>>::FRAME_BYTES;
/// The buffer that its tick needs on any profile, sealed or not: a frame, its tag, and a byte more, so that an oversize frame is
/// seen as one.
pub const BUFFER_BYTES: usize = FRAME_BYTES + TAG_BYTES + 1;
/// A buffer for the tick of any task in this crate, on any profile, sealed or not.
pub const LONGEST_BUFFER: usize = 640;

const _: () = assert!(<Robot<'_, Exact, Flocking<3>>>::FRAME_BYTES + TAG_BYTES < LONGEST_BUFFER);

/// A robot at rest in the origin, with the model, task, learning rule and interval of a weight file. Where frames are sealed
/// there is somebody to be sealed against: it then behaves as [`Behavior::robust`] says.
///
/// # Errors
/// [`WeightsError::Mismatch`] naming the dimension or the task in which the file and [`Robot`] differ.
pub fn robot<'w, T: Onboard, P: Codec>(
    id: NodeId,
    weights: &Weights<'w>,
    codec: P,
) -> Result<Robot<'w, P, T>, WeightsError> {
    Ok(Kit::open(weights)?.assemble(id, codec))
}

/// What a weight file has for a robot. Where a robot lies in memory of its own, opening first and assembling there keeps it off the stack.
#[derive(Clone, Copy, Debug)]
pub struct Kit<'w, T: Onboard> {
    model: ModelOf<'w, T>,
    task: T,
    checksum: u32,
    behavior: Behavior,
}

impl<'w, T: Onboard> Kit<'w, T> {
    /// Of a weight file.
    ///
    /// # Errors
    /// As [`robot`].
    #[inline]
    pub fn open(weights: &Weights<'w>) -> Result<Self, WeightsError> {
        let task = T::from_constants(weights.expect_task(T::ID)?);
        let header = &weights.header;
        let model = T::Shape::from_weights(weights)?;
        let behavior = Behavior::new(header.learning).every(header.interval.into());
        Ok(Self { model, task, checksum: weights.checksum, behavior })
    }

    /// The robot, as [`robot`] makes it.
    #[inline]
    pub fn assemble<P: Codec>(self, id: NodeId, codec: P) -> Robot<'w, P, T> {
        let Self { model, task, checksum, behavior } = self;
        let behavior = if P::SEALED { behavior.robust() } else { behavior };
        Node::assemble(id, model, task, checksum, behavior, T::State::zero(), codec)
    }
}

#[cfg(test)]
mod tests {
    use wdgnn_core::Task as _;

    use super::*;
    use wdgnn_core::{
        filter::scale::Scale,
        model::activation::Activation,
        online::Learning,
        weights::{self, Aligned, Field, Header, LayerDimensions, TaskSettings},
    };
    use wdgnn_link::security::group_key::Sealed;

    const BYTES: usize = weights::HEADER_BYTES + 4 * RobotNetwork::NUMBERS + 4;

    fn file(hidden: u16, task: u16) -> Aligned<[u8; BYTES]> {
        let mut layers = [LayerDimensions::default(); weights::MOST_LAYERS];
        layers[0] = LayerDimensions { taps: TAPS as u16, features: hidden };
        let header = Header {
            activation: Activation::Tanh,
            scale: Scale::Mean,
            features: FEATURES as u16,
            hidden,
            outputs: OUTPUTS as u16,
            layers,
            task: TaskSettings { task, numbers: Flocking::DEFAULT.settings() },
            learning: Learning::paper(1.0),
            interval: 1,
        };
        let mut bytes = Aligned([0; BYTES]);
        weights::write(&header, &[0.5; RobotNetwork::NUMBERS], &mut bytes.0).unwrap();
        bytes
    }

    #[test]
    fn a_robot_takes_everything_from_its_weight_file() {
        let file = file(HIDDEN as u16, Flocking::<2>::NUMBER);
        let weights = Weights::open(&file.0).unwrap();
        let robot = robot::<Flocking, _>(7, &weights, Exact).unwrap();
        assert_eq!(robot.id(), 7);
        assert_eq!(robot.task(), &Flocking::DEFAULT);
        assert_eq!(robot.behavior().learning, Learning::paper(1.0));
        assert_eq!(robot.link().checksum, weights.checksum);
    }

    #[test]
    fn a_robot_with_a_key_is_a_robust_one() {
        let file = file(HIDDEN as u16, Flocking::<2>::NUMBER);
        let weights = Weights::open(&file.0).unwrap();
        let trusting = Behavior::new(Learning::paper(1.0));
        assert_eq!(*robot::<Flocking, _>(7, &weights, Exact).unwrap().behavior(), trusting);
        let sealed = robot::<Flocking, _>(7, &weights, Sealed::new(Exact, &[7; 16])).unwrap();
        assert_eq!(*sealed.behavior(), trusting.robust());
        assert_eq!(<Robot<'_, Sealed<Exact>>>::frame_bytes() + 1, BUFFER_BYTES);
    }

    #[test]
    fn a_file_for_another_robot_is_refused_by_name() {
        let mismatch = |file: &Aligned<[u8; BYTES]>| {
            robot::<Flocking, _>(0, &Weights::open(&file.0).unwrap(), Exact).err()
        };
        assert_eq!(
            mismatch(&file(16, Flocking::<2>::NUMBER)),
            Some(WeightsError::Mismatch { field: Field::Hidden, expected: 32, found: 16 })
        );
        assert_eq!(
            mismatch(&file(HIDDEN as u16, 9)),
            Some(WeightsError::Mismatch { field: Field::Task, expected: 1, found: 9 })
        );
    }

    #[test]
    fn a_frame_is_header_state_three_taps_and_the_wide_part() {
        assert_eq!(FRAME_BYTES, 22 + 4 * 4 + 4 * 18 + 4 * 48);
        assert_eq!(<Robot<'_, Exact, Flocking<3>>>::FRAME_BYTES, 22 + 4 * 6 + 4 * 27 + 4 * 108);
    }
}
