//! TWIM with devices on its bus.

use std::sync::{Arc, Mutex};

use nrf52_emulator::{
    Chip, MICROSECOND,
    devices::{Lsm303agr, MotorBoard, MotorProtocol},
    i2c::Bus,
    peripheral::Peripheral as _,
    pins::{Circuit, Pin},
};

use crate::program::{BUFFER, Step, chip_with};

const TWIM: u32 = 0x4000_3000;
const GPIO: u32 = 0x5000_0000;
const STARTRX: u32 = 0x000;
const STARTTX: u32 = 0x008;
const STOP: u32 = 0x014;
const RESUME: u32 = 0x020;
const STOPPED: u32 = 0x104;
const ERROR: u32 = 0x124;
const SUSPENDED: u32 = 0x148;
const TXSTARTED: u32 = 0x150;
const LASTTX: u32 = 0x160;
const SHORTS: u32 = 0x200;
const LASTTX_STARTRX: u32 = 1 << 7;
const LASTTX_SUSPEND: u32 = 1 << 8;
const LASTTX_STOP: u32 = 1 << 9;
const LASTRX_STOP: u32 = 1 << 12;
const ERRORSRC: u32 = 0x4c4;
const ENABLE: u32 = 0x500;
const RXD_AMOUNT: u32 = 0x53c;
const TXD_AMOUNT: u32 = 0x54c;
const ADDRESS: u32 = 0x588;
const SCL: Pin = Pin::new(0, 26);
const SDA: Pin = Pin::new(1, 0);
const MOTORS: u32 = 0x10;
const ACCELEROMETER: u32 = 0x19;

fn write(register: u32, value: u32) -> Step {
    Step::Write(TWIM + register, value)
}

fn wait(register: u32) -> Step {
    Step::Wait(TWIM + register)
}

/// Selects pins, rate (100 kHz), buffers and device.
fn setup(address: u32, bytes_tx: u32, bytes_rx: u32) -> Vec<Step> {
    vec![
        write(0x508, 26),     // PSEL.SCL
        write(0x50c, 1 << 5), // PSEL.SDA
        write(0x524, 0x0198_0000),
        write(0x544, BUFFER), // TXD.PTR
        write(0x548, bytes_tx),
        write(0x534, BUFFER + 16), // RXD.PTR
        write(0x538, bytes_rx),
        write(ADDRESS, address),
        write(ENABLE, 6),
    ]
}

/// Writes up to four bytes to the buffer.
fn content(bytes: &[u8]) -> Step {
    let mut word = [0; 4];
    word[..bytes.len()].copy_from_slice(bytes);
    Step::Write(BUFFER, u32::from_le_bytes(word))
}

fn chip_on_bus(steps: &[Vec<Step>], bus: Bus) -> Chip {
    let mut chip = chip_with(&steps.concat());
    chip.pins().buses.push(bus);
    chip.power_on(0);
    chip
}

fn register(chip: &mut Chip, offset: u32) -> u32 {
    chip.peripherals().twim0.registers().load(offset)
}

fn motor_bus() -> (Bus, Arc<Mutex<MotorBoard>>) {
    let board = Arc::new(Mutex::new(MotorBoard::new(MotorProtocol::Maqueen)));
    let mut bus = Bus::new(SCL, SDA);
    bus.attach(Arc::clone(&board));
    (bus, board)
}

/// Steps that send one frame to the motor board and wait for its end.
fn frame(bytes: &[u8]) -> Vec<Step> {
    vec![content(bytes), write(STOPPED, 0), write(SHORTS, LASTTX_STOP), write(STARTTX, 1), wait(STOPPED)]
}

#[test]
fn a_motor_board_receives_frames_at_100_khz() {
    let (bus, board) = motor_bus();
    let mut chip = chip_on_bus(&[setup(MOTORS, 3, 0), frame(&[0, 0, 255]), frame(&[2, 1, 51])], bus);
    chip.run(1_000 * MICROSECOND);
    let board = board.lock().unwrap();
    assert_eq!((board.speeds(), board.invalid_frames), ([1.0, -0.2], 0));
    // Start, four bytes of nine bits, stop: 38 bits of 10.04 µs, as FREQUENCY is 99.6 kHz.
    let [first, second] = [0, 1].map(|index| board.frames[index].0 / MICROSECOND);
    assert!((381..386).contains(&first), "{first} µs");
    // Between the frames, the processor writes four registers.
    assert!((381..400).contains(&(second - first)), "{first} µs, {second} µs");
    assert_eq!(register(&mut chip, TXD_AMOUNT), 3);
    assert!(chip.cpu().is_asleep());
}

