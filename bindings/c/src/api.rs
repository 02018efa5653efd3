//! Functions of the C header.
//!
//! Every function checks its pointers for null and alignment. Only the length of the memory behind a pointer is the
//! caller's responsibility.

#![allow(unsafe_code, reason = "C's pointers")]
#![allow(clippy::missing_safety_doc, reason = "the head of the header states the rules for all functions")]

use core::{
    ffi::{c_char, c_float},
    ptr, slice,
};

use wdgnn_core::weights::Weights;
use wdgnn_link::security::{
    key::{Key, parse_key},
    managed_keys::ROSTER_CAPACITY,
};

use crate::{
    error::Error,
    memory::{self, LISTENER_MAGIC, Prefix, ROBOT_MAGIC},
    robot::{AnyRobot, CheckedConfig},
    robot_type::{RobotType, Sizes},
    types::{Counters, Message, Neighbor, Report, RobotConfig, Sender},
};

/// Robot in the caller's memory.
#[derive(Debug)]
pub struct Robot;

/// Frame decoder in the caller's memory.
#[derive(Debug)]
pub struct Listener;

/// Error code of a result.
fn code(result: Result<(), Error>) -> Error {
    result.err().unwrap_or(Error::None)
}

/// Slice of `count` items for reading.
///
/// # Safety
/// `first` must be null, misaligned, or valid for `count` items.
unsafe fn items<'a, T>(first: *const T, count: usize) -> Result<&'a [T], Error> {
    if first.is_null() || !first.is_aligned() || count > isize::MAX as usize / size_of::<T>() {
        return Err(Error::Null);
    }
    // SAFETY: non-null, aligned and not too long for a slice; valid by the caller's promise.
    Ok(unsafe { slice::from_raw_parts(first, count) })
}

/// Slice of `count` bytes for writing.
///
/// # Safety
/// `first` must be null or writable for `count` bytes.
unsafe fn buffer<'a>(first: *mut u8, count: usize) -> Result<&'a mut [u8], Error> {
    if first.is_null() || count > isize::MAX as usize {
        return Err(Error::Null);
    }
    // SAFETY: non-null and not too long for a slice; writable by the caller's promise.
    Ok(unsafe { slice::from_raw_parts_mut(first, count) })
}

/// Writes a value to the caller's memory.
///
/// # Safety
/// `to` must be null, misaligned, or writable.
unsafe fn write<T>(to: *mut T, value: T) -> Result<(), Error> {
    if to.is_null() || !to.is_aligned() {
        return Err(Error::Null);
    }
    // SAFETY: non-null and aligned; writable by the caller's promise.
    unsafe { to.write(value) };
    Ok(())
}

/// Robot at this address, and its type.
///
/// # Safety
/// `robot` must be null or a robot's memory, with exclusive access during the call.
unsafe fn robot_at<'a>(robot: *const Robot) -> Result<(&'static RobotType, &'a mut dyn AnyRobot), Error> {
    let prefix = robot.cast_mut().cast::<Prefix>();
    // SAFETY: by the caller's promise; this robot type created the robot.
    unsafe {
        let robot_type = memory::robot_type_at(prefix, ROBOT_MAGIC)?;
        Ok((robot_type, robot_type.any().robot(prefix)))
    }
}

/// Key in these bytes, or none if there are no bytes.
///
/// # Safety
/// `first` must be null or valid for `count` bytes.
unsafe fn key(first: *const u8, count: usize) -> Result<Option<Key>, Error> {
    if first.is_null() || count == 0 {
        return Ok(None);
    }
    // SAFETY: by the caller's promise.
    let content = unsafe { items(first, count)? };
    parse_key(content).map(Some).map_err(|_| Error::KeyMalformed)
}

/// Peer keys in these bytes, not copied.
///
/// # Safety
/// `first` must be null, or valid for `count` bytes that never change.
unsafe fn peer_keys(first: *const u8, count: usize) -> Result<&'static [Key], Error> {
    if first.is_null() || count == 0 {
        return Ok(&[]);
    }
    // SAFETY: by the caller's promise.
    let (keys, rest) = unsafe { items::<u8>(first, count)? }.as_chunks();
    if rest.is_empty() && keys.len() <= ROSTER_CAPACITY { Ok(keys) } else { Err(Error::PeerKeysMalformed) }
}

/// One of the sizes of a robot type, or 0 for null.
fn size(robot_type: Option<&RobotType>, of: impl FnOnce(&Sizes) -> usize) -> usize {
    robot_type.map_or(0, |robot_type| of(&robot_type.any().sizes()))
}

/// Returns the message of an error code. Never null.
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_error_message(error: i32) -> *const c_char {
    Error::with_code(error).map_or(c"unknown error code", Error::message).as_ptr()
}

/// Returns the bytes of memory for a robot of this type, or 0 for null. The memory must be aligned to
/// WDGNN_ALIGNMENT.
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_robot_bytes(robot_type: Option<&RobotType>) -> usize {
    size(robot_type, |sizes| sizes.robot_bytes)
}

