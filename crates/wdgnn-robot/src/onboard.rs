//! Robots from weight files.
//!
//! [`OnboardTask`] assigns a network to a task. Flocking in the plane has the paper's network: six features, K = 3, 32
//! hidden features, two accelerations.

use wdgnn_core::{
    agent::Config,
    model::{
        deep::{EndOfStack, Layer},
        network::Network,
        shape::{OneLayer, Shape},
    },
    task::{NodeId, State},
    tasks::flocking::Flocking,
    weights::{Weights, WeightsError},
};
use wdgnn_link::{
    encoding::{exact, half::MAX_TAG_LEN},
    link::MessageLink,
};

use crate::{
    config::{RobotConfig, Trust},
    robot::Robot,
    tasks::RobotTask,
};
use wdgnn_core::{model::Model, task::Task};

/// A task with the network that robots run.
pub trait OnboardTask: RobotTask + Sized + 'static {
    /// Shape of the network.
    type Shape: Shape<Self>;
}

impl OnboardTask for Flocking<2> {
    type Shape = OneLayer<FEATURES, TAPS, HIDDEN, OUTPUTS>;
}

impl OnboardTask for Flocking<3> {
    type Shape = OneLayer<9, TAPS, HIDDEN, 3>;
}

/// Input features F of flocking in the plane.
pub const FEATURES: usize = 6;
/// Taps K + 1.
pub const TAPS: usize = 4;
/// Hidden features G.
const HIDDEN: usize = 32;
/// Outputs O of flocking in the plane: the components of an acceleration.
pub const OUTPUTS: usize = 2;

/// Network of a task on robots.
pub type ModelOf<'w, T> = <<T as OnboardTask>::Shape as Shape<T>>::Model<'w>;
/// Robot with the task `T`, the link `L` and trust `P`.
pub type TaskRobot<'w, T, L, P = Trust> = Robot<RobotConfig<ModelOf<'w, T>, T, P>, L>;

/// Network of flocking in the plane as trained.
pub type FlockingNetwork<'w> =
    Network<'w, FEATURES, TAPS, HIDDEN, OUTPUTS, Layer<'w, TAPS, FEATURES, HIDDEN, EndOfStack>>;
/// Network of flocking in the plane as flown.
pub type FlockingModel<'w> = ModelOf<'w, Flocking>;

/// Length of an `exact` frame of a task, the longest of all profiles.
const fn exact_len<T: OnboardTask>() -> usize {
    exact::frame_len::<
        <T as Task>::State,
        <ModelOf<'static, T> as Model>::Taps,
        <ModelOf<'static, T> as Model>::Wide,
    >()
}

/// Length of the longest frame of flocking in the plane, without tag.
pub const FRAME_LEN: usize = exact_len::<Flocking>();
/// Length of the buffer for a tick of flocking in the plane with any link.
///
/// It holds a frame, its tag, and one byte more, by which longer frames are detected.
pub const BUFFER_LEN: usize = FRAME_LEN + MAX_TAG_LEN + 1;
/// Length of the buffer for a tick of any task in this crate with any link.
pub const MAX_BUFFER_LEN: usize = 640;

const _: () = assert!(exact_len::<Flocking<3>>() + MAX_TAG_LEN < MAX_BUFFER_LEN);

/// Reads the configuration of robots from a weight file.
///
/// # Errors
/// [`WeightsError::Mismatch`] with the dimension or the task in which the file and `T` differ.
#[inline(always)] // a copy of the configuration takes 380 bytes of stack
#[allow(clippy::inline_always, reason = "stack of boards")]
pub fn config_from_weights<'w, T: OnboardTask>(
    weights: &Weights<'w>,
) -> Result<RobotConfig<ModelOf<'w, T>, T>, WeightsError> {
    let task = T::from_constants(weights.check_task(T::ID)?);
    let header = &weights.header;
    let agent = Config::new(T::Shape::from_weights(weights)?, task, header.learning);
    Ok(RobotConfig::new(agent).with_exchange_interval(header.interval.into()).with_lag(header.lag))
}

