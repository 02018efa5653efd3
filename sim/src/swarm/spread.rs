//! What a worker knows, spread over everybody: for swarms that have a place for every robot. Those have up to as many robots as there are
//! addresses, so that nobody minds.

use wdgnn_core::task::State;

use super::share::Near;
use crate::{links::Links, scene::Scene};

/// A place for everybody; whoever is not known is as he was when he last was.
#[derive(Debug)]
pub struct Spread<S> {
    /// Who is in which row.
    pub rows: Vec<u32>,
    states: Vec<S>,
    places: Vec<[f32; 3]>,
    links: Links,
}

impl<S> Default for Spread<S> {
    fn default() -> Self {
        Self { rows: Vec::new(), states: Vec::new(), places: Vec::new(), links: Links::default() }
    }
}

impl<S: State> Spread<S> {
    /// The scene of so many robots as they are about to speak, who hear each other as they did in the tick before.
    pub fn speaking(&mut self, near: &Near<'_, S>, robots: usize) -> Scene<'_, S> {
        self.states.resize(robots, S::zero());
        self.places.resize(robots, [0.0; 3]);
        self.rows.clear();
        self.rows.extend_from_slice(near.numbers);
        for (number, (state, place)) in
            near.numbers.iter().zip(near.scene.states.iter().zip(near.scene.places))
        {
            self.states[*number as usize] = *state;
            self.places[*number as usize] = *place;
        }
        if self.links.robots() != robots {
            self.links = Links::of_rows(robots, |_, _| ());
        }
        let Self { states, places, links, .. } = self;
        Scene { tick: near.scene.tick, states, places, links }
    }

    /// The same as they are about to listen: who is known hears whom is known.
    pub fn listening(&mut self, near: &Near<'_, S>, robots: usize) -> Scene<'_, S> {
        let Near { scene, numbers, .. } = near;
        let mut known = (0..).zip(*numbers).peekable();
        self.links = Links::of_rows(robots, |robot, others| {
            let Some((row, _)) = known.next_if(|(_, number)| **number as usize == robot) else { return };
            others.extend(scene.links.of(row).iter().map(|other| numbers[*other as usize]));
        });
        self.speaking(near, robots)
    }
}

#[cfg(test)]
mod tests {
    use wdgnn_core::flocking::Motion;

    use super::*;

    #[test]
    fn links_are_spread_over_everybody() {
        let places = [[0.0; 3], [1.0, 0.0, 0.0], [1.5, 0.0, 0.0]];
        let states = places.map(|[x, ..]| Motion { position: [x, 0.0], velocity: [0.0; 2] });
        let links = Links::within(&places, 1.0);
        let scene = Scene { tick: 3, states: &states, places: &places, links: &links };
        let near = Near { scene, numbers: &[1, 4, 5], mine: &[true, false, true] };
        let mut spread = Spread::default();
        let Scene { states, links, .. } = spread.listening(&near, 6);
        assert_eq!(
            (links.of(1), links.of(2), links.of(4), links.of(5)),
            (&[4][..], &[][..], &[1, 5][..], &[4][..])
        );
        assert_eq!((states[5].position[0], states[2].position[0]), (1.5, 0.0));
    }
}
