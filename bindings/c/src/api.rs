//! What C calls. Every pointer is looked at before it is used; what is left to the caller is what no callee can see: that a
//! pointer leads to as many bytes as it says.

#![allow(unsafe_code, reason = "C's pointers")]
#![allow(clippy::missing_safety_doc, reason = "the header says once what holds for all of them")]

use core::{
    ffi::{c_char, c_float},
    ptr, slice,
};

use wdgnn_link::security::{
    group_key::ROSTER,
    key::{Key, parse_key},
};

use crate::{
    body::{Parts, Verbs},
    error::Error,
    kind::{Counts, Kind},
    place::{self, Front, LISTENER, ROBOT},
    told::{Beacon, Counters, Neighbour, Report, Sender, Settings},
};

/// A robot, in the caller's memory.
#[derive(Debug)]
pub struct Robot;

/// A listener, in the caller's memory.
#[derive(Debug)]
pub struct Listener;

/// As C is told.
fn code(outcome: Result<(), Error>) -> Error {
    outcome.err().unwrap_or(Error::None)
}

/// # Safety
/// Null, or so many numbers.
unsafe fn list<'a, T>(first: *const T, count: usize) -> Result<&'a [T], Error> {
    if first.is_null() || !first.is_aligned() || count > isize::MAX as usize / size_of::<T>() {
        return Err(Error::Null);
    }
    // SAFETY: not null and aligned, no longer than a list can be, and as long as it says, as the caller promises.
    Ok(unsafe { slice::from_raw_parts(first, count) })
}

/// # Safety
/// Null, or so many bytes that are the caller's to write.
unsafe fn buffer<'a>(first: *mut u8, count: usize) -> Result<&'a mut [u8], Error> {
    if first.is_null() || count > isize::MAX as usize {
        return Err(Error::Null);
    }
    // SAFETY: as above.
    Ok(unsafe { slice::from_raw_parts_mut(first, count) })
}

/// Writes where C wants it.
///
/// # Safety
/// Null, or the caller's to write.
unsafe fn put<T>(to: *mut T, value: T) -> Result<(), Error> {
    if to.is_null() || !to.is_aligned() {
        return Err(Error::Null);
    }
    // SAFETY: not null, aligned, and the caller's to write.
    unsafe { to.write(value) };
    Ok(())
}

/// # Safety
/// Null, or a robot's memory, lent to nobody else during this call.
unsafe fn found<'a>(robot: *const Robot) -> Result<(&'static Kind, &'a mut dyn Verbs), Error> {
    let front = robot.cast_mut().cast::<Front>();
    // SAFETY: as the caller promises; the kind found is the one that it was made by.
    unsafe {
        let kind = place::find(front, ROBOT)?;
        Ok((kind, kind.any().robot(front)))
    }
}

/// The key in these bytes; none in no bytes.
///
/// # Safety
/// Null, or so many bytes.
unsafe fn key(first: *const u8, count: usize) -> Result<Option<Key>, Error> {
    if first.is_null() || count == 0 {
        return Ok(None);
    }
    // SAFETY: as the caller promises.
    let content = unsafe { list(first, count)? };
    parse_key(content).map(Some).map_err(|_| Error::KeyMalformed)
}

/// The keys in these bytes, where they are.
///
/// # Safety
/// Null, or so many bytes that stay there.
unsafe fn roster(first: *const u8, count: usize) -> Result<&'static [Key], Error> {
    if first.is_null() || count == 0 {
        return Ok(&[]);
    }
    // SAFETY: as the caller promises.
    let (keys, rest) = unsafe { list::<u8>(first, count)? }.as_chunks();
    if rest.is_empty() && keys.len() <= ROSTER { Ok(keys) } else { Err(Error::RosterMalformed) }
}

fn count(kind: Option<&Kind>, of: impl FnOnce(&Counts) -> usize) -> usize {
    kind.map_or(0, |kind| of(&kind.any().counts()))
}

/// A sentence about an error. Never null.
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_error_text(error: i32) -> *const c_char {
    Error::with_code(error).map_or(c"no such error", Error::text).as_ptr()
}

/// Bytes of memory that a robot of this kind needs, on a multiple of WDGNN_ALIGNMENT. Zero for null.
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_robot_bytes(kind: Option<&Kind>) -> usize {
    count(kind, |counts| counts.robot_bytes)
}

