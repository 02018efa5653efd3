//! Messages of [`wdgnn_core`] as bytes on a radio: profiles, security, time slots.
//!
//! [`link::Link`] is one robot's end of a radio link. Its profile ([`encoding`]) and its security
//! ([`security`]) are type parameters. [`frames`] has the frames as plain serde types for programs
//! that are not robots. [`tdma`] keeps a common clock and time slots without a master.
//!
//! ```
//! use wdgnn_core::{filter::{LayerTaps}, message::Message, tasks::flocking::Motion, tensor::Filter};
//! use wdgnn_link::{encoding::exact::Exact, link::{Link, MessageLink, Sealed}, security::group_key::GroupKey};
//!
//! type Small = Message<Motion<2>, LayerTaps<2, 1, ()>, Filter<2, 1, 2>>;
//! # use wdgnn_core::{filter::DelayLines as _, tensor::Tensor as _};
//! let model = 0x1234; // checksum of the weight file
//! let mut robot: Sealed<Exact> = Link::new(model, GroupKey::new(b"sixteen byte key"));
//! let mut other: Sealed<Exact> = Link::new(model, GroupKey::new(b"sixteen byte key"));
//!
//! let message = Small { sender: 3, tick: 7, ..Message::empty(Motion::REST) };
//! let mut buffer = [0; 128];
//! let length = robot.send(&message, 0, 0, &mut buffer).unwrap();
//! let mut received = Small::empty(Motion::REST);
//! other.receive(7, &mut buffer[..length], &mut received)?;
//! assert_eq!(received, message);
//! # Ok::<(), wdgnn_link::error::FrameError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod encoding;
pub mod error;
pub mod frames;
pub mod header;
pub mod link;
pub mod security;
pub mod tdma;
