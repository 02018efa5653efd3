//! The flocking robot: the one node type that firmware flies and a simulator simulates.
//!
//! The paper's network (six features, K = 3, 32 hidden features, two accelerations) in its folded form, with room for 16
//! neighbours. Whoever flies another one writes another alias; nothing else changes.

use crate::{
    behaviour::Behaviour,
    codec::{Codec, Exact},
    compact::TAG_BYTES,
    deep::{Layer, Top},
    flocking::{self, Flocking, Motion},
    network::Network,
    node::Node,
    task::NodeId,
    weights::{Weights, WeightsError},
    wide::{Folded, Model},
};

/// Input features F.
pub const FEATURES: usize = 6;
/// K + 1.
pub const TAPS: usize = 4;
/// Hidden features G.
pub const HIDDEN: usize = 32;
/// Outputs O: the two components of an acceleration.
pub const OUTPUTS: usize = 2;
/// Neighbours in the table. Fifty robots on rings with 2 m of radio have nine on average; the rest is for close company.
pub const NEIGHBOURS: usize = 16;

/// The robot's deep part.
pub type RobotLayers<'w> = Layer<'w, TAPS, FEATURES, HIDDEN, Top>;
/// The robot's network, as trained.
pub type RobotNetwork<'w> = Network<'w, FEATURES, TAPS, HIDDEN, OUTPUTS, RobotLayers<'w>>;
/// The robot's network, as flown.
pub type RobotModel<'w> = Folded<'w, FEATURES, TAPS, HIDDEN, OUTPUTS, RobotLayers<'w>>;
/// The robot, on the link profile `P`.
pub type Robot<'w, P = Exact> = Node<RobotModel<'w>, Flocking, NEIGHBOURS, P>;
/// The parameters that it learns in flight.
pub type RobotWide<'w> = <RobotModel<'w> as Model>::Wide;

/// The length of a robot's frames in bytes on the `exact` profile, the longest of all.
pub const FRAME_BYTES: usize = Robot::FRAME_BYTES;
/// The buffer that a tick needs on any profile, sealed or not: a frame, its tag, and a byte more, so that an oversize frame is seen
/// as one.
pub const BUFFER_BYTES: usize = FRAME_BYTES + TAG_BYTES + 1;

/// A robot at rest in the origin, with the model, task, learning rule and exchange divisor of a weight file. Where frames are sealed
/// there is somebody to be sealed against: it then behaves as [`Behaviour::robust`] says.
///
/// # Errors
/// [`WeightsError::Mismatch`] naming the dimension or the task in which the file and [`Robot`] differ.
pub fn robot<'w, P: Codec>(
    id: NodeId,
    weights: &Weights<'w>,
    codec: P,
) -> Result<Robot<'w, P>, WeightsError> {
    let task = Flocking::from_settings(weights.expect_task(flocking::TASK)?);
    let header = &weights.header;
    let model = Folded::new(RobotNetwork::from_weights(weights)?, header.learning.metric);
    let trusting = Behaviour::new(header.learning).every(header.exchange_divisor.into());
    let behaviour = if P::SEALED { trusting.robust() } else { trusting };
    let rest = Motion { position: [0.0; 2], velocity: [0.0; 2] };
    Ok(Node::with_codec(id, model, task, weights.model, behaviour, rest, codec))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        activation::Activation,
        online::Learning,
        seal::Sealed,
        taps::Scale,
        weights::{self, Aligned, Field, Header, LayerDimensions, Schedule, TaskSettings},
    };

    const BYTES: usize = weights::HEADER_BYTES + 4 * RobotNetwork::NUMBERS + 4;

    fn file(hidden: u16, task: u16) -> Aligned<[u8; BYTES]> {
        let mut layers = [LayerDimensions::default(); weights::MOST_LAYERS];
        layers[0] = LayerDimensions { taps: TAPS as u16, features: hidden };
        let header = Header {
            activation: Activation::Tanh,
            schedule: Schedule::Delayed,
            scale: Scale::Mean,
            features: FEATURES as u16,
            hidden,
            outputs: OUTPUTS as u16,
            layers,
            task: TaskSettings { task, numbers: Flocking::DEFAULT.settings() },
            learning: Learning::paper(1.0),
            exchange_divisor: 1,
        };
        let mut bytes = Aligned([0; BYTES]);
        weights::write(&header, &[0.5; RobotNetwork::NUMBERS], &mut bytes.0).unwrap();
        bytes
    }

    #[test]
    fn a_robot_takes_everything_from_its_weight_file() {
        let file = file(HIDDEN as u16, flocking::TASK);
        let weights = Weights::open(&file.0).unwrap();
        let robot = robot(7, &weights, Exact).unwrap();
        assert_eq!(robot.id(), 7);
        assert_eq!(robot.task(), &Flocking::DEFAULT);
        assert_eq!(robot.behaviour().learning, Learning::paper(1.0));
        assert_eq!(robot.link().model, weights.model);
    }

    #[test]
    fn a_robot_with_a_key_is_a_robust_one() {
        let file = file(HIDDEN as u16, flocking::TASK);
        let weights = Weights::open(&file.0).unwrap();
        let trusting = Behaviour::new(Learning::paper(1.0));
        assert_eq!(*robot(7, &weights, Exact).unwrap().behaviour(), trusting);
        let sealed = robot(7, &weights, Sealed::new(Exact, &[7; 16])).unwrap();
        assert_eq!(*sealed.behaviour(), trusting.robust());
        assert_eq!(Robot::<Sealed<Exact>>::frame_bytes() + 1, BUFFER_BYTES);
    }

    #[test]
    fn a_file_for_another_robot_is_refused_by_name() {
        let mismatch = |file: &Aligned<[u8; BYTES]>| robot(0, &Weights::open(&file.0).unwrap(), Exact).err();
        assert_eq!(
            mismatch(&file(16, flocking::TASK)),
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
    }
}