/// Returns the bytes of memory for a listener of this type, or 0 for null. The memory must be aligned to
/// WDGNN_ALIGNMENT.
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_listener_bytes(robot_type: Option<&RobotType>) -> usize {
    size(robot_type, |sizes| sizes.listener_bytes)
}

/// Returns the bytes of the longest frame of this type, or 0 for null: the minimum buffer of wdgnn_next_frame.
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_max_frame_bytes(robot_type: Option<&RobotType>) -> usize {
    size(robot_type, |sizes| sizes.max_frame_bytes)
}

/// Returns the bytes of the longest record of this type, or 0 for null: the buffer of wdgnn_store.
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_max_record_bytes(robot_type: Option<&RobotType>) -> usize {
    size(robot_type, |sizes| sizes.max_record_bytes)
}

/// Returns the number of frames that a robot of this type sends per exchange, or 0 for null.
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_frames_per_exchange(robot_type: Option<&RobotType>) -> usize {
    size(robot_type, |sizes| sizes.frames_per_exchange as usize)
}

/// Returns the ticks (10 ms) from one exchange to the next, or 0 for null. With an interval of n, the robot with
/// address i sends in the ticks that have the remainder i modulo n.
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_exchange_interval_ticks(robot_type: Option<&RobotType>) -> usize {
    size(robot_type, |sizes| sizes.exchange_interval_ticks as usize)
}

/// Returns the length of a state of this type, or 0 for null.
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_state_len(robot_type: Option<&RobotType>) -> usize {
    size(robot_type, |sizes| sizes.state_len)
}

/// Returns the length of a command of this type, or 0 for null.
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_command_len(robot_type: Option<&RobotType>) -> usize {
    size(robot_type, |sizes| sizes.command_len)
}

/// Creates a robot in `memory` and writes its address to `robot`. To delete the robot, free or reuse the memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_robot_create(
    robot_type: Option<&'static RobotType>, memory: *mut u8, bytes: usize, config: *const RobotConfig,
    robot: *mut *mut Robot,
) -> Error {
    code((|| {
        // SAFETY: `write`, `items`, `key` and `peer_keys` check the pointers.
        unsafe {
            write(robot, ptr::null_mut())?;
            let [config] = items(config, 1)? else { return Err(Error::Null) };
            let robot_type = robot_type.ok_or(Error::Null)?;
            // Borrowed: a copy takes 130 bytes of stack.
            let opened = Weights::open(items(config.weights, config.weights_bytes)?);
            let weights = opened.as_ref().map_err(|error| *error)?;
            let RobotConfig { address, boot_count, swarm_size, key_epoch, .. } = *config;
            let personal_key = key(config.personal_key, config.personal_key_bytes)?;
            let group_key = key(config.group_key, config.group_key_bytes)?;
            let config = CheckedConfig {
                address,
                weights,
                group_key: group_key.as_ref(),
                boot_count,
                swarm_size,
                personal_key: personal_key.as_ref().map(|key| (key, key_epoch)),
                peer_keys: peer_keys(config.peer_keys, config.peer_keys_bytes)?,
            };
            robot_type.any().create_robot(robot_type, memory, bytes, &config)?;
            write(robot, memory.cast())
        }
    })())
}

/// Starts a tick with the robot's own state and its age in ticks.
///
/// `state` is null if there is no new state: the robot extrapolates the last one, and is blind after 25 ticks. A
/// tick may skip numbers but must be greater than the last one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_begin_tick(
    robot: *mut Robot, tick: u32, state: *const c_float, state_len: usize, age_ticks: u32,
) -> Error {
    code((|| {
        // SAFETY: `robot_at` and `items` check the pointers.
        let ((robot_type, robot), state) = unsafe { (robot_at(robot)?, items(state, state_len).ok()) };
        if state.is_some() && state_len != robot_type.any().sizes().state_len {
            return Err(Error::StateLength);
        }
        robot.begin_tick(tick, state, age_ticks)
    })())
}

/// Writes the next frame of this tick to `frame` and its length to `length`.
///
/// Call it until the length is 0: there are no more frames to send in this tick.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_next_frame(
    robot: *mut Robot, frame: *mut u8, bytes: usize, length: *mut usize,
) -> Error {
    code((|| {
        // SAFETY: `write`, `robot_at` and `buffer` check the pointers.
        unsafe {
            write(length, 0)?;
            let (robot_type, robot) = robot_at(robot)?;
            let frame = buffer(frame, bytes)?;
            if bytes < robot_type.any().sizes().max_frame_bytes {
                return Err(Error::BufferTooSmall);
            }
            write(length, robot.next_frame(frame)?)
        }
    })())
}

