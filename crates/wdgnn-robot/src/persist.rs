//! What a robot keeps over a restart: how often it was started, what it knows of the swarm's time, and the wide parameters it has learned.
//!
//! The record has two parts, each with its own CRC-32 behind it (`docs/wire-format.md`): the head tells the weight file's checksum, the
//! boot count and the time, the body holds the parameters. Count and time survive a change of model, whose parameters have another length.
//! A robot whose keys change has them in a part of their own between the two; a robot that keeps a personal part has it in a third part behind; a record without one is as good as it always was.
//!
//! **Time is reserved ahead.** A record says up to which tick the robot may speak before there is another one. The next start begins
//! there, so no number of a frame comes twice and the time of every recording has passed; and it takes nothing for the swarm's that is from
//! before what the record knows to have passed.

use crate::tasks::RobotTask;
use crate::{
    node::{Node, Past},
    ports::Store,
};
use wdgnn_core::{
    model::Model,
    tensor::{Array, Tensor, kernels},
    weights::crc_32,
};
use wdgnn_link::{encoding::Codec, security::key_ring::KEPT_BYTES};

/// Length of the head without its CRC-32: the weight file's checksum, the boot count, and two times.
const HEAD_BYTES: usize = 16;

/// So many ticks are reserved ahead: a minute, six times what lies between two records in flight.
pub const RESERVED_TICKS: u32 = 6_000;

/// The same by a store that has room for no other record in this flight: a day.
pub const LAST_RESERVED_TICKS: u32 = 8_640_000;

/// Length of the longest record of a robot with this network, with keys that change or without: each part has its CRC-32 behind it.
#[must_use]
pub const fn record_bytes<M: Model>(keys: bool) -> usize {
    let keys = if keys { KEPT_BYTES + 4 } else { 0 };
    HEAD_BYTES + 4 + keys + 4 * M::Wide::LEN + 4 + 4 + 4 * M::Output::LEN + 4
}

/// The store could not be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct StoreFailed;

/// After a start: takes up the wide parameters that were last saved, if they are whole and belong to this model, and counts
/// the boot. Returns whether parameters were taken up. Call it once, before the first tick.
///
/// A damaged head counts as none: the node keeps the boot count that it had, 0 unless [`Node::set_boot`] gave it another. On a sealed
/// link no count may come twice: there, a board whose clock begins anew with every boot gives one by chance before this is
/// called, and again when it fails.
///
/// `buffer` needs [`Node::frame_bytes`].
///
/// # Errors
/// When the store could not be read (the node is then as it was) or the new boot count not kept (what was read has been
/// taken up). Whether to fly at all is the caller's choice.
#[inline(never)] // its stack is given back before the first tick
pub fn resume<M, T, K, const N: usize, P: Codec>(
    node: &mut Node<M, T, N, P>,
    store: &mut K,
    buffer: &mut [u8],
) -> Result<bool, StoreFailed>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    K: Store,
{
    let length = store.load(buffer).map_err(|_| StoreFailed)?.unwrap_or_default();
    // A record longer than the buffer was cut: its head is still good.
    let record = buffer.get(..length).unwrap_or(buffer);
    let mut resumed = false;
    if let Some((head, body)) = take_part(record, HEAD_BYTES)
        && let Some([checksum, boot, since, until]) = read_head(head)
    {
        let keys = node.kept_keys().and_then(|_| take_part(body, KEPT_BYTES));
        let kept = keys.and_then(|(kept, _)| kept.first_chunk().copied());
        let body = keys.map_or(body, |(_, rest)| rest);
        let mut wide = M::Wide::ZERO;
        if checksum == node.link().checksum
            && let Some((numbers, rest)) = take_part(body, 4 * M::Wide::LEN)
            && (rest.is_empty() || take_personal(node, rest))
        {
            resumed = kernels::read(wide.numbers_mut(), numbers) && node.set_wide(&wide);
        }
        // One that has come to its end seals nothing more.
        node.set_boot(boot.saturating_add(1));
        node.set_past(Past { since, until });
        if let Some(kept) = kept {
            node.codec().take_up_keys(&kept);
        }
    }
    // Before the first word: a count that is lost now would come again, and a nonce with it.
    keep(node, store, buffer)?;
    Ok(resumed)
}

