//! Milliseconds per image of 1280 × 720 pixels on one core: `cargo bench -p wdgnn-camera`.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use wdgnn_camera::{
    camera::{Camera, Exposure, aimed},
    lens::Lens,
    renderer::{Arena, Renderer, Robot},
};

const ROUNDS: u64 = 60;

fn main() {
    let size = [1280, 720];
    let pose = aimed([0.0, 0.0, 2.4], [0.0; 3], [0.0, 1.0, 0.0]).expect("the camera looks down");
    let camera = Camera { lens: Lens::pinhole(900.0, size), size, pose, exposure: Exposure::default() };
    let start = Instant::now();
    let mut renderer = Renderer::new(camera, Arena::default(), 1).expect("the camera is valid");
    println!("{:<12} {:8.1} ms", "empty arena", start.elapsed().as_secs_f64() * 1e3);
    for count in [0_u8, 1, 10, 20] {
        let robots: Vec<Robot> = (0..count)
            .map(|marker| {
                let [column, row] = [f64::from(marker % 5), f64::from(marker / 5)];
                let position = [0.5 * column - 1.0, 0.4 * row - 0.6];
                let heading = f64::from(marker) * 0.7;
                Robot { marker, position, heading, velocity: [0.2, 0.1], turn_rate: 1.0 }
            })
            .collect();
        let mut best = Duration::MAX;
        for number in 0..ROUNDS {
            let start = Instant::now();
            black_box(renderer.render(&robots, number).expect("the markers exist"));
            best = best.min(start.elapsed());
        }
        println!("{count:>2} robots    {:8.2} ms", best.as_secs_f64() * 1e3);
    }
}
