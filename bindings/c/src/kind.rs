//! Kinds of robots: a task on a link profile, sealed or not. A kind that no program names is not linked into it.

#![allow(unsafe_code, reason = "names for C, and memory that only its kind can read")]
#![allow(non_upper_case_globals, reason = "C's names")]

use core::marker::PhantomData;

use wdgnn_core::{
    task::{State, Task},
    tasks::{coverage::Coverage, flocking::Flocking},
    tensor::Numbers,
};
use wdgnn_link::{
    encoding::{
        esb32::Esb32,
        exact::Exact,
        half::{Dot154, EspNow},
        p2p57::P2p57,
    },
    security::{
        group_key::{Rekeyable, RekeyableEsb32, Sealed, SealedEsb32},
        key::Key,
    },
};
use wdgnn_robot::{
    onboard::{ModelOf, Onboard, Robot},
    persist,
};

use crate::{
    body::{Body, Keyed, Parts, Verbs},
    error::Error,
    listener::{Listener, Reads},
    place::{Front, LISTENER, Placed, ROBOT},
    told::{MOST_COMMANDS, MOST_STATES, PLANE_ROBOT_BYTES, REKEYABLE_ROBOT_BYTES},
};

/// A kind of robots: a task on a link profile, sealed or not.
pub struct Kind(&'static (dyn AnyKind + Sync));

impl core::fmt::Debug for Kind {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("Kind")
    }
}

impl Kind {
    pub(crate) fn any(&self) -> &dyn AnyKind {
        self.0
    }
}

/// How many there are of what, in a kind.
pub(crate) struct Counts {
    pub robot_bytes: usize,
    pub listener_bytes: usize,
    pub frame_bytes: usize,
    pub record_bytes: usize,
    pub frames: u32,
    pub interval: u32,
    pub state: usize,
    pub command: usize,
}

/// What a kind knows that others do not: its types.
pub(crate) trait AnyKind {
    fn counts(&self) -> Counts;

    /// # Safety
    /// As [`Placed::make`].
    unsafe fn make_robot(
        &self,
        kind: &'static Kind,
        memory: *mut u8,
        bytes: usize,
        parts: &Parts<'_>,
    ) -> Result<(), Error>;

    /// # Safety
    /// As [`Placed::body`].
    unsafe fn robot<'a>(&self, front: *mut Front) -> &'a mut dyn Verbs;

    /// # Safety
    /// As [`Placed::make`].
    unsafe fn make_listener(
        &self,
        kind: &'static Kind,
        memory: *mut u8,
        bytes: usize,
        checksum: u32,
        key: Option<&Key>,
    ) -> Result<(), Error>;

    /// # Safety
    /// As [`Placed::body`].
    unsafe fn listener<'a>(&self, front: *mut Front) -> &'a mut dyn Reads;
}

/// The kind of the task `T` on the link `P`.
struct Of<T, P>(PhantomData<fn() -> (T, P)>);

impl<T: Onboard, P: Keyed + 'static> Of<T, P> {
    const KIND: Kind = {
        assert!(<T::State as State>::Numbers::COUNT <= MOST_STATES && T::Output::COUNT <= MOST_COMMANDS);
        let most = if P::REKEYABLE { REKEYABLE_ROBOT_BYTES } else { PLANE_ROBOT_BYTES };
        assert!(size_of::<usize>() > 4 || T::Output::COUNT > 2 || Placed::<Body<T, P>>::BYTES <= most);
        Kind(&Self(PhantomData))
    };
}

