//! From a frame to what it says, through the robots' own codecs.

use std::collections::HashMap;

use clap::ValueEnum;
use serde::Serialize;
use wdgnn_core::{
    filter::{NoChain, Stacked},
    message::Beacon,
    task::NodeId,
    tasks::flocking::Motion,
    tensor::{Filter, Tensor},
};
use wdgnn_link::{
    encoding::{
        Codec,
        esb32::Esb32,
        exact::Exact,
        half::{Dot154, EspNow},
        p2p57::P2p57,
    },
    error::Refusal,
    header::{Identity, Link, Parts, Profile},
    security::{
        group_key::{Sealed, SealedEsb32},
        key::Key,
    },
};
use wdgnn_robot::onboard::{FEATURES, HIDDEN, OUTPUTS, TAPS};

type Taps = Stacked<TAPS, FEATURES, NoChain>;
type Folded = Filter<TAPS, FEATURES, OUTPUTS>;
type Unfolded = Filter<TAPS, FEATURES, HIDDEN>;

/// A link profile by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ProfileName {
    /// Everything in f32, folded.
    Exact,
    /// Everything in f32, unfolded.
    ExactUnfolded,
    /// IEEE 802.15.4.
    Dot154,
    /// ESP-NOW.
    #[value(name = "espnow")]
    #[serde(rename = "espnow")]
    EspNow,
    /// nRF24.
    Esb32,
    /// A Crazyflie's peer-to-peer packets.
    P2p57,
}

impl ProfileName {
    /// The profile that a frame says it has.
    #[must_use]
    pub fn of(frame: &[u8]) -> Option<Self> {
        let code = match frame {
            // Compact frames have the profile beside the version.
            [first, ..] if *first >> 4 != 0 => *first >> 4,
            [_, code, ..] => *code,
            _ => return None,
        };
        Self::value_variants().iter().copied().find(|name| name.profile() as u8 == code)
    }

    fn profile(self) -> Profile {
        match self {
            Self::Exact => Profile::Exact,
            Self::ExactUnfolded => Profile::ExactUnfolded,
            Self::Dot154 => Profile::Dot154,
            Self::EspNow => Profile::EspNow,
            Self::Esb32 => Profile::Esb32,
            Self::P2p57 => Profile::P2p57,
        }
    }

    /// Whose frame it is, in this turn of `esb32`'s short numbers.
    fn identity(self, frame: &[u8], turn: u32) -> Option<Identity> {
        match self {
            Self::Exact | Self::ExactUnfolded => Exact::identity(frame, 0),
            Self::Dot154 | Self::EspNow | Self::P2p57 => Dot154::identity(frame, 0),
            Self::Esb32 => Esb32::identity(frame, tick_of::<Esb32>(frame, turn)),
        }
    }

    /// The model that a frame says it is of.
    fn model(self, frame: &[u8]) -> Option<u32> {
        let place = match self {
            Self::Exact | Self::ExactUnfolded => 7,
            Self::Dot154 | Self::EspNow | Self::P2p57 => 2,
            Self::Esb32 => return None,
        };
        frame.get(place..)?.first_chunk().copied().map(u32::from_le_bytes)
    }
}

/// What a frame says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Content {
    /// How many neighbours the sender had.
    pub degree: u8,
    /// In metres.
    pub position: [f32; 2],
    /// In metres per second.
    pub velocity: [f32; 2],
    /// The place of the first tap among those that travel.
    pub taps_from: u16,
    /// The taps that it carries.
    pub taps: Vec<f32>,
    /// The place of the first wide parameter.
    pub wide_from: u16,
    /// The wide parameters that it carries.
    pub wide: Vec<f32>,
}

/// Whose frame it is, as its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The sender.
    pub sender: NodeId,
    /// How often it was started.
    pub boot: u32,
    /// Which of its frames.
    pub sequence: u32,
}

/// A frame that was seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sighting {
    /// Its length.
    pub bytes: usize,
    /// Its profile, if it is one of ours.
    pub profile: Option<ProfileName>,
    /// Whose it is. Only what a sealed frame says is certain.
    #[serde(flatten)]
    pub origin: Option<Origin>,
    /// What it says, ...
    #[serde(flatten)]
    pub content: Option<Content>,
    /// ... or why it is refused.
    #[serde(skip)]
    pub refused: Option<Refusal>,
}

