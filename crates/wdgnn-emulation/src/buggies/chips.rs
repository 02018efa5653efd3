//! Buggies on emulated chips: a gateway, robots with motor boards, and a floor on which their wheels turn.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use nrf52_emulator::{
    Chip, Part,
    air::{Air, SECOND, Station},
    cpu::Size,
    devices::{Lsm303agr, MotorBoard, MotorProtocol},
    i2c::Bus,
    image,
    peripherals::radio::Reception,
    pins::{Circuit, Pin},
    rtt::Rtt,
};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::task::NodeId;
use wdgnn_drive::buggy::Settings as Wheels;
use wdgnn_link::security::key::Key;
use wdgnn_protocol::{
    line::CHECKSUM,
    tracker::{MAX_TRACKER_MESSAGE, TrackerStatus},
};
use wdgnn_sim::seeds::{Purpose, generator};

use super::{
    eye::Eye,
    floor::Body,
    score::{Figures, Moment},
    twin::Twin,
};
use crate::{
    chips::{operator::settings_page, twin::NativeTwin},
    error::{Error, Result},
};

/// Address of the provisioning page (`firmware/src/board/microbit_v2/map.x`).
pub const SETTINGS_PAGE: u32 = 0x0007_7000;
/// Offset of the wheels in the page.
const WHEELS: u32 = 2048;
/// Clock and data of the motor board and of the accelerometer.
pub const MOTOR_BUS: [Pin; 2] = [Pin::new(0, 26), Pin::new(1, 0)];
pub const SENSOR_BUS: [Pin; 2] = [Pin::new(0, 8), Pin::new(0, 16)];
/// Buttons A and B.
pub const BUTTONS: [Pin; 2] = [Pin::new(0, 14), Pin::new(0, 23)];
/// Interval between two looks at the chips.
const STEP: u64 = SECOND / 1_000;
/// Interval of the figures.
const TICK: u64 = SECOND / 100;
/// Number of recorded frames.
const OVERHEARD: usize = 100;
/// Baud rate of the gateway.
const GATEWAY_BAUD: u64 = 1_000_000;

/// Configuration of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes of the ELF images of robots and gateway.
    pub image: Vec<u8>,
    pub gateway: Vec<u8>,
    /// Bodies at the start, one per robot.
    pub bodies: Vec<Body>,
    pub wheels: Wheels,
    /// Motor board of all robots.
    pub chassis: MotorProtocol,
    /// Share of lost frames.
    pub loss: f64,
    /// Largest frequency error of the crystals in parts per million.
    pub ppm: f64,
    pub seed: u64,
}

/// Numbers of a robot's wheels in its provisioning page (`firmware/src/board/nrf52/provisioning.rs`).
pub fn wheels_part(chassis: MotorProtocol, settings: &Wheels) -> Vec<u8> {
    let thousandths = |number: f32| (1_000.0 * number).round() as i16 as u16;
    let code = if chassis == MotorProtocol::Maqueen { 1 } else { 2 };
    let Wheels { wheels, lag, cruise, arena, .. } = settings;
    let [[x0, y0], [x1, y1]] = [arena.low, arena.high].map(|corner| corner.map(thousandths));
    let [left, right] = wheels.gain.map(thousandths);
    let [full, min, dead, lag, cruise] =
        [wheels.full_speed, wheels.min_speed, wheels.dead_zone, *lag, *cruise].map(thousandths);
    let track = (10_000.0 * wheels.track).round() as u16;
    let numbers = [code, track, full, min, dead, lag, left, right, cruise, x0, y0, x1, y1, 0];
    let mut part: Vec<u8> = numbers.into_iter().flat_map(u16::to_le_bytes).collect();
    part.extend(CHECKSUM.checksum(&part).to_le_bytes());
    part
}

/// Devices of a robot.
#[derive(Clone, Debug)]
pub struct Devices {
    motors: Arc<Mutex<MotorBoard>>,
    accelerometer: Arc<Mutex<Lsm303agr>>,
}

impl Devices {
    fn connect(chip: &mut Chip, chassis: MotorProtocol) -> Self {
        let motors = Arc::new(Mutex::new(MotorBoard::new(chassis)));
        let accelerometer = Arc::new(Mutex::new(Lsm303agr::default()));
        let mut bus = Bus::new(MOTOR_BUS[0], MOTOR_BUS[1]);
        bus.attach(Arc::clone(&motors));
        chip.pins().buses.push(bus);
        let mut bus = Bus::new(SENSOR_BUS[0], SENSOR_BUS[1]);
        bus.attach(Arc::clone(&accelerometer));
        chip.pins().buses.push(bus);
        for pin in BUTTONS {
            chip.pins().connect(pin, Circuit::PullUp);
        }
        Self { motors, accelerometer }
    }

