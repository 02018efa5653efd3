//! What a robot keeps over a restart: how often it was started, and the wide parameters it has learned.
//!
//! The record has two parts, each with its own CRC-32 behind it (`docs/wire-format.md`): the head tells the model and the boot
//! count, the body holds the parameters. The boot count survives a change of model, whose parameters have another length. A robot that
//! keeps a personal part has it in a third part behind; a record without one is as good as it always was.

use postcard::fixint::le;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{codec::Codec, node::Node, ports::Store, task::Task, weights::checksum, wide::Model};

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Head {
    #[serde(with = "le")]
    model: u32,
    #[serde(with = "le")]
    boot: u32,
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
    T: Task<Features = M::Features, Output = M::Output>,
    K: Store,
{
    let length = store.load(buffer).map_err(|_| StoreFailed)?.unwrap_or_default();
    // A record longer than the buffer was cut: its head is still good.
    let record = buffer.get(..length).unwrap_or(buffer);
    let mut resumed = false;
    if let Some((head, body)) = unseal::<Head>(record) {
        if head.model == node.link().model
            && let Some((wide, rest)) = unseal::<M::Wide>(body)
            && (rest.is_empty() || take_personal(node, rest))
        {
            resumed = node.set_wide(&wide);
        }
        node.set_boot(head.boot.saturating_add(1));
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
    T: Task<Features = M::Features, Output = M::Output>,
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
    T: Task<Features = M::Features, Output = M::Output>,
    K: Store,
{
    let head = Head { model: node.link().model, boot: node.boot() };
    let length = seal(&head, buffer)?;
    let mut length = length + seal(node.wide(), buffer.get_mut(length..)?)?;
    if node.behaviour().learning.personal() {
        length += seal_personal(node, buffer.get_mut(length..)?)?;
    }
    store.save(buffer.get(..length)?).ok()
}

/// Writes the personal part: its gain, its biases, and their checksum.
fn seal_personal<M, T, const N: usize, P: Codec>(node: &Node<M, T, N, P>, buffer: &mut [u8]) -> Option<usize>
where
    M: Model,
    T: Task<Features = M::Features, Output = M::Output>,
{
    let personal = node.personal();
    let numbers = [personal.gain];
    let mut length = 0;
    for number in numbers.iter().chain(personal.bias.as_ref()) {
        *buffer.get_mut(length..)?.first_chunk_mut()? = number.to_le_bytes();
        length += 4;
    }
    let checksum = checksum(buffer.get(..length)?);
    *buffer.get_mut(length..)?.first_chunk_mut()? = checksum.to_le_bytes();
    Some(length + 4)
}

/// Reads what [`seal_personal`] wrote and has the node take it up, as far as its rule allows. Returns whether it is whole.
fn take_personal<M, T, const N: usize, P: Codec>(node: &mut Node<M, T, N, P>, bytes: &[u8]) -> bool
where
    M: Model,
    T: Task<Features = M::Features, Output = M::Output>,
{
    let Some((covered, stored)) = bytes.split_last_chunk::<4>() else { return false };
    let mut bias = node.personal().bias;
    let (chunks, left) = covered.as_chunks::<4>();
    let whole = checksum(covered) == u32::from_le_bytes(*stored)
        && left.is_empty()
        && chunks.len() == 1 + bias.as_ref().len();
    if whole && let Some((gain, biases)) = chunks.split_first() {
        for (bias, bytes) in bias.as_mut().iter_mut().zip(biases) {
            *bias = f32::from_le_bytes(*bytes);
        }
        node.set_personal(bias, f32::from_le_bytes(*gain));
    }
    whole
}

/// Writes `value` and its checksum to the front of `buffer` and returns their length.
fn seal<V: Serialize>(value: &V, buffer: &mut [u8]) -> Option<usize> {
    let written = postcard::to_slice(value, buffer).ok()?;
    let (length, checksum) = (written.len(), checksum(written));
    buffer.get_mut(length..)?.first_chunk_mut().map(|seal| *seal = checksum.to_le_bytes())?;
    Some(length + 4)
}

/// Reads what [`seal`] wrote, and what is behind it.
fn unseal<V: DeserializeOwned>(bytes: &[u8]) -> Option<(V, &[u8])> {
    let (value, rest) = postcard::take_from_bytes(bytes).ok()?;
    let sealed = bytes.get(..bytes.len() - rest.len())?;
    let (seal, rest) = rest.split_first_chunk()?;
    (checksum(sealed) == u32::from_le_bytes(*seal)).then_some((value, rest))
}
