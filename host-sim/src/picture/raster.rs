//! Drawings as PNG files, at twice their size. Words are set in a small font of pixels that is inside the program, so that the same
//! drawing is the same file anywhere.

use embedded_graphics::{
    Drawable as _, Pixel,
    draw_target::DrawTarget,
    geometry::{OriginDimensions, Point, Size},
    mono_font::{
        MonoTextStyle,
        iso_8859_1::{FONT_9X18_BOLD, FONT_10X20},
    },
    pixelcolor::BinaryColor,
    text::{Alignment, Baseline, Text, TextStyleBuilder},
};
use tiny_skia::{FillRule, LineCap, LineJoin, Paint, PathBuilder, Pixmap, Stroke, StrokeDash, Transform};

use super::{
    canvas::Colour,
    ink,
    sketch::{Anchor, Mark, Sketch},
};
use crate::error::{Error, Result};

/// Pixels of a file per pixel of a drawing.
const SCALE: f32 = 2.0;
/// Drawings of more pixels on a side have none to show them.
const LONGEST: f32 = 16_000.0;

/// A drawing as a PNG file.
///
/// # Errors
/// [`Error::Failed`] for one that is too large.
pub fn png(sketch: &Sketch) -> Result<Vec<u8>> {
    let [width, height] = [sketch.width, sketch.height].map(|side| (side * SCALE).ceil());
    let fits = width <= LONGEST && height <= LONGEST;
    let pixmap = Pixmap::new(width as u32, height as u32).filter(|_| fits);
    let mut pixmap =
        pixmap.ok_or_else(|| Error::Failed(format!("{width} x {height} pixels make no picture")))?;
    let [red, green, blue] = ink::light("paper");
    pixmap.fill(tiny_skia::Color::from_rgba8(red, green, blue, 255));
    sketch.marks.iter().for_each(|mark| draw(&mut pixmap, mark));
    Ok(encoded(&pixmap))
}

fn draw(pixmap: &mut Pixmap, mark: &Mark) {
    let to_pixels = Transform::from_scale(SCALE, SCALE);
    match mark {
        Mark::Line { points, ink, width, dashed } => {
            let dash = dashed.then(|| StrokeDash::new(vec![5.0, 4.0], 0.0)).flatten();
            let line_cap = if *dashed { LineCap::Butt } else { LineCap::Round };
            let stroke =
                Stroke { width: *width, dash, line_cap, line_join: LineJoin::Round, ..Stroke::default() };
            if let Some(path) = path(points, false) {
                pixmap.stroke_path(&path, &paint(ink, 1.0), &stroke, to_pixels, None);
            }
        }
        Mark::Area { points, ink, opacity } => {
            if let Some(path) = path(points, true) {
                pixmap.fill_path(&path, &paint(ink, *opacity), FillRule::Winding, to_pixels, None);
            }
        }
        Mark::Dot { at: [x, y], radius, ink } => {
            if let Some(path) = PathBuilder::from_circle(*x, *y, *radius) {
                pixmap.fill_path(&path, &paint(ink, 1.0), FillRule::Winding, to_pixels, None);
            }
        }
        Mark::Text { at, text, anchor, ink, strong } => {
            let font = if *strong { &FONT_9X18_BOLD } else { &FONT_10X20 };
            let alignment = match anchor {
                Anchor::Start => Alignment::Left,
                Anchor::Middle => Alignment::Center,
                Anchor::End => Alignment::Right,
            };
            let place = Point::new((at[0] * SCALE) as i32, (at[1] * SCALE) as i32);
            let layout = TextStyleBuilder::new().alignment(alignment).baseline(Baseline::Alphabetic).build();
            let words = plain(text);
            let text =
                Text::with_text_style(&words, place, MonoTextStyle::new(font, BinaryColor::On), layout);
            let Ok(_) = text.draw(&mut Words { pixmap, colour: ink::light(ink) });
        }
    }
}

fn path(points: &[[f32; 2]], closed: bool) -> Option<tiny_skia::Path> {
    let mut path = PathBuilder::new();
    let [x, y] = *points.first()?;
    path.move_to(x, y);
    points[1..].iter().for_each(|[x, y]| path.line_to(*x, *y));
    if closed {
        path.close();
    }
    path.finish()
}

fn paint(name: &str, opacity: f32) -> Paint<'static> {
    let [red, green, blue] = ink::light(name);
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(red, green, blue, (255.0 * opacity) as u8);
    paint
}

