//! Robots with two wheels under a camera, on emulated chips: gateway, radio, robots, motor boards, wheels.

#![cfg(feature = "emulated")]

use nrf52_emulator::devices::MotorProtocol;
use nrf52_emulator::{air::SECOND, peripherals::radio::Frame, pins::Pin, reset_reason};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use system_tests::{
    buggies::{GATEWAY, ROBOT, swarm, swarm_on},
    chips::log_of,
    image::footprint,
};
use wdgnn_emulation::buggies::{
    camera::Camera,
    chips::{BUTTONS, Swarm},
    eye::IdealEye,
    native::Conditions,
};

/// Second in which swarms begin to drive.
const START: f64 = 1.5;
/// Instructions: undefined, and an endless loop.
const UNDEFINED: u16 = 0xde00;
const ENDLESS: u16 = 0xe7fe;

fn eye() -> IdealEye {
    IdealEye::new(Camera::default(), START, 1)
}

/// Camera that never starts the swarm.
fn idle_eye() -> IdealEye {
    IdealEye::new(Camera::default(), f64::INFINITY, 1)
}

fn conditions(robots: usize) -> Conditions {
    Conditions { robots, ..Conditions::default() }
}

/// Driving robots.
fn driving(robots: usize) -> Swarm<'static> {
    let mut swarm = swarm(&conditions(robots), Box::new(eye()));
    swarm.run_until(START + 1.5).unwrap();
    assert!(all_drive(&mut swarm));
    swarm
}

/// Whether every robot drives at some time within 0.6 s. Slow robots stand now and then.
fn all_drive(swarm: &mut Swarm<'_>) -> bool {
    let mut drove = vec![false; swarm.bodies.len()];
    let until = swarm.seconds() + 0.6;
    while swarm.seconds() < until && drove.contains(&false) {
        swarm.step().unwrap();
        drove.iter_mut().enumerate().for_each(|(robot, drove)| *drove |= drives(swarm, robot));
    }
    !drove.contains(&false)
}

fn drives(swarm: &Swarm<'_>, robot: usize) -> bool {
    swarm.devices[robot].motors().speeds() != [0.0; 2]
}

/// Runs until the motors of a robot have the duty 0, and returns the seconds that it took.
fn stops_after(swarm: &mut Swarm<'_>, robot: usize) -> f64 {
    let began = swarm.seconds();
    while drives(swarm, robot) {
        swarm.step().unwrap();
        assert!(swarm.seconds() < began + 2.0, "robot {robot} does not stop");
    }
    swarm.seconds() - began
}

fn press(swarm: &mut Swarm<'_>, robot: usize, button: Pin) {
    swarm.press(robot, button, true);
    swarm.run_until(swarm.seconds() + 0.1).unwrap();
    swarm.press(robot, button, false);
}

/// Checks that each robot has done what its native twin does.
fn assert_twins(swarm: &Swarm<'_>, ticks: u64) {
    for (robot, twin) in swarm.twins().iter().enumerate() {
        assert_eq!(twin.differs, None, "robot {robot} and its native twin");
        assert!(twin.equal >= ticks, "robot {robot}: only {} ticks were compared", twin.equal);
    }
}

/// Resets of a chip after the one that sets the debug port.
fn resets(swarm: &Swarm<'_>, robot: usize) -> Vec<u32> {
    let resets = swarm.air.stations[robot].chip.resets.iter().map(|reset| reset.reason);
    resets.filter(|reason| *reason != reset_reason::SOFTWARE).collect()
}

#[test]
fn ten_robots_flock_on_their_motor_boards_as_native_twins_do() {
    let mut swarm = swarm(&conditions(10), Box::new(eye()));
    swarm.run_until(START + 12.0).unwrap();
    assert_twins(&swarm, 1_200);
    let figures = swarm.figures(START);
    assert!(figures.flock_after.is_some_and(|after| after < 9.0), "{figures:?}");
    assert!(figures.deviation < 1.6 && figures.nearest > 0.115 && figures.at_walls == 0.0, "{figures:?}");
    let stack = swarm.stack_bytes();
    let size = footprint(&ROBOT);
    assert!(size.flash() <= 80 * 1024, "{} bytes of flash", size.flash());
    assert!(size.ram() <= 24 * 1024 && stack <= 12 * 1024, "{} bytes and {stack} of stack", size.ram());
    for robot in 0..10 {
        assert!(resets(&swarm, robot).is_empty(), "robot {robot}");
        let motors = swarm.devices[robot].motors();
        assert_eq!(motors.invalid_frames, 0);
        assert!(swarm.twins()[robot].status.is_some_and(|status| status.neighbors == 9), "robot {robot}");
    }
    let status = swarm.status.unwrap();
    assert_eq!((status.heard, status.is_driving, status.malformed, status.lost), (0x3ff, 1, 0, 0));
    assert!(f64::from(status.sent) > 29.0 * (START + 12.0) - 10.0, "{status:?}");
}

#[test]
fn wheels_stand_half_a_second_after_the_camera_fails() {
    let fails = START + 1.5;
    let mut eye = eye();
    eye.fails = fails;
    let mut swarm = swarm(&conditions(3), Box::new(eye));
    swarm.run_until(fails).unwrap();
    let places: Vec<[f64; 2]> = swarm.bodies.iter().map(|body| body.position).collect();
    swarm.run_until(fails + 0.5).unwrap();
    for (body, from) in swarm.bodies.iter().zip(places) {
        let rolled = (body.position[0] - from[0]).hypot(body.position[1] - from[1]);
        assert!(body.forward().abs() < 0.005 && rolled < 0.06, "{} m/s after {rolled} m", body.forward());
    }
    assert_twins(&swarm, 200);
}

