//! Lloyd's algorithm: everybody to the centre of what it is nearest to (Cortés et al., "Coverage control for mobile sensing networks",
//! 2004). Centralised it knows everything that there is; by itself, a robot knows what its sensors reach.

use wdgnn_core::{
    task::Task as _,
    tasks::coverage::{Cell, Coverage},
};

use super::field::Field;
use crate::{
    error::Result,
    scene::{Scene, Swarm},
};

/// Somebody who sees everything.
#[derive(Clone, Debug)]
pub struct Lloyd {
    /// What there is.
    pub field: Field,
    /// What robots can do.
    pub task: Coverage,
}

impl Swarm<Coverage> for Lloyd {
    fn fly(&mut self, scene: &Scene<'_, Cell>, commands: &mut Vec<[f32; 2]>) -> Result {
        let places: Vec<[f32; 2]> = scene.states.iter().map(|cell| cell.position).collect();
        let parts = self.field.look(scene.tick).parts(&places, f32::INFINITY);
        commands.clear();
        commands.extend(places.iter().zip(parts).map(|(place, part)| go(&self.task, part.way(*place))));
        Ok(())
    }
}

/// Everybody by itself.
#[derive(Clone, Copy, Debug)]
pub struct LocalLloyd {
    /// What robots can do.
    pub task: Coverage,
}

impl Swarm<Coverage> for LocalLloyd {
    fn fly(&mut self, scene: &Scene<'_, Cell>, commands: &mut Vec<[f32; 2]>) -> Result {
        commands.clear();
        commands.extend(scene.states.iter().map(|cell| go(&self.task, cell.way)));
        Ok(())
    }
}

/// All the way in one tick, as far as a robot can.
fn go(task: &Coverage, way: [f32; 2]) -> [f32; 2] {
    task.command(&way.map(|x| x / task.period))
}

/// Nobody moves.
#[derive(Clone, Copy, Debug)]
pub struct NoMotion;

impl Swarm<Coverage> for NoMotion {
    fn fly(&mut self, scene: &Scene<'_, Cell>, commands: &mut Vec<[f32; 2]>) -> Result {
        commands.clear();
        commands.resize(scene.states.len(), [0.0; 2]);
        Ok(())
    }
}