/// Bytes of memory that a listener of this kind needs, likewise.
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_listener_bytes(kind: Option<&Kind>) -> usize {
    count(kind, |counts| counts.listener_bytes)
}

/// Bytes of the longest frame of this kind: what a buffer to speak into must hold.
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_frame_bytes(kind: Option<&Kind>) -> usize {
    count(kind, |counts| counts.frame_bytes)
}

/// Bytes of the longest record that a robot of this kind stores.
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_record_bytes(kind: Option<&Kind>) -> usize {
    count(kind, |counts| counts.record_bytes)
}

/// Frames that a robot of this kind speaks per exchange.
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_frames(kind: Option<&Kind>) -> usize {
    count(kind, |counts| counts.frames as usize)
}

/// Ticks of 10 ms from one exchange to the next. Robots take turns: the one with address i speaks in ticks i, i + this, ….
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_interval(kind: Option<&Kind>) -> usize {
    count(kind, |counts| counts.interval as usize)
}

/// Numbers in a state of this kind.
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_state_numbers(kind: Option<&Kind>) -> usize {
    count(kind, |counts| counts.state)
}

/// Numbers in a command of this kind.
#[unsafe(no_mangle)]
pub extern "C" fn wdgnn_command_numbers(kind: Option<&Kind>) -> usize {
    count(kind, |counts| counts.command)
}

/// Makes a robot in `memory` and tells where it is: there. The memory may be moved or given back at any time; nothing is to be undone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_create(
    kind: Option<&'static Kind>,
    memory: *mut u8,
    bytes: usize,
    settings: *const Settings,
    robot: *mut *mut Robot,
) -> Error {
    code((|| {
        // SAFETY: looked at in `put`, `list` and `key`.
        unsafe {
            put(robot, ptr::null_mut())?;
            let [settings] = list(settings, 1)? else { return Err(Error::Null) };
            let kind = kind.ok_or(Error::Null)?;
            let weights = list(settings.weights, settings.weights_bytes)?;
            let Settings { address, boot, robots, epoch, .. } = *settings;
            let personal = key(settings.personal, settings.personal_bytes)?;
            let key = key(settings.key, settings.key_bytes)?;
            let personal = personal.as_ref().map(|personal| (personal, epoch));
            let roster = roster(settings.roster, settings.roster_bytes)?;
            let parts = Parts { address, weights, key: key.as_ref(), boot, robots, personal, roster };
            kind.any().make_robot(kind, memory, bytes, &parts)?;
            put(robot, memory.cast())
        }
    })())
}

/// First in a tick: the robot's own state and its age in ticks. Null where there is none, and the last one is carried on: after
/// 25 ticks the robot is blind. Ticks may be skipped, never repeated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_sense(
    robot: *mut Robot,
    tick: u32,
    state: *const c_float,
    numbers: usize,
    age: u32,
) -> Error {
    code((|| {
        // SAFETY: looked at in `found` and `list`.
        let ((kind, robot), state) = unsafe { (found(robot)?, list(state, numbers).ok()) };
        if state.is_some() && numbers != kind.any().counts().state {
            return Err(Error::WrongCount);
        }
        robot.sense(tick, state, age)
    })())
}

/// Writes the next frame of this tick to `buffer` and tells its length: 0 when there is nothing more to say. To be called until then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_speak(
    robot: *mut Robot,
    frame: *mut u8,
    bytes: usize,
    length: *mut usize,
) -> Error {
    code((|| {
        // SAFETY: looked at in each.
        unsafe {
            put(length, 0)?;
            let (kind, robot) = found(robot)?;
            let frame = buffer(frame, bytes)?;
            if bytes < kind.any().counts().frame_bytes {
                return Err(Error::BufferTooSmall);
            }
            put(length, robot.speak(frame)?)
        }
    })())
}

/// Takes in a frame that was heard in this tick. A sealed one is opened where it lies. `sender`, unless it is null, is told whose it is, if a
/// swarm member's: also of one that was refused because its sender's clock is another. A frame that brings the swarm's next key is taken
/// like any other, from the radio or from the operator: WDGNN_ERROR_REFUSED_NEW_KEY says that it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_hear(
    robot: *mut Robot,
    frame: *mut u8,
    bytes: usize,
    sender: *mut Sender,
) -> Error {
    code((|| {
        let mut whose = Sender::default();
        // SAFETY: looked at in each; who does not want to know the sender gives null.
        unsafe {
            let (_, robot) = found(robot)?;
            let outcome = robot.hear(buffer(frame, bytes)?, &mut whose);
            let _not_wanted = put(sender, whose);
            outcome
        }
    })())
}