    /// Motor board.
    pub fn motors(&self) -> MutexGuard<'_, MotorBoard> {
        self.motors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accelerometer.
    pub fn accelerometer(&self) -> MutexGuard<'_, Lsm303agr> {
        self.accelerometer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Unplugs the motor board, which then stands, or plugs it in again.
    pub fn plug(&self, chip: &mut Chip, is_plugged: bool) {
        let address = 0x10;
        let bus = &mut chip.pins().buses[0];
        bus.detach(address);
        if is_plugged {
            bus.attach(Arc::clone(&self.motors));
        } else {
            let mut motors = self.motors();
            *motors = MotorBoard::new(motors.protocol());
        }
    }
}

/// Running swarm.
pub struct Swarm<'w> {
    /// Radio channel with the robots' chips and the gateway's behind them.
    pub air: Air,
    /// Devices of each robot.
    pub devices: Vec<Devices>,
    /// Robots on the floor.
    pub bodies: Vec<Body>,
    twins: Vec<Twin<'w>>,
    wheels: Wheels,
    eye: Box<dyn Eye>,
    random: ChaCha8Rng,
    rtt: [Option<Rtt>; 2],
    stack: Option<(u32, u32)>,
    /// Log of each robot and of the gateway.
    pub logs: Vec<Vec<u8>>,
    line: Vec<u8>,
    /// Last status of the gateway.
    pub status: Option<TrackerStatus>,
    /// Figures at each tick.
    pub moments: Vec<Moment>,
    /// Last frames on the air.
    pub overheard: Vec<Arc<[u8]>>,
    /// Duties in each tick of each robot, from its serial line.
    pub duties: Vec<[f32; 2]>,
}

impl fmt::Debug for Swarm<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Swarm").field("robots", &self.bodies.len()).finish_non_exhaustive()
    }
}

fn pieces(image: &[u8]) -> Result<Vec<image::Segment>> {
    image::elf_segments(image)
        .map_err(|error| Error::usage(format!("the firmware image is unusable: {error}")))
}

impl<'w> Swarm<'w> {
    /// Creates robots with a motor board each, and a gateway. `twin` creates the native robot with an address.
    pub fn new(
        settings: Settings, eye: Box<dyn Eye>, mut twin: impl FnMut(NodeId) -> Result<NativeTwin<'w>>,
    ) -> Result<Self> {
        let Settings { image: robot, gateway, bodies, wheels, chassis, loss, ppm, seed } = settings;
        let mut random = generator(seed, Purpose::Testing, 2_000_000);
        let (mut air, mut devices, mut twins) = (Air::default(), vec![], vec![]);
        let robots = pieces(&robot)?;
        for id in 0..bodies.len() {
            let mut chip = Chip::new(Part::Nrf52833, random.random());
            chip.flash(&robots);
            chip.program(SETTINGS_PAGE, &settings_page(id as NodeId, bodies.len(), None, &[]));
            chip.program(SETTINGS_PAGE + WHEELS, &wheels_part(chassis, &wheels));
            devices.push(Devices::connect(&mut chip, chassis));
            let on = random.random_range(0..SECOND / 2);
            air.stations.push(Station::new(chip, on, ppm * random.random_range(-1.0..=1.0)));
            twins.push(Twin::new(twin(id as NodeId)?, Wheels { robot: id as u8, ..wheels }));
        }
        let mut chip = Chip::new(Part::Nrf52833, random.random());
        chip.flash(&pieces(&gateway)?);
        for pin in BUTTONS {
            chip.pins().connect(pin, Circuit::PullUp);
        }
        air.stations.push(Station::new(chip, 0, ppm * random.random_range(-1.0..=1.0)));
        if loss > 0.0 {
            let mut random = generator(seed, Purpose::Testing, 2_000_001);
            air.drop_frame = Some(Box::new(move || random.random::<f64>() < loss));
        }
        let rtt = [&robot, &gateway].map(|image| image::elf_symbol(image, "_SEGGER_RTT").map(Rtt::new));
        Ok(Self {
            air,
            devices,
            logs: vec![vec![]; bodies.len() + 1],
            duties: vec![[0.0; 2]; bodies.len()],
            bodies,
            twins,
            wheels,
            eye,
            random,
            rtt,
            stack: image::elf_symbol(&robot, "_stack_end").zip(image::elf_symbol(&robot, "_stack_start")),
            line: vec![],
            status: None,
            moments: vec![],
            overheard: vec![],
        })
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.air.now() as f64 / SECOND as f64
    }

    /// Chip of the gateway.
    pub fn gateway(&mut self) -> &mut Station {
        let last = self.air.stations.len() - 1;
        &mut self.air.stations[last]
    }

