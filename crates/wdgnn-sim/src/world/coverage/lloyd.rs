//! Lloyd's algorithm: each robot moves to the centroid of its Voronoi cell.
//!
//! See Cortés et al., "Coverage control for mobile sensing networks", 2004. The centralized variant
//! knows the whole density, the local variant only the part within sensor range.

use wdgnn_core::{
    task::Task as _,
    tasks::coverage::{Cell, Coverage},
};

use super::field::Field;
use crate::{
    error::Result,
    scene::{Scene, Swarm},
};

/// Lloyd's algorithm with the whole density.
#[derive(Clone, Debug)]
pub struct Lloyd {
    /// Density of interest.
    pub field: Field,
    /// Task of the robots.
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

/// Lloyd's algorithm with each robot's sensed cell.
#[derive(Clone, Copy, Debug)]
pub struct LocalLloyd {
    /// Task of the robots.
    pub task: Coverage,
}

impl Swarm<Coverage> for LocalLloyd {
    fn fly(&mut self, scene: &Scene<'_, Cell>, commands: &mut Vec<[f32; 2]>) -> Result {
        commands.clear();
        commands.extend(scene.states.iter().map(|cell| go(&self.task, cell.way)));
        Ok(())
    }
}

/// Command that covers the whole way in one tick, within the speed limit.
fn go(task: &Coverage, way: [f32; 2]) -> [f32; 2] {
    task.saturate(&way.map(|x| x / task.period))
}

/// Controller without motion.
#[derive(Clone, Copy, Debug)]
pub struct NoMotion;

impl Swarm<Coverage> for NoMotion {
    fn fly(&mut self, scene: &Scene<'_, Cell>, commands: &mut Vec<[f32; 2]>) -> Result {
        commands.clear();
        commands.resize(scene.states.len(), [0.0; 2]);
        Ok(())
    }
}
