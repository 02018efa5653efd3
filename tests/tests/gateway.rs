//! Simulated robots in the air of real ones: the gateway's image as it is flashed, robots' images as they are flashed, and the PC's side as
//! it is, in the chips' own time.

#![cfg(feature = "emulated")]

use system_tests::gateway::Mixed;

#[test]
fn look_at_it() {
    let mut mixed = Mixed::new(3, 3, 1, 2.0);
    for step in 1..=8 {
        mixed.run_until(-1.7 + 0.45 * f64::from(step));
        eprintln!(
            "{step} {:?} {:?} {:?}",
            mixed.simulated.counts,
            mixed.simulated.refused,
            mixed.variation.last()
        );
        eprintln!("{:?} {:?}", mixed.simulated.sightings, mixed.gateway_restarts());
    }
    let variation = mixed.variation.clone();
    let stated = mixed.simulated.variation.clone();
    let outcome = mixed.chips.finish();
    for robot in &outcome.robots {
        eprintln!(
            "{:?} {:?} equal {} {:?} refused {}",
            robot.frames, robot.status, robot.equal, robot.differs, robot.refused
        );
    }
    eprintln!("{} {} {:?}", variation.iter().sum::<f64>(), stated.iter().sum::<f64>(), variation.last());
    panic!();
}
