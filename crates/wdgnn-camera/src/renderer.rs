//! Images of an arena: floor, fixed markers, robots.

use crate::{
    blur::{SAMPLES, Sample, samples},
    camera::{Camera, CameraError},
    floor::{Floor, mix},
    geometry::{Pose, Vector, apply},
    marker,
    pattern::Pattern,
    raster::{Bounds, Plate, View},
    sensor::Sensor,
};

/// Reflectance of everything that is not the floor.
const SURROUNDINGS: f32 = 0.15;
/// Reflectance of a robot's body.
const BODY: f32 = 0.1;
/// Samples of a floor pixel.
const FLOOR_SAMPLES: usize = 8;

/// Marker that lies in the arena.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedMarker {
    /// Marker.
    pub marker: u8,
    /// Position of its middle in meters.
    pub position: Vector,
    /// Heading of its upper edge in radians, counter-clockwise from the x axis.
    pub heading: f64,
    /// Side of its black square in meters.
    pub side: f32,
}

/// Shape of the robots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Side of a marker's black square in meters.
    pub marker_side: f32,
    /// White border of a marker in meters.
    pub border: f32,
    /// Height of the markers above the floor in meters.
    pub marker_height: f64,
    /// Width and length of the body in meters.
    pub body: [f32; 2],
    /// Height of the body in meters.
    pub body_height: f64,
}

impl Default for Shape {
    /// Maqueen buggy (81 × 85 mm) with a marker of 80 mm on a plate of 100 mm, 70 mm above the
    /// floor.
    fn default() -> Self {
        Self { marker_side: 0.08, border: 0.01, marker_height: 0.07, body: [0.081, 0.085], body_height: 0.04 }
    }
}

/// Arena and light.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arena {
    /// Floor texture.
    pub floor: Floor,
    /// Relative change of the light per meter in x and y, from the origin.
    pub light_gradient: [f64; 2],
    /// Share of the light that a robot takes from the floor around it, 0 to 1.
    pub shadow: f32,
    /// Markers on the floor.
    pub markers: Vec<FixedMarker>,
    /// Shape of all robots.
    pub shape: Shape,
}

/// Robot in an image.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Robot {
    /// Marker, 0 to 49.
    pub marker: u8,
    /// Position of the marker's middle in meters, at the middle of the exposure.
    pub position: [f64; 2],
    /// Heading in radians, counter-clockwise from the x axis.
    pub heading: f64,
    /// Velocity in m/s, for the motion blur.
    pub velocity: [f64; 2],
    /// Turn rate in rad/s, for the motion blur.
    pub turn_rate: f64,
}

/// Draws images of one arena with one camera.
#[derive(Clone, Debug)]
pub struct Renderer {
    camera: Camera,
    shape: Shape,
    shadow: f32,
    shadow_offset: [f64; 2],
    rays: Vec<[f32; 2]>,
    samples: [Sample; SAMPLES],
    sensor: Sensor,
    markers: Vec<Pattern>,
    body: Pattern,
    /// Brightness of a white surface at each pixel.
    light: Vec<f32>,
    /// Floor with its markers, in linear brightness and gamma-coded.
    empty: Vec<f32>,
    empty_coded: Vec<u16>,
    /// Present image, in linear brightness, gamma-coded and quantized.
    linear: Vec<f32>,
    coded: Vec<u16>,
    gray: Vec<u8>,
    /// Pixels that differ from the empty arena.
    changed: Vec<Bounds>,
}

impl Renderer {
    /// Draws the empty arena. `seed` selects the floor, the direction of shadows and the noise.
    pub fn new(camera: Camera, arena: Arena, seed: u64) -> Result<Self, CameraError> {
        let Arena { floor, light_gradient, shadow, markers: fixed, shape } = arena;
        let rays = camera.rays()?;
        let markers = (0..marker::COUNT as u8)
            .filter_map(|id| Pattern::marker(id, shape.marker_side, shape.border))
            .collect();
        let sensor = Sensor::new(camera.exposure.noise, seed);
        let (light, empty) = background(&camera, &rays, floor, light_gradient, seed);
        let mut renderer = Self {
            samples: samples(camera.exposure.blur_px),
            body: Pattern::plain(shape.body, BODY),
            shadow_offset: shadow_offset(shape.marker_height / 2.0, seed),
            empty_coded: vec![0; empty.len()],
            coded: vec![0; empty.len()],
            gray: vec![0; empty.len()],
            linear: empty.clone(),
            changed: Vec::new(),
            camera,
            shape,
            shadow,
            rays,
            sensor,
            markers,
            light,
            empty,
        };
        for marker in fixed {
            let pattern = Pattern::marker(marker.marker, marker.side, marker.side / 6.0)
                .ok_or(CameraError::UnknownMarker(marker.marker))?;
            let [x, y, height] = marker.position;
            let pose = upright([x, y], height, marker.heading);
            renderer.draw(&Plate { pattern: &pattern, pose, twist: [0.0; 3] });
        }
        renderer.changed.clear();
        renderer.empty.copy_from_slice(&renderer.linear);
        for (coded, &linear) in renderer.empty_coded.iter_mut().zip(&renderer.empty) {
            *coded = renderer.sensor.code(linear);
        }
        renderer.coded.copy_from_slice(&renderer.empty_coded);
        Ok(renderer)
    }

    /// Draws robots and returns the gray levels, row by row. `number` selects the noise.
    pub fn render(&mut self, robots: &[Robot], number: u64) -> Result<&[u8], CameraError> {
        let unknown = robots.iter().find(|robot| usize::from(robot.marker) >= self.markers.len());
        if let Some(robot) = unknown {
            return Err(CameraError::UnknownMarker(robot.marker));
        }
        self.clear();
        for robot in robots {
            self.draw_robot(robot);
        }
        Ok(self.expose(number))
    }

