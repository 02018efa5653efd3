//! A flight in the terminal, as it happens: the swarm and its score.
//!
//! The terminal is as it was however this ends: by a key, by Ctrl-C, by an error, by SIGTERM, by a panic.

mod film;
mod view;

use std::{
    io::{self, IsTerminal as _},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use ratatui::{
    DefaultTerminal,
    crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
};

use self::{film::Film, view::Screen};
use crate::{
    error::{Error, Result},
    flight::{Moment, Observer},
    world::World,
};

/// Seconds of the world per second, slower and faster.
const SPEEDS: [f64; 7] = [0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
/// The one to begin with.
const FIRST_SPEED: usize = 2;
/// From one picture to the next.
const PICTURE: Duration = Duration::from_millis(40);
/// Ticks that an arrow goes.
const STEP: isize = 1;
/// Ticks that a page key goes.
const LEAP: isize = 20;

/// Finds out whether there is a terminal to watch in.
///
/// # Errors
/// [`Error::Usage`] where there is none.
pub fn check() -> Result {
    if io::stdout().is_terminal() && io::stdin().is_terminal() {
        return Ok(());
    }
    Err(Error::usage(
        "--watch needs a terminal, and the input or the output is none: leave --watch out, or look at the page of --report",
    ))
}

/// Somebody who watches a flight.
#[derive(Debug)]
pub struct Watcher {
    terminal: DefaultTerminal,
    film: Film,
    stop: Arc<AtomicBool>,
    speed: usize,
    paused: bool,
    /// When the world's clock and ours were last together, and where the world's was, in ticks.
    since: Instant,
    from: f64,
    drawn: Instant,
    left: bool,
    period: f64,
}

/// What a key wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Leave,
    Pause,
    Slower,
    Faster,
    /// So many ticks on, or back.
    Go(isize),
    Again,
}

impl Watcher {
    /// Takes the terminal. `stop` ends the flight from outside.
    ///
    /// # Errors
    /// [`Error::Failed`] when the terminal cannot be had.
    pub fn new<W: World>(title: &str, period: f32, ticks: u32, stop: &Arc<AtomicBool>) -> Result<Self> {
        // From here on the terminal is given back, also by a panic.
        let terminal = ratatui::try_init().map_err(|error| lost(&error))?;
        let now = Instant::now();
        Ok(Self {
            terminal,
            film: Film::new::<W>(title, period, ticks),
            stop: Arc::clone(stop),
            speed: FIRST_SPEED,
            paused: false,
            since: now,
            from: 0.0,
            drawn: now.checked_sub(PICTURE).unwrap_or(now),
            left: false,
            period: period.into(),
        })
    }

    /// Whether it was left by a key before its end.
    #[must_use]
    pub fn was_left(&self) -> bool {
        self.left
    }

    /// After the end: looks at it again as often as is wanted.
    ///
    /// # Errors
    /// [`Error::Interrupted`] by Ctrl-C or a signal.
    pub fn linger(&mut self) -> Result {
        let last = self.film.len().saturating_sub(1);
        let (mut tick, mut running) = (last, false);
        loop {
            self.draw(tick, if running { view::AGAIN } else { view::OVER })?;
            match self.wish(PICTURE)? {
                Some(Wish::Leave) => return Ok(()),
                Some(Wish::Pause) => (running, self.paused) = (!running, false),
                Some(Wish::Again) => (tick, running) = (0, true),
                Some(Wish::Go(ticks)) => (tick, running) = (tick.saturating_add_signed(ticks), false),
                Some(wish) => self.change(wish),
                None if running => {
                    tick += (PICTURE.as_secs_f64() * SPEEDS[self.speed] / self.period).ceil() as usize;
                }
                None => {}
            }
            tick = tick.min(last);
            running &= tick < last;
        }
    }

    /// Waits until it is time for a tick, or somebody no longer wants to.
    fn pace(&mut self, tick: u32) -> Result {
        loop {
            let ahead = (f64::from(tick) - self.from) * self.period / SPEEDS[self.speed];
            let wait = Duration::from_secs_f64(ahead.max(0.0)).saturating_sub(self.since.elapsed());
            if self.paused || self.drawn.elapsed() >= PICTURE {
                let state = if self.paused { view::PAUSED } else { view::FLYING };
                self.draw(tick as usize, state)?;
            }
            let wait = if self.paused { PICTURE } else { wait.min(PICTURE) };
            match self.wish(wait)? {
                Some(Wish::Leave) => {
                    self.left = true;
                    return Err(Error::Interrupted);
                }
                // One tick, and then again to wait.
                Some(Wish::Go(1..)) if self.paused => return Ok(()),
                Some(wish) => {
                    self.change(wish);
                    (self.since, self.from) = (Instant::now(), tick.into());
                }
                None if !self.paused && wait < PICTURE => return Ok(()),
                None => {}
            }
        }
    }

    fn change(&mut self, wish: Wish) {
        match wish {
            Wish::Pause => self.paused = !self.paused,
            Wish::Slower => self.speed = self.speed.saturating_sub(1),
            Wish::Faster => self.speed = (self.speed + 1).min(SPEEDS.len() - 1),
            Wish::Leave | Wish::Go(_) | Wish::Again => {}
        }
    }

    fn draw(&mut self, tick: usize, state: &str) -> Result {
        self.drawn = Instant::now();
        let screen = Screen { film: &self.film, tick, state, speed: SPEEDS[self.speed] };
        self.terminal.draw(|frame| screen.draw(frame)).map_err(|error| lost(&error))?;
        Ok(())
    }

    /// What somebody wants within a while.
    fn wish(&mut self, within: Duration) -> Result<Option<Wish>> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if !event::poll(within).map_err(|error| lost(&error))? {
            return Ok(None);
        }
        match event::read().map_err(|error| lost(&error))? {
            Event::Key(key) if key.kind != KeyEventKind::Release => wanted(&key),
            // A new size, a new picture.
            Event::Resize(..) => {
                self.drawn = self.drawn.checked_sub(PICTURE).unwrap_or(self.drawn);
                Ok(None)
            }
            _ => Ok(None),
        }
    }
}

