//! How should robots agree on what they learn in flight? The paper's rule beside others from the literature, with the same gradients, steps and
//! ball, from the same starts: `cargo run --release -p wdgnn-sim --example averaging -- 20` flies 20 swarms per line.
//!
//! * alone: nobody's parameters are averaged;
//! * paper: the plain mean over neighbours and oneself;
//! * Metropolis: weights by both ends' number of neighbours, which keep the swarm's mean;
//! * push-sum: everybody splits what it has among those who hear it, and the share of a count along with it, so that directed links do no harm;
//! * tracking: gradient tracking; robots also average an estimate of the swarm's gradient, and descend along that. It doubles what is sent.

use wdgnn_core::{
    Flocking, Learning, Motion, Task as _,
    model::{Model as _, shape::Shape},
    tensor::Tensor as _,
};
use wdgnn_link::encoding::exact::Exact;
use wdgnn_robot::{
    Behaviour, Node,
    onboard::{ModelOf, NEIGHBOURS, Onboard},
    ports::Sensed,
};
use wdgnn_sim::{
    air::blueprint::Blueprint,
    error::Result,
    flight::Start,
    links::Links,
    model::ModelFile,
    models,
    scene::{Scene, Swarm},
    seeds::{Purpose, generator},
    swarm::networks,
    world::{
        Condition, World as _,
        flock::{Flock, bodies::Quirks},
    },
};

/// By which rule.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    Off,
    Alone,
    Paper,
    Metropolis,
    PushSum,
    Tracking,
}

const RULES: [(&str, Rule); 6] = [
    ("offline", Rule::Off),
    ("alone", Rule::Alone),
    ("paper", Rule::Paper),
    ("Metropolis", Rule::Metropolis),
    ("push-sum", Rule::PushSum),
    ("tracking", Rule::Tracking),
];

/// A vector of parameters.
type Numbers = Vec<f32>;

/// Robots whose parameters are looked after from outside.
struct Learners<'w> {
    nodes: Vec<Node<ModelOf<'w, Flocking>, Flocking, NEIGHBOURS, Exact>>,
    rule: Rule,
    learning: Learning,
    offline: Numbers,
    /// What is averaged: the parameters, or for push-sum their sums.
    held: Vec<Numbers>,
    /// Push-sum's counts.
    counts: Vec<f32>,
    /// The tracked gradients, and the last ones of one's own.
    tracked: Vec<Numbers>,
    last: Vec<Numbers>,
}

impl<'w> Learners<'w> {
    fn new(model: &'w ModelFile, rule: Rule, start: &[Motion]) -> Result<Self> {
        let weights = model.weights();
        let learning = weights.header.learning;
        let network = <<Flocking as Onboard>::Shape as Shape<Flocking>>::from_weights(&weights)
            .map_err(|source| model.unusable(source))?;
        let behaviour = Behaviour::new(Learning { through_clamp: learning.through_clamp, ..Learning::OFF });
        let (task, checksum) = (networks::task(model)?, weights.checksum);
        let blueprint = Blueprint { model: network, task, checksum, behaviour };
        let offline = network.offline().numbers().to_vec();
        let robots = start.len();
        let nothing = vec![0.0; offline.len()];
        Ok(Self {
            nodes: (0..).zip(start).map(|(id, state)| blueprint.node(id, *state, Exact)).collect(),
            rule,
            learning,
            held: vec![offline.clone(); robots],
            offline,
            counts: vec![1.0; robots],
            tracked: vec![nothing.clone(); robots],
            last: vec![nothing; robots],
        })
    }

    /// The gradients of all robots' local losses.
    fn gradients(&self, scene: &Scene<'_, Motion>) -> Vec<Numbers> {
        let through = self.learning.through_clamp;
        let one = |(robot, node): (usize, &Node<ModelOf<'w, Flocking>, Flocking, NEIGHBOURS, Exact>)| {
            let others = scene.links.of(robot).iter().map(|&other| &scene.states[other as usize]);
            let gradient = node.task().gradient(node.state(), others, node.output(), through);
            let mut sum = *node.wide();
            sum.numbers_mut().fill(0.0);
            node.model().descend(&mut sum, node.chains(), &node.model().gradient(&gradient), -1.0);
            sum.numbers().to_vec()
        };
        self.nodes.iter().enumerate().map(one).collect()
    }

