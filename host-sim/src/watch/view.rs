//! A tick on the screen, whatever its size.

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Modifier, Style},
    symbols::Marker,
    text::{Line, Span},
    widgets::{
        Axis, Block, Chart, Dataset, GraphType, Paragraph,
        canvas::{Canvas, Circle, Line as Stroke, Points},
    },
};

use super::film::{Film, Picture, Robot};

/// What is under way.
pub const FLYING: &str = "flying";
/// Waiting for a key.
pub const PAUSED: &str = "paused";
/// Once more.
pub const AGAIN: &str = "again";
/// At the end.
pub const OVER: &str = "the end";

/// The keys, from what matters most to what matters least.
const KEYS: [(&str, &str); 5] =
    [("q", "leave"), ("space", "pause"), ("+ -", "speed"), ("← →", "tick by tick"), ("r", "again")];

/// Below this there is nothing to see.
const SMALLEST: (u16, u16) = (12, 4);
/// Room for a plot beside the swarm, or below it.
const BESIDE: u16 = 72;
const BELOW: u16 = 20;
/// A letter on a terminal is twice as high as wide.
const ASPECT: f64 = 2.0;
/// Robots turn from one colour to the next by how far they are from the mean velocity, in m/s.
const STEPS: [f64; 3] = [0.1, 0.5, 1.5];
/// How far ahead a robot's line points, in seconds, and at most in metres.
const AHEAD: f64 = 0.15;
const LONGEST: f64 = 0.6;
/// The least that a logarithm is taken of.
const LEAST: f64 = 1.0e-6;

/// What is shown.
#[derive(Debug)]
pub struct Screen<'a> {
    /// The flight so far.
    pub film: &'a Film,
    /// The tick.
    pub tick: usize,
    /// What is under way.
    pub state: &'a str,
    /// Seconds of the world per second.
    pub speed: f64,
}

impl Screen<'_> {
    /// Draws it.
    pub fn draw(&self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let Some(picture) = self.film.picture(self.tick) else { return };
        if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
            frame.render_widget(Paragraph::new("too small; q leaves"), area);
            return;
        }
        let [top, middle, bottom] =
            Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)]).areas(area);
        frame.render_widget(self.heading(picture, top.width), top);
        frame.render_widget(Self::keys(bottom.width), bottom);
        let half = [Constraint::Percentage(60), Constraint::Percentage(40)];
        if area.width >= BESIDE {
            let [left, right] = Layout::horizontal(half).areas(middle);
            Self::swarm(frame, left, picture);
            self.scores(frame, right);
        } else if area.height >= BELOW {
            let [upper, lower] = Layout::vertical(half).areas(middle);
            Self::swarm(frame, upper, picture);
            self.scores(frame, lower);
        } else {
            Self::swarm(frame, middle, picture);
        }
    }

    /// Where in the flight this is; as much as fits.
    fn heading(&self, picture: &Picture, width: u16) -> Line<'static> {
        let Film { title, period, ticks, story, .. } = self.film;
        let here = picture.robots.iter().filter(|robot| robot.here).count();
        let parts = [
            format!("{:.2} s", self.tick as f64 * period),
            format!(" of {:.2} s", f64::from(*ticks) * period),
            format!("  {}", self.state),
            format!("  x{}", self.speed),
            format!("  {here} robots, {} links", picture.links),
            format!("  {title}"),
            if story.is_empty() { String::new() } else { format!("  {story}") },
        ];
        let fitting = fitting(parts.iter().map(|part| part.chars().count()), width);
        Line::from(parts[..fitting].concat()).style(Modifier::BOLD)
    }

    fn keys(width: u16) -> Line<'static> {
        let words = KEYS.map(|(key, does)| (format!(" {key} "), format!("{does}  ")));
        let lengths = words.iter().map(|(key, does)| key.chars().count() + does.chars().count());
        let fitting = fitting(lengths, width);
        let spans = words
            .into_iter()
            .take(fitting)
            .flat_map(|(key, does)| [Span::styled(key, Modifier::REVERSED), Span::raw(format!(" {does}"))]);
        Line::from(spans.collect::<Vec<_>>())
    }

    fn swarm(frame: &mut Frame<'_>, area: Rect, picture: &Picture) {
        let robots = || picture.robots.iter().filter(|robot| robot.here);
        let count = robots().count().max(1) as f64;
        let mean = |of: fn(&Robot) -> [f64; 2]| {
            let sum = robots().map(of).fold([0.0; 2], |sum, [x, y]| [sum[0] + x, sum[1] + y]);
            sum.map(|sum| sum / count)
        };
        let (middle, along) = (mean(|robot| robot.place), mean(|robot| robot.velocity));
        let far = |[x, y]: [f64; 2]| (x - middle[0]).abs().max((y - middle[1]).abs());
        let reach = 1.1 * robots().map(|robot| far(robot.place)).fold(0.5, f64::max);
        // Inside of the frame, a metre is as long across as upwards.
        let (width, height) = (f64::from(area.width.max(3) - 2), ASPECT * f64::from(area.height.max(3) - 2));
        let scale = width.min(height).max(1.0);
        let [across, up] = [width, height].map(|side| reach * side / scale);
        let canvas = Canvas::default()
            .block(Block::bordered().title(format!(" the swarm, {:.1} m across ", 2.0 * across)))
            .marker(Marker::Braille)
            .x_bounds([middle[0] - across, middle[0] + across])
            .y_bounds([middle[1] - up, middle[1] + up])
            .paint(|context| {
                for robot in robots() {
                    let off = (robot.velocity[0] - along[0]).hypot(robot.velocity[1] - along[1]);
                    let colour = if robot.honest { shade(off) } else { coloured(Color::Red) };
                    let [x, y] = robot.place;
                    let [vx, vy] = ahead(robot.velocity);
                    context.draw(&Stroke { x1: x, y1: y, x2: x + vx, y2: y + vy, color: colour });
                    context.draw(&Points { coords: &[(x, y)], color: colour });
                    if !robot.honest {
                        context.draw(&Circle { x, y, radius: 0.15, color: colour });
                    }
                }
            });
        frame.render_widget(canvas, area);
    }

    /// The score over time, logarithmic.
    fn scores(&self, frame: &mut Frame<'_>, area: Rect) {
        let film = self.film;
        let logarithm = |score: f64| score.max(LEAST).log10();
        let points: Vec<(f64, f64)> = (film.scores(self.tick).enumerate())
            .filter(|(_, score)| score.is_finite())
            .map(|(tick, score)| (tick as f64 * film.period, logarithm(score)))
            .collect();
        let ends = |[low, high]: [f64; 2], (_, y): &(f64, f64)| [low.min(*y), high.max(*y)];
        let [low, high] = points.iter().fold([f64::INFINITY, f64::NEG_INFINITY], ends);
        let [low, high] = if low.is_finite() { [low.floor(), (high + 1.0e-9).ceil()] } else { [0.0, 1.0] };
        let last = film.scores(self.tick).last().unwrap_or_default();
        let label = |exponent: f64| Line::from(format!("1e{exponent:.0}"));
        let end = f64::from(film.ticks) * film.period;
        let line = Dataset::default()
            .marker(Marker::Braille)
            .graph_type(GraphType::Line)
            .style(Style::new().fg(coloured(Color::Cyan)))
            .data(&points);
        let chart = Chart::new(vec![line])
            .block(Block::bordered().title(format!(" {last:.4}: {} ", film.score)))
            .x_axis(
                Axis::default().bounds([0.0, end]).labels(["0 s".into(), Line::from(format!("{end:.2} s"))]),
            )
            .y_axis(Axis::default().bounds([low, high]).labels([label(low), label(high)]));
        frame.render_widget(chart, area);
    }
}

