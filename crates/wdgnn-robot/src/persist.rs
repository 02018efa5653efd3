//! Record that a robot keeps over a restart: boot count, time, keys, wide parameters, local adaptation.
//!
//! Each part of the record is followed by its CRC-32 (`docs/wire-format.md`). The head contains the
//! checksum of the weight file, the boot count and the time; it stays valid for another weight file,
//! whose parameters have another length. A robot with key rotation has a part for keys. A robot with
//! local adaptation has a last part for it, which may be missing.
//!
//! **Time is reserved ahead.** A record contains the tick up to which the robot may send before the
//! next record. The next start begins there. So no frame number occurs twice, and every recording is
//! from a time that has passed.

use wdgnn_core::{
    model::Model,
    tensor::{Array, Tensor},
    weights::crc_32,
};
use wdgnn_link::{encoding::floats, security::key_ring::STORED_KEYS_LEN};

use crate::{
    config::{CommandOf, LinkOf, RobotTypes},
    controller::StoredTime,
    ports::Store,
    robot::Robot,
};

/// Length of the head without its CRC-32: checksum of the weight file, boot count, two ticks.
const HEAD_LEN: usize = 16;

/// Ticks reserved ahead: one minute, six times the interval between two records in flight.
pub const RESERVED_TICKS: u32 = 6_000;

/// Ticks reserved ahead by a store that has no room for another record in this flight: one day.
pub const LAST_RESERVED_TICKS: u32 = 8_640_000;

/// Length of the longest record of a robot with this network, with or without key rotation.
pub const fn record_len<M: Model>(rotates_keys: bool) -> usize {
    let keys = if rotates_keys { STORED_KEYS_LEN + 4 } else { 0 };
    HEAD_LEN + 4 + keys + 4 * M::Wide::LEN + 4 + 4 + 4 * M::Output::LEN + 4
}

/// Wide parameters of a robot with the types `C`.
type WideOf<C> = <<C as RobotTypes>::Model as Model>::Wide;

/// The record could not be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[error("the store could not be read or written")]
pub struct StoreError;

/// Restores the last record after a start and counts the boot. Returns whether parameters were restored.
///
/// Call it once, before the first tick. Without a valid head, the link keeps its boot count. On a
/// sealed link, no boot count may occur twice. A board whose clock starts again with every boot
/// therefore sets a random count before this call, and again when it fails. `buffer` needs
/// [`record_len`] bytes.
///
/// # Errors
/// [`StoreError`] if the record could not be read, so that the robot is unchanged, or if the new boot
/// count could not be stored. The caller decides whether to fly.
#[inline(never)] // returns its stack before the first tick
pub fn restore<C: RobotTypes, L: LinkOf<C>, K: Store, const N: usize>(
    robot: &mut Robot<C, L, N>, store: &mut K, buffer: &mut [u8],
) -> Result<bool, StoreError> {
    let length = store.load(buffer).map_err(|_| StoreError)?.unwrap_or_default();
    // A record that is longer than the buffer was cut. Its head is valid.
    let record = buffer.get(..length).unwrap_or(buffer);
    let mut resumed = false;
    if let Some((head, body)) = read_part(record, HEAD_LEN)
        && let Some([model, boot, since, until]) = read_head(head)
    {
        let keys = robot.link().security().stored_keys().and_then(|_| read_part(body, STORED_KEYS_LEN));
        let stored = keys.and_then(|(stored, _)| stored.first_chunk().copied());
        let body = keys.map_or(body, |(_, rest)| rest);
        let mut wide = WideOf::<C>::ZERO;
        if model == robot.link().model_checksum()
            && let Some((numbers, rest)) = read_part(body, 4 * WideOf::<C>::LEN)
            && (rest.is_empty() || restore_adaptation(robot, rest))
        {
            resumed = floats::read(wide.numbers_mut(), numbers) && robot.agent_mut().set_wide(&wide);
        }
        // A link with the last boot count seals nothing.
        robot.link_mut().set_boot_count(boot.saturating_add(1));
        robot.set_stored_time(StoredTime { since, until });
        if let Some(stored) = stored {
            robot.link_mut().security_mut().restore_keys(&stored);
        }
    }
    // A boot count that is lost before the first frame would occur again, and a nonce with it.
    save_and_flush(robot, store, buffer)?;
    Ok(resumed)
}

