//! Options for camera and arena.

use std::error::Error;

use clap::ValueEnum;
use wdgnn_camera::{
    camera::{Camera, Exposure, aimed},
    floor::Floor,
    lens::Lens,
    renderer::{Arena, FixedMarker, Shape},
    sensor::Noise,
};

#[derive(Debug, clap::Args)]
pub struct ArenaOptions {
    /// Floor.
    #[arg(long, value_enum, default_value = "carpet")]
    floor: FloorName,
    /// Side of the markers in mm.
    #[arg(long, default_value_t = 80.0, value_name = "MM")]
    marker_side: f32,
    /// White border of the markers in mm.
    #[arg(long, default_value_t = 10.0, value_name = "MM")]
    border: f32,
    /// Height of the markers in mm.
    #[arg(long, default_value_t = 70.0, value_name = "MM")]
    marker_height: f64,
    /// Relative change of the light per meter, in x and y.
    #[arg(long, default_value = "0,0", value_parser = numbers::<2>, value_name = "X,Y")]
    light_gradient: [f64; 2],
    /// Share of the light that robots take from the floor around them.
    #[arg(long, default_value_t = 0.4, value_name = "SHARE")]
    shadow: f32,
    /// Fixed markers, as often as needed: number, position and side in mm, heading in degrees.
    #[arg(long, value_parser = numbers::<6>, value_name = "ID,X,Y,Z,SIDE,HEADING")]
    fixed: Vec<[f64; 6]>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum FloorName {
    Plain,
    Carpet,
    Planks,
    Tiles,
}

#[derive(Debug, clap::Args)]
pub struct CameraOptions {
    /// Width and height in pixels.
    #[arg(long, default_value = "1280,720", value_parser = numbers::<2>, global = true, value_name = "W,H")]
    size: [f64; 2],
    /// Focal length in pixels.
    #[arg(long, default_value_t = 900.0, global = true, value_name = "PIXELS")]
    focal: f64,
    /// Principal point in pixels [default: the middle].
    #[arg(long, value_parser = numbers::<2>, global = true, value_name = "X,Y", allow_hyphen_values = true)]
    center: Option<[f64; 2]>,
    /// Distortion k1, k2, p1, p2, k3.
    #[arg(long, default_value = "0,0,0,0,0", value_parser = numbers::<5>, global = true, value_name = "NUMBERS", allow_hyphen_values = true)]
    distortion: [f64; 5],
    /// Position of the camera in mm.
    #[arg(long, default_value = "0,0,2500", value_parser = numbers::<3>, global = true, value_name = "X,Y,Z", allow_hyphen_values = true)]
    position: [f64; 3],
    /// Point that the camera looks at, in mm; +y points up in the image.
    #[arg(long, default_value = "0,0,0", value_parser = numbers::<3>, global = true, value_name = "X,Y,Z", allow_hyphen_values = true)]
    target: [f64; 3],
    /// Exposure time in ms.
    #[arg(long, default_value_t = 8.0, global = true, value_name = "MS")]
    exposure: f64,
    /// Time between the first and the last row of the image in ms.
    #[arg(long, default_value_t = 0.0, global = true, value_name = "MS")]
    readout: f64,
    /// Linear brightness of an ideal white surface; 1 saturates.
    #[arg(long, default_value_t = 0.75, global = true, value_name = "SHARE")]
    brightness: f32,
    /// Standard deviation of the lens blur in pixels.
    #[arg(long, default_value_t = 0.5, global = true, value_name = "PIXELS")]
    blur: f64,
    /// Standard deviation of the noise at black and at white, in gray levels.
    #[arg(long, default_value = "2.5,2", value_parser = numbers::<2>, global = true, value_name = "BLACK,WHITE")]
    noise: [f64; 2],
    /// Loss of brightness in the corners.
    #[arg(long, default_value_t = 0.3, global = true, value_name = "SHARE")]
    vignette: f32,
}

/// Parses `N` numbers with commas in between.
fn numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|number| number.trim().parse()).collect();
    numbers.ok().and_then(|numbers| numbers.try_into().ok()).ok_or(format!("must be {N} numbers with commas"))
}

impl CameraOptions {
    pub fn camera(&self) -> Result<Camera, Box<dyn Error>> {
        let size = self.size.map(|pixels| pixels as usize);
        let [position, target] = [self.position, self.target].map(|point| point.map(|mm| mm / 1e3));
        let pose =
            aimed(position, target, [0.0, 1.0, 0.0]).ok_or("--target must not be in line with the y axis")?;
        let straight = Lens::pinhole(self.focal, size);
        let center = self.center.unwrap_or(straight.center);
        let exposure = Exposure {
            time_s: self.exposure / 1e3,
            readout_s: self.readout / 1e3,
            brightness: self.brightness,
            blur_px: self.blur,
            noise: Noise { black: self.noise[0] as f32, white: self.noise[1] as f32 },
            vignette: self.vignette,
        };
        Ok(Camera { lens: Lens { center, distortion: self.distortion, ..straight }, size, pose, exposure })
    }
}

impl ArenaOptions {
    pub fn arena(&self) -> Arena {
        let markers = self.fixed.iter().map(|&[id, x, y, z, side, heading]| FixedMarker {
            marker: id as u8,
            position: [x / 1e3, y / 1e3, z / 1e3],
            heading: heading.to_radians(),
            side: (side / 1e3) as f32,
        });
        Arena {
            floor: match self.floor {
                FloorName::Plain => Floor::Plain,
                FloorName::Carpet => Floor::Carpet,
                FloorName::Planks => Floor::Planks,
                FloorName::Tiles => Floor::Tiles,
            },
            light_gradient: self.light_gradient,
            shadow: self.shadow,
            markers: markers.collect(),
            shape: Shape {
                marker_side: self.marker_side / 1e3,
                border: self.border / 1e3,
                marker_height: self.marker_height / 1e3,
                ..Shape::default()
            },
        }
    }
}