    fn agree(&mut self, scene: &Scene<'_, Motion>) {
        let (links, step) = (scene.links, self.learning.step);
        let gradients = self.gradients(scene);
        let metropolis = |a: usize, b: usize| 1.0 / (1 + links.of(a).len().max(links.of(b).len())) as f32;
        let uniform = |a: usize, _: usize| 1.0 / (1 + links.of(a).len()) as f32;
        match self.rule {
            Rule::Off => return,
            Rule::Alone => {}
            Rule::Paper => self.held = mixed(&self.held, links, uniform),
            Rule::Metropolis | Rule::Tracking => self.held = mixed(&self.held, links, metropolis),
            Rule::PushSum => {
                self.held = pushed(&self.held, links);
                let counts: Vec<Numbers> = self.counts.iter().map(|&count| vec![count]).collect();
                self.counts = pushed(&counts, links).into_iter().map(|count| count[0]).collect();
            }
        }
        if self.rule == Rule::Tracking {
            self.tracked = mixed(&self.tracked, links, metropolis);
            for ((tracked, new), old) in self.tracked.iter_mut().zip(&gradients).zip(&self.last) {
                add(tracked, new, 1.0);
                add(tracked, old, -1.0);
            }
            self.last.clone_from(&gradients);
        }
        let along = if self.rule == Rule::Tracking { &self.tracked } else { &gradients };
        let ball = self.learning.ball * norm(&self.offline);
        for (robot, node) in self.nodes.iter_mut().enumerate() {
            let held = &mut self.held[robot];
            add(held, &along[robot], -step);
            let mut wide: Numbers = held.iter().map(|x| x / self.counts[robot]).collect();
            let off: Numbers = wide.iter().zip(&self.offline).map(|(x, offline)| x - offline).collect();
            let far = norm(&off);
            if ball > 0.0 && far > ball {
                wide =
                    self.offline.iter().zip(&off).map(|(offline, off)| offline + off * ball / far).collect();
                *held = wide.iter().map(|x| x * self.counts[robot]).collect();
            }
            let mut flown = *node.wide();
            flown.numbers_mut().copy_from_slice(&wide);
            node.set_wide(&flown);
        }
    }
}

fn norm(x: &[f32]) -> f32 {
    x.iter().map(|x| x * x).sum::<f32>().sqrt()
}

fn add(to: &mut [f32], from: &[f32], factor: f32) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
}

/// `own + Σ_j weight · (theirs − own)`.
fn mixed(held: &[Numbers], links: &Links, weight: impl Fn(usize, usize) -> f32) -> Vec<Numbers> {
    let one = |(robot, own): (usize, &Numbers)| {
        let mut sum = own.clone();
        for &other in links.of(robot) {
            let weight = weight(robot, other as usize);
            add(&mut sum, &held[other as usize], weight);
            add(&mut sum, own, -weight);
        }
        sum
    };
    held.iter().enumerate().map(one).collect()
}

/// Everybody's held is split evenly among those who hear it and itself.
fn pushed(held: &[Numbers], links: &Links) -> Vec<Numbers> {
    let mut hearers = vec![1.0_f32; held.len()];
    for robot in 0..held.len() {
        links.of(robot).iter().for_each(|&other| hearers[other as usize] += 1.0);
    }
    let one = |robot: usize| {
        let mut sum = vec![0.0; held[robot].len()];
        for other in links.of(robot).iter().map(|&other| other as usize).chain([robot]) {
            add(&mut sum, &held[other], 1.0 / hearers[other]);
        }
        sum
    };
    (0..held.len()).map(one).collect()
}

impl Swarm<Flocking> for Learners<'_> {
    fn fly(&mut self, scene: &Scene<'_, Motion>, commands: &mut Vec<[f32; 2]>) -> Result {
        for (node, state) in self.nodes.iter_mut().zip(scene.states) {
            node.sense(scene.tick, Some(Sensed::now(*state)));
        }
        let said: Vec<_> = self.nodes.iter_mut().map(Node::beacon).collect();
        commands.clear();
        for (robot, node) in self.nodes.iter_mut().enumerate() {
            for &other in scene.links.of(robot) {
                // A full table refuses whoever is too many, as in flight.
                let _ = node.accept(said[other as usize]);
            }
            node.settle();
            let features = node.observe();
            node.aggregate();
            node.infer(&features);
            commands.push(node.guard().0);
        }
        self.agree(scene);
        Ok(())
    }
}

/// Total velocity variation of every swarm.
fn totals(model: &ModelFile, rule: Rule, quirks: Quirks, speed: f32, swarms: u64) -> Result<Vec<f64>> {
    let task = networks::task(model)?;
    let condition = Condition { speed, ..Flock::<2>::condition() };
    (0..swarms)
        .map(|swarm| {
            let mut random = generator(1, Purpose::Testing, swarm);
            let start = Start::draw(&Flock::with(quirks), &condition, &mut random)?;
            let mut learners = Learners::new(model, rule, &start.states)?;
            Ok(start.fly_alone(&task, &mut learners)?.total())
        })
        .collect()
}

fn main() -> Result {
    let swarms = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(20);
    let conditions = [
        ("as trained", Quirks::default(), 3.0),
        ("speed 5 m/s", Quirks::default(), 5.0),
        ("60 % of frames lost", Quirks { loss: 0.6, ..Quirks::default() }, 3.0),
        ("actuators weak (0.4)", Quirks { weakness: 0.6, ..Quirks::default() }, 3.0),
    ];
    println!(
        "Total velocity variation relative to offline, {swarms} swarms, mean ± standard error of the paired ratio."
    );
    for name in ["flocking-wd-gnn", "through-wd-gnn"] {
        let model = models::named(name)?;
        for (title, quirks, speed) in conditions {
            print!("{name:16} {title:22}");
            let offline = totals(&model, Rule::Off, quirks, speed, swarms)?;
            for (rule_name, rule) in RULES.into_iter().skip(1) {
                let learned = totals(&model, rule, quirks, speed, swarms)?;
                let ratios: Vec<f64> = learned.iter().zip(&offline).map(|(a, b)| a / b).collect();
                let count = ratios.len() as f64;
                let mean = ratios.iter().sum::<f64>() / count;
                let spread = (ratios.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count).sqrt();
                print!("  {rule_name} {mean:.4} ± {:.4}", spread / (count - 1.0).max(1.0).sqrt());
            }
            println!();
        }
    }
    Ok(())
}
