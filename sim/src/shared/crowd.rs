//! The robots that a worker knows: its own and those near them, or everybody.

use super::parcel::Told;

/// Some robots, in the order of their numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Crowd<S> {
    /// Their numbers in the whole swarm, ascending.
    pub numbers: Vec<u32>,
    /// Who of them is flown here.
    pub mine: Vec<bool>,
    /// How they are.
    pub states: Vec<S>,
    /// What they sense of that; of those who were told of, how they are.
    pub sensed: Vec<S>,
}

impl<S: Copy> Crowd<S> {
    /// Of everybody those for whom `keep` says so; `mine` says who is flown here.
    pub fn of(states: &[S], keep: impl Fn(usize) -> bool, mine: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..states.len()).filter(|robot| keep(*robot)).collect();
        Self {
            numbers: kept.iter().map(|robot| *robot as u32).collect(),
            mine: kept.iter().map(|robot| mine(*robot)).collect(),
            states: kept.iter().map(|robot| states[*robot]).collect(),
            sensed: Vec::new(),
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there is nobody.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The rows of those who are flown here.
    pub fn own(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(|row| self.mine[*row])
    }

    /// Those who are flown here, each with its state.
    #[must_use]
    pub fn own_states(&self) -> Vec<(u32, S)> {
        self.own().map(|row| (self.numbers[row], self.states[row])).collect()
    }

    /// Takes in who was told of: who is known already is as it is told, and everybody else is new. Whether that could be: nobody tells of
    /// a robot that is flown here, or twice of one.
    #[must_use]
    pub fn hear_of(&mut self, mut told: Vec<Told<S>>) -> bool {
        told.sort_by_key(|told| told.robot);
        if told.windows(2).any(|two| two[0].robot == two[1].robot) {
            return false;
        }
        let mut good = true;
        let mut row = 0;
        told.retain(|told| {
            row += self.numbers[row..].partition_point(|number| (*number as usize) < told.robot);
            let known = self.numbers.get(row).is_some_and(|number| *number as usize == told.robot);
            if known {
                good &= !self.mine[row];
                (self.mine[row], self.states[row]) = (told.given, told.state);
            }
            !known
        });
        self.insert(&told);
        good
    }

    /// From the back on, so that everybody moves at most once.
    fn insert(&mut self, new: &[Told<S>]) {
        let Some(blank) = new.first() else { return };
        let (mut from, mut to) = (self.len(), self.len() + new.len());
        self.numbers.resize(to, 0);
        self.mine.resize(to, false);
        self.states.resize(to, blank.state);
        self.sensed.resize(to, blank.state);
        for Told { robot, state, given } in new.iter().rev() {
            let first = self.numbers[..from].partition_point(|number| (*number as usize) < *robot);
            to -= from - first;
            self.numbers.copy_within(first..from, to);
            self.mine.copy_within(first..from, to);
            self.states.copy_within(first..from, to);
            self.sensed.copy_within(first..from, to);
            from = first;
            to -= 1;
            (self.numbers[to], self.mine[to]) = (*robot as u32, *given);
            (self.states[to], self.sensed[to]) = (*state, *state);
        }
    }

    /// Forgets everybody else, of `commands` too.
    pub fn keep_mine<C: Copy>(&mut self, commands: &mut Vec<C>) {
        let Self { numbers, mine, states, sensed } = self;
        let mut kept = 0;
        for row in 0..numbers.len() {
            if mine[row] {
                numbers[kept] = numbers[row];
                states[kept] = states[row];
                commands[kept] = commands[row];
                kept += 1;
            }
        }
        numbers.truncate(kept);
        states.truncate(kept);
        commands.truncate(kept);
        mine.clear();
        mine.resize(kept, true);
        sensed.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(robot: usize, given: bool) -> Told<f32> {
        Told { robot, state: robot as f32 + 0.5, given }
    }

    fn crowd() -> Crowd<f32> {
        let states: Vec<f32> = (0..10_u8).map(f32::from).collect();
        let mut crowd = Crowd::of(&states, |robot| [2, 3, 7].contains(&robot), |_| true);
        crowd.sensed = crowd.states.clone();
        crowd
    }

    #[test]
    fn who_is_told_of_comes_in_order_and_is_forgotten_again() {
        let mut crowd = crowd();
        crowd.mine[1] = false;
        let all = [9, 0, 5, 4].map(|robot| told(robot, robot == 5));
        assert!(crowd.hear_of(all.to_vec()));
        assert_eq!(crowd.numbers, [0, 2, 3, 4, 5, 7, 9]);
        assert_eq!(crowd.states, [0.5, 2.0, 3.0, 4.5, 5.5, 7.0, 9.5]);
        assert_eq!(crowd.mine, [false, true, false, false, true, true, false]);
        assert_eq!(crowd.sensed, crowd.states);
        let mut commands = vec![0, 2, 3, 4, 5, 7, 9];
        crowd.keep_mine(&mut commands);
        assert_eq!((&crowd.numbers[..], &commands[..]), (&[2, 5, 7][..], &[2, 5, 7][..]));
        assert_eq!(crowd.own_states(), [(2, 2.0), (5, 5.5), (7, 7.0)]);
    }

    #[test]
    fn of_a_robot_that_is_here_or_twice_of_one_nobody_can_tell() {
        assert!(!crowd().hear_of(vec![told(3, false)]));
        assert!(!crowd().hear_of(vec![told(4, false), told(4, true)]));
        let mut known = crowd();
        known.mine[0] = false;
        assert!(known.hear_of(vec![told(2, true)]), "that is how everybody is told where everybody is known");
        assert_eq!((known.states[0], known.mine[0]), (2.5, true));
    }
}