#[test]
fn a_register_is_read_with_a_repeated_start() {
    let mut bus = Bus::new(SCL, SDA);
    bus.attach(Lsm303agr::default());
    let transfer =
        vec![content(&[0x0f]), write(SHORTS, LASTTX_STARTRX | LASTRX_STOP), write(STARTTX, 1), wait(STOPPED)];
    let mut chip = chip_on_bus(&[setup(ACCELEROMETER, 1, 1), transfer], bus);
    chip.run(1_000 * MICROSECOND);
    assert_eq!(chip.memory().dma_read(BUFFER + 16, 2), [0x33, 0xa5]);
    assert_eq!([TXD_AMOUNT, RXD_AMOUNT, ERRORSRC].map(|offset| register(&mut chip, offset)), [1, 1, 0]);
}

#[test]
fn a_suspended_transfer_continues_with_a_repeated_start() {
    let mut bus = Bus::new(SCL, SDA);
    bus.attach(Lsm303agr::default());
    let transfer = vec![
        content(&[0x0f]),
        write(SHORTS, LASTTX_SUSPEND | LASTRX_STOP),
        write(STARTTX, 1),
        wait(SUSPENDED),
        write(STARTRX, 1),
        write(RESUME, 1),
        wait(STOPPED),
    ];
    let mut chip = chip_on_bus(&[setup(ACCELEROMETER, 1, 1), transfer], bus);
    chip.run(1_000 * MICROSECOND);
    assert_eq!(chip.memory().dma_read(BUFFER + 16, 1), [0x33]);
}

#[test]
fn an_absent_device_is_an_address_error_until_stop() {
    let steps = vec![write(SHORTS, LASTTX_STOP), write(STARTTX, 1), wait(ERROR)];
    let mut chip = chip_on_bus(&[setup(MOTORS, 3, 0), steps.clone()], Bus::new(SCL, SDA));
    chip.run(10_000 * MICROSECOND);
    // ANACK; the master does not stop by itself.
    assert_eq!(register(&mut chip, ERRORSRC), 2);
    assert_eq!([STOPPED, LASTTX, TXD_AMOUNT].map(|offset| register(&mut chip, offset)), [0; 3]);

    let clear = vec![write(ERRORSRC, 2), write(STOP, 1), wait(STOPPED)];
    let mut chip = chip_on_bus(&[setup(MOTORS, 3, 0), steps, clear], Bus::new(SCL, SDA));
    chip.run(10_000 * MICROSECOND);
    assert_eq!((register(&mut chip, STOPPED), register(&mut chip, ERRORSRC)), (1, 0));
}

#[test]
fn a_rejected_byte_is_a_data_error_and_counts_in_amount() {
    /// Device that acknowledges its address and one byte.
    #[derive(Debug, Default)]
    struct OneByte(u32);
    impl nrf52_emulator::i2c::Device for OneByte {
        fn address(&self) -> u8 {
            0x20
        }
        fn write(&mut self, _: u8, _: u64) -> bool {
            self.0 += 1;
            self.0 < 2
        }
        fn read(&mut self, _: u64) -> u8 {
            0
        }
    }
    let mut bus = Bus::new(SCL, SDA);
    bus.attach(OneByte::default());
    let steps =
        vec![write(SHORTS, LASTTX_STOP), write(STARTTX, 1), wait(ERROR), write(STOP, 1), wait(STOPPED)];
    let mut chip = chip_on_bus(&[setup(0x20, 4, 0), steps], bus);
    chip.run(10_000 * MICROSECOND);
    assert_eq!([ERRORSRC, TXD_AMOUNT].map(|offset| register(&mut chip, offset)), [4, 2]);
}

#[test]
fn an_empty_transfer_ends_only_by_stop() {
    let (bus, board) = motor_bus();
    let start = vec![write(SHORTS, LASTTX_STOP), write(STARTTX, 1), wait(TXSTARTED)];
    let mut chip = chip_on_bus(&[setup(MOTORS, 0, 0), start], bus);
    chip.run(10_000 * MICROSECOND);
    assert_eq!([STOPPED, LASTTX, ERROR].map(|offset| register(&mut chip, offset)), [0; 3]);
    assert!(board.lock().unwrap().frames.is_empty());

    let (bus, board) = motor_bus();
    let steps = vec![write(STARTTX, 1), write(STOP, 1), wait(STOPPED)];
    let mut chip = chip_on_bus(&[setup(MOTORS, 0, 0), steps], bus);
    chip.run(10_000 * MICROSECOND);
    assert_eq!((register(&mut chip, STOPPED), board.lock().unwrap().frames.len()), (1, 1));
}