#[test]
fn wheels_stand_after_a_fault_an_endless_loop_and_a_reset() {
    let mut swarm = driving(4);
    let patches =
        [(0, UNDEFINED), (1, ENDLESS)].map(|(robot, instruction)| (robot, swarm.patch(robot, instruction)));
    swarm.air.stations[2].chip.pin_reset();
    assert!(stops_after(&mut swarm, 2) < 0.05, "the first write of a start is a stop");
    assert!(stops_after(&mut swarm, 0) < 0.05, "a fault stops the motors at once");
    assert!(stops_after(&mut swarm, 1) < 0.6, "the watchdog resets the robot");
    for (robot, (address, before)) in patches {
        swarm.air.stations[robot].chip.program(address, &before);
    }
    swarm.run_until(swarm.seconds() + 2.5).unwrap();
    let reasons = [0, 1, 2].map(|robot| resets(&swarm, robot));
    assert_eq!(
        reasons,
        [vec![reset_reason::WATCHDOG], vec![reset_reason::WATCHDOG], vec![reset_reason::PIN]]
    );
    assert!(all_drive(&mut swarm), "robots drive again: {:?}", swarm.duties);
    let log = log_of(&ROBOT, &swarm.logs[0]);
    assert!(log.iter().any(|line| line.contains("fault at")), "{log:?}");
    let twin = &swarm.twins()[3];
    assert_eq!(twin.differs, None);
}

#[test]
fn unplugged_motor_boards_and_hung_buses_recover() {
    let mut swarm = driving(3);
    let Swarm { devices, air, .. } = &mut swarm;
    devices[0].plug(&mut air.stations[0].chip, false);
    air.stations[1].chip.pins().buses[0].hold_sda(9);
    swarm.run_until(swarm.seconds() + 0.5).unwrap();
    assert!(!drives(&swarm, 0));
    let Swarm { devices, air, .. } = &mut swarm;
    assert!(!air.stations[1].chip.pins().buses[0].is_held(), "the bus of robot 1 was cleared");
    devices[0].plug(&mut air.stations[0].chip, true);
    assert!(all_drive(&mut swarm), "{:?}", swarm.duties);
    assert!((0..3).all(|robot| resets(&swarm, robot).is_empty()));
}

#[test]
fn buttons_start_and_stop_all_and_a_tilted_robot_stands() {
    let mut swarm = swarm(&conditions(3), Box::new(idle_eye()));
    swarm.run_until(1.5).unwrap();
    press(&mut swarm, 1, BUTTONS[0]);
    swarm.run_until(3.0).unwrap();
    assert!(all_drive(&mut swarm), "button A of a robot starts all");
    swarm.devices[0].accelerometer().acceleration = [1.0, 0.0, 0.0];
    assert!(stops_after(&mut swarm, 0) < 0.5);
    swarm.devices[0].accelerometer().acceleration = [0.0, 0.0, 1.0];
    swarm.run_until(4.5).unwrap();
    assert!(all_drive(&mut swarm), "upright again");
    press(&mut swarm, 2, BUTTONS[1]);
    swarm.run_until(5.0).unwrap();
    assert!(!(0..3).any(|robot| drives(&swarm, robot)), "button B stops all");
    press(&mut swarm, 3, BUTTONS[0]);
    swarm.run_until(5.7).unwrap();
    assert!(all_drive(&mut swarm), "button A of the gateway starts all");
    assert!(swarm.status.is_some_and(|status| status.is_driving == 1));
}

#[test]
fn forged_changed_and_repeated_poses_are_refused() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut swarm = driving(2);
    let mut recorded: Vec<Vec<u8>> = vec![];
    let (mut next, mut injected) = (0, 0);
    while swarm.seconds() < START + 5.0 {
        recorded.extend(
            swarm
                .overheard
                .drain(..)
                .filter(|frame| frame.get(10) == Some(&0x61))
                .map(|frame| frame.to_vec()),
        );
        let now = swarm.air.now();
        if let Some(genuine) = recorded.get(random.random_range(0..recorded.len().max(1)))
            && now >= next
        {
            // A repetition, a repetition as a new tick, or a changed byte.
            let mut content = genuine.clone();
            match injected % 3 {
                0 => {}
                1 => content[18..22].clone_from_slice(&recorded.last().unwrap()[18..22]),
                _ => content[random.random_range(10..109)] ^= 1 << random.random_range(0..8),
            }
            let frame =
                Frame { length: content.len() as u8 + 2, content: content.into(), crc_ok: true, channel: 80 };
            // Behind the slots of a tick, in which no chip sends.
            swarm.air.inject(now, None, frame);
            (next, injected) = (now + SECOND / 100, injected + 1);
        }
        swarm.step().unwrap();
    }
    assert!(injected > 200, "{injected} frames");
    let sent = swarm.status.unwrap().sent;
    for twin in swarm.twins() {
        let accepted = twin.status.unwrap().pose;
        assert!(
            accepted <= sent && twin.differs.is_none(),
            "{accepted} of {sent} images: {:?}",
            twin.differs
        );
    }
    for robot in &swarm.bodies {
        assert!(robot.position.iter().all(|at| at.abs() < 1.4));
    }
}

#[test]
fn cutebots_get_their_own_frames() {
    let mut swarm = swarm_on(&conditions(2), Box::new(eye()), MotorProtocol::Cutebot);
    swarm.run_until(START + 1.0).unwrap();
    for devices in &swarm.devices {
        let motors = devices.motors();
        assert!(motors.invalid_frames == 0 && motors.speeds() != [0.0; 2], "{motors:?}");
    }
    let size = footprint(&GATEWAY);
    assert!(size.flash() <= 32 * 1024 && size.ram() <= 8 * 1024, "{size:?}");
}
