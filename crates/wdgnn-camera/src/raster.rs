//! Draws plates: per pixel an average over the lens blur and the exposure time.

use crate::{
    blur::{Blur, Hit, Motion, SAMPLES, Sample},
    camera::Camera,
    geometry::{Pose, dot, inverse, transpose},
    pattern::Pattern,
};

/// Flat object in the world. The pattern lies in the x-y plane of its pose and is seen from +z.
#[derive(Clone, Debug)]
pub struct Plate<'a> {
    /// Pattern.
    pub pattern: &'a Pattern,
    /// Pose in the world at the middle of the exposure.
    pub pose: Pose,
    /// Velocity in its own plane: m/s along x and y, rad/s counter-clockwise.
    pub twist: [f64; 3],
}

/// Rectangle of pixels: first and last-plus-one column and row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub columns: [usize; 2],
    pub rows: [usize; 2],
}

impl Bounds {
    /// Indexes of the first pixel and of the end of each row.
    pub fn lines(self, width: usize) -> impl Iterator<Item = core::ops::Range<usize>> {
        (self.rows[0]..self.rows[1])
            .map(move |row| row * width + self.columns[0]..row * width + self.columns[1])
    }
}

/// Pixels, as seen in plate coordinates.
pub struct View<'a> {
    pub camera: &'a Camera,
    pub rays: &'a [[f32; 2]],
    pub samples: &'a [Sample; SAMPLES],
}

impl View<'_> {
    /// Draws a plate into an image of linear brightness, in the brightness `light` of each pixel.
    /// Returns the pixels that may have changed.
    pub fn draw(&self, plate: &Plate<'_>, light: &[f32], image: &mut [f32]) -> Option<Bounds> {
        let exposure = &self.camera.exposure;
        let (bounds, to_plate) = self.place(plate)?;
        let blur = Blur::new(self.samples, plate.twist, exposure.time_s);
        let [width, height] = self.camera.size;
        for row in bounds.rows[0]..bounds.rows[1] {
            let delay = exposure.readout_s * (row as f64 / (height - 1) as f64 - 0.5);
            let row_motion = Motion::new(plate.twist, delay);
            for column in bounds.columns[0]..bounds.columns[1] {
                let at = row * width + column;
                let Some(hit) = self.hit(column, row, &to_plate) else { continue };
                let hit = Hit {
                    point: row_motion.apply(hit.point),
                    by_column: row_motion.turn(hit.by_column),
                    by_row: row_motion.turn(hit.by_row),
                };
                let distance = plate.pattern.distance_to_edge(hit.point);
                let reach = blur.reach(&hit);
                if distance > reach {
                    if let Some(reflectance) = plate.pattern.reflectance(hit.point) {
                        image[at] = reflectance * light[at];
                    }
                } else if distance > -reach {
                    let (reflectance, share) = blur.average(&hit, plate.pattern);
                    image[at] = image[at] * (1.0 - share) + light[at] * reflectance;
                }
            }
        }
        Some(bounds)
    }

    /// Darkens a soft disk around the origin of a pose: by `depth` inside, down to nothing at twice
    /// the radius. Returns the pixels that may have changed.
    pub fn shade(&self, pose: &Pose, radius: f32, depth: f32, image: &mut [f32]) -> Option<Bounds> {
        let pattern = Pattern::plain([4.0 * radius; 2], 0.0);
        let (bounds, to_plate) = self.place(&Plate { pattern: &pattern, pose: *pose, twist: [0.0; 3] })?;
        let width = self.camera.size[0];
        for row in bounds.rows[0]..bounds.rows[1] {
            for column in bounds.columns[0]..bounds.columns[1] {
                if let Some(Hit { point: [x, y], .. }) = self.hit(column, row, &to_plate) {
                    let share = (2.0 - (x * x + y * y).sqrt() / radius).clamp(0.0, 1.0);
                    image[row * width + column] *= 1.0 - depth * share * share * (3.0 - 2.0 * share);
                }
            }
        }
        Some(bounds)
    }

    /// Pixels of a plate during the exposure, and the matrix from rays to its coordinates.
    fn place(&self, plate: &Plate<'_>) -> Option<(Bounds, [[f32; 3]; 3])> {
        let placed = self.camera.pose.localize(&plate.pose);
        let [x_axis, y_axis, normal] = transpose(placed.rotation);
        if dot(normal, placed.translation) >= 0.0 {
            return None;
        }
        let matrix = inverse(transpose([x_axis, y_axis, placed.translation]))?;
        let half = plate.pattern.half().map(f64::from);
        let time = self.camera.exposure.time_s / 2.0 + self.camera.exposure.readout_s / 2.0;
        let margin = plate.twist[..2].iter().map(|speed| speed.abs() * time).fold(0.0, f64::max)
            + plate.twist[2].abs() * time * (half[0] + half[1]);
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        // Distortion bends edges, so points along them count, too.
        for step in 0..32 {
            let along = f64::from(step % 8) / 4.0 - 1.0;
            let [x, y] = [[along, -1.0], [1.0, along], [-along, 1.0], [-1.0, -along]][step as usize / 8];
            let corner = [x * (half[0] + margin), y * (half[1] + margin), 0.0];
            let pixel = self.camera.project(placed.point(corner))?;
            for axis in 0..2 {
                low[axis] = low[axis].min(pixel[axis]);
                high[axis] = high[axis].max(pixel[axis]);
            }
        }
        let pad = 3.0 + 3.0 * self.camera.exposure.blur_px;
        let range = |axis: usize| {
            let limit = self.camera.size[axis] as f64;
            [(low[axis] - pad).clamp(0.0, limit) as usize, (high[axis] + pad).clamp(0.0, limit) as usize]
        };
        let to_plate = matrix.map(|row| row.map(|number| number as f32));
        Some((Bounds { columns: range(0), rows: range(1) }, to_plate))
    }

    /// Point of a plate at the center of a pixel; `None` behind the camera.
    #[inline]
    fn hit(&self, column: usize, row: usize, to_plate: &[[f32; 3]; 3]) -> Option<Hit> {
        let [width, height] = self.camera.size;
        let at = row * width + column;
        let [x, y] = self.rays[at];
        let product = |line: usize, x: f32, y: f32| to_plate[line][0] * x + to_plate[line][1] * y;
        let w = product(2, x, y) + to_plate[2][2];
        if w <= 0.0 {
            return None;
        }
        let point = [(product(0, x, y) + to_plate[0][2]) / w, (product(1, x, y) + to_plate[1][2]) / w];
        let corner = row.min(height - 2) * width + column.min(width - 2);
        let derivative = |to: usize| {
            let dx = self.rays[to][0] - self.rays[corner][0];
            let dy = self.rays[to][1] - self.rays[corner][1];
            let dw = product(2, dx, dy);
            [(product(0, dx, dy) - point[0] * dw) / w, (product(1, dx, dy) - point[1] * dw) / w]
        };
        Some(Hit { point, by_column: derivative(corner + 1), by_row: derivative(corner + width) })
    }
}
