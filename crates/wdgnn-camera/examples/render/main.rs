//! Renders robots or a calibration board as images of a camera.
//!
//! ```sh
//! cargo run --release -p wdgnn-camera --example render -- robots poses.csv --folder images
//! cargo run --release -p wdgnn-camera --example render -- board views.csv --folder images
//! ```
//!
//! With `--pipe`, images go to the standard output, for `tools/tracker.py track --source pipe:-`.
//!
//! `poses.csv` has the columns time_ms, marker, x_mm, y_mm and heading_deg, and optionally vx_mm_s,
//! vy_mm_s and turn_deg_s; rows of one time are one image. The log of `tools/tracker.py track` is such
//! a file.
//!
//! `views.csv` has the columns x_mm, y_mm, z_mm, rx, ry and rz: the pose of the board's middle
//! relative to the camera and its rotation vector in radians, as OpenCV counts them.

mod options;
mod tables;

use std::{
    error::Error,
    fs,
    io::{BufWriter, Write as _, stdout},
    path::PathBuf,
    process::ExitCode,
};

use clap::{Parser, Subcommand};
use options::{ArenaOptions, CameraOptions};
use tables::{read_poses, read_views};
use wdgnn_camera::{
    Plate,
    geometry::{Pose, apply, transpose},
    pattern::Pattern,
    renderer::{Arena, Renderer},
    stream::header,
};

/// Renders robots or a calibration board as images of a camera.
#[derive(Debug, Parser)]
struct Options {
    #[command(subcommand)]
    scene: SceneOptions,
    #[command(flatten)]
    camera: CameraOptions,
    #[command(flatten)]
    output: OutputOptions,
    /// Seed of floor, shadows and noise.
    #[arg(long, default_value_t = 1, global = true)]
    seed: u64,
}

#[derive(Debug, Subcommand)]
enum SceneOptions {
    /// Robots with markers.
    Robots {
        /// Poses.
        poses: PathBuf,
        #[command(flatten)]
        arena: ArenaOptions,
    },
    /// ChArUco board of 5 × 7 squares with the markers from 28 on.
    Board {
        /// Poses of the board.
        views: PathBuf,
        /// Side of a square in mm.
        #[arg(long, default_value_t = 36.0, value_name = "MM")]
        square: f32,
    },
}

#[derive(Debug, clap::Args)]
struct OutputOptions {
    /// Writes PGM images into this folder; their names are their times in microseconds.
    #[arg(long, global = true, value_name = "PATH")]
    folder: Option<PathBuf>,
    /// Writes images with headers to the standard output.
    #[arg(long, global = true)]
    pipe: bool,
}

impl OutputOptions {
    fn write(&self, size: [usize; 2], time_us: u64, gray: &[u8]) -> Result<(), Box<dyn Error>> {
        if let Some(folder) = &self.folder {
            fs::create_dir_all(folder)?;
            let mut file = BufWriter::new(fs::File::create(folder.join(format!("{time_us:012}.pgm")))?);
            write!(file, "P5\n{} {}\n255\n", size[0], size[1])?;
            file.write_all(gray)?;
        }
        if self.pipe {
            let mut out = stdout().lock();
            out.write_all(&header(size, time_us).ok_or("--size must be at most 65535 pixels")?)?;
            out.write_all(gray)?;
            out.flush()?;
        }
        Ok(())
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let camera = options.camera.camera()?;
    match &options.scene {
        SceneOptions::Robots { poses, arena } => {
            let images = read_poses(poses)?;
            let mut renderer = Renderer::new(camera, arena.arena(), options.seed)?;
            for (number, (time_us, robots)) in (0..).zip(images) {
                options.output.write(camera.size, time_us, renderer.render(&robots, number)?)?;
            }
        }
        SceneOptions::Board { views, square } => {
            let pattern =
                Pattern::board([5, 7], square / 1e3, 8, 28).ok_or("the board has too many markers")?;
            let mut renderer = Renderer::new(camera, Arena::default(), options.seed)?;
            for (number, view) in (0..).zip(read_views(views)?) {
                let translation = camera.pose.point(view.translation);
                let columns = transpose(view.rotation).map(|axis| apply(camera.pose.rotation, axis));
                let pose = Pose { rotation: transpose(columns), translation };
                let plate = Plate { pattern: &pattern, pose, twist: [0.0; 3] };
                let gray = renderer.render_plates(&[plate], number);
                options.output.write(camera.size, number * 1_000_000, gray)?;
            }
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("render: {error}");
            ExitCode::from(2)
        }
    }
}
