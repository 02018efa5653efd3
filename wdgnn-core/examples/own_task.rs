//! A task of your own in four methods: three robots meet at one point. The command is a velocity.
//!
//! `cargo run -p wdgnn-core --example own_task`

use wdgnn_core::agent::{Agent, Config};
use wdgnn_core::model::{GradientMetric, activation::Activation, shape::OneLayer, shape::Shape};
use wdgnn_core::{filter::scale::Scale, math, neighbors::Inbox, online::Learning};
use wdgnn_core::{task::Task, tasks::flocking::Motion};

type Pair = [f32; 2];
type Net = OneLayer<2, 2, 2, 2>;
struct Rendezvous;

impl Task for Rendezvous {
    const ID: u16 = 1001;
    type State = Motion;
    type Features = Pair;
    type Command = Pair;

    fn from_constants(_: &[f32; 8]) -> Self {
        Self
    }
    /// Sum of the offsets to the neighbors.
    fn features<'a>(&self, own: &Motion, others: impl Iterator<Item = &'a Motion>) -> Pair {
        others.fold([0.0; 2], |sum, other| [0, 1].map(|i| sum[i] + other.position[i] - own.position[i]))
    }
    /// Gradient of half the squared difference between command and features.
    fn loss_gradient<'a>(&self, own: &Motion, others: impl Iterator<Item = &'a Motion>, u: &Pair) -> Pair {
        let [x, y] = self.features(own, others);
        [u[0] - x, u[1] - y]
    }
    fn saturate(&self, output: &Pair) -> Pair {
        output.map(|u| math::clamp(u, 1.0))
    }
}

pub fn main() {
    // α_W is 1. B in its first tap and R are identities.
    let weights: [f32; 29] = std::array::from_fn(|index| [1, 13, 16, 23, 26].contains(&index).into());
    let net = <Net as Shape<Rendezvous>>::from_numbers(
        &weights,
        Activation::Tanh,
        Scale::Sum,
        GradientMetric::Paper,
    )
    .unwrap();
    let config = Config::new(net, Rendezvous, Learning::OFF);
    let start = [[0.0, 0.0], [3.0, 1.0], [4.0, -2.0]];
    let mut robots = start.map(|position| Agent::new(&config, Motion { position, ..Motion::REST }));
    for tick in 1..1_000 {
        let messages: Vec<_> = (0..).zip(&robots).map(|(id, robot)| robot.message(id)).collect();
        for (robot, message) in robots.iter_mut().zip(&messages) {
            let mut inbox: Inbox<_, _> = Inbox::new();
            let others = messages.iter().filter(|other| other.sender != message.sender);
            others.for_each(|other| inbox.update(*other).unwrap());
            let (u, [x, y]) = (robot.decide(&config, &inbox.view()), robot.state().position);
            robot.sense(tick, Motion { position: [x + 0.01 * u[0], y + 0.01 * u[1]], velocity: u });
        }
    }
    let places = robots.map(|robot| robot.state().position);
    println!("the robots are at {places:.3?} m");
    assert!(places.iter().all(|[x, y]| (x - places[0][0]).hypot(y - places[0][1]) < 0.01));
}
