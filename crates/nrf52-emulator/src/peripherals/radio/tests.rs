//! Timing, collisions and clear channel assessment of RADIO.

use super::*;
use crate::{
    memory::{Memory, RAM_BASE},
    peripheral::SHORTS,
    pins::Pins,
};

const POINTER: u32 = RAM_BASE + 0x100;

/// Radio with RAM and without a processor.
struct Bench {
    radio: Radio,
    memory: Memory,
    pins: Pins,
}

impl Bench {
    fn new() -> Self {
        let mut bench = Self { radio: Radio::default(), memory: Memory::new(0, 4096), pins: Pins::default() };
        for (register, value) in
            [(MODE, IEEE_802_15_4), (FREQUENCY, 80), (PCNF1, 127), (PACKETPTR, POINTER), (MODECNF0, 1)]
        {
            bench.radio.registers.store(register, value);
        }
        bench
    }

    fn trigger(&mut self, task: u32, now: u64) {
        let mut context = Context::new(now, &mut self.memory, &mut self.pins);
        self.radio.trigger(task, &mut context);
    }

    /// Runs until a time in cycles and returns the events, each with its time in µs.
    fn run(&mut self, until: u64) -> Vec<(u64, u8)> {
        let mut events = Vec::new();
        while let Some(now) = self.radio.next_due().filter(|at| *at <= until) {
            let mut context = Context::new(now, &mut self.memory, &mut self.pins);
            self.radio.on_due(&mut context);
            events.extend(context.events.into_iter().map(|event| (now / MICROSECOND, event)));
        }
        events
    }

    /// Starts the receiver, which listens from 40 µs on.
    fn listen(&mut self) {
        self.radio.registers.store(SHORTS, 1 << 19);
        self.trigger(RXEN, 0);
        self.run(100 * MICROSECOND);
    }
}

fn frame(bytes: usize) -> Frame {
    Frame { length: bytes as u8 + 2, content: vec![7; bytes].into(), crc_ok: true, channel: 80 }
}

#[test]
fn a_frame_that_starts_after_the_receiver_is_received() {
    let mut bench = Bench::new();
    bench.listen();
    bench.radio.receive(200 * MICROSECOND, frame(10));
    // The header takes 192 µs, then 12 bytes take 32 µs each.
    let events = bench.run(2_000 * MICROSECOND);
    assert!(
        events.contains(&(392, FRAMESTART))
            && events.contains(&(776, CRCOK))
            && events.contains(&(776, PHYEND))
    );
    assert_eq!(bench.memory.dma_read(POINTER, 12), [12, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, LQI_GOOD]);
}

#[test]
fn a_frame_that_starts_before_the_receiver_is_missed() {
    let mut bench = Bench::new();
    bench.radio.receive(20 * MICROSECOND, frame(10));
    bench.listen();
    assert_eq!(bench.run(2_000 * MICROSECOND), []);
    bench.radio.remove_ended(3_000 * MICROSECOND);
    assert_eq!(bench.radio.receptions[0].1, Reception::Missed);
}

#[test]
fn overlapping_frames_corrupt_each_other() {
    let mut bench = Bench::new();
    bench.listen();
    bench.radio.receive(200 * MICROSECOND, frame(50));
    bench.radio.receive(1_500 * MICROSECOND, frame(50));
    let events = bench.run(5_000 * MICROSECOND);
    assert!(events.iter().any(|(_, event)| *event == CRCERROR));
    assert!(!events.iter().any(|(_, event)| *event == CRCOK));
}

#[test]
fn shortcuts_assess_the_channel_and_send_a_frame() {
    let mut bench = Bench::new();
    // RXREADY → CCASTART, CCAIDLE → TXEN, TXREADY → START, PHYEND → DISABLE.
    bench.radio.registers.store(SHORTS, 1 << 11 | 1 << 12 | 1 << 18 | 1 << 20);
    bench.radio.registers.store(CCACTRL, 0x052d_1403);
    bench.memory.dma_write(POINTER, &[12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    bench.trigger(RXEN, 0);
    let events = bench.run(2_000 * MICROSECOND);
    // Ramp-up 40 µs, assessment 128 µs, ramp-up 40 µs, 18 bytes of 32 µs each, ramp-down 21 µs.
    assert!(events.contains(&(168, CCAIDLE)) && events.contains(&(208, TXREADY)));
    assert!(events.contains(&(784, PHYEND)) && events.contains(&(805, DISABLED)));
    let (start, frame) = &bench.radio.tx_frames[0];
    assert_eq!((start / MICROSECOND, frame.content.as_ref()), (208, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10][..]));
}

#[test]
fn carrier_sense_needs_a_correlator_count_above_zero() {
    for (control, busy) in [(0x052d_0001, true), (0x0000_0001, false), (0x0000_1400, true)] {
        let mut bench = Bench::new();
        bench.radio.registers.store(SHORTS, 1 << 11);
        bench.radio.registers.store(CCACTRL, control);
        bench.radio.receive(10 * MICROSECOND, frame(100));
        bench.trigger(RXEN, 0);
        let events = bench.run(1_000 * MICROSECOND);
        let expected = if busy { CCABUSY } else { CCAIDLE };
        assert!(events.contains(&(168, expected)), "CCACTRL {control:#010x}: {events:?}");
    }
}
