use super::*;
use crate::memory::{Memory, RAM};

const POINTER: u32 = RAM + 0x100;

struct Bench {
    radio: Radio,
    memory: Memory,
}

impl Bench {
    fn new() -> Self {
        let mut bench = Self { radio: Radio::default(), memory: Memory::new(0, 4096) };
        for (register, value) in
            [(MODE, IEEE_802_15_4), (FREQUENCY, 80), (PCNF1, 127), (PACKETPTR, POINTER), (MODECNF0, 1)]
        {
            bench.radio.block.store(register, value);
        }
        bench
    }

    fn task(&mut self, task: u32, at: u64) -> Vec<u8> {
        let mut context = Context { at, memory: &mut self.memory, raised: Vec::new() };
        self.radio.task(task, &mut context);
        context.raised
    }

    /// Runs until then, and tells what happened when.
    fn run(&mut self, until: u64) -> Vec<(u64, u8)> {
        let mut events = Vec::new();
        while let Some(at) = self.radio.due().filter(|at| *at <= until) {
            let mut context = Context { at, memory: &mut self.memory, raised: Vec::new() };
            self.radio.elapse(&mut context);
            events.extend(context.raised.into_iter().map(|event| (at / MICROSECOND, event)));
        }
        events
    }

    fn listen(&mut self) {
        self.radio.block.store(crate::block::SHORTS, 1 << 19);
        self.task(RXEN, 0);
        self.run(100 * MICROSECOND);
    }
}

fn frame(bytes: usize) -> Frame {
    Frame { length: bytes as u8 + 2, content: vec![7; bytes].into(), whole: true, channel: 80 }
}

#[test]
fn a_frame_is_received_when_the_radio_listened_before_it_began() {
    let mut bench = Bench::new();
    bench.listen();
    bench.radio.arrive(200 * MICROSECOND, frame(10));
    // Preamble, delimiter and length: 192 µs; then twelve bytes of 32 µs.
    let events = bench.run(2_000 * MICROSECOND);
    assert!(
        events.contains(&(392, FRAMESTART))
            && events.contains(&(776, CRCOK))
            && events.contains(&(776, PHYEND))
    );
    assert_eq!(bench.memory.dma_read(POINTER, 12), [12, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 200]);

    let mut late = Bench::new();
    late.radio.arrive(20 * MICROSECOND, frame(10));
    late.listen();
    assert_eq!(late.run(2_000 * MICROSECOND), []);
    late.radio.settle(3_000 * MICROSECOND);
    assert_eq!(late.radio.outcomes[0].1, Reception::Missed);
}

#[test]
fn frames_that_overlap_spoil_each_other() {
    let mut bench = Bench::new();
    bench.listen();
    bench.radio.arrive(200 * MICROSECOND, frame(50));
    bench.radio.arrive(1_500 * MICROSECOND, frame(50));
    let events = bench.run(5_000 * MICROSECOND);
    assert!(events.iter().any(|(_, event)| *event == CRCERROR));
    assert!(!events.iter().any(|(_, event)| *event == CRCOK));
}

#[test]
fn a_channel_is_assessed_and_a_frame_sent_by_shortcuts_alone() {
    let mut bench = Bench::new();
    // RXREADY → CCASTART, CCAIDLE → TXEN, TXREADY → START, PHYEND → DISABLE.
    bench.radio.block.store(crate::block::SHORTS, 1 << 11 | 1 << 12 | 1 << 18 | 1 << 20);
    bench.radio.block.store(CCACTRL, 0x052d_1403);
    bench.memory.dma_write(POINTER, &[12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    bench.task(RXEN, 0);
    let events = bench.run(2_000 * MICROSECOND);
    // Ramp up 40, assess 128, ramp up 40; the frame takes 18 bytes of 32 µs, ramping down 21.
    assert!(events.contains(&(168, CCAIDLE)) && events.contains(&(208, TXREADY)));
    assert!(events.contains(&(784, PHYEND)) && events.contains(&(805, DISABLED)));
    let (at, sent) = &bench.radio.sent[0];
    assert_eq!((at / MICROSECOND, sent.content.as_ref()), (208, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10][..]));
}

#[test]
fn a_carrier_is_found_unless_the_correlator_s_count_was_written_to_zero() {
    for (control, busy) in [(0x052d_0001, true), (0x0000_0001, false), (0x0000_1400, true)] {
        let mut bench = Bench::new();
        bench.radio.block.store(crate::block::SHORTS, 1 << 11);
        bench.radio.block.store(CCACTRL, control);
        bench.radio.arrive(10 * MICROSECOND, frame(100));
        bench.task(RXEN, 0);
        let events = bench.run(1_000 * MICROSECOND);
        let expected = if busy { CCABUSY } else { CCAIDLE };
        assert!(events.contains(&(168, expected)), "CCACTRL {control:#010x}: {events:?}");
    }
}
