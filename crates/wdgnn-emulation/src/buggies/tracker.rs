//! `tools/tracker.py` on rendered images as a source of poses.

use std::{
    collections::VecDeque,
    env,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::json;
use wdgnn_camera::{
    camera::{Camera, Exposure, aimed},
    floor::Floor,
    lens::Lens,
    renderer::{Arena, Renderer, Robot, Shape},
    stream::header,
};

use super::{
    eye::{Eye, Messages},
    floor::Body,
};
use crate::error::{Error, Result};

/// Width and height of the images, focal length in pixels, and height of the camera in meters.
const SIZE: [usize; 2] = [1280, 720];
const FOCAL: f64 = 900.0;
const HEIGHT: f64 = 2.7;
/// Images per second.
const RATE: f64 = 30.0;
/// Length of the messages' line at 1 Mbit/s in seconds.
const LINE: f64 = 0.0012;

/// Settings of the tracker.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Number of robots.
    pub robots: usize,
    /// Time from the exposure to the message in seconds, and the time that the tracker assumes.
    pub latency: f64,
    pub stated_latency: f64,
    /// Video of the tracker's picture.
    pub video: Option<PathBuf>,
    /// Seed of floor and noise.
    pub seed: u64,
}

/// Tracker in another process.
pub struct TrackerEye {
    settings: Settings,
    renderer: Renderer,
    process: Child,
    images: Option<ChildStdin>,
    messages: BufReader<ChildStdout>,
    number: u64,
    pending: VecDeque<(f64, Vec<u8>)>,
    _folder: tempfile::TempDir,
}

impl std::fmt::Debug for TrackerEye {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TrackerEye").field("images", &self.number).finish_non_exhaustive()
    }
}

/// Camera above the middle of the arena.
fn camera() -> Result<Camera> {
    let pose = aimed([0.0, 0.0, HEIGHT], [0.0; 3], [0.0, 1.0, 0.0]);
    let pose = pose.ok_or_else(|| Error::Failed("the camera cannot look down".into()))?;
    Ok(Camera { lens: Lens::pinhole(FOCAL, SIZE), size: SIZE, pose, exposure: Exposure::default() })
}

/// Calibration file of the camera.
fn calibration() -> String {
    let [x, y] = SIZE.map(|pixels| (pixels as f64 - 1.0) / 2.0);
    let shape = Shape::default();
    json!({
        "lens": {
            "size": SIZE, "matrix": [[FOCAL, 0.0, x], [0.0, FOCAL, y], [0.0, 0.0, 1.0]],
            "distortion": [0.0, 0.0, 0.0, 0.0, 0.0],
        },
        "floor": {
            "rotation": [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]], "translation": [0.0, 0.0, HEIGHT],
        },
        "shape": {"side": f64::from(shape.marker_side), "height": shape.marker_height},
    })
    .to_string()
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Failed(format!("tools/tracker.py: {error}"))
}

impl TrackerEye {
    /// Starts the tracker. The variable `WDGNN_PYTHON` selects another interpreter than `python3`.
    ///
    /// # Errors
    /// Python or OpenCV are not installed.
    pub fn start(settings: Settings) -> Result<Self> {
        let python = env::var_os("WDGNN_PYTHON").unwrap_or("python3".into());
        let has_opencv =
            Command::new(&python).args(["-c", "import cv2, numpy"]).stderr(Stdio::null()).status();
        if !has_opencv.is_ok_and(|status| status.success()) {
            return Err(Error::usage(
                "tools/tracker.py needs OpenCV: `pip install opencv-python-headless numpy`, or set WDGNN_PYTHON to a \
                 Python that has it",
            ));
        }
        let folder = tempfile::tempdir().map_err(failed)?;
        let file = folder.path().join("camera.json");
        std::fs::write(&file, calibration()).map_err(failed)?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/tracker.py");
        let mut command = Command::new(python);
        command.arg(script).arg("track").arg(&file).args(["--source", "pipe:-", "--gateway", "-"]);
        command.args(["--robots", &settings.robots.to_string()]);
        command.args(["--latency", &(1e3 * settings.stated_latency).to_string()]);
        if let Some(video) = &settings.video {
            command.arg("--video").arg(video);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().map_err(failed)?;
        let (images, messages) = (process.stdin.take(), process.stdout.take());
        let arena = Arena { floor: Floor::Carpet, shadow: 0.4, ..Arena::default() };
        let renderer = Renderer::new(camera()?, arena, settings.seed).map_err(failed)?;
        let messages = BufReader::new(messages.ok_or_else(|| failed("no output"))?);
        let pending = VecDeque::new();
        Ok(Self { settings, renderer, process, images, messages, number: 0, pending, _folder: folder })
    }

    /// Sends an image to the tracker and returns its message.
    fn track(&mut self, seconds: f64, bodies: &[Body]) -> Result<Vec<u8>> {
        let robots: Vec<Robot> = bodies
            .iter()
            .enumerate()
            .map(|(marker, body)| Robot {
                marker: marker as u8,
                position: body.position,
                heading: body.heading,
                velocity: body.velocity(),
                turn_rate: body.turn_rate(),
            })
            .collect();
        let gray = self.renderer.render(&robots, self.number).map_err(failed)?;
        let header = header(SIZE, (1e6 * seconds) as u64).ok_or_else(|| failed("the image is too large"))?;
        let images = self.images.as_mut().ok_or_else(|| failed("no input"))?;
        images
            .write_all(&header)
            .and_then(|()| images.write_all(gray))
            .and_then(|()| images.flush())
            .map_err(failed)?;
        let mut message = Vec::new();
        self.messages.read_until(0, &mut message).map_err(failed)?;
        if message.last() == Some(&0) { Ok(message) } else { Err(failed("it ended")) }
    }
}

impl Eye for TrackerEye {
    fn look(&mut self, seconds: f64, bodies: &[Body]) -> Result<Messages> {
        if seconds + 1.0e-9 >= self.number as f64 / RATE {
            let message = self.track(seconds, bodies)?;
            self.pending.push_back((seconds + self.settings.latency, message));
            self.number += 1;
        }
        let mut due = vec![];
        while let Some(message) = self.pending.pop_front_if(|(at, _)| *at - LINE <= seconds) {
            due.push(message);
        }
        Ok(due)
    }
}

impl Drop for TrackerEye {
    fn drop(&mut self) {
        // The tracker ends with its input, and finishes the video.
        self.images = None;
        let _ = self.process.wait();
    }
}
