//! GPIO (product specification, "GPIO — General purpose input/output").
//!
//! Both ports share one register page. [`Pins`] has the state of the pins.

use crate::{
    peripheral::{Context, Peripheral, Registers},
    pins::{Gpio as Settings, PIN_COUNT, Pin, Pins},
};

/// Offset of port 1 from port 0.
const PORT_1: u32 = 0x300;
registers! {
    PORT_1_BEGIN = 0x800, OUT = 0x504, OUTSET = 0x508, OUTCLR = 0x50c, IN = 0x510, DIR = 0x514,
    DIRSET = 0x518, DIRCLR = 0x51c, PIN_CNF = 0x700, PIN_CNF_END = PIN_CNF + 4 * 32
}

/// Ports P0 and P1.
#[derive(Clone, Debug, Default)]
pub struct Gpio {
    registers: Registers,
}

/// Returns the port of a register and the register's offset in port 0.
fn port(offset: u32) -> (usize, u32) {
    if offset < PORT_1_BEGIN { (0, offset) } else { (1, offset - PORT_1) }
}

/// Returns the pins of a port with their bits.
fn port_pins(port: usize) -> impl Iterator<Item = (u32, Pin)> {
    let first = 32 * port;
    (first..PIN_COUNT.min(first + 32)).map(move |index| (1 << (index - first), Pin::from_index(index)))
}

/// Returns the bits of the pins with a property.
fn bits(port: usize, has: impl Fn(Pin) -> bool) -> u32 {
    port_pins(port).filter(|(_, pin)| has(*pin)).map(|(bit, _)| bit).sum()
}

/// Changes the pins of a port whose bits are in `mask`.
fn change(pins: &mut Pins, port: usize, mask: u32, now: u64, change: impl Fn(u32, &mut Settings)) {
    for (bit, pin) in port_pins(port).filter(|(bit, _)| mask & bit != 0) {
        let mut settings = pins.gpio(pin);
        change(bit, &mut settings);
        pins.set_gpio(pin, settings, now);
    }
}

impl Peripheral for Gpio {
    fn registers(&mut self) -> &mut Registers {
        &mut self.registers
    }

    fn before_read(&mut self, offset: u32, context: &Context<'_>) {
        let (pins, (port, register)) = (&*context.pins, port(offset));
        let value = match register {
            OUT | OUTSET | OUTCLR => bits(port, |pin| pins.gpio(pin).high),
            IN => bits(port, |pin| pins.input(pin, context.now)),
            DIR | DIRSET | DIRCLR => bits(port, |pin| pins.gpio(pin).is_output),
            PIN_CNF..PIN_CNF_END => {
                let Some((_, pin)) = port_pins(port).nth(((register - PIN_CNF) / 4) as usize) else { return };
                let Settings { is_output, config, .. } = pins.gpio(pin);
                config | u32::from(is_output)
            }
            _ => return,
        };
        self.registers.set(offset, value);
    }

    fn on_write(&mut self, offset: u32, value: u32, context: &mut Context<'_>) {
        let ((port, register), now) = (port(offset), context.now);
        let mut all = |mask, act: &dyn Fn(u32, &mut Settings)| change(context.pins, port, mask, now, act);
        match register {
            OUT => all(u32::MAX, &|bit, pin| pin.high = value & bit != 0),
            OUTSET => all(value, &|_, pin| pin.high = true),
            OUTCLR => all(value, &|_, pin| pin.high = false),
            DIR => all(u32::MAX, &|bit, pin| pin.is_output = value & bit != 0),
            DIRSET => all(value, &|_, pin| pin.is_output = true),
            DIRCLR => all(value, &|_, pin| pin.is_output = false),
            PIN_CNF..PIN_CNF_END => all(1 << ((register - PIN_CNF) / 4), &|_, pin| {
                (pin.is_output, pin.config) = (value & 1 != 0, value & !1);
            }),
            _ => {}
        }
    }
}