/// Keeps what the next start will want to know, and waits until it is kept: before a new boot count is used in flight.
///
/// # Errors
/// When it could not be kept; what was kept before still is.
pub fn keep<M, T, K, const N: usize, P: Codec>(
    node: &Node<M, T, N, P>,
    store: &mut K,
    buffer: &mut [u8],
) -> Result<(), StoreFailed>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    K: Store,
{
    save(node, store, buffer).ok_or(StoreFailed)?;
    store.flush().map_err(|_| StoreFailed)
}

/// Saves what the next start will want to know.
#[inline(never)] // likewise
pub(crate) fn save<M, T, K, const N: usize, P: Codec>(
    node: &Node<M, T, N, P>,
    store: &mut K,
    buffer: &mut [u8],
) -> Option<()>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    K: Store,
{
    let whole = buffer.len();
    let Past { since, until } =
        node.past_for(if store.is_last() { LAST_RESERVED_TICKS } else { RESERVED_TICKS });
    let numbers = [node.link().checksum, node.boot(), since, until];
    let mut rest = put_part(buffer, HEAD_BYTES, |head| write_head(head, numbers))?;
    if let Some(kept) = node.kept_keys() {
        rest = put_part(rest, KEPT_BYTES, |part| {
            part.iter_mut().zip(kept).for_each(|(to, from)| *to = from);
        })?;
    }
    let mut rest = put_part(rest, 4 * M::Wide::LEN, |body| kernels::write(body, node.wide().numbers()))?;
    if node.behavior().learning.personal() {
        let personal = node.personal();
        rest = put_part(rest, 4 + 4 * M::Output::LEN, |part| {
            if let Some((gain, biases)) = part.split_first_chunk_mut::<4>() {
                *gain = personal.gain.to_le_bytes();
                kernels::write(biases, personal.bias.as_ref());
            }
        })?;
    }
    let length = whole - rest.len();
    store.save(buffer.get(..length)?).ok()
}

/// Reads a personal part and has the node take it up, as far as its rule allows. Returns whether it is whole.
fn take_personal<M, T, const N: usize, P: Codec>(node: &mut Node<M, T, N, P>, bytes: &[u8]) -> bool
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
{
    let Some((part, [])) = take_part(bytes, 4 + 4 * M::Output::LEN) else { return false };
    if let Some((gain, biases)) = part.split_first_chunk() {
        node.set_personal(Array::from_bytes(biases), f32::from_le_bytes(*gain));
    }
    true
}

fn write_head(head: &mut [u8], numbers: [u32; HEAD_BYTES / 4]) {
    let (words, _) = head.as_chunks_mut();
    words.iter_mut().zip(numbers).for_each(|(word, number)| *word = number.to_le_bytes());
}

fn read_head(head: &[u8]) -> Option<[u32; HEAD_BYTES / 4]> {
    let (words, _) = head.as_chunks();
    let (words, rest) = words.split_first_chunk()?;
    rest.is_empty().then(|| words.map(u32::from_le_bytes))
}

/// Has a part of this length written to the front of `buffer`, and puts its CRC-32 behind it. Returns the room that is left.
fn put_part(buffer: &mut [u8], length: usize, write: impl FnOnce(&mut [u8])) -> Option<&mut [u8]> {
    let (part, rest) = buffer.split_at_mut_checked(length)?;
    let (seal, rest) = rest.split_first_chunk_mut()?;
    write(part);
    *seal = crc_32(part).to_le_bytes();
    Some(rest)
}

/// Takes a part of this length from the front of `bytes`, if its CRC-32 is right. Returns what is behind it, too.
fn take_part(bytes: &[u8], length: usize) -> Option<(&[u8], &[u8])> {
    let (part, rest) = bytes.split_at_checked(length)?;
    let (seal, rest) = rest.split_first_chunk()?;
    (crc_32(part) == u32::from_le_bytes(*seal)).then_some((part, rest))
}
