//! A picture of few colours: shapes with smooth edges, in shades between the paper and an ink.

/// A colour: red, green, blue.
pub type Colour = [u8; 3];

/// Shades of an ink, the paper being the first: as many as make an edge smooth.
const LEVELS: usize = 5;
/// Points along each side of a pixel that are asked whether they are in a shape.
const POINTS: usize = 4;
/// The most inks that a palette of 256 colours holds.
pub const MOST_INKS: usize = 256 / LEVELS;

/// A point in pixels, from the upper left corner.
pub type Point = [f32; 2];

/// A picture of indices into a palette.
#[derive(Clone, Debug)]
pub struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Canvas {
    /// Paper of so many pixels.
    #[must_use]
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![0; width * height] }
    }

    /// The palette in which these inks on this paper are drawn: red, green and blue in turn.
    #[must_use]
    pub fn palette(paper: Colour, inks: &[Colour]) -> Vec<u8> {
        let mix = |from: u8, to: u8, level: usize| {
            let share = level as f32 / (LEVELS - 1) as f32;
            (f32::from(from) + share * (f32::from(to) - f32::from(from))).round() as u8
        };
        let shades = |ink: &Colour| {
            let ink = *ink;
            (0..LEVELS).flat_map(move |level| [0, 1, 2].map(|part| mix(paper[part], ink[part], level)))
        };
        inks.iter().take(MOST_INKS).flat_map(shades).collect()
    }

    /// The pixels, row by row.
    #[must_use]
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// Fills a polygon with an ink, as far as it lies within the window of `[left, top, right, bottom]`.
    pub fn fill(&mut self, corners: &[Point], ink: usize, window: [usize; 4]) {
        let ends = |axis: usize, low: usize, high: usize| {
            let along = corners.iter().map(|corner| corner[axis]);
            let first = along.clone().fold(f32::INFINITY, f32::min).floor().max(low as f32);
            let last = along.fold(f32::NEG_INFINITY, f32::max).ceil().min(high as f32);
            first as usize..last.max(0.0) as usize
        };
        let [left, top, right, bottom] = window;
        let rows = ends(1, top, bottom.min(self.height));
        for y in rows {
            for x in ends(0, left, right.min(self.width)) {
                self.touch(x, y, ink, covered(corners, x, y));
            }
        }
    }

    /// Draws a line of a width in pixels.
    pub fn line(&mut self, from: Point, to: Point, width: f32, ink: usize, window: [usize; 4]) {
        let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
        let length = (dx * dx + dy * dy).sqrt();
        if length > 0.0 {
            let [x, y] = [-dy / length * width / 2.0, dx / length * width / 2.0];
            let corners = [
                [from[0] + x, from[1] + y],
                [to[0] + x, to[1] + y],
                [to[0] - x, to[1] - y],
                [from[0] - x, from[1] - y],
            ];
            self.fill(&corners, ink, window);
        }
    }

    /// Colours a pixel by the share of it that is covered. Of two inks, the one that covers more is seen.
    fn touch(&mut self, x: usize, y: usize, ink: usize, share: f32) {
        let level = (share * (LEVELS - 1) as f32).round() as usize;
        let pixel = &mut self.pixels[y * self.width + x];
        if level > 0 && level >= usize::from(*pixel) % LEVELS {
            *pixel = (ink * LEVELS + level) as u8;
        }
    }
}

/// The share of a pixel that lies within a polygon.
fn covered(corners: &[Point], x: usize, y: usize) -> f32 {
    let at = |pixel: usize, point: usize| pixel as f32 + (point as f32 + 0.5) / POINTS as f32;
    let points = (0..POINTS).flat_map(|row| (0..POINTS).map(move |column| [at(x, column), at(y, row)]));
    points.filter(|point| inside(corners, *point)).count() as f32 / (POINTS * POINTS) as f32
}

/// Whether a ray from a point to the right leaves the polygon more often than it enters.
fn inside(corners: &[Point], [x, y]: Point) -> bool {
    let next = corners.iter().cycle().skip(1);
    let crossed = corners
        .iter()
        .zip(next)
        .filter(|([ax, ay], [bx, by])| (*ay > y) != (*by > y) && x < ax + (y - ay) / (by - ay) * (bx - ax));
    crossed.count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [usize; 4] = [0, 0, 8, 8];

    #[test]
    fn a_square_fills_its_pixels_and_half_of_those_that_it_halves() {
        let mut canvas = Canvas::new(8, 8);
        canvas.fill(&[[2.0, 2.0], [4.5, 2.0], [4.5, 4.0], [2.0, 4.0]], 1, ALL);
        let full = (LEVELS + LEVELS - 1) as u8;
        let half = LEVELS as u8 + 2;
        assert_eq!(canvas.pixels()[2 * 8..3 * 8], [0, 0, full, full, half, 0, 0, 0]);
        assert_eq!(canvas.pixels()[4 * 8..5 * 8], [0; 8]);
    }

    #[test]
    fn nothing_is_drawn_outside_of_the_window_or_the_picture() {
        let mut canvas = Canvas::new(8, 8);
        canvas.line([-20.0, 3.5], [20.0, 3.5], 1.0, 0, [2, 0, 6, 8]);
        canvas.line([-20.0, -3.0], [20.0, -3.0], 1.0, 0, ALL);
        let drawn = canvas.pixels().iter().filter(|pixel| **pixel > 0).count();
        assert_eq!(drawn, 4);
    }

    #[test]
    fn the_palette_goes_from_the_paper_to_each_ink() {
        let palette = Canvas::palette([255; 3], &[[0, 0, 0], [255, 0, 0]]);
        assert_eq!(palette.len(), 2 * 3 * LEVELS);
        assert_eq!(palette[..3], [255; 3]);
        assert_eq!(palette[3 * (LEVELS - 1)..3 * LEVELS], [0; 3]);
        assert_eq!(palette[3 * (2 * LEVELS - 1)..], [255, 0, 0]);
    }
}