    /// Gives the twins the swarm's key.
    pub fn set_key(&mut self, key: &Key) {
        self.twins.iter_mut().for_each(|twin| twin.set_key(key));
    }

    /// Presses or releases a button of a chip; the gateway is the one behind the robots.
    pub fn press(&mut self, chip: usize, button: Pin, is_pressed: bool) {
        let circuit = if is_pressed { Circuit::Low } else { Circuit::PullUp };
        self.air.stations[chip].chip.pins().connect(button, circuit);
    }

    /// Largest stack of a robot in bytes.
    pub fn stack_bytes(&self) -> u32 {
        let robots = &self.air.stations[..self.bodies.len()];
        let used = |(end, start)| robots.iter().map(|station| station.chip.stack_used(end, start)).max();
        self.stack.and_then(used).unwrap_or_default()
    }

    /// Twins of the robots.
    pub fn twins(&self) -> &[Twin<'w>] {
        &self.twins
    }

    /// Sends bytes to the gateway, the last of which ends at a time in seconds.
    fn tell_gateway(&mut self, at: f64, bytes: &[u8]) {
        let takes = bytes.len() as u64 * 10 * SECOND / GATEWAY_BAUD;
        let begins = ((at * SECOND as f64) as u64).saturating_sub(takes).max(self.air.now());
        let station = self.gateway();
        let cycles = station.cycles_at(begins);
        station.chip.peripherals().uarte.receive(cycles, GATEWAY_BAUD, bytes);
    }

    /// Runs one millisecond.
    pub fn step(&mut self) -> Result {
        let (now, until) = (self.air.now(), self.air.now() + STEP);
        for (at, message) in self.eye.look(self.seconds(), &self.bodies)? {
            self.tell_gateway(at, &message);
        }
        if now.is_multiple_of(TICK) {
            let bodies: Vec<&Body> = self.bodies.iter().collect();
            self.moments.push(Moment::of(self.seconds(), &bodies, &self.wheels.arena));
        }
        self.air.run(until);
        for (robot, body) in self.bodies.iter_mut().enumerate() {
            let duties = self.devices[robot].motors().speeds();
            body.step(duties, STEP as f64 / SECOND as f64, &self.wheels.arena, &mut self.random);
        }
        self.hear();
        self.read_lines();
        Ok(())
    }

    /// Passes received frames to the twins.
    fn hear(&mut self) {
        let sent = std::mem::take(&mut self.air.transmissions);
        self.overheard.extend(sent.into_iter().map(|frame| frame.content));
        let excess = self.overheard.len().saturating_sub(OVERHEARD);
        self.overheard.drain(..excess);
        for arrival in std::mem::take(&mut self.air.arrivals) {
            if arrival.reception == Reception::Good
                && let Some(twin) = self.twins.get_mut(arrival.receiver)
            {
                twin.receive(&arrival.content);
            }
        }
    }

    /// Reads the serial lines and logs of all chips.
    fn read_lines(&mut self) {
        let robots = self.bodies.len();
        for (index, station) in self.air.stations.iter_mut().enumerate() {
            let is_gateway = index == robots;
            if let Some(rtt) = &self.rtt[usize::from(is_gateway)] {
                self.logs[index].extend(rtt.read(&mut station.chip));
            }
            let bytes = std::mem::take(&mut station.chip.peripherals().uarte.tx_bytes);
            for (_, byte) in bytes {
                if !is_gateway {
                    if let Some(duties) = self.twins[index].hear(byte) {
                        self.duties[index] = duties;
                    }
                } else if byte == 0 {
                    self.status = TrackerStatus::decode(&mut std::mem::take(&mut self.line)).or(self.status);
                } else if self.line.len() < MAX_TRACKER_MESSAGE {
                    self.line.push(byte);
                }
            }
        }
    }

    /// Runs until a time in seconds.
    pub fn run_until(&mut self, seconds: f64) -> Result {
        while self.seconds() < seconds {
            self.step()?;
        }
        Ok(())
    }

    /// Image of a chip, for tests that overwrite it: the two bytes at the instruction that it executes next.
    pub fn patch(&mut self, robot: usize, instruction: u16) -> (u32, [u8; 2]) {
        let chip = &mut self.air.stations[robot].chip;
        let address = chip.cpu().pc();
        let before = chip.memory().load(address, Size::Half).unwrap_or_default() as u16;
        chip.program(address, &instruction.to_le_bytes());
        (address, before.to_le_bytes())
    }

    /// Figures from a time in seconds on, in which the swarm began to drive.
    pub fn figures(&self, began: f64) -> Figures {
        let after = self.moments.iter().filter(|moment| moment.seconds >= began);
        let moments: Vec<Moment> =
            after.map(|moment| Moment { seconds: moment.seconds - began, ..*moment }).collect();
        Figures::of(&moments)
    }
}
