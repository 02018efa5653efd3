//! Parcels over [Zenoh](https://zenoh.io): several processes, on one machine or many, fly one swarm ([`wdgnn_sim::shared`]).
//!
//! Workers know each other's addresses; nobody is looked for. Each tells the others that it lives by a token that Zenoh takes down when the
//! connection is gone: at once where a process ends, within the engine's ten seconds where a cable is pulled.

#![forbid(unsafe_code)]

use std::{sync::Arc, time::SystemTime};

use wdgnn_sim::{
    error::{Error, Result},
    shared::{Board, Post, board::Address},
};
use zenoh::{
    Config, Session, Wait as _,
    liveliness::LivelinessToken,
    pubsub::Subscriber,
    qos::CongestionControl,
    sample::{Sample, SampleKind},
};

/// Nothing larger than this arrives: the share of a snapshot with fifteen million robots. Zenoh's own bound is a gigabyte.
const LARGEST: u64 = 1 << 34;

/// Under these names everything is sent.
const PARCELS: &str = "wdgnn/parcels";
const LIVES: &str = "wdgnn/lives";

/// A worker's place among others, for as long as it lives.
#[derive(Debug)]
pub struct Exchange {
    session: Session,
    board: Arc<Board>,
    _parcels: Subscriber<()>,
    _lives: Subscriber<()>,
    _token: LivelinessToken,
}

impl Exchange {
    /// Worker number `number` of those at these addresses, each `HOST:PORT`, in order: listens at its own and connects to all others.
    ///
    /// # Errors
    /// [`Error::Usage`] when it cannot listen there, or an address is none.
    pub fn open(number: usize, addresses: &[String]) -> Result<Self> {
        let endpoints: Vec<String> = addresses.iter().map(|address| format!("tcp/{address}")).collect();
        let own = &addresses[number];
        let refused =
            |why: zenoh::Error| Error::usage(format!("worker {number} cannot listen at {own}: {why}"));
        let session = zenoh::open(config(number, &endpoints).map_err(refused)?).wait().map_err(refused)?;
        let board = Arc::new(Board::new(addresses.len()));
        let (pins, calls) = (board.clone(), board.clone());
        // In this order: who sees the token can be sure that parcels find their way.
        let parcels = session
            .declare_subscriber(format!("{PARCELS}/{number}/**"))
            .callback(move |sample| pin(&pins, &sample))
            .wait()
            .map_err(refused)?;
        let lives = session
            .liveliness()
            .declare_subscriber(format!("{LIVES}/*/*"))
            .history(true)
            .callback(move |sample| call(&calls, &sample))
            .wait()
            .map_err(refused)?;
        let life = life();
        let token = session
            .liveliness()
            .declare_token(format!("{LIVES}/{number}/{life:x}"))
            .wait()
            .map_err(refused)?;
        board.join(number, life);
        Ok(Self { session, board, _parcels: parcels, _lives: lives, _token: token })
    }
}

impl Post for Exchange {
    fn board(&self) -> &Board {
        &self.board
    }

    fn send(&self, Address { age, from, to, step }: Address, parcel: Vec<u8>) {
        let key = format!("{PARCELS}/{to}/{from}/{age:x}/{step:x}");
        let sent = self.session.put(key, parcel).congestion_control(CongestionControl::Block).express(true);
        // Who does not get it is missed by its token.
        let _ = sent.wait();
    }
}

/// Two processes that take the same worker's place one after the other differ in this.
fn life() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_nanos() as u64 ^ u64::from(std::process::id()) << 48
}

fn config(number: usize, endpoints: &[String]) -> std::result::Result<Config, zenoh::Error> {
    let others: Vec<&String> = endpoints
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != number)
        .map(|(_, endpoint)| endpoint)
        .collect();
    let own = &endpoints[number];
    // Whoever is not there yet, or no longer, is tried again in the background for ever.
    Config::from_json5(&format!(
        r#"{{
            mode: "peer",
            listen: {{ endpoints: [{own:?}] }},
            connect: {{
                endpoints: {others:?},
                timeout_ms: -1,
                exit_on_failure: false,
                retry: {{ period_init_ms: 50, period_max_ms: 1000, period_increase_factor: 2 }},
            }},
            scouting: {{ multicast: {{ enabled: false }}, gossip: {{ enabled: false }} }},
            transport: {{ link: {{ rx: {{ max_message_size: {LARGEST} }} }} }},
        }}"#
    ))
}

/// A parcel has come.
fn pin(board: &Board, sample: &Sample) {
    if let Some(address) = address(sample.key_expr().as_str()) {
        board.pin(address, sample.payload().to_bytes().into_owned());
    }
}

fn address(key: &str) -> Option<Address> {
    let mut words = key.strip_prefix(PARCELS)?.strip_prefix('/')?.split('/');
    let (to, from) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let mut number = || u64::from_str_radix(words.next()?, 16).ok();
    Some(Address { to, from, age: number()?, step: number()? })
}

/// Somebody lives, or no longer.
fn call(board: &Board, sample: &Sample) {
    let key = sample.key_expr().as_str();
    let words = key.strip_prefix(LIVES).and_then(|rest| rest.strip_prefix('/')?.split_once('/'));
    let Some((worker, life)) = words else { return };
    let (Ok(worker), Ok(life)) = (worker.parse(), u64::from_str_radix(life, 16)) else { return };
    match sample.kind() {
        SampleKind::Put => board.join(worker, life),
        SampleKind::Delete => board.leave(worker, life),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_they_are_written() {
        let address = address("wdgnn/parcels/3/1/ff/ffffffffffffffff").unwrap();
        assert_eq!(address, Address { age: 255, from: 1, to: 3, step: u64::MAX });
        for bad in ["", "wdgnn/parcels/3/1/ff", "wdgnn/lives/3/1/1/1", "wdgnn/parcels/x/1/1/1"] {
            assert_eq!(super::address(bad), None, "{bad}");
        }
    }
}