#[test]
fn stop_without_a_transfer_breaks_the_next_one() {
    let (bus, board) = motor_bus();
    let mut chip = chip_on_bus(
        &[setup(MOTORS, 3, 0), vec![write(STOP, 1)], frame(&[0, 0, 255]), frame(&[2, 0, 255])],
        bus,
    );
    chip.run(10_000 * MICROSECOND);
    assert_eq!(board.lock().unwrap().speeds(), [0.0, 1.0]);
}

#[test]
fn dma_does_not_read_flash() {
    let (bus, board) = motor_bus();
    let mut chip = chip_with(&[setup(MOTORS, 3, 0), vec![write(0x544, 0x8000)], frame(&[])].concat());
    chip.program(0x8000, &[0, 0, 255]);
    chip.pins().buses.push(bus);
    chip.power_on(0);
    chip.run(10_000 * MICROSECOND);
    assert_eq!(board.lock().unwrap().frames[0].1, [0, 0, 0]);
}

#[test]
fn another_interface_of_the_instance_does_not_transfer() {
    let (bus, board) = motor_bus();
    // ENABLE 7 is SPIM.
    let start = vec![write(ENABLE, 7), write(SHORTS, LASTTX_STOP), write(STARTTX, 1)];
    let mut chip = chip_on_bus(&[setup(MOTORS, 3, 0), start], bus);
    chip.run(10_000 * MICROSECOND);
    assert_eq!((register(&mut chip, TXSTARTED), board.lock().unwrap().frames.len()), (0, 0));
}

#[test]
fn lines_that_are_low_block_a_transfer() {
    // Without a bus and without pull-up resistors.
    let mut chip = chip_with(&[setup(MOTORS, 3, 0), frame(&[0, 0, 9])].concat());
    chip.power_on(0);
    chip.run(10_000 * MICROSECOND);
    assert_eq!([TXSTARTED, ERROR, STOPPED].map(|offset| register(&mut chip, offset)), [0; 3]);
    // A short circuit of SCL.
    let (bus, _) = motor_bus();
    let mut chip = chip_on_bus(&[setup(MOTORS, 3, 0), frame(&[0, 0, 9])], bus);
    chip.pins().connect(SCL, Circuit::Low);
    chip.run(10_000 * MICROSECOND);
    assert_eq!(register(&mut chip, TXSTARTED), 0);
}

/// Steps that make clock pulses with GPIO, SCL as S0D1 output.
fn clock(pulses: usize) -> Vec<Step> {
    let low_high = [Step::Write(GPIO + 0x50c, 1 << 26), Step::Write(GPIO + 0x508, 1 << 26)];
    let mut steps = vec![Step::Write(GPIO + 0x508, 1 << 26), Step::Write(GPIO + 0x700 + 4 * 26, 6 << 8 | 1)];
    (0..pulses).for_each(|_| steps.extend(low_high));
    steps
}

#[test]
fn nine_clock_pulses_release_a_hung_bus() {
    for (pulses, is_released) in [(8, false), (9, true)] {
        let (mut bus, board) = motor_bus();
        bus.hold_sda(9);
        let mut chip = chip_on_bus(&[clock(pulses), setup(MOTORS, 3, 0), frame(&[0, 0, 255])], bus);
        chip.run(10_000 * MICROSECOND);
        assert_eq!(chip.pins().buses[0].is_held(), !is_released);
        assert_eq!(board.lock().unwrap().frames.len(), usize::from(is_released), "{pulses} pulses");
    }
}

#[test]
fn a_reset_while_a_device_sends_leaves_the_bus_hung() {
    let mut bus = Bus::new(SCL, SDA);
    bus.attach(Lsm303agr::default());
    let steps = vec![write(SHORTS, LASTRX_STOP), write(STARTRX, 1)];
    let mut chip = chip_on_bus(&[setup(ACCELEROMETER, 0, 4), steps], bus);
    chip.run(200 * MICROSECOND);
    chip.pin_reset();
    assert!(chip.pins().buses[0].is_held());
}
