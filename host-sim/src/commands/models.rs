//! Options that select the task and the networks of a command.

use std::path::PathBuf;

use clap::Args;

use super::conditions::SWARMS;
use crate::{
    controllers::EvalConfig,
    error::{Error, Result},
    model::ModelFile,
    models,
    profiles::Profile,
    recipe::{Architecture, RecipeName},
    world::{
        Environment, World as _,
        flock::{Flock, body::BodyConfig},
    },
};

/// Heading of options for the task and its networks.
pub const NETWORK: &str = "Task and network";

/// Task, network and link profile.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = NETWORK)]
pub struct ModelArguments {
    /// Task; `host-sim tasks` lists all.
    #[arg(long, value_name = "NAME", default_value = "flocking")]
    pub task: String,
    /// Weight file to use instead of the supplied network of its architecture.
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Link profile: exact, dot154, esb32, espnow or p2p57.
    #[arg(long, value_enum, default_value = "exact", hide_possible_values = true)]
    pub profile: Profile,
}

/// Body of the robots.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = SWARMS)]
pub struct BodyArguments {
    /// Body, for flocking: point, quadrotor or differential, with settings such as quadrotor,lag=1.2,delay=2 or ranges such as
    /// quadrotor,lag=0.8..1.2 that each swarm draws from. Settings: mass, lag, gain, delay in ticks, noise of the sensed velocity
    /// in m/s, asymmetry [default: point].
    #[arg(long, value_name = "KIND[,SETTING=VALUE]")]
    pub body: Option<BodyConfig>,
}

impl BodyArguments {
    /// Returns the world with this body.
    pub fn world<W: Environment>(self) -> Result<W> {
        let mut world = W::default();
        self.body.map_or(Ok(()), |body| world.set_body(body))?;
        Ok(world)
    }
}

/// Training recipe of the supplied networks.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = NETWORK)]
pub struct RecipeArguments {
    /// Recipe of the supplied flocking networks: through or paper [default: through].
    #[arg(long, value_enum, hide_possible_values = true)]
    pub recipe: Option<RecipeName>,
}

impl ModelArguments {
    /// Returns the supplied networks of a task, with `--model` replacing the network of its architecture.
    pub fn eval<W: Environment>(&self, world: &W, recipe: Option<RecipeName>) -> Result<EvalConfig<W>> {
        let (profile, own) = (self.profile, world.own_model(self.profile));
        let has_body = own.as_ref().is_ok_and(|own| own.weights().header.lag > 0.0);
        let models = match recipe {
            None if has_body => own.into_iter().collect(),
            _ if W::NAME == Flock::<2>::NAME => {
                Self::flocking(recipe.unwrap_or(RecipeName::Through), profile)?
            }
            Some(_) => return Err(Error::usage(format!("--recipe needs --task flocking, got {}", W::NAME))),
            None => own.into_iter().collect(),
        };
        let mut eval = EvalConfig::<W>::of(models, profile);
        if recipe == Some(RecipeName::Paper) {
            // The paper uses one γ for the central and for the decentralized rule.
            eval.central_step_ratio = 1.0;
        }
        if let Some(path) = &self.model {
            eval.insert_model(ModelFile::load(path)?);
        }
        Ok(eval)
    }

    /// Returns the supplied flocking networks. Small radios have a WD-GNN only.
    fn flocking(recipe: RecipeName, profile: Profile) -> Result<Vec<ModelFile>> {
        match (profile, recipe) {
            (Profile::Exact, RecipeName::Through | RecipeName::Paper) => models::all(recipe),
            (_, RecipeName::Through) => Ok(vec![models::for_profile(profile)?]),
            (profile, recipe) => Err(Error::usage(format!(
                "no model of --recipe {} comes with the program for --profile {}: leave --recipe out",
                recipe.name(),
                profile.name()
            ))),
        }
    }

    /// Returns the WD-GNN of `--model`, or the supplied one.
    pub fn wd_gnn<W: Environment>(&self, world: &W) -> Result<ModelFile> {
        self.model.as_ref().map_or_else(|| world.own_model(self.profile), |path| ModelFile::load(path))
    }
}

/// Loads the WD-GNN of a `--model` option.
pub fn load_wd_gnn(path: &std::path::Path) -> Result<ModelFile> {
    let model = ModelFile::load(path)?;
    match model.architecture() {
        Architecture::WdGnn => Ok(model),
        other => {
            let (path, name) = (path.display(), other.name());
            Err(Error::usage(format!("--model must be a wd-gnn, got the {name} {path}")))
        }
    }
}
