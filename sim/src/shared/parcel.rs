//! What goes from one worker to another in a tick.

use wdgnn_core::{
    passage::Passage,
    task::{State as _, Task},
};

use super::cut::Sample;
use crate::{passing, swarm::share::Share};

/// Behind the last robot.
const END: u32 = u32::MAX;

/// A parcel in the making.
#[derive(Clone, Debug, Default)]
pub struct Parcel {
    bytes: Vec<u8>,
}

/// A robot in a parcel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told<S> {
    /// Which.
    pub robot: usize,
    /// How it is.
    pub state: S,
    /// Whether it is the receiver's from now on.
    pub given: bool,
}

impl Parcel {
    /// A parcel for the tick, with where its sender's robots are and a snapshot to keep, where it is time for that.
    #[must_use]
    pub fn new(sample: Option<&Sample>, snapshot: Option<&[u8]>) -> Self {
        let mut bytes = Vec::new();
        passing::write(&mut bytes, |passage| {
            pass_sample(passage, &mut sample.cloned());
            let mut there = snapshot.is_some();
            passage.flag(&mut there);
        });
        if let Some(snapshot) = snapshot {
            bytes.extend((snapshot.len() as u64).to_le_bytes());
            bytes.extend_from_slice(snapshot);
        }
        Self { bytes }
    }

    /// Adds a robot: what it is and said, and all of it, where it is `given` away.
    pub fn tell<T: Task>(
        &mut self,
        robot: usize,
        mut state: T::State,
        given: bool,
        swarm: &mut dyn Share<T>,
    ) {
        passing::write(&mut self.bytes, |passage| {
            passage.word(&mut (robot as u32));
            passage.flag(&mut given.clone());
            state.pass(passage);
            swarm.words(robot, passage);
            if given {
                swarm.pass(robot, passage);
            }
        });
    }

    /// The bytes to send.
    #[must_use]
    pub fn seal(mut self) -> Vec<u8> {
        self.bytes.extend(END.to_le_bytes());
        self.bytes
    }
}

/// Opens a parcel of a swarm of so many robots: everybody in it says its words to `swarm`, and `each` robot is told. Returns the sample and the snapshot; nothing of
/// a parcel that cannot be.
#[allow(clippy::type_complexity, reason = "two things that may be missing")]
pub fn open<'b, T: Task>(
    mut bytes: &'b [u8],
    robots: usize,
    swarm: &mut dyn Share<T>,
    mut each: impl FnMut(Told<T::State>),
) -> Option<(Option<Sample>, Option<&'b [u8]>)> {
    let (mut sample, mut length) = (None, None);
    let good = passing::read(&mut bytes, |passage| {
        pass_sample(passage, &mut sample);
        passage.option(&mut length, 0, Passage::long);
    });
    if !good {
        return None;
    }
    // Of hundreds of thousands of robots it is larger than what else passes, and lies there already.
    let snapshot = match length {
        Some(length) => Some(bytes.split_off(..usize::try_from(length).ok()?)?),
        None => None,
    };
    loop {
        let mut told = Told { robot: 0, state: T::State::zero(), given: false };
        let mut end = false;
        let good = passing::read(&mut bytes, |passage| {
            let mut robot = END;
            passage.word(&mut robot);
            told.robot = robot as usize;
            end = robot == END;
            if end || !passage.good() {
                return;
            }
            if told.robot >= robots {
                passage.refuse();
                return;
            }
            passage.flag(&mut told.given);
            told.state.pass(passage);
            swarm.words(told.robot, passage);
            if told.given {
                swarm.give(told.robot, true);
                swarm.pass(told.robot, passage);
            }
        });
        if !good {
            return None;
        }
        if end {
            return bytes.is_empty().then_some((sample, snapshot));
        }
        each(told);
    }
}

fn pass_sample(passage: &mut Passage<'_>, sample: &mut Option<Sample>) {
    passage.option(sample, Sample::default(), |passage, Sample { robots, places }| {
        passage.word(robots);
        passing::numbers(passage, places);
    });
}