/// Understands frames.
#[derive(Clone)]
pub struct Ear {
    /// The model that frames must be of; any if there is none.
    pub model: Option<u32>,
    /// The model of sealed frames whose header does not tell it.
    pub default_model: u32,
    /// Opens sealed frames; without it, frames are taken to be plain.
    pub key: Option<Key>,
    /// The profile that frames must have; that of each frame if there is none.
    pub profile: Option<ProfileName>,
    last: HashMap<NodeId, u32>,
    /// How often the short numbers of `esb32` have begun anew, as far as could be told.
    turn: u32,
}

impl std::fmt::Debug for Ear {
    /// Tells nothing about the key.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Ear").field("model", &self.model).finish_non_exhaustive()
    }
}

impl Ear {
    /// Listens for any model and profile, plain.
    #[must_use]
    pub fn new(default_model: u32) -> Self {
        Self { model: None, default_model, key: None, profile: None, last: HashMap::new(), turn: 0 }
    }

    /// Looks at a frame.
    pub fn listen(&mut self, frame: &[u8]) -> Sighting {
        // A frame of another profile has its sender elsewhere: whoever is named there is nobody.
        let profile = ProfileName::of(frame).filter(|told| self.profile.is_none_or(|wanted| wanted == *told));
        let read = profile.ok_or(Refusal::Profile).and_then(|profile| self.read(profile, frame));
        let identity = profile.and_then(|profile| profile.identity(frame, self.turn));
        let origin = identity.map(|Identity { sender, boot, sequence }| Origin { sender, boot, sequence });
        let newer = read.and_then(|content| self.newer(origin, content));
        let (content, refused) = match newer {
            Ok(content) => (Some(content), None),
            Err(refusal) => (None, Some(refusal)),
        };
        Sighting { bytes: frame.len(), profile, origin, content, refused }
    }

    /// A frame that is not newer than its sender's last is a repetition, whoever repeats it.
    fn newer(&mut self, origin: Option<Origin>, content: Content) -> Result<Content, Refusal> {
        let Some(Origin { sender, sequence, .. }) = origin else { return Ok(content) };
        if self.last.get(&sender).is_some_and(|last| sequence <= *last) {
            return Err(if self.key.is_some() { Refusal::Replayed } else { Refusal::Old });
        }
        self.last.insert(sender, sequence);
        Ok(content)
    }

    fn read(&mut self, profile: ProfileName, frame: &[u8]) -> Result<Content, Refusal> {
        let model = self.model.or_else(|| profile.model(frame)).unwrap_or(self.default_model);
        let link = Link { profile: profile.profile(), checksum: model };
        match (profile, &self.key) {
            (ProfileName::Exact, None) => open::<_, Folded>(Exact, link, frame),
            (ProfileName::Exact, Some(key)) => open::<_, Folded>(Sealed::new(Exact, key), link, frame),
            (ProfileName::ExactUnfolded, _) => open::<_, Unfolded>(Exact, link, frame),
            (ProfileName::Dot154, None) => open::<_, Folded>(Dot154::default(), link, frame),
            (ProfileName::Dot154, Some(key)) => {
                open::<_, Folded>(Sealed::new(Dot154::default(), key), link, frame)
            }
            (ProfileName::EspNow, None) => open::<_, Folded>(EspNow::default(), link, frame),
            (ProfileName::EspNow, Some(key)) => {
                open::<_, Folded>(Sealed::new(EspNow::default(), key), link, frame)
            }
            (ProfileName::Esb32, None) => open::<_, Folded>(Esb32, link, frame),
            (ProfileName::Esb32, Some(key)) => {
                // Which turn it is, nobody says: the one that opens it, the last one first.
                let turns = (0..TURNS).map(|turn| self.turn ^ turn);
                let mut opened = turns.map(|turn| {
                    (turn, open_in::<_, Folded>(SealedEsb32::new(Esb32, key), link, frame, turn))
                });
                let (turn, content) = opened
                    .find(|(_, content)| !matches!(content, Err(Refusal::Forged)))
                    .unwrap_or((self.turn, Err(Refusal::Forged)));
                self.turn = turn;
                content
            }
            (ProfileName::P2p57, None) => open::<_, Folded>(P2p57, link, frame),
            (ProfileName::P2p57, Some(key)) => open::<_, Folded>(Sealed::new(P2p57, key), link, frame),
        }
    }
}

/// So often the 24 bits of `esb32`'s numbers begin anew.
const TURNS: u32 = 256;

/// The tick that a frame says it is of, where short numbers have begun anew so often.
fn tick_of<P: Codec>(frame: &[u8], turn: u32) -> u32 {
    let told = P::identity(frame, 0).map_or(0, |identity| identity.sequence / P::FRAMES);
    told.saturating_add((turn << 24) / P::FRAMES)
}

