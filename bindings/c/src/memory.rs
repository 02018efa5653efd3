//! Placement of robots and listeners in the caller's memory.
//!
//! A prefix precedes each of them. Its magic number detects memory without a robot or listener. Its robot type knows
//! the Rust type of the rest.

#![allow(unsafe_code, reason = "memory from C is untyped")]

use core::mem::MaybeUninit;

use crate::{error::Error, robot_type::RobotType, types::ALIGNMENT};

/// Prefix of a robot or listener in memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Prefix {
    magic: u32,
    pub robot_type: &'static RobotType,
}

/// Magic number of a robot.
pub const ROBOT_MAGIC: u32 = 0x6e47_6457;
/// Magic number of a listener.
pub const LISTENER_MAGIC: u32 = 0x6e67_4c57;

/// Value in the caller's memory, after its prefix.
#[repr(C)]
pub struct Placed<V> {
    prefix: Prefix,
    value: V,
}

impl<V> Placed<V> {
    /// Size in bytes, including the prefix.
    pub const BYTES: usize = {
        assert!(align_of::<Self>() <= ALIGNMENT);
        size_of::<Self>()
    };

    /// Creates a value in `memory`. After an error in `value`, the memory has no valid magic number.
    ///
    /// # Safety
    /// `memory` must be null or writable for `bytes` bytes.
    #[inline]
    pub unsafe fn create(
        memory: *mut u8, bytes: usize, magic: u32, robot_type: &'static RobotType,
        value: impl FnOnce() -> Result<V, Error>,
    ) -> Result<(), Error> {
        if memory.is_null() {
            return Err(Error::Null);
        }
        if !memory.addr().is_multiple_of(ALIGNMENT) {
            return Err(Error::MemoryMisaligned);
        }
        if bytes < Self::BYTES {
            return Err(Error::MemoryTooSmall);
        }
        // SAFETY: checked above to be non-null, aligned and long enough; writable by the caller's promise.
        let place = unsafe { &mut *memory.cast::<MaybeUninit<Self>>() };
        // Invalidates an earlier robot or listener.
        // SAFETY: the magic number is the first word of the place.
        unsafe { place.as_mut_ptr().cast::<u32>().write(0) };
        place.write(Self { prefix: Prefix { magic, robot_type }, value: value()? });
        Ok(())
    }

    /// Value after the prefix.
    ///
    /// # Safety
    /// [`robot_type_at`] must have returned the robot type whose value is a `V`.
    pub unsafe fn value<'a>(prefix: *mut Prefix) -> &'a mut V {
        // SAFETY: `create` wrote this type, and the caller gives exclusive access during the call.
        unsafe { &mut (*prefix.cast::<Self>()).value }
    }
}

/// Robot type of the robot or listener at this address.
///
/// # Safety
/// `prefix` must be null, misaligned, or readable for the size of a prefix.
pub unsafe fn robot_type_at(prefix: *mut Prefix, magic: u32) -> Result<&'static RobotType, Error> {
    if prefix.is_null() {
        return Err(Error::Null);
    }
    if !prefix.is_aligned() {
        return Err(Error::NotFound);
    }
    // SAFETY: the magic number is the first word, and every bit pattern is a valid word.
    if unsafe { prefix.cast::<u32>().read() } != magic {
        return Err(Error::NotFound);
    }
    // SAFETY: with this magic number, `create` wrote the prefix.
    Ok(unsafe { (*prefix).robot_type })
}