/// Processes a frame that was received in this tick. Decrypts a sealed frame in place.
///
/// Writes the sender to `sender`, unless that is null. The sender is also known if an authenticated frame was
/// rejected with WDGNN_ERROR_FRAME_OUT_OF_WINDOW, so that a robot can correct its clock. Key updates from the radio
/// or from the operator return WDGNN_ERROR_FRAME_KEY_UPDATE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_receive(
    robot: *mut Robot, frame: *mut u8, bytes: usize, sender: *mut Sender,
) -> Error {
    code((|| {
        let mut found = Sender::default();
        // SAFETY: `robot_at`, `buffer` and `write` check the pointers.
        unsafe {
            let (_, robot) = robot_at(robot)?;
            let outcome = robot.receive(buffer(frame, bytes)?, &mut found);
            let _null_is_allowed = write(sender, found);
            outcome
        }
    })())
}

/// Ends a tick: runs the network, learns, and writes the command and the events of this tick to `report`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_end_tick(robot: *mut Robot, report: *mut Report) -> Error {
    code((|| {
        // SAFETY: `robot_at` and `write` check the pointers.
        unsafe {
            let (_, robot) = robot_at(robot)?;
            if report.is_null() {
                return Err(Error::Null);
            }
            write(report, robot.end_tick())
        }
    })())
}

/// Writes the counters since the robot was created to `counters`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_get_counters(robot: *const Robot, counters: *mut Counters) -> Error {
    // SAFETY: `robot_at` and `write` check the pointers.
    code((|| unsafe { write(counters, *robot_at(robot)?.1.counters()) })())
}

/// Writes the neighbor with this index to `neighbor`. Neighbors are ordered by address. Returns
/// WDGNN_ERROR_NOT_FOUND after the last one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_get_neighbor(
    robot: *const Robot, index: usize, neighbor: *mut Neighbor,
) -> Error {
    // SAFETY: `robot_at` and `write` check the pointers.
    code((|| unsafe { write(neighbor, robot_at(robot)?.1.neighbor(index).ok_or(Error::NotFound)?) })())
}

/// Returns the wide parameters that the robot learns in flight, and writes their number to `count`.
///
/// The pointer points into the robot. It is null if there is no robot.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_get_parameters(robot: *const Robot, count: *mut usize) -> *const c_float {
    // SAFETY: `robot_at` checks the pointer.
    let parameters = unsafe { robot_at(robot) }.map_or(&[][..], |(_, robot)| robot.parameters());
    // SAFETY: `write` checks the pointer.
    let _null_is_allowed = unsafe { write(count, parameters.len()) };
    if parameters.is_empty() { ptr::null() } else { parameters.as_ptr() }
}

/// Writes a record for the next start of the robot to `record`, and its length to `length`.
///
/// Save the record to nonvolatile memory once per second, and at once if `store_required` is set in a report. The
/// record of a robot with key rotation contains keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_store(
    robot: *mut Robot, record: *mut u8, bytes: usize, length: *mut usize,
) -> Error {
    code((|| {
        // SAFETY: `write`, `robot_at` and `buffer` check the pointers.
        unsafe {
            write(length, 0)?;
            let (_, robot) = robot_at(robot)?;
            write(length, robot.store(buffer(record, bytes)?)?)
        }
    })())
}

/// Restores a record after a restart: the parameters, if they are of this model, and the boot count plus one.
///
/// Call it before the first tick. Then call wdgnn_store and save the record before the first frame is sent: a boot
/// count must never repeat.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_restore(robot: *mut Robot, record: *const u8, bytes: usize) -> Error {
    // SAFETY: `robot_at` and `items` check the pointers.
    code((|| unsafe { robot_at(robot)?.1.restore(items(record, bytes)?) })())
}

/// Creates a listener in `memory`, a frame decoder that is not a robot, and writes its address to `listener`.
///
/// `model` is the checksum of the swarm's weight file, its last four bytes. The group key is null, 16 bytes or 32
/// hexadecimal digits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_listener_create(
    robot_type: Option<&'static RobotType>, memory: *mut u8, bytes: usize, model: u32, group_key: *const u8,
    group_key_bytes: usize, listener: *mut *mut Listener,
) -> Error {
    code((|| {
        // SAFETY: `write`, `key` and `Placed::create` check the pointers.
        unsafe {
            write(listener, ptr::null_mut())?;
            let robot_type = robot_type.ok_or(Error::Null)?;
            let key = key(group_key, group_key_bytes)?;
            robot_type.any().create_listener(robot_type, memory, bytes, model, key.as_ref())?;
            write(listener, memory.cast())
        }
    })())
}

/// Decodes a frame that was received at tick `now`, and writes its content to `message`. Decrypts a sealed frame in
/// place. Open frames ignore `now`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_listener_read(
    listener: *mut Listener, now: u32, frame: *mut u8, bytes: usize, message: *mut Message,
) -> Error {
    code((|| {
        let prefix = listener.cast::<Prefix>();
        // SAFETY: `robot_type_at`, `buffer` and `write` check the pointers; this robot type created the listener.
        unsafe {
            let robot_type = memory::robot_type_at(prefix, LISTENER_MAGIC)?;
            let frame = buffer(frame, bytes)?;
            write(message, robot_type.any().listener(prefix).read(now, frame)?)
        }
    })())
}

#[cfg(test)]
mod tests;
