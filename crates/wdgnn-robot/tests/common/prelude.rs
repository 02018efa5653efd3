//! Types of the crates under test and helpers of these tests, in one import.
#![allow(unused_imports, reason = "each test file needs a part of it")]

pub use rand::{Rng as _, RngExt as _, SeedableRng as _};
pub use rand_chacha::ChaCha8Rng;
pub use wdgnn_core::{
    Network,
    filter::{Chain, Chains, NoChain, Stacked, scale::Scale},
    math::LARGEST,
    message::Beacon,
    model::{
        Metric, Model,
        activation::Activation,
        deep::{Layer, Top},
        folded::Folded,
        unfolded::Unfolded,
    },
    online::{Learning, Mixing},
    task::{State, Task},
    tasks::flocking::{Flocking, Motion},
    tensor::{Filter, Tensor, Vector, span::Span},
    weights::{Aligned, Weights},
};
pub use wdgnn_link::{
    encoding::{
        Codec,
        esb32::Esb32,
        exact::{self, Exact},
        half::{Dot154, EspNow},
        p2p57::P2p57,
    },
    error::Refusal,
    header::{Identity, Link, Parts, Profile},
    security::{
        aes::Aes,
        group_key::{Rekeyable, RekeyableEsb32, Sealed, SealedEsb32, SealedWith},
        key::Key,
        key_update::{Notice, pair_key, personal_key, swarm_key},
        replay::{FORGET_TICKS, GUARD_TICKS, LATE_TICKS, SENDERS},
    },
};
pub use wdgnn_robot::{
    config::{BLIND_TICKS, Behaviour},
    control_loop,
    node::{BeaconOf, Node, Settings},
    ports::{Ports, Sensed},
    safety::gate::{Isolation, Verdict},
    tasks::{MotionModel as _, RobotTask},
};

pub(crate) use super::beacons::{the_encodings, the_sealed_encodings};
pub use super::{
    ROUNDING,
    beacons::{Example, Full, Taps, Wide, decode, encode, example_beacon, full_beacon, link},
    board::{Board, Flash},
    connected_graph,
    document::{document, example},
    flock::{
        FoldedNet, G, MODEL, Net, REST, Robot, RobotOn, TASK, Tested as _, UnfoldedRobot, fly, links,
        neighbor_beacon, network, network_over, node, offline, quiet_robot, robot, robot_on, robot_with,
        seen, start, unfolded_robot, weights,
    },
    insider::Insider,
    radio_swarm::RadioSwarm,
    random_graph, random_numbers, seeded, seeded_cases,
    signal::{Regression, Signal},
    swarm::{Deed, exchange},
};
