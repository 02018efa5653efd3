//! Robot types: a task with a link profile and a security level.
//!
//! Robot types that a program does not name are not linked.

#![allow(unsafe_code, reason = "symbols for C, and typed access to memory")]
#![allow(non_upper_case_globals, reason = "symbols for C")]

use core::marker::PhantomData;

use wdgnn_core::{
    task::{State, Task},
    tasks::flocking::Flocking,
    tensor::Array as _,
};
use wdgnn_link::{
    encoding::{
        Encoding,
        esb32::Esb32,
        exact::Exact,
        half::{Dot154, EspNow, P2p57},
    },
    security::{
        Open,
        aes::Aes,
        group_key::GroupKey,
        key::Key,
        managed_keys::{ManagedKeys, ROSTER_CAPACITY},
    },
};
use wdgnn_robot::{
    onboard::{ModelOf, OnboardTask},
    persist,
};

use crate::{
    error::Error,
    listener::{FrameReader, Listener, TapsOf, WideOf},
    memory::{LISTENER_MAGIC, Placed, Prefix, ROBOT_MAGIC},
    robot::{AnyRobot, CheckedConfig, KeyedSecurity, TypedRobot},
    types::{MAX_2D_ROBOT_BYTES, MAX_COMMAND_LEN, MAX_KEY_ROTATION_ROBOT_BYTES, MAX_STATE_LEN},
};

/// Type of a robot: a task with a link profile and a security level.
pub struct RobotType(&'static (dyn AnyRobotType + Sync));

impl core::fmt::Debug for RobotType {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("RobotType")
    }
}

impl RobotType {
    pub(crate) fn any(&self) -> &dyn AnyRobotType {
        self.0
    }
}

/// Sizes of a robot type's memory, frames, records, states and commands.
pub(crate) struct Sizes {
    pub robot_bytes: usize,
    pub listener_bytes: usize,
    pub max_frame_bytes: usize,
    pub max_record_bytes: usize,
    pub frames_per_exchange: u32,
    pub exchange_interval_ticks: u32,
    pub state_len: usize,
    pub command_len: usize,
}

/// Operations that need the Rust types of a robot type.
pub(crate) trait AnyRobotType {
    fn sizes(&self) -> Sizes;

    /// # Safety
    /// See [`Placed::create`].
    unsafe fn create_robot(
        &self, robot_type: &'static RobotType, memory: *mut u8, bytes: usize, config: &CheckedConfig<'_>,
    ) -> Result<(), Error>;

    /// # Safety
    /// See [`Placed::value`].
    unsafe fn robot<'a>(&self, prefix: *mut Prefix) -> &'a mut dyn AnyRobot;

    /// # Safety
    /// See [`Placed::create`].
    unsafe fn create_listener(
        &self, robot_type: &'static RobotType, memory: *mut u8, bytes: usize, checksum: u32,
        key: Option<&Key>,
    ) -> Result<(), Error>;

    /// # Safety
    /// See [`Placed::value`].
    unsafe fn listener<'a>(&self, prefix: *mut Prefix) -> &'a mut dyn FrameReader;
}

/// Security levels.
type Sealed = GroupKey<Aes, 8>;
type SealedEsb32 = GroupKey<Aes, 4>;
type Managed = ManagedKeys<Aes, 8, ROSTER_CAPACITY>;
type ManagedEsb32 = ManagedKeys<Aes, 4, ROSTER_CAPACITY>;

/// Robot type of the task `T` with the link profile `E` and the security `S`.
struct Typed<T, E, S>(PhantomData<Marker<T, E, S>>);

/// Makes [`Typed`] [`Sync`] for all types.
type Marker<T, E, S> = fn() -> (T, E, S);

impl<T, E, S> Typed<T, E, S>
where
    T: OnboardTask,
    E: Encoding + Sync + 'static,
    S: KeyedSecurity + 'static,
{
    const TYPE: RobotType = {
        assert!(<T::State as State>::Array::LEN <= MAX_STATE_LEN && T::Command::LEN <= MAX_COMMAND_LEN);
        let max = if S::KEY_ROTATION { MAX_KEY_ROTATION_ROBOT_BYTES } else { MAX_2D_ROBOT_BYTES };
        assert!(size_of::<usize>() > 4 || T::Command::LEN > 2 || Placed::<TypedRobot<T, E, S>>::BYTES <= max);
        RobotType(&Self(PhantomData))
    };
}