/// What a key means.
fn wanted(key: &KeyEvent) -> Result<Option<Wish>> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    Ok(match key.code {
        KeyCode::Char('c') if control => return Err(Error::Interrupted),
        KeyCode::Char('q') | KeyCode::Esc => Some(Wish::Leave),
        KeyCode::Char(' ') => Some(Wish::Pause),
        KeyCode::Char('-') | KeyCode::Down => Some(Wish::Slower),
        KeyCode::Char('+' | '=') | KeyCode::Up => Some(Wish::Faster),
        KeyCode::Char('r') => Some(Wish::Again),
        KeyCode::Left => Some(Wish::Go(-STEP)),
        KeyCode::Right => Some(Wish::Go(STEP)),
        KeyCode::PageUp => Some(Wish::Go(-LEAP)),
        KeyCode::PageDown => Some(Wish::Go(LEAP)),
        _ => None,
    })
}

fn lost(error: &io::Error) -> Error {
    Error::Failed(format!("the terminal is gone: {error}"))
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing back.
        let _ = ratatui::try_restore();
    }
}

impl<W: World> Observer<W> for Watcher {
    fn see(&mut self, moment: &Moment<'_, W>) -> Result {
        self.film.see(moment);
        self.pace(moment.scene.tick)
    }

    fn lost(&mut self, tick: u32, story: &str) {
        self.film.story = format!("tick {tick}: {story}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_do_what_the_last_line_says() {
        let wish = |code, modifiers| wanted(&KeyEvent::new(code, modifiers)).ok().flatten();
        let plain = |code| wish(code, KeyModifiers::NONE);
        assert_eq!(plain(KeyCode::Char('q')), Some(Wish::Leave));
        assert_eq!(plain(KeyCode::Esc), Some(Wish::Leave));
        assert_eq!(plain(KeyCode::Char(' ')), Some(Wish::Pause));
        assert_eq!(plain(KeyCode::Right), Some(Wish::Go(1)));
        assert_eq!(plain(KeyCode::Char('c')), None);
        let control = wanted(&KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
        assert!(matches!(control, Err(Error::Interrupted)));
    }
}
