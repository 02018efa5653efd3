//! Rendered images against the geometry of the scene.

use wdgnn_camera::{
    Plate,
    camera::{Camera, CameraError, Exposure, aimed},
    floor::Floor,
    geometry::Pose,
    lens::Lens,
    pattern::Pattern,
    renderer::{Arena, Renderer, Robot},
    sensor::Noise,
};

const SIZE: [usize; 2] = [640, 400];
const QUIET: Noise = Noise { black: 0.0, white: 0.0 };

fn camera(exposure: Exposure) -> Camera {
    let pose = aimed([0.2, -0.6, 1.2], [0.0; 3], [0.0, 1.0, 0.0]).unwrap();
    let lens = Lens { distortion: [-0.15, 0.05, 0.001, 0.0005, 0.0], ..Lens::pinhole(600.0, SIZE) };
    Camera { lens, size: SIZE, pose, exposure }
}

fn robot(marker: u8) -> Robot {
    Robot { marker, position: [0.1, 0.05], heading: 0.4, velocity: [0.0; 2], turn_rate: 0.0 }
}

/// Linear brightness of an image relative to another one, with its center and its extent (standard
/// deviation) in pixels along both axes.
fn moments(image: &[u8], empty: &[u8]) -> ([f64; 2], [f64; 2]) {
    let linear = |gray: u8| (f64::from(gray) / 255.0).powf(2.2);
    let weights: Vec<f64> = image.iter().zip(empty).map(|(&a, &b)| linear(a) - linear(b)).collect();
    let total: f64 = weights.iter().sum();
    let mean = |of: &dyn Fn([f64; 2]) -> f64| {
        let at = |index: usize| [(index % SIZE[0]) as f64, (index / SIZE[0]) as f64];
        weights.iter().enumerate().map(|(index, weight)| weight * of(at(index))).sum::<f64>() / total
    };
    let center = [mean(&|at| at[0]), mean(&|at| at[1])];
    let extent = [0, 1].map(|axis| mean(&|at| (at[axis] - center[axis]).powi(2)).sqrt());
    (center, extent)
}

/// Center and extent of a white square of 30 mm with this velocity.
fn moments_of_a_square(exposure: Exposure, twist: [f64; 3]) -> ([f64; 2], [f64; 2]) {
    let arena = Arena { floor: Floor::Plain, ..Arena::default() };
    let mut renderer = Renderer::new(camera(exposure), arena, 1).unwrap();
    let empty = renderer.render(&[], 0).unwrap().to_vec();
    let square = Pattern::plain([0.03; 2], 0.9);
    let pose = Pose::planar([0.17, 0.11], 0.07, 0.0);
    moments(renderer.render_plates(&[Plate { pattern: &square, pose, twist }], 0), &empty)
}

/// Center of gravity of the area that the square of [`moments_of_a_square`] covers in the image.
fn center_of_square(camera: &Camera) -> [f64; 2] {
    let along = |step: i32| 0.03 * (f64::from(step % 8) / 8.0 - 0.5);
    let outline: Vec<[f64; 2]> = (0..32)
        .map(|step| {
            let [x, y] =
                [[along(step), -0.015], [0.015, along(step)], [-along(step), 0.015], [-0.015, -along(step)]]
                    [step as usize / 8];
            camera.pixel([0.17 + x, 0.11 + y, 0.07]).unwrap()
        })
        .collect();
    let (mut area, mut moment) = (0.0, [0.0; 2]);
    for (from, to) in outline.iter().zip(outline.iter().cycle().skip(1)) {
        let cross = from[0] * to[1] - to[0] * from[1];
        area += cross / 2.0;
        moment = [0, 1].map(|axis| moment[axis] + cross * (from[axis] + to[axis]) / 6.0);
    }
    moment.map(|moment| moment / area)
}

#[test]
fn a_square_is_where_the_lens_projects_it() {
    let exposure = Exposure { noise: QUIET, vignette: 0.0, ..Exposure::default() };
    let (center, _) = moments_of_a_square(exposure, [0.0; 3]);
    let expected = center_of_square(&camera(exposure));
    // 32 samples and 256 gray levels.
    assert!((0..2).all(|axis| (center[axis] - expected[axis]).abs() < 0.01), "{center:?} {expected:?}");
}

#[test]
fn motion_blurs_along_the_motion_and_keeps_the_middle() {
    let exposure = Exposure { noise: QUIET, vignette: 0.0, time_s: 0.04, ..Exposure::default() };
    let (still, sharp) = moments_of_a_square(exposure, [0.0; 3]);
    let (moving, blurred) = moments_of_a_square(exposure, [0.5, 0.0, 0.0]);
    assert!((0..2).all(|axis| (moving[axis] - still[axis]).abs() < 0.1), "{still:?} {moving:?}");
    // 20 mm at a distance of 1.2 m and a focal length of 600 are 10 pixels, whose standard
    // deviation is a twelfth's root of it.
    let spread = (blurred[0].powi(2) - sharp[0].powi(2)).sqrt();
    assert!((spread - 10.0 / 12_f64.sqrt()).abs() < 0.3, "{spread}");
    assert!((blurred[1] - sharp[1]).abs() < 0.1, "{blurred:?} {sharp:?}");
}

#[test]
fn a_rolling_shutter_moves_robots_by_the_time_of_their_row() {
    let exposure = Exposure { noise: QUIET, vignette: 0.0, time_s: 0.0, ..Exposure::default() };
    let rolling = Exposure { readout_s: 0.03, ..exposure };
    let (global, _) = moments_of_a_square(exposure, [1.0, 0.0, 0.0]);
    let (shifted, _) = moments_of_a_square(rolling, [1.0, 0.0, 0.0]);
    let delay = 0.03 * (global[1] / 399.0 - 0.5);
    let camera = camera(exposure);
    let expected =
        camera.pixel([0.17 + delay, 0.11, 0.07]).unwrap()[0] - camera.pixel([0.17, 0.11, 0.07]).unwrap()[0];
    assert!(expected.abs() > 1.0, "{expected}");
    assert!((shifted[0] - global[0] - expected).abs() < 0.03, "{} {expected}", shifted[0] - global[0]);
}

#[test]
fn images_repeat_and_robots_leave_no_trace() {
    let new =
        || Renderer::new(camera(Exposure::default()), Arena { shadow: 0.4, ..Arena::default() }, 5).unwrap();
    let mut renderer = new();
    let empty = renderer.render(&[], 3).unwrap().to_vec();
    let first = renderer.render(&[robot(3)], 3).unwrap().to_vec();
    assert_eq!(renderer.render(&[], 3).unwrap(), empty);
    assert_eq!(new().render(&[robot(3)], 3).unwrap(), first);
    let differing = first.iter().zip(&empty).filter(|(a, b)| a != b).count();
    // Plate and shadow: 100 and 170 mm at 0.5 pixels per mm.
    assert!((2_000..9_000).contains(&differing), "{differing}");
    assert_ne!(renderer.render(&[robot(3)], 4).unwrap(), first, "another image has other noise");
}

#[test]
fn unknown_markers_are_an_error_and_robots_outside_the_image_are_not() {
    let mut renderer = Renderer::new(camera(Exposure::default()), Arena::default(), 5).unwrap();
    assert_eq!(renderer.render(&[robot(50)], 0).err(), Some(CameraError::UnknownMarker(50)));
    let empty = renderer.render(&[], 0).unwrap().to_vec();
    for position in [[30.0, 0.0], [0.0, -30.0], [0.0, 30.0]] {
        assert_eq!(renderer.render(&[Robot { position, ..robot(1) }], 0).unwrap(), empty);
    }
}