/// How many of the words of these lengths fit into a width.
fn fitting(lengths: impl Iterator<Item = usize>, width: u16) -> usize {
    let ends = lengths.scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    ends.take_while(|end| *end <= usize::from(width)).count()
}

/// Where a robot's line ends, from where it is.
fn ahead(velocity: [f64; 2]) -> [f64; 2] {
    let length = velocity[0].hypot(velocity[1]) * AHEAD;
    let factor = if length > LONGEST { LONGEST / length } else { 1.0 };
    velocity.map(|along| along * AHEAD * factor)
}

fn shade(off: f64) -> Color {
    let shades = [Color::Cyan, Color::Blue, Color::Magenta, Color::Yellow];
    coloured(shades[STEPS.iter().filter(|step| off > **step).count()])
}

/// A colour, unless somebody wants none.
fn coloured(colour: Color) -> Color {
    if crate::table::wants_colour() { colour } else { Color::Reset }
}

#[cfg(test)]
mod tests {
    use ratatui::{Terminal, backend::TestBackend};

    use super::*;
    use crate::{
        flight::Start,
        lineup::{Controller, EXPERT, Lineup},
        recipe::RecipeName,
        seeds::{Purpose, generator},
        world::{Condition, World as _, flock::Flock},
    };

    fn film() -> Film {
        struct Seer(Film);
        impl crate::flight::Observer<Flock> for Seer {
            fn see(&mut self, moment: &crate::flight::Moment<'_, Flock>) -> crate::error::Result {
                self.0.see(moment);
                Ok(())
            }
        }
        let condition = Condition { robots: 20, ticks: 30, ..Condition::PAPER };
        let lineup = Lineup::<Flock>::shipped(RecipeName::Ours).unwrap();
        let start = Start::draw(&lineup.world, &condition, &mut generator(1, Purpose::Testing, 0)).unwrap();
        let mut swarm = lineup.swarm(&Controller::named(EXPERT).unwrap(), &start, 0).unwrap();
        let mut seer = Seer(Film::new::<Flock>("native robots", 0.01, 30));
        let stop = std::sync::atomic::AtomicBool::new(false);
        start.fly(&Flock::task(), swarm.as_mut(), &mut [&mut seer], &stop).unwrap();
        seer.0
    }

    fn drawn(film: &Film, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let screen = Screen { film, tick: 29, state: FLYING, speed: 0.5 };
        terminal.draw(|frame| screen.draw(frame)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn any_size_shows_what_fits() {
        let film = film();
        let wide = drawn(&film, 80, 24);
        for words in ["the swarm", "velocity variation", "20 robots", "space", "again", "0.29 s of 0.30 s"] {
            assert!(wide.contains(words), "{words}:\n{wide}");
        }
        let dots = |text: &str| text.chars().filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).count();
        assert!(dots(&wide) > 30, "{wide}");
        assert!(drawn(&film, 40, 24).contains("velocity variation"), "below the swarm");
        let low = drawn(&film, 40, 10);
        assert!(low.contains("the swarm") && !low.contains("velocity variation") && dots(&low) > 10, "{low}");
        assert!(drawn(&film, 11, 3).contains("too small"));
        for (width, height) in [(1, 1), (12, 4), (13, 5), (72, 4), (200, 60), (30, 20)] {
            drawn(&film, width, height);
        }
    }
}