/// Words in letters that the font has.
fn plain(text: &str) -> String {
    let letter = |c: char| match c {
        '–' | '−' | '⁻' => "-".into(),
        '’' => "'".into(),
        '≤' => "<=".into(),
        '≥' => ">=".into(),
        '⁰' => "^0".into(),
        '⁴'..='⁹' => format!("^{}", c as u32 - '⁰' as u32),
        c => c.to_string(),
    };
    // A power whose digits cannot be raised is told as programs do.
    let text = match text.split_once("10⁻") {
        Some((before, after)) => {
            let digits = after.chars().map(|c| match c {
                '¹' => '1',
                '²' => '2',
                '³' => '3',
                '⁰' | '⁴'..='⁹' => char::from(b'0' + (c as u32 - '⁰' as u32) as u8),
                c => c,
            });
            let times = before.strip_suffix('·').unwrap_or(if before.is_empty() { "1" } else { before });
            format!("{times}e-{}", digits.collect::<String>())
        }
        None => text.into(),
    };
    text.chars().map(letter).collect()
}

/// Where words go.
struct Words<'a> {
    pixmap: &'a mut Pixmap,
    colour: Colour,
}

impl OriginDimensions for Words<'_> {
    fn size(&self) -> Size {
        Size::new(self.pixmap.width(), self.pixmap.height())
    }
}

impl DrawTarget for Words<'_> {
    type Color = BinaryColor;
    type Error = std::convert::Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<BinaryColor>>>(
        &mut self,
        pixels: I,
    ) -> std::result::Result<(), Self::Error> {
        let (width, height) = (self.pixmap.width() as usize, self.pixmap.height() as usize);
        let [red, green, blue] = self.colour;
        for Pixel(Point { x, y }, colour) in pixels {
            let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { continue };
            if x < width && y < height && colour.is_on() {
                let place = y * width + x;
                self.pixmap.pixels_mut()[place] =
                    tiny_skia::ColorU8::from_rgba(red, green, blue, 255).premultiply();
            }
        }
        Ok(())
    }
}

/// The file: eight bits of red, green and blue, each row as what it differs by from the one above.
fn encoded(pixmap: &Pixmap) -> Vec<u8> {
    let (width, height) = (pixmap.width() as usize, pixmap.height() as usize);
    let mut before = vec![0; 3 * width];
    let mut rows = Vec::with_capacity((3 * width + 1) * height);
    for row in pixmap.data().chunks_exact(4 * width) {
        let row: Vec<u8> = row.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        // The filter "up".
        rows.push(2);
        rows.extend(row.iter().zip(&before).map(|(now, before)| now.wrapping_sub(*before)));
        before = row;
    }
    let mut header = Vec::with_capacity(13);
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    // Eight bits each, colours, and the only ways there are.
    header.extend([8, 2, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, *b"IHDR", &header);
    chunk(&mut file, *b"IDAT", &miniz_oxide::deflate::compress_to_vec_zlib(&rows, 6));
    chunk(&mut file, *b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, name: [u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend(name);
    file.extend(data);
    let check = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(&file[start..]);
    file.extend(check.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_has_its_colours_at_their_places() {
        let mut sketch = Sketch { width: 40.0, height: 20.0, marks: Vec::new() };
        let points = vec![[10.0, 5.0], [20.0, 5.0], [20.0, 15.0], [10.0, 15.0]];
        sketch.marks.push(Mark::Area { points, ink: "gnn", opacity: 1.0 });
        sketch.text([30.0, 15.0], "µ", Anchor::Start, "ink");
        let file = png(&sketch).unwrap();
        // Signature, header, and inside the pixels again.
        assert_eq!(file[..8], *b"\x89PNG\r\n\x1a\n");
        assert_eq!(file[16..24], [0, 0, 0, 80, 0, 0, 0, 40]);
        let data = &file[41..file.len() - 12 - 4];
        let rows = miniz_oxide::inflate::decompress_to_vec_zlib(data).unwrap();
        let row = |number: usize| &rows[number * (1 + 3 * 80)..][1..];
        let mut pixels = vec![0_u8; 3 * 80];
        for number in 0..=24 {
            pixels.iter_mut().zip(row(number)).for_each(|(pixel, more)| *pixel = pixel.wrapping_add(*more));
        }
        assert_eq!(pixels[3 * 30..3 * 31], ink::light("gnn"));
        assert_eq!(pixels[..3], ink::light("paper"));
        let inked = pixels[3 * 60..].chunks(3).filter(|pixel| **pixel == ink::light("ink")).count();
        assert!(inked > 0, "the letter");
    }

    #[test]
    fn words_are_told_in_letters_that_there_are() {
        assert_eq!(
            ["10⁻⁴", "2·10⁻¹²", "a – b", "m²/s²", "≤ 3", "10⁶"].map(plain),
            ["1e-4", "2e-12", "a - b", "m²/s²", "<= 3", "10^6"]
        );
    }

    #[test]
    fn what_is_too_large_is_told() {
        assert!(png(&Sketch { width: 1.0e6, height: 10.0, marks: Vec::new() }).is_err());
    }
}
