//! LED matrix of 5 × 5: one row at a time, 500 rows per second, by the interrupt of TIMER2.

use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use nrf_pac::{TIMER2, interrupt, timer::vals};

use super::{buggy::WIRES, pin::Pin};

/// Time of a row in microseconds.
const ROW_US: u32 = 2_000;

/// Picture: 25 bits, from the upper left to the lower right.
static PICTURE: AtomicU32 = AtomicU32::new(0);
static ROW: AtomicU8 = AtomicU8::new(0);

/// Pins of a matrix. Rows are active high, columns active low.
#[derive(Debug)]
pub struct Matrix {
    /// Rows from the top.
    pub rows: [Pin; 5],
    /// Columns from the left.
    pub columns: [Pin; 5],
}

/// Starts the display.
pub fn start(matrix: &Matrix) {
    matrix.rows.iter().for_each(|pin| pin.make_output(false));
    matrix.columns.iter().for_each(|pin| pin.make_output(true));
    TIMER2.mode().write(|w| w.set_mode(vals::Mode::Timer));
    TIMER2.bitmode().write(|w| w.set_bitmode(vals::Bitmode::_32bit));
    TIMER2.prescaler().write(|w| w.set_prescaler(4));
    TIMER2.cc(0).write_value(ROW_US);
    TIMER2.shorts().write(|w| w.set_compare_clear(0, true));
    TIMER2.intenset().write(|w| w.set_compare(0, true));
    TIMER2.tasks_start().write_value(1);
    // SAFETY: the handler below uses only statics that are initialized at compile time.
    unsafe { cortex_m::peripheral::NVIC::unmask(nrf_pac::Interrupt::TIMER2) };
}

/// Shows a picture.
pub fn show(picture: u32) {
    PICTURE.store(picture, Ordering::Relaxed);
}

#[interrupt]
fn TIMER2() {
    TIMER2.events_compare(0).write_value(0);
    let matrix = &WIRES.matrix;
    let before = usize::from(ROW.load(Ordering::Relaxed));
    let row = (before + 1) % 5;
    ROW.store(row as u8, Ordering::Relaxed);
    matrix.rows.get(before).into_iter().for_each(|pin| pin.set(false));
    let bits = PICTURE.load(Ordering::Relaxed) >> (20 - 5 * row);
    for (index, pin) in matrix.columns.iter().enumerate() {
        pin.set(bits >> (4 - index) & 1 == 0);
    }
    matrix.rows.get(row).into_iter().for_each(|pin| pin.set(true));
}
