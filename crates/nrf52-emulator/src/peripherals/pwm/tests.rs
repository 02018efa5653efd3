//! Duty, times and events of PWM.

use super::*;
use crate::{
    memory::{Memory, RAM_BASE},
    peripheral::SHORTS,
    pins::Output,
};

const PERIOD: u64 = 1000 * CYCLES_PER_CLOCK;

/// Value of a pin that is high for the first counts of a period.
fn falling(compare: u16) -> u16 {
    FALLING_EDGE | compare
}

/// PWM with four pins and a period of 1,000 cycles of 16 MHz.
struct Bench {
    pwm: Pwm,
    memory: Memory,
    pins: Pins,
}

impl Bench {
    fn new(decoder: u32, values: &[u16]) -> Self {
        let mut bench = Self { pwm: Pwm::power_on(), memory: Memory::new(0, 64), pins: Pins::default() };
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        bench.memory.dma_write(RAM_BASE, &bytes);
        let registers = [
            (ENABLE, 1),
            (COUNTERTOP, 1000),
            (DECODER, decoder),
            (PTR, RAM_BASE),
            (CNT, values.len() as u32),
        ];
        let pins = (0..CHANNELS as u32).map(|channel| (PSEL_OUT + 4 * channel, channel));
        for (register, value) in registers.into_iter().chain(pins) {
            bench.pwm.registers.store(register, value);
        }
        bench
    }

    fn at<R>(&mut self, now: u64, act: impl FnOnce(&mut Pwm, &mut Context<'_>) -> R) -> (R, Vec<u8>) {
        let mut context = Context::new(now, &mut self.memory, &mut self.pins);
        let result = act(&mut self.pwm, &mut context);
        (result, context.events)
    }

    fn trigger(&mut self, now: u64, task: u32) -> Vec<u8> {
        self.at(now, |pwm, context| pwm.trigger(task, context)).1
    }

    /// Runs until a time and returns the events with the number of their period.
    fn run(&mut self, until: u64) -> Vec<(u64, u8)> {
        let mut events = Vec::new();
        while let Some(now) = self.pwm.next_due().filter(|at| *at <= until) {
            let ((), raised) = self.at(now, Pwm::on_due);
            events.extend(raised.into_iter().map(|event| (now / PERIOD, event)));
        }
        events
    }

    fn duty(&self, channel: u8) -> f64 {
        self.pins.output(Pin::new(0, channel)).duty()
    }
}

#[test]
fn individual_values_set_the_duty_of_each_channel_until_changed() {
    let mut bench = Bench::new(2, &[falling(250), falling(0), 250, falling(1000)]);
    assert_eq!(bench.trigger(0, SEQSTART_0), [SEQSTARTED]);
    assert_eq!([0, 1, 2, 3].map(|channel| bench.duty(channel)), [0.25, 0.0, 0.75, 1.0]);
    assert_eq!(bench.run(10 * PERIOD), [(1, PWMPERIODEND), (1, SEQEND)]);
    // A new value takes effect at the end of the period.
    bench.memory.dma_write(RAM_BASE, &(falling(500)).to_le_bytes());
    bench.trigger(10 * PERIOD + 7, SEQSTART_0);
    assert_eq!(bench.duty(0), 0.25);
    assert_eq!(bench.run(11 * PERIOD - 1), []);
    bench.run(11 * PERIOD);
    assert_eq!(bench.duty(0), 0.5);
}

#[test]
fn stop_releases_the_pins_at_the_end_of_the_period() {
    let mut bench = Bench::new(0, &[falling(400)]);
    bench.trigger(0, SEQSTART_0);
    assert_eq!(bench.duty(3), 0.4);
    bench.run(2 * PERIOD);
    bench.trigger(5 * PERIOD / 2, STOP);
    assert_eq!(bench.run(3 * PERIOD), [(3, PWMPERIODEND), (3, STOPPED)]);
    assert_eq!(bench.pins.output(Pin::new(0, 3)), Output::None);
    // ENABLE releases the pins at once.
    bench.trigger(3 * PERIOD, SEQSTART_0);
    bench.at(3 * PERIOD + 1, |pwm, context| pwm.on_write(ENABLE, 0, context));
    assert_eq!(bench.pins.output(Pin::new(0, 0)), Output::None);
}

#[test]
fn refresh_and_end_delay_add_periods() {
    let mut bench = Bench::new(1, &[falling(100), falling(200), falling(300), falling(0)]);
    bench.pwm.registers.store(REFRESH, 1);
    bench.pwm.registers.store(ENDDELAY, 3);
    bench.trigger(0, SEQSTART_0);
    bench.run(2 * PERIOD - 1);
    assert_eq!([bench.duty(1), bench.duty(2)], [0.1, 0.2]);
    let events = bench.run(100 * PERIOD);
    assert_eq!([bench.duty(1), bench.duty(2)], [0.3, 0.0]);
    let end = events.iter().find(|(_, event)| *event == SEQEND);
    assert_eq!(end, Some(&(2 + 2 + 3, SEQEND)));
}

#[test]
fn loops_alternate_the_sequences_and_stop() {
    let mut bench = Bench::new(0, &[falling(100), falling(900)]);
    for (register, value) in [(CNT, 1), (PTR + SEQ_BYTES, RAM_BASE + 2), (CNT + SEQ_BYTES, 1), (LOOP, 2)] {
        bench.pwm.registers.store(register, value);
    }
    bench.pwm.registers.store(SHORTS, 1 << LOOPSDONE_STOP);
    bench.trigger(0, SEQSTART_0);
    let events = bench.run(100 * PERIOD);
    let of =
        |event: u8| events.iter().filter(|(_, other)| *other == event).map(|(at, _)| *at).collect::<Vec<_>>();
    assert_eq!((of(SEQEND), of(SEQEND + 1)), (vec![1, 3], vec![2, 4]));
    assert_eq!((of(LOOPSDONE), of(STOPPED)), (vec![4], vec![4]));
}

#[test]
fn a_servo_pulse_has_the_length_of_its_counts() {
    // 16 MHz / 2⁴ = 1 MHz, 20 ms, pulse of 1.5 ms.
    let mut bench = Bench::new(0, &[falling(1500)]);
    bench.pwm.registers.store(PRESCALER, 4);
    bench.pwm.registers.store(COUNTERTOP, 20_000);
    bench.trigger(0, SEQSTART_0);
    let Output::Pwm(waveform) = bench.pins.output(Pin::new(0, 0)) else { panic!("not driven") };
    assert_eq!((waveform.period, waveform.high), (20_000 * 64, 1500 * 64));
}
