//! Links of all profiles and securities behind one type, so that robots are compiled once.

use wdgnn_core::{
    filter::DelayLines,
    message::Message,
    model::Model,
    task::{NodeId, State, Task},
    tensor::Tensor,
};
use wdgnn_link::{
    encoding::{
        Encoding, OutgoingMessage,
        esb32::Esb32,
        exact::Exact,
        half::{self, P2p57},
    },
    error::FrameError,
    header::FrameId,
    link::{Link, MessageLink, RadioLink, Reception},
    security::{
        LinkSecurity, Open, SecurityState,
        ccm::BlockCipher as _,
        group_key::GroupKey,
        key::Key,
        managed_keys::{ManagedKeys, ROSTER_CAPACITY},
    },
};
use wdgnn_robot::onboard::MAX_BUFFER_LEN;

use crate::{cipher::CachedAes, profiles::Profile};

/// Evaluates an expression with the encoding and the tag length of a profile.
macro_rules! with_encoding {
    ($profile:expr, $encoding:ident, $tag:ident => $value:expr) => {
        with_encoding!(@select $profile, $encoding, $tag => $value;
            Exact: Exact, 8;
            Dot154: half::Dot154, 8;
            Esb32: Esb32, 4;
            Espnow: half::EspNow, 8;
            P2p57: P2p57, 8;
        )
    };
    (@select $profile:expr, $encoding:ident, $tag:ident => $value:expr; $($name:ident: $type:ty, $length:literal;)+) => {
        match $profile {
            $(Profile::$name => {
                type $encoding = $type;
                #[allow(dead_code, reason = "open links have no tag")]
                const $tag: usize = $length;
                $value
            })+
        }
    };
}

/// Keys of one robot.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "contains keys")]
pub struct RobotKeys<'a> {
    /// Group key of the swarm.
    pub group: &'a Key,
    /// Keys for rotation and peer authentication.
    pub own: Option<OwnKeys>,
}

/// Personal keys of one robot, for group keys that change and for peer authentication.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "contains keys")]
pub struct OwnKeys {
    /// Address of the robot.
    pub name: NodeId,
    /// Personal key of the robot.
    pub personal: Key,
    /// Epoch of the first group key.
    pub epoch: u8,
    /// Pair keys that authenticate peers; empty without peer authentication.
    pub roster: &'static [Key],
}

/// Link of any profile and security.
#[allow(missing_debug_implementations, reason = "contains a trait object")]
pub struct AnyLink<S, L, W>(Box<dyn MessageLink<S, L, W> + Send + Sync>);

/// Link of robots with the model `M` and the task `T`.
pub type AnyLinkOf<M, T> = AnyLink<<T as Task>::State, <M as Model>::Taps, <M as Model>::Wide>;

impl<S: State, L: DelayLines, W: Tensor> AnyLink<S, L, W> {
    /// Creates a link; without keys it is open. `model` is the checksum of the weight file.
    pub fn new(profile: Profile, model: u32, keys: Option<RobotKeys<'_>>) -> Self {
        let Some(keys) = keys else { return Self::open(profile, model) };
        with_encoding!(profile, E, TAG => Self::sealed::<E, TAG>(model, keys))
    }

    /// Creates an open link. Programs that call only this contain no cipher.
    #[inline]
    pub fn open(profile: Profile, model: u32) -> Self {
        with_encoding!(profile, E, TAG => Self(Box::new(Link::<E>::open(model))))
    }

    fn sealed<E: Encoding + Send + Sync + 'static, const TAG: usize>(
        model: u32, RobotKeys { group, own }: RobotKeys<'_>,
    ) -> Self {
        let mut security = managed::<TAG>(group);
        if let Some(OwnKeys { name, personal, epoch, roster }) = own {
            security.set_key_rotation(name, &personal, epoch, group);
            security.set_peer_keys(name, &personal, roster);
        }
        Self(Box::new(Link::<E, _>::new(model, security)))
    }
}

/// Security without personal keys.
fn managed<const TAG: usize>(group: &Key) -> ManagedKeys<CachedAes, TAG, ROSTER_CAPACITY> {
    ManagedKeys::new(GroupKey::with_cipher(CachedAes::with_key(group)))
}

/// Whether the frames of a profile have room for messages of these types.
pub fn fits<S: State, L: DelayLines, W: Tensor>(profile: Profile) -> bool {
    with_encoding!(profile, E, TAG => E::has_room_for::<S, L, W>())
}

impl<S, L, W> RadioLink for AnyLink<S, L, W> {
    fn frames_per_exchange(&self) -> u32 {
        self.0.frames_per_exchange()
    }

    fn is_sealed(&self) -> bool {
        self.0.is_sealed()
    }

    fn sends_whole_messages(&self) -> bool {
        self.0.sends_whole_messages()
    }

    fn model_checksum(&self) -> u32 {
        self.0.model_checksum()
    }

    fn boot_count(&self) -> u32 {
        self.0.boot_count()
    }