    /// Draws plates and returns the gray levels, row by row. `number` selects the noise.
    pub fn render_plates(&mut self, plates: &[Plate<'_>], number: u64) -> &[u8] {
        self.clear();
        for plate in plates {
            self.draw(plate);
        }
        self.expose(number)
    }

    fn draw_robot(&mut self, robot: &Robot) {
        let [x, y] = robot.position;
        let [shadow_x, shadow_y] = self.shadow_offset;
        let floor = Pose::planar([x + shadow_x, y + shadow_y], 0.0, 0.0);
        let radius = self.shape.body[0].max(self.shape.body[1]) / 2.0;
        let view = View { camera: &self.camera, rays: &self.rays, samples: &self.samples };
        self.changed.extend(view.shade(&floor, radius, self.shadow, &mut self.linear));
        let marker = &self.markers[usize::from(robot.marker)];
        for (pattern, height) in [(&self.body, self.shape.body_height), (marker, self.shape.marker_height)] {
            let pose = upright(robot.position, height, robot.heading);
            let [vx, vy] = robot.velocity;
            // Velocity in the plate's axes.
            let along = |axis: usize| pose.rotation[0][axis] * vx + pose.rotation[1][axis] * vy;
            let plate = Plate { pattern, pose, twist: [along(0), along(1), robot.turn_rate] };
            self.changed.extend(view.draw(&plate, &self.light, &mut self.linear));
        }
    }

    fn draw(&mut self, plate: &Plate<'_>) {
        let view = View { camera: &self.camera, rays: &self.rays, samples: &self.samples };
        self.changed.extend(view.draw(plate, &self.light, &mut self.linear));
    }

    /// Restores the empty arena.
    fn clear(&mut self) {
        for line in self.changed.drain(..).flat_map(|bounds| bounds.lines(self.camera.size[0])) {
            self.linear[line.clone()].copy_from_slice(&self.empty[line.clone()]);
            self.coded[line.clone()].copy_from_slice(&self.empty_coded[line]);
        }
    }

    fn expose(&mut self, number: u64) -> &[u8] {
        let width = self.camera.size[0];
        for at in self.changed.iter().flat_map(|bounds| bounds.lines(width)).flatten() {
            self.coded[at] = self.sensor.code(self.linear[at]);
        }
        self.sensor.expose(&self.coded, width, number, &mut self.gray);
        &self.gray
    }
}

/// Pose of a horizontal plate that has its upper edge in front.
fn upright(position: [f64; 2], height: f64, heading: f64) -> Pose {
    Pose::planar(position, height, heading - core::f64::consts::FRAC_PI_2)
}

/// Brightness of a white surface and of the floor at each pixel.
fn background(
    camera: &Camera, rays: &[[f32; 2]], floor: Floor, gradient: [f64; 2], seed: u64,
) -> (Vec<f32>, Vec<f32>) {
    let [width, height] = camera.size;
    let exposure = &camera.exposure;
    let [middle_x, middle_y] = [width as f64 / 2.0, height as f64 / 2.0];
    let corner = middle_x * middle_x + middle_y * middle_y;
    let offsets: Vec<[f32; 2]> = samples(exposure.blur_px)
        .iter()
        .step_by(SAMPLES / FLOOR_SAMPLES)
        .map(|sample| sample.offset)
        .collect();
    let mut light = Vec::with_capacity(rays.len());
    let mut image = Vec::with_capacity(rays.len());
    for (at, &ray) in rays.iter().enumerate() {
        let (row, column) = (at / width, at % width);
        let [x, y] = [column as f64 - middle_x, row as f64 - middle_y];
        let vignette = 1.0 - f64::from(exposure.vignette) * (x * x + y * y) / corner;
        let lit = |[x, y]: [f64; 2]| (1.0 + gradient[0] * x + gradient[1] * y).clamp(0.1, 2.0);
        let white = exposure.brightness * (vignette * floor_point(camera, ray).map_or(1.0, lit)) as f32;
        // Within a pixel, the rays change linearly.
        let from = row.min(height - 2) * width + column.min(width - 2);
        let difference = |to: usize| [rays[to][0] - rays[from][0], rays[to][1] - rays[from][1]];
        let [by_column, by_row] = [difference(from + 1), difference(from + width)];
        let seen = offsets.iter().map(|[dx, dy]| {
            let x = ray[0] + by_column[0] * dx + by_row[0] * dy;
            let y = ray[1] + by_column[1] * dx + by_row[1] * dy;
            floor_point(camera, [x, y]).map_or(SURROUNDINGS, |point| floor.reflectance(point, seed) as f32)
        });
        light.push(white);
        image.push(white * seen.sum::<f32>() / offsets.len() as f32);
    }
    (light, image)
}

/// Floor point in the direction (x, y, 1); `None` above the horizon.
fn floor_point(camera: &Camera, [x, y]: [f32; 2]) -> Option<[f64; 2]> {
    let direction = apply(camera.pose.rotation, [f64::from(x), f64::from(y), 1.0]);
    let [origin_x, origin_y, height] = camera.pose.translation;
    let distance = -height / direction[2];
    (direction[2] < 0.0).then(|| [origin_x + distance * direction[0], origin_y + distance * direction[1]])
}

/// Random direction of the light for a seed, as an offset of shadows in meters.
fn shadow_offset(length: f64, seed: u64) -> [f64; 2] {
    let angle = (mix(seed) >> 11) as f64 / (1_u64 << 53) as f64 * core::f64::consts::TAU;
    [length * libm::cos(angle), length * libm::sin(angle)]
}