impl<T: Onboard, P: Keyed + 'static> AnyKind for Of<T, P> {
    fn counts(&self) -> Counts {
        Counts {
            robot_bytes: Placed::<Body<T, P>>::BYTES,
            listener_bytes: Placed::<Listener<T, P>>::BYTES,
            frame_bytes: <Robot<'_, P, T>>::frame_bytes(),
            record_bytes: persist::record_bytes::<ModelOf<'_, T>>(P::REKEYABLE),
            frames: P::FRAMES,
            interval: P::profile(true).interval().into(),
            state: <T::State as State>::Numbers::COUNT,
            command: <T as Task>::Output::COUNT,
        }
    }

    unsafe fn make_robot(
        &self,
        kind: &'static Kind,
        memory: *mut u8,
        bytes: usize,
        parts: &Parts<'_>,
    ) -> Result<(), Error> {
        // SAFETY: the caller promises the same.
        unsafe { Placed::make(memory, bytes, ROBOT, kind, || Body::<T, P>::new(parts)) }
    }

    unsafe fn robot<'a>(&self, front: *mut Front) -> &'a mut dyn Verbs {
        // SAFETY: the caller promises the same.
        unsafe { Placed::<Body<T, P>>::body(front) }
    }

    unsafe fn make_listener(
        &self,
        kind: &'static Kind,
        memory: *mut u8,
        bytes: usize,
        checksum: u32,
        key: Option<&Key>,
    ) -> Result<(), Error> {
        // SAFETY: the caller promises the same.
        unsafe { Placed::make(memory, bytes, LISTENER, kind, || Listener::<T, P>::new(checksum, key)) }
    }

    unsafe fn listener<'a>(&self, front: *mut Front) -> &'a mut dyn Reads {
        // SAFETY: the caller promises the same.
        unsafe { Placed::<Listener<T, P>>::body(front) }
    }
}

/// Flocking in the plane; everything in single precision, an exchange in every tick. State: x, y, vx, vy. Command: ax, ay.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_exact: Kind = Of::<Flocking, Exact>::KIND;
/// The same, sealed.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_exact_sealed: Kind = Of::<Flocking, Sealed<Exact>>::KIND;
/// The same, with a key that can change in flight.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_exact_rekeyable: Kind = Of::<Flocking, Rekeyable<Exact>>::KIND;
/// Flocking in the plane on IEEE 802.15.4.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_dot154: Kind = Of::<Flocking, Dot154>::KIND;
/// The same, sealed.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_dot154_sealed: Kind = Of::<Flocking, Sealed<Dot154>>::KIND;
/// The same, with a key that can change in flight.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_dot154_rekeyable: Kind = Of::<Flocking, Rekeyable<Dot154>>::KIND;
/// Flocking in the plane on ESP-NOW.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_espnow: Kind = Of::<Flocking, EspNow>::KIND;
/// The same, sealed.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_espnow_sealed: Kind = Of::<Flocking, Sealed<EspNow>>::KIND;
/// The same, with a key that can change in flight.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_espnow_rekeyable: Kind = Of::<Flocking, Rekeyable<EspNow>>::KIND;
/// Flocking in the plane on the nRF24's 32 bytes.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_esb32: Kind = Of::<Flocking, Esb32>::KIND;
/// The same, sealed.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_esb32_sealed: Kind = Of::<Flocking, SealedEsb32>::KIND;
/// The same, with a key that can change in flight.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_esb32_rekeyable: Kind = Of::<Flocking, RekeyableEsb32>::KIND;
/// Flocking in the plane on a Crazyflie's peer-to-peer packets.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_p2p57: Kind = Of::<Flocking, P2p57>::KIND;
/// The same, sealed.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_p2p57_sealed: Kind = Of::<Flocking, Sealed<P2p57>>::KIND;
/// The same, with a key that can change in flight.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_p2p57_rekeyable: Kind = Of::<Flocking, Rekeyable<P2p57>>::KIND;
/// Flocking in space; as wdgnn_flocking_exact. State: x, y, z, vx, vy, vz. Command: ax, ay, az.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_3d_exact: Kind = Of::<Flocking<3>, Exact>::KIND;
/// Coverage of the plane; as wdgnn_flocking_exact.
#[unsafe(no_mangle)]
pub static wdgnn_coverage_exact: Kind = Of::<Coverage, Exact>::KIND;