fn open<P: Codec, W: Tensor>(codec: P, link: Link, frame: &[u8]) -> Result<Content, Refusal> {
    open_in::<P, W>(codec, link, frame, 0)
}

/// Reads one frame. A listener has no clock: every frame is of its own tick.
fn open_in<P: Codec, W: Tensor>(
    mut codec: P,
    link: Link,
    frame: &[u8],
    turn: u32,
) -> Result<Content, Refusal> {
    let now = tick_of::<P>(frame, turn);
    let (beacon, parts): (Beacon<Motion, Taps, W>, Parts) = codec.decode(&link, now, frame)?;
    let Motion { position, velocity } = beacon.state;
    let sent = &beacon.chains.chain.numbers()[..(TAPS - 1) * FEATURES];
    Ok(Content {
        degree: beacon.degree,
        position,
        velocity,
        taps_from: parts.taps.from,
        taps: parts.taps.of(sent).to_vec(),
        wide_from: parts.wide.from,
        wide: parts.wide.of(beacon.wide.numbers()).to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Golden {
        model: u32,
        key: String,
        vectors: Vec<Vector>,
    }

    #[derive(serde::Deserialize)]
    struct Vector {
        name: String,
        profile: String,
        sealed: bool,
        frame: String,
        beacon: Option<serde_json::Value>,
        refused: Option<String>,
    }

    fn hex(text: &str) -> Vec<u8> {
        let pairs = text.as_bytes().chunks(2);
        pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    }

    fn golden() -> Golden {
        serde_json::from_str(include_str!("../../../tests/interop/vectors.json")).unwrap()
    }

    fn ear(golden: &Golden, vector: &Vector) -> Ear {
        let key = vector.sealed.then(|| hex(&golden.key).try_into().unwrap());
        Ear { key, model: Some(golden.model), ..Ear::new(golden.model) }
    }

    #[test]
    fn golden_frames_are_understood_with_nothing_told_but_the_key() {
        let golden = golden();
        for vector in golden.vectors.iter().filter(|vector| vector.beacon.is_some()) {
            let sighting = ear(&golden, vector).listen(&hex(&vector.frame));
            let profile = sighting.profile.map(|profile| serde_json::to_value(profile).unwrap());
            assert_eq!(profile, Some(vector.profile.as_str().into()), "{}", vector.name);
            let json = serde_json::to_value(&sighting).unwrap();
            let beacon = vector.beacon.as_ref().unwrap();
            for field in ["sender", "boot", "degree", "taps_from", "wide_from"] {
                assert_eq!(json[field], beacon[field], "{}: {field}", vector.name);
            }
            // Where nothing is sealed, nobody knows how often the short numbers of `esb32` have begun anew.
            let short = vector.profile == "esb32" && !vector.sealed;
            let known =
                beacon["sequence"].as_u64().map(|whole| if short { whole % (1 << 24) } else { whole });
            assert_eq!(json["sequence"].as_u64(), known, "{}", vector.name);
            for field in ["taps", "wide"] {
                let numbers = |value: &serde_json::Value| -> Vec<f32> {
                    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap() as f32).collect()
                };
                assert_eq!(numbers(&json[field]), numbers(&beacon[field]), "{}: {field}", vector.name);
            }
        }
    }

    #[test]
    fn bad_golden_frames_are_refused() {
        let golden = golden();
        // A listener has no clock and no memory here: what only they refuse is no concern of it.
        let timeless = ["replayed", "untimely", "too-many-senders"];
        let bad = golden.vectors.iter().filter_map(|vector| Some((vector, vector.refused.as_deref()?)));
        for (vector, reason) in bad.filter(|(_, reason)| !timeless.contains(reason)) {
            let sighting = ear(&golden, vector).listen(&hex(&vector.frame));
            assert!(sighting.refused.is_some() && sighting.content.is_none(), "{}: {reason}", vector.name);
        }
    }

    #[test]
    fn a_repetition_is_told_from_a_new_frame() {
        let golden = golden();
        let vector = golden.vectors.iter().find(|vector| vector.sealed).unwrap();
        let mut ear = ear(&golden, vector);
        assert_eq!(ear.listen(&hex(&vector.frame)).refused, None);
        assert_eq!(ear.listen(&hex(&vector.frame)).refused, Some(Refusal::Replayed));
    }

    #[test]
    fn a_listener_s_text_tells_nothing_about_its_key() {
        let text = format!("{:?}", Ear { key: Some([0xa5; 16]), ..Ear::new(0) });
        assert!(!text.contains("165") && !text.to_lowercase().contains("a5"));
    }
}