impl<T, E, S> AnyRobotType for Typed<T, E, S>
where
    T: OnboardTask,
    E: Encoding + Sync + 'static,
    S: KeyedSecurity + 'static,
{
    fn sizes(&self) -> Sizes {
        Sizes {
            robot_bytes: Placed::<TypedRobot<T, E, S>>::BYTES,
            listener_bytes: Placed::<Listener<T, E, S>>::BYTES,
            max_frame_bytes: E::max_frame_len::<T::State, TapsOf<T>, WideOf<T>>() + S::TAG_LEN,
            max_record_bytes: persist::record_len::<ModelOf<'_, T>>(S::KEY_ROTATION),
            frames_per_exchange: E::FRAMES_PER_EXCHANGE,
            exchange_interval_ticks: E::PROFILE.exchange_ticks().into(),
            state_len: <T::State as State>::Array::LEN,
            command_len: <T as Task>::Command::LEN,
        }
    }

    unsafe fn create_robot(
        &self, robot_type: &'static RobotType, memory: *mut u8, bytes: usize, config: &CheckedConfig<'_>,
    ) -> Result<(), Error> {
        // SAFETY: by the caller's promise.
        unsafe {
            Placed::create(memory, bytes, ROBOT_MAGIC, robot_type, || TypedRobot::<T, E, S>::new(config))
        }
    }

    unsafe fn robot<'a>(&self, prefix: *mut Prefix) -> &'a mut dyn AnyRobot {
        // SAFETY: by the caller's promise.
        unsafe { Placed::<TypedRobot<T, E, S>>::value(prefix) }
    }

    unsafe fn create_listener(
        &self, robot_type: &'static RobotType, memory: *mut u8, bytes: usize, checksum: u32,
        key: Option<&Key>,
    ) -> Result<(), Error> {
        // SAFETY: by the caller's promise.
        unsafe {
            Placed::create(memory, bytes, LISTENER_MAGIC, robot_type, || {
                Listener::<T, E, S>::new(checksum, key)
            })
        }
    }

    unsafe fn listener<'a>(&self, prefix: *mut Prefix) -> &'a mut dyn FrameReader {
        // SAFETY: by the caller's promise.
        unsafe { Placed::<Listener<T, E, S>>::value(prefix) }
    }
}

/// 2D flocking with profile `exact` (32-bit floats).
/// State: x, y in m, vx, vy in m/s. Command: ax, ay in m/s². One exchange per tick.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_exact: RobotType = Typed::<Flocking, Exact, Open>::TYPE;
/// 2D flocking with profile `exact` (32-bit floats), sealed with the group key.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_exact_sealed: RobotType = Typed::<Flocking, Exact, Sealed>::TYPE;
/// 2D flocking with profile `exact` (32-bit floats), sealed, with key rotation in flight.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_exact_key_rotation: RobotType = Typed::<Flocking, Exact, Managed>::TYPE;
/// 2D flocking with profile `dot154` (IEEE 802.15.4).
#[unsafe(no_mangle)]
pub static wdgnn_flocking_dot154: RobotType = Typed::<Flocking, Dot154, Open>::TYPE;
/// 2D flocking with profile `dot154` (IEEE 802.15.4), sealed with the group key.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_dot154_sealed: RobotType = Typed::<Flocking, Dot154, Sealed>::TYPE;
/// 2D flocking with profile `dot154` (IEEE 802.15.4), sealed, with key rotation in flight.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_dot154_key_rotation: RobotType = Typed::<Flocking, Dot154, Managed>::TYPE;
/// 2D flocking with profile `espnow` (ESP-NOW).
#[unsafe(no_mangle)]
pub static wdgnn_flocking_espnow: RobotType = Typed::<Flocking, EspNow, Open>::TYPE;
/// 2D flocking with profile `espnow` (ESP-NOW), sealed with the group key.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_espnow_sealed: RobotType = Typed::<Flocking, EspNow, Sealed>::TYPE;
/// 2D flocking with profile `espnow` (ESP-NOW), sealed, with key rotation in flight.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_espnow_key_rotation: RobotType = Typed::<Flocking, EspNow, Managed>::TYPE;
/// 2D flocking with profile `esb32` (32-byte packets of the nRF24).
#[unsafe(no_mangle)]
pub static wdgnn_flocking_esb32: RobotType = Typed::<Flocking, Esb32, Open>::TYPE;
/// 2D flocking with profile `esb32` (32-byte packets of the nRF24), sealed with the group key.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_esb32_sealed: RobotType = Typed::<Flocking, Esb32, SealedEsb32>::TYPE;
/// 2D flocking with profile `esb32` (32-byte packets of the nRF24), sealed, with key rotation in flight.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_esb32_key_rotation: RobotType = Typed::<Flocking, Esb32, ManagedEsb32>::TYPE;
/// 2D flocking with profile `p2p57` (peer-to-peer packets of the Crazyflie).
#[unsafe(no_mangle)]
pub static wdgnn_flocking_p2p57: RobotType = Typed::<Flocking, P2p57, Open>::TYPE;
/// 2D flocking with profile `p2p57` (peer-to-peer packets of the Crazyflie), sealed with the group key.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_p2p57_sealed: RobotType = Typed::<Flocking, P2p57, Sealed>::TYPE;
/// 2D flocking with profile `p2p57` (peer-to-peer packets of the Crazyflie), sealed, with key rotation in flight.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_p2p57_key_rotation: RobotType = Typed::<Flocking, P2p57, Managed>::TYPE;
/// 3D flocking with profile `exact`.
/// State: x, y, z in m, vx, vy, vz in m/s. Command: ax, ay, az in m/s². One exchange per tick.
#[unsafe(no_mangle)]
pub static wdgnn_flocking_3d_exact: RobotType = Typed::<Flocking<3>, Exact, Open>::TYPE;