/// Last in a tick: what the robot is to do now, and what it did with what it heard. It learns in this call, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_finish(robot: *mut Robot, report: *mut Report) -> Error {
    code((|| {
        // SAFETY: looked at in each.
        unsafe {
            let (_, robot) = found(robot)?;
            if report.is_null() {
                return Err(Error::Null);
            }
            put(report, robot.finish())
        }
    })())
}

/// What was counted since the robot was created.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_counters(robot: *const Robot, counters: *mut Counters) -> Error {
    // SAFETY: looked at in each.
    code((|| unsafe { put(counters, *found(robot)?.1.counters()) })())
}

/// The neighbour in this place of the robot's table, by ascending address; WDGNN_ERROR_NOTHING_THERE behind the last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_neighbour(
    robot: *const Robot,
    index: usize,
    neighbour: *mut Neighbour,
) -> Error {
    // SAFETY: looked at in each.
    code((|| unsafe { put(neighbour, found(robot)?.1.neighbour(index).ok_or(Error::NothingThere)?) })())
}

/// The parameters that the robot learns in flight, and how many: they lie in the robot. Null if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_parameters(robot: *const Robot, count: *mut usize) -> *const c_float {
    // SAFETY: looked at in each.
    let parameters = unsafe { found(robot) }.map_or(&[][..], |(_, robot)| robot.parameters());
    // SAFETY: looked at in `put`.
    let _not_wanted = unsafe { put(count, parameters.len()) };
    if parameters.is_empty() { ptr::null() } else { parameters.as_ptr() }
}

/// Writes what the robot wants to know after its next start to `record` and tells its length. Once a second is often enough, because flash
/// wears out; but at once when a report says so. There are keys in the record of a rekeyable kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_store(
    robot: *mut Robot,
    record: *mut u8,
    bytes: usize,
    length: *mut usize,
) -> Error {
    code((|| {
        // SAFETY: looked at in each.
        unsafe {
            put(length, 0)?;
            let (_, robot) = found(robot)?;
            put(length, robot.store(buffer(record, bytes)?)?)
        }
    })())
}

/// Takes up what was stored before a restart: parameters, if they are this model's, and the boot count, one more. Before the first tick;
/// and before the first frame is sent the caller stores again and keeps that, so that no count comes twice.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_restore(robot: *mut Robot, record: *const u8, bytes: usize) -> Error {
    // SAFETY: looked at in each.
    code((|| unsafe { found(robot)?.1.restore(list(record, bytes)?) })())
}

/// Makes a listener in `memory`: it reads frames without being a robot. `model` is the checksum of the swarm's weight file, its last
/// four bytes; the key as in the settings of a robot.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_listener_create(
    kind: Option<&'static Kind>,
    memory: *mut u8,
    bytes: usize,
    model: u32,
    key: *const u8,
    key_bytes: usize,
    listener: *mut *mut Listener,
) -> Error {
    code((|| {
        // SAFETY: looked at in `put`, `key` and `Placed::make`.
        unsafe {
            put(listener, ptr::null_mut())?;
            let kind = kind.ok_or(Error::Null)?;
            let key = self::key(key, key_bytes)?;
            kind.any().make_listener(kind, memory, bytes, model, key.as_ref())?;
            put(listener, memory.cast())
        }
    })())
}

/// Reads a frame at tick `now`, which matters for sealed ones only. A sealed one is opened where it lies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wdgnn_frame_read(
    listener: *mut Listener,
    now: u32,
    frame: *mut u8,
    bytes: usize,
    beacon: *mut Beacon,
) -> Error {
    code((|| {
        let front = listener.cast::<Front>();
        // SAFETY: looked at in each; the kind found is the one that it was made by.
        unsafe {
            let kind = place::find(front, LISTENER)?;
            let frame = buffer(frame, bytes)?;
            put(beacon, kind.any().listener(front).read(now, frame)?)
        }
    })())
}

#[cfg(test)]
mod tests;
