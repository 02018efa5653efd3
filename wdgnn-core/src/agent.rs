//! Algorithm 1 of the paper: what one robot computes in one tick.
//!
//! ```text
//! x_i(t)                                                features      task.features
//! z_k(t) = s · Σ_j z_{k-1}^{(j)}(t-1)                   graph shift   filter::aggregate
//! u_i    = Rᵀ(α_D σ(Aᵀz + a) + α_W (Bᵀz + b) + β) + ρ   WD-GNN        model.infer
//! B_i    ← mean(B_i, B_j) − γ_t ∇J_i(B_i)               learning      consensus_step, descend
//! ```
//!
//! The gradient is taken at the parameters before the mean, those of the last decision. These are lines
//! 4 to 9 of Algorithm 1. Its centralized branch, lines 10 to 14, is not part of a robot; `wdgnn-sim` has it.

use heapless::Vec;

use crate::{
    adaptation::ActuatorCalibration,
    filter::{self, DelayLines as _},
    message::{AgentMessage, Message},
    model::Model,
    neighbors::Neighbors,
    online::{self, Learning, consensus::consensus_step},
    task::{NodeId, Task},
    tensor::{Array as _, Tensor as _},
};

/// Network, task and learning rule of a swarm: shared by all agents.
#[derive(Clone, Copy, Debug)]
pub struct Config<M, T> {
    /// The network.
    pub model: M,
    /// The task.
    pub task: T,
    /// The rule of online learning.
    pub learning: Learning,
    /// Norm of the offline parameters, the unit of [`Learning::ball`] and [`Learning::clip`].
    pub offline_norm: f32,
}

impl<M: Model, T> Config<M, T> {
    /// Configuration of agents that start from the offline parameters of `model`.
    #[inline]
    pub fn new(model: M, task: T, learning: Learning) -> Self {
        Self { offline_norm: model.offline().norm(), model, task, learning }
    }
}

/// Result of one learning step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct ConsensusReport {
    /// Number of neighbors whose parameters were mixed.
    pub mixed: u8,
    /// Whether the parameters had left the ball around the offline parameters.
    pub projected: bool,
    /// Whether the parameters were not admissible and were reset to the offline parameters.
    pub reset: bool,
}

/// One robot's state between ticks.
#[derive(Clone, Copy, Debug)]
pub struct Agent<M: Model, T: Task> {
    tick: u32,
    /// Ticks since the previous call of [`Agent::begin_tick`].
    elapsed_ticks: u32,
    first_tick: Option<u32>,
    /// The robot's own state now, one tick ago and two ticks ago.
    states: [T::State; 3],
    /// Command that the actuators execute now, and the one before.
    executed: [Option<T::Command>; 2],
    taps: M::Taps,
    /// Taps of the last exchange, where those of this tick differ.
    transmitted: Option<M::Taps>,
    wide: M::Wide,
    output: T::Command,
    adaptation: ActuatorCalibration<T::Command>,
    degree: u8,
}

impl<M: Model, T> Agent<M, T>
where
    T: Task<Features = M::Features, Command = M::Output>,
{
    /// An agent in `state` with the offline parameters.
    #[inline]
    pub fn new(config: &Config<M, T>, state: T::State) -> Self {
        Self {
            tick: 0,
            elapsed_ticks: 1,
            first_tick: None,
            states: [state; 3],
            executed: [None; 2],
            taps: M::Taps::ZERO,
            transmitted: None,
            wide: *config.model.offline(),
            output: T::Command::ZERO,
            adaptation: ActuatorCalibration::NEUTRAL,
            degree: 0,
        }
    }

    /// Begins a tick in a measured state.
    pub fn sense(&mut self, tick: u32, state: T::State) {
        self.begin_tick(tick);
        self.set_state(state);
    }

    /// The message of this tick: state, taps of the last exchange, wide parameters.
    #[inline]
    pub fn message(&self, sender: NodeId) -> AgentMessage<M, T> {
        let Self { tick, degree, states: [state, ..], wide, .. } = *self;
        Message { sender, tick, degree, state, taps: *self.transmitted(), wide }
    }

    /// Computes the command: features, delayed graph shift, WD-GNN, local adaptation if it is on, saturation.
    #[inline(never)] // returns its stack before the actuators are called
    pub fn decide<const N: usize>(
        &mut self, config: &Config<M, T>, neighbors: &Neighbors<'_, M, T, N>,
    ) -> T::Command {
        let Config { model, task, learning, .. } = config;
        let features = task.features(self.state(), neighbors.states());
        if neighbors.exchange {
            self.taps = filter::aggregate(self.transmitted(), neighbors.taps(task), model.scale());
            self.transmitted = None;
        } else {
            self.transmitted.get_or_insert(self.taps);
        }
        self.output = model.infer(&self.wide, &features, &mut self.taps);
        if learning.adapts_locally() {
            self.adaptation.apply(&mut self.output);
        }
        let command = task.saturate(&self.output);
        self.set_executed_command(Some(command));
        command
    }

    /// Decentralized online learning (eq. `disgd`): mixes with the neighbors, then descends.
    #[inline(never)]
    pub fn learn<const N: usize>(
        &mut self, config: &Config<M, T>, neighbors: &Neighbors<'_, M, T, N>,
    ) -> ConsensusReport {
        let Config { model, learning: rule, offline_norm, .. } = config;
        let gradient = model.gradient(&self.loss_gradient(config, neighbors));
        let step = rule.step_at(self.tick.saturating_sub(self.first_tick.unwrap_or(self.tick)));
        let mut params = Vec::new();
        neighbors.collect_params(&mut params);
        let mut report = ConsensusReport { mixed: params.len() as u8, ..ConsensusReport::default() };

        let (wide, offline) = (&mut self.wide, model.offline());
        let unmixed = if step > 0.0 && rule.ridge > 0.0 { Some(*wide) } else { None };
        consensus_step(rule.mixing, wide, self.degree, &params, rule.clip * offline_norm);
        if let Some(unmixed) = unmixed {
            online::apply_ridge(wide, &unmixed, offline, step * rule.ridge);
        }
        if step > 0.0 {
            model.descend(wide, &self.taps, &gradient, step);
            online::keep_zeros(wide, offline);
        }
        if rule.ball > 0.0 {
            report.projected = online::project_onto_ball(wide, offline, rule.ball * offline_norm);
        }
        if !wide.is_admissible() {
            *wide = *offline;
            report.reset = true;
        }
        self.degree = neighbors.len() as u8;
        report
    }

    /// Gradient of the local loss with respect to the raw output.
    ///
    /// It is zero where the command is saturated, unless [`Learning::through_clamp`] is set.
    fn loss_gradient<const N: usize>(
        &self, config: &Config<M, T>, neighbors: &Neighbors<'_, M, T, N>,
    ) -> T::Command {
        let command = config.task.saturate(&self.output);
        let mut gradient = config.task.loss_gradient(self.state(), neighbors.states(), &command);
        if !config.learning.through_clamp {
            let pairs = self.output.as_ref().iter().zip(command.as_ref());
            for (g, (raw, saturated)) in gradient.as_mut().iter_mut().zip(pairs) {
                *g = if raw == saturated { *g } else { 0.0 };
            }
        }
        gradient
    }
}

mod access;
mod adapt;