/// A robot at rest at the origin, from a weight file. With a sealed link, the robot is
/// [robust](RobotConfig::robust).
///
/// # Errors
/// As [`config_from_weights`].
pub fn robot_from_weights<'w, T, L>(
    id: NodeId, weights: &Weights<'w>, link: L,
) -> Result<TaskRobot<'w, T, L>, WeightsError>
where
    T: OnboardTask,
    L: MessageLink<T::State, <ModelOf<'w, T> as Model>::Taps, <ModelOf<'w, T> as Model>::Wide>,
{
    let config = config_from_weights::<T>(weights)?;
    let config = if link.is_sealed() { config.robust() } else { config };
    Ok(Robot::new(id, config, link, T::State::zero()))
}

#[cfg(test)]
mod tests {
    use wdgnn_core::task::Task as _;

    use super::*;
    use crate::config::TrustPolicy as _;
    use wdgnn_core::{
        filter::scale::Scale,
        model::activation::Activation,
        online::Learning,
        weights::{self, Aligned, Header, HeaderField, LayerDimensions, TaskSettings},
    };
    use wdgnn_link::{
        encoding::exact::Exact,
        link::{Link, RadioLink as _, Sealed},
        security::group_key::GroupKey,
    };

    const BYTES: usize = weights::HEADER_BYTES + 4 * FlockingNetwork::WEIGHT_COUNT + 4;

    fn file(hidden: u16, task: u16) -> Aligned<[u8; BYTES]> {
        let mut layers = [LayerDimensions::default(); weights::MAX_LAYERS];
        layers[0] = LayerDimensions { taps: TAPS as u16, features: hidden };
        let header = Header {
            activation: Activation::Tanh,
            scale: Scale::Mean,
            features: FEATURES as u16,
            hidden,
            outputs: OUTPUTS as u16,
            layers,
            task: TaskSettings { task, numbers: Flocking::DEFAULT.constants() },
            learning: Learning::paper(1.0),
            interval: 1,
            lag: 0.0,
        };
        let mut bytes = Aligned([0; BYTES]);
        weights::write(&header, &[0.5; FlockingNetwork::WEIGHT_COUNT], &mut bytes.0).unwrap();
        bytes
    }

    #[test]
    fn robot_is_configured_by_its_weight_file() {
        let file = file(HIDDEN as u16, Flocking::<2>::ID);
        let weights = Weights::open(&file.0).unwrap();
        let robot =
            robot_from_weights::<Flocking, _>(7, &weights, Link::<Exact>::open(weights.checksum)).unwrap();
        assert_eq!(robot.id(), 7);
        assert_eq!(robot.config().agent.task, Flocking::DEFAULT);
        assert_eq!(robot.config().agent.learning, Learning::paper(1.0));
        assert_eq!(robot.link().model_checksum(), weights.checksum);
    }

    #[test]
    fn robot_with_a_sealed_link_is_robust() {
        let file = file(HIDDEN as u16, Flocking::<2>::ID);
        let weights = Weights::open(&file.0).unwrap();
        let open =
            robot_from_weights::<Flocking, _>(7, &weights, Link::<Exact>::open(weights.checksum)).unwrap();
        assert_eq!(open.config().trust, Trust::All);
        let link: Sealed<Exact> = Link::new(weights.checksum, GroupKey::new(&[7; 16]));
        let sealed = robot_from_weights::<Flocking, _>(7, &weights, link).unwrap();
        assert!(sealed.config().trust.is_robust());
        assert_eq!(sealed.max_frame_len() + 1, BUFFER_LEN);
    }

    #[test]
    fn file_for_another_network_is_rejected_with_the_difference() {
        let mismatch = |file: &Aligned<[u8; BYTES]>| {
            robot_from_weights::<Flocking, _>(0, &Weights::open(&file.0).unwrap(), Link::<Exact>::open(0))
                .err()
        };
        assert_eq!(
            mismatch(&file(16, Flocking::<2>::ID)),
            Some(WeightsError::Mismatch { field: HeaderField::Hidden, expected: 32, found: 16 })
        );
        assert_eq!(
            mismatch(&file(HIDDEN as u16, 9)),
            Some(WeightsError::Mismatch { field: HeaderField::Task, expected: 1, found: 9 })
        );
    }

    #[test]
    fn a_frame_is_header_state_three_taps_and_the_wide_part() {
        assert_eq!(FRAME_LEN, 22 + 4 * 4 + 4 * 18 + 4 * 48);
        assert_eq!(exact_len::<Flocking<3>>(), 22 + 4 * 6 + 4 * 27 + 4 * 108);
    }
}
