//! Boots an image on one chip for a while and tells what happened.
use chip::{air::{Air, SECOND, Station}, chip::{Chip, Kind}, image};
fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("an image");
    let robots: usize = arguments.next().map_or(1, |n| n.parse().unwrap());
    let seconds: f64 = arguments.next().map_or(1.0, |n| n.parse().unwrap());
    let file = std::fs::read(path).unwrap();
    let mut air = Air::default();
    for robot in 0..robots {
        let mut chip = Chip::new(Kind::Nrf52840, 0x1234_5678_9abc_0000 + robot as u64 * 77);
        for (address, bytes) in image::elf(&file).unwrap() { chip.program(address, &bytes); }
        air.stations.push(Station::new(chip, robot as u64 * SECOND / 25, robot as f64 * 8.0 - 40.0));
    }
    let begun = std::time::Instant::now();
    air.run((seconds * SECOND as f64) as u64);
    for station in &mut air.stations {
        let chip = &mut station.chip; let uart = chip.parts().uarte.sent.len();
        println!("now {:.3} s busy {:.2} % instr {} restarts {:?} sent {} pc {:#x} asleep {} complaints {:?} uart {}", chip.now() as f64/64e6, 100.0*chip.busy as f64/chip.now() as f64, chip.cpu().instructions, chip.restarts, 0, chip.cpu().pc(), chip.cpu().asleep(), chip.complaints().len(), uart);
    }
    println!("sent {} heard {} in {:.2} s", air.sent.len(), air.heard.len(), begun.elapsed().as_secs_f64());
    for r in [chip::radio::Reception::Good, chip::radio::Reception::Spoilt, chip::radio::Reception::Missed] {
        println!("{r:?} {}", air.heard.iter().filter(|h| h.reception == r).count());
    }
}
