//! GPIO, NFC pins and PWM, as programs see them.

use nrf52_emulator::{
    Chip, MICROSECOND,
    cpu::Size,
    devices::LedMatrix,
    pins::{Circuit, Output, Pin},
};

use crate::program::{BUFFER, Step, chip, chip_with};

const P0: u32 = 0x5000_0000;
const P1: u32 = 0x5000_0300;
const OUTSET: u32 = 0x508;
const OUTCLR: u32 = 0x50c;
const IN: u32 = 0x510;
const DIRSET: u32 = 0x518;
const PIN_CNF: u32 = 0x700;
const PWM0: u32 = 0x4001_c000;

fn word(chip: &Chip, address: u32) -> u32 {
    chip.memory().load(address, Size::Word).unwrap()
}

#[test]
fn buttons_are_read_where_the_input_is_connected() {
    let steps = [
        Step::Write(P0 + PIN_CNF + 4 * 14, 0),
        Step::Write(P1 + PIN_CNF + 4 * 4, 3 << 2),
        Step::Copy(P0 + IN, BUFFER),
        Step::Copy(P1 + IN, BUFFER + 4),
        Step::Copy(P1 + PIN_CNF + 4 * 4, BUFFER + 8),
        Step::Copy(P1 + PIN_CNF + 4 * 5, BUFFER + 12),
    ];
    for (circuit, expected) in [(Circuit::PullUp, 1 << 14), (Circuit::Low, 0)] {
        let mut chip = chip_with(&steps);
        // The input of P0.23 is disconnected, as after a reset.
        for number in [14, 23] {
            chip.pins().connect(Pin::new(0, number), circuit);
        }
        chip.power_on(0);
        chip.run(100 * MICROSECOND);
        assert_eq!(word(&chip, BUFFER), expected);
        // P1.04 has a pull-up resistor in the chip.
        assert_eq!([4, 8, 12].map(|offset| word(&chip, BUFFER + offset)), [1 << 4, 0x0c, 0x02]);
    }
}

#[test]
fn outputs_light_a_led_of_a_matrix() {
    let mut chip =
        chip(&[(P0 + OUTSET, 1 << 21), (P0 + DIRSET, 1 << 21), (P1 + OUTCLR, 1 << 5), (P1 + DIRSET, 1 << 5)]);
    let (rows, columns) = ([Pin::new(0, 21), Pin::new(0, 22)], [Pin::new(0, 28), Pin::new(1, 5)]);
    let mut matrix = LedMatrix::new(rows, columns, chip.pins());
    chip.power_on(0);
    chip.run(100 * MICROSECOND);
    matrix.update(&std::mem::take(&mut chip.pins().changes));
    matrix.take(chip.now());
    chip.run(200 * MICROSECOND);
    assert_eq!(matrix.take(chip.now()), [[0.0, 1.0], [0.0, 0.0]]);
    chip.pin_reset();
    matrix.update(&std::mem::take(&mut chip.pins().changes));
    let now = chip.now();
    assert_eq!(matrix.take(now + MICROSECOND), [[0.0; 2]; 2], "a reset makes all pins inputs");
}

#[test]
fn nfc_pins_are_gpio_after_uicr_is_written_and_the_chip_is_reset() {
    let (nvmc_config, nfcpins, aircr) = (0x4001_e504, 0x1000_120c, 0xe000_ed0c);
    let drive = [(P0 + OUTSET, 1 << 10), (P0 + DIRSET, 1 << 10)];
    let pin = Pin::new(0, 10);
    let mut antenna = chip(&[&drive[..], &[(nvmc_config, 1), (nfcpins, 0xffff_fffe)]].concat());
    antenna.power_on(0);
    antenna.run(1_000 * MICROSECOND);
    assert_eq!(antenna.pins().output(pin), Output::None, "UICR takes effect at a reset");
    antenna.pin_reset();
    antenna.run(2_000 * MICROSECOND);
    assert_eq!(antenna.pins().output(pin), Output::Level(true));
    // A soft reset is enough, too.
    let mut endless =
        chip(&[&drive[..], &[(nvmc_config, 1), (nfcpins, 0xffff_fffe), (aircr, 0x05fa_0004)]].concat());
    endless.power_on(0);
    endless.run(100 * MICROSECOND);
    assert!(!endless.resets.is_empty());
    endless.run(endless.now() + 2 * MICROSECOND);
    assert_eq!(endless.pins().output(pin), Output::Level(true));
}

#[test]
fn pwm_drives_its_pins_instead_of_gpio() {
    let value = |duty: u32| 1 << 15 | duty;
    let steps = [
        (BUFFER, value(300) << 16 | value(700)),
        (BUFFER + 4, value(0) << 16 | value(1000)),
        (PWM0 + 0x500, 1),      // ENABLE
        (PWM0 + 0x508, 1000),   // COUNTERTOP
        (PWM0 + 0x50c, 3),      // PRESCALER: 2 MHz
        (PWM0 + 0x510, 2),      // DECODER: individual
        (PWM0 + 0x520, BUFFER), // SEQ[0].PTR
        (PWM0 + 0x524, 4),      // SEQ[0].CNT
        (PWM0 + 0x560, 12),     // PSEL.OUT[0]: P0.12
        (PWM0 + 0x564, 34),     // PSEL.OUT[1]: P1.02
        (PWM0 + 0x008, 1),      // SEQSTART[0]
    ];
    let mut running = chip(&steps);
    running.power_on(0);
    running.run(10_000 * MICROSECOND);
    let [first, second] = [Pin::new(0, 12), Pin::new(1, 2)].map(|pin| running.pins().output(pin));
    assert_eq!([first.duty(), second.duty()], [0.7, 0.3]);
    let Output::Pwm(waveform) = first else { panic!("{first:?}") };
    assert_eq!(waveform.period, 500 * MICROSECOND);
    running.pin_reset();
    assert_eq!(running.pins().output(Pin::new(0, 12)), Output::None);
}
