//! Controller with faulty sensors and motors.
//!
//! With an expert inside, it bounds what any robots achieve under such faults.

use crate::{
    error::Result,
    medium::{motors::Motors, options::Faults, sensors::Senses},
    scene::{Scene, SimTask, StateLayout, Swarm},
};

/// Controller that gets sensed states and acts through faulty motors.
#[allow(missing_debug_implementations, reason = "contains trait objects and functions")]
pub struct FaultyHardware<'a, T: SimTask> {
    inner: Box<dyn Swarm<T> + 'a>,
    senses: Senses<T::State>,
    motors: Motors,
    /// Last sensed state of each robot.
    sensed: Vec<T::State>,
}

impl<'a, T: SimTask> FaultyHardware<'a, T> {
    /// Wraps the controller of swarm number `swarm` with the sensor and motor faults of `faults`.
    pub fn new(
        inner: Box<dyn Swarm<T> + 'a>, faults: &Faults, layout: StateLayout, swarm: u64, robots: usize,
    ) -> Self {
        Self {
            inner,
            senses: Senses::new(faults, layout, swarm, robots),
            motors: Motors::new(faults, swarm, robots),
            sensed: Vec::new(),
        }
    }
}

impl<T: SimTask> Swarm<T> for FaultyHardware<'_, T> {
    fn fly(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Command>) -> Result {
        let now = self.senses.sense(scene.tick, scene.states);
        if self.sensed.is_empty() {
            self.sensed = scene.states.to_vec();
        }
        self.sensed.iter_mut().zip(now).for_each(|(sensed, now)| *sensed = now.unwrap_or(*sensed));
        self.inner.fly(&Scene { states: &self.sensed, ..*scene }, commands)?;
        for (robot, command) in commands.iter_mut().enumerate() {
            self.motors.act(scene.tick, robot, command.as_mut());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use wdgnn_core::tasks::flocking::{Flocking, Motion};

    use super::*;
    use crate::links::Links;

    /// Commands each robot's sensed position.
    struct Echo;

    impl Swarm<Flocking> for Echo {
        fn fly(&mut self, scene: &Scene<'_, Motion>, commands: &mut Vec<[f32; 2]>) -> Result {
            *commands = scene.states.iter().map(|motion| motion.position).collect();
            Ok(())
        }
    }

    #[test]
    fn the_controller_gets_sensed_states_and_acts_through_motors() {
        let at = |x| Motion { position: [x, 0.0], velocity: [0.0; 2] };
        let (links, states) = (Links::default(), [at(1.0), at(2.0)]);
        let fly = |faults: &str| {
            let faults = Faults::parse(faults).unwrap();
            let layout = StateLayout { position: 0..2, velocity: 2..4 };
            let mut commands = Vec::new();
            let scene = Scene { tick: 0, states: &states, places: &[], links: &links };
            FaultyHardware::new(Box::new(Echo), &faults, layout, 0, 2).fly(&scene, &mut commands).unwrap();
            commands
        };
        assert_eq!(fly(""), [[1.0, 0.0], [2.0, 0.0]]);
        assert_eq!(fly("motor=dead:1"), [[0.0; 2]; 2]);
        let off = fly("position-bias=0.1");
        assert!(off[0] != [1.0, 0.0] && (off[0][0] - 1.0).abs() < 0.5, "{off:?}");
    }
}