    fn set_boot_count(&mut self, boot: u32) {
        self.0.set_boot_count(boot);
    }

    fn requires_proof(&self) -> bool {
        self.0.requires_proof()
    }

    fn security(&self) -> &dyn SecurityState {
        self.0.security()
    }

    fn security_mut(&mut self) -> &mut dyn SecurityState {
        self.0.security_mut()
    }

    fn frame_id(&self, now: u32, frame: &[u8]) -> Option<FrameId> {
        self.0.frame_id(now, frame)
    }

    fn authenticate_late_frame(&mut self, now: u32, since: u32, frame: &[u8]) -> Option<FrameId> {
        self.0.authenticate_late_frame(now, since, frame)
    }
}

impl<S, L, W> MessageLink<S, L, W> for AnyLink<S, L, W> {
    fn max_frame_len(&self) -> usize {
        self.0.max_frame_len()
    }

    fn send(
        &mut self, message: &Message<S, L, W>, round: u32, index: u32, buffer: &mut [u8],
    ) -> Option<usize> {
        self.0.send(message, round, index, buffer)
    }

    fn receive(
        &mut self, now: u32, frame: &mut [u8], into: &mut Message<S, L, W>,
    ) -> Result<Reception, FrameError> {
        self.0.receive(now, frame, into)
    }
}

/// Makes frames with any sender and number: the tool of attackers.
pub trait FrameForge<S, L, W>: Send {
    /// Frames per exchange.
    fn frames(&self) -> u32;

    /// Function that reads sender and number of a frame, received at a tick.
    fn reader(&self) -> fn(&[u8], u32) -> Option<FrameId>;

    /// Length of a header in bytes.
    fn header_len(&self) -> usize;

    /// Seals a message as frame `index` of exchange `round` with any boot count and sequence number.
    fn write(
        &self, message: &Message<S, L, W>, boot: u32, sequence: u32, round: u32, index: u32,
    ) -> Option<Vec<u8>>;

    /// Opens and decodes a frame. Returns its boot count and sequence number.
    fn read(&mut self, now: u32, frame: &[u8], into: &mut Message<S, L, W>) -> Result<FrameId, FrameError>;

    /// Whether a frame is authenticated by the group key, whenever it was sent.
    fn is_authentic(&mut self, now: u32, frame: &[u8]) -> bool;
}

/// Creates a forge; without a key, frames are open. `model` is the checksum of the weight file.
pub fn forge<S: State, L: DelayLines, W: Tensor>(
    profile: Profile, model: u32, key: Option<&Key>,
) -> Box<dyn FrameForge<S, L, W>> {
    fn on<E: Encoding + Send + 'static, S: State, L: DelayLines, W: Tensor, const TAG: usize>(
        model: u32, key: Option<&Key>,
    ) -> Box<dyn FrameForge<S, L, W>> {
        match key {
            None => Box::new(Forge::<E, _> { model, link: Link::<E>::open(model), seal: Open }),
            Some(key) => {
                let link = Link::<E, _>::new(model, managed::<TAG>(key));
                Box::new(Forge::<E, _> { model, link, seal: managed::<TAG>(key) })
            }
        }
    }
    with_encoding!(profile, E, TAG => on::<E, S, L, W, TAG>(model, key))
}

struct Forge<E, X> {
    model: u32,
    link: Link<E, X>,
    seal: X,
}

impl<E, X, S, L, W> FrameForge<S, L, W> for Forge<E, X>
where
    E: Encoding + Send,
    X: LinkSecurity + Send,
    S: State,
    L: DelayLines,
    W: Tensor,
{
    fn frames(&self) -> u32 {
        E::FRAMES_PER_EXCHANGE
    }

    fn reader(&self) -> fn(&[u8], u32) -> Option<FrameId> {
        |frame, now| E::read_header(frame, now).map(|header| header.id)
    }

    fn header_len(&self) -> usize {
        E::HEADER_LEN
    }

    fn write(
        &self, message: &Message<S, L, W>, boot: u32, sequence: u32, round: u32, index: u32,
    ) -> Option<Vec<u8>> {
        let out = OutgoingMessage { message, boot, sequence, model: self.model, round };
        let mut buffer = [0; MAX_BUFFER_LEN];
        let length = E::encode(&out, index, &mut buffer)?;
        let length = self.seal.seal::<E>(self.model, &out.id(), length, &mut buffer)?;
        Some(buffer.get(..length)?.to_vec())
    }

    fn read(&mut self, now: u32, frame: &[u8], into: &mut Message<S, L, W>) -> Result<FrameId, FrameError> {
        let mut frame = frame.to_vec();
        MessageLink::<S, L, W>::receive(&mut self.link, now, &mut frame, into)?;
        self.link.frame_id(now, &frame).ok_or(FrameError::TooShort)
    }

    fn is_authentic(&mut self, now: u32, frame: &[u8]) -> bool {
        self.link.authenticate_late_frame(now, 0, frame).is_some()
    }
}
