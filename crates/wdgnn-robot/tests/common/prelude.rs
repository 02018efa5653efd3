//! Types of the crates under test and helpers of these tests, in one import.
#![allow(unused_imports, reason = "each test file needs a part of it")]

pub use rand::{Rng as _, RngExt as _, SeedableRng as _};
pub use rand_chacha::ChaCha8Rng;
pub use wdgnn_core::{
    agent::{Config, ConsensusReport},
    filter::{DelayLine, DelayLines, LayerTaps, scale::Scale},
    math::MAX_ADMISSIBLE,
    message::{AgentMessage, Message},
    model::{
        GradientMetric, Model,
        activation::Activation,
        deep::{EndOfStack, Layer},
        folded::Folded,
        network::Network,
        unfolded::Unfolded,
    },
    online::{Learning, Mixing},
    task::{State, Task},
    tasks::flocking::{Flocking, Motion},
    tensor::{Filter, Tensor, param_range::ParamRange},
    weights::{Aligned, Weights},
};
pub use wdgnn_link::{
    encoding::{
        Encoding, OutgoingMessage,
        esb32::Esb32,
        exact::{self, Exact, ExactUnfolded},
        half::{Dot154, EspNow, P2p57},
    },
    error::FrameError,
    header::{FrameId, Payload, Profile},
    link::{Link, Managed, ManagedEsb32, MessageLink, RadioLink, Reception, Sealed, SealedEsb32},
    security::{
        LinkSecurity, Open, SecurityState as _,
        aes::Aes,
        group_key::GroupKey,
        key::Key,
        key_update::{KeyUpdate, pair_key, personal_key, swarm_key},
        managed_keys::{ManagedKeys, ROSTER_CAPACITY},
        replay::{MAX_FRAME_AGE_TICKS, MAX_FRAME_LEAD_TICKS, MAX_SENDERS, SENDER_TIMEOUT_TICKS},
    },
};
pub use wdgnn_robot::{
    config::{MAX_STATE_AGE_TICKS, MAX_TAP, RobotConfig, RobustConfig, Trust, TrustPolicy as _},
    control_loop, persist,
    ports::{Measurement, PortSet},
    robot::Robot,
    safety::gate::{IsolationPhase, Verdict},
    tasks::{MotionModel as _, RobotTask},
};

pub(crate) use super::messages::{for_open_links, for_sealed_links};
pub use super::{
    ROUNDING,
    board::{Board, Flash},
    connected_graph,
    document::{document, example},
    flock::{
        FlockConfig, FoldedNet, G, MODEL, Net, PlainRobot, REST, RobotOn, TASK, Tested as _, UnfoldedRobot,
        config, fly, links, neighbor_message, network, network_over, node, offline, quiet_robot, robot,
        robot_on, seen, start, stored_state, unfolded_robot, weights, with_probation,
    },
    insider::Insider,
    messages::{
        Example, Full, Numbered, Reading, Taps, TestLink, Wide, decode, encode, example_message,
        full_message, managed_link, open_link, read, sealed_link, sealed_link_of, write,
    },
    radio_swarm::RadioSwarm,
    random_graph, random_numbers, seeded, seeded_cases,
    signal::{Regression, Signal},
    swarm::{TickResult, exchange},
};