/// Stores the record and waits until it is stored: before a new boot count is used in flight.
///
/// # Errors
/// [`StoreError`]; the previous record is still stored.
pub fn save_and_flush<C: RobotTypes, L: LinkOf<C>, K: Store, const N: usize>(
    robot: &Robot<C, L, N>, store: &mut K, buffer: &mut [u8],
) -> Result<(), StoreError> {
    save(robot, store, buffer).ok_or(StoreError)?;
    store.flush().map_err(|_| StoreError)
}

/// Stores the record.
#[inline(never)] // returns its stack before the next step
pub(crate) fn save<C: RobotTypes, L: LinkOf<C>, K: Store, const N: usize>(
    robot: &Robot<C, L, N>, store: &mut K, buffer: &mut [u8],
) -> Option<()> {
    let whole = buffer.len();
    let reserved = if store.is_nearly_full() { LAST_RESERVED_TICKS } else { RESERVED_TICKS };
    let StoredTime { since, until } = robot.past_after(reserved);
    let numbers = [robot.link().model_checksum(), robot.link().boot_count(), since, until];
    let mut rest = write_part(buffer, HEAD_LEN, |head| write_head(head, numbers))?;
    if let Some(keys) = robot.link().security().stored_keys() {
        rest = write_part(rest, STORED_KEYS_LEN, |part| {
            part.iter_mut().zip(keys).for_each(|(to, from)| *to = from);
        })?;
    }
    let agent = robot.agent();
    let mut rest =
        write_part(rest, 4 * WideOf::<C>::LEN, |body| floats::write(body, agent.wide().numbers()))?;
    if robot.config().agent.learning.adapts_locally() {
        let adaptation = agent.adaptation();
        rest = write_part(rest, 4 + 4 * CommandOf::<C>::LEN, |part| {
            if let Some((gain, biases)) = part.split_first_chunk_mut::<4>() {
                *gain = adaptation.gain.to_le_bytes();
                floats::write(biases, adaptation.bias.as_ref());
            }
        })?;
    }
    let length = whole - rest.len();
    store.save(buffer.get(..length)?).ok()
}

/// Reads a local adaptation and restores it if the rule allows it. Returns whether the part is valid.
fn restore_adaptation<C: RobotTypes, L: LinkOf<C>, const N: usize>(
    robot: &mut Robot<C, L, N>, bytes: &[u8],
) -> bool {
    let Some((part, [])) = read_part(bytes, 4 + 4 * CommandOf::<C>::LEN) else { return false };
    if let Some((gain, biases)) = part.split_first_chunk() {
        robot.restore_adaptation(floats::read_array(biases), f32::from_le_bytes(*gain));
    }
    true
}

fn write_head(head: &mut [u8], numbers: [u32; HEAD_LEN / 4]) {
    let (words, _) = head.as_chunks_mut();
    words.iter_mut().zip(numbers).for_each(|(word, number)| *word = number.to_le_bytes());
}

fn read_head(head: &[u8]) -> Option<[u32; HEAD_LEN / 4]> {
    let (words, _) = head.as_chunks();
    let (words, rest) = words.split_first_chunk()?;
    rest.is_empty().then(|| words.map(u32::from_le_bytes))
}

/// Writes a part of this length and its CRC-32 to the start of `buffer`. Returns the rest of the buffer.
fn write_part(buffer: &mut [u8], length: usize, write: impl FnOnce(&mut [u8])) -> Option<&mut [u8]> {
    let (part, rest) = buffer.split_at_mut_checked(length)?;
    let (check, rest) = rest.split_first_chunk_mut()?;
    write(part);
    *check = crc_32(part).to_le_bytes();
    Some(rest)
}

/// Reads a part of this length from the start of `bytes`, if its CRC-32 is right. Returns the rest, too.
fn read_part(bytes: &[u8], length: usize) -> Option<(&[u8], &[u8])> {
    let (part, rest) = bytes.split_at_checked(length)?;
    let (check, rest) = rest.split_first_chunk()?;
    (crc_32(part) == u32::from_le_bytes(*check)).then_some((part, rest))
}
