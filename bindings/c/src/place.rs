//! Where the caller's memory becomes a robot or a listener, and is one again in the next call.
//!
//! In front of either lies a mark, by which memory is known in which nothing was made, and its kind, which alone knows what lies behind.

#![allow(unsafe_code, reason = "memory that C gives is bytes until something is written to it")]

use core::mem::MaybeUninit;

use crate::{error::Error, kind::Kind, told::ALIGNMENT};

/// What lies in front of what was made.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Front {
    mark: u32,
    pub kind: &'static Kind,
}

/// A robot's mark, and a listener's: any two words that memory holds by chance as rarely as any other.
pub const ROBOT: u32 = 0x6e47_6457;
pub const LISTENER: u32 = 0x6e67_4c57;

/// A front and what lies behind it.
#[repr(C)]
pub struct Placed<B> {
    front: Front,
    body: B,
}

impl<B> Placed<B> {
    /// How many bytes it takes.
    pub const BYTES: usize = {
        assert!(align_of::<Self>() <= ALIGNMENT);
        size_of::<Self>()
    };

    /// Makes one in this memory. What is there after an error is no robot and no listener.
    ///
    /// # Safety
    /// The memory must be the caller's to write, `bytes` long.
    #[inline]
    pub unsafe fn make(
        memory: *mut u8,
        bytes: usize,
        mark: u32,
        kind: &'static Kind,
        body: impl FnOnce() -> Result<B, Error>,
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
        // SAFETY: not null, aligned and long enough, as was just seen; the caller's to write, as it promises.
        let place = unsafe { &mut *memory.cast::<MaybeUninit<Self>>() };
        // Whatever was there is there no more.
        // SAFETY: a front lies within the place.
        unsafe { place.as_mut_ptr().cast::<u32>().write(0) };
        place.write(Self { front: Front { mark, kind }, body: body()? });
        Ok(())
    }

    /// What lies behind the front.
    ///
    /// # Safety
    /// `front` must have been found by [`find`], with the kind whose body is `B`.
    pub unsafe fn body<'a>(front: *mut Front) -> &'a mut B {
        // SAFETY: this very type was written there by `make`, and C lends it to nobody else during this call.
        unsafe { &mut (*front.cast::<Self>()).body }
    }
}

/// The kind of what was made in this memory.
///
/// # Safety
/// The memory must be the caller's, and long enough for a front, unless it is null or misaligned.
pub unsafe fn find(front: *mut Front, mark: u32) -> Result<&'static Kind, Error> {
    if front.is_null() {
        return Err(Error::Null);
    }
    if !front.is_aligned() {
        return Err(Error::NothingThere);
    }
    // SAFETY: the mark is the first word, and any bits are a word.
    if unsafe { front.cast::<u32>().read() } != mark {
        return Err(Error::NothingThere);
    }
    // SAFETY: with its mark, it was written by `make`.
    Ok(unsafe { (*front).kind })
}
