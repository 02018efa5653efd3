// The page of flights: replays of one swarm under several controllers, each with its charts.

// Seconds that the end stays before the replay starts again.
const HOLD = 1.5;
const PLAY = "M4 2.5v11l9-5.5z";
const PAUSE = "M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z";

// Four decimals, as in the table.
function figure(value) {
  return value >= 10 ? value.toFixed(2) : value >= 1e-4 || value === 0 ? value.toFixed(4) : "< 0.0001";
}

class View {
  constructor(root, { replay, charts: specs }) {
    const find = (name) => root.querySelector("." + name);
    Object.assign(this, { root, replay, tick: 0, playing: false, hold: 0, before: 0, seen: new Set() });
    this.last = replay.ticks.at(-1);
    [this.play, this.scrub, this.clock, this.speed] = ["play", "scrub", "clock", "speed"].map(find);
    this.flights = replay.flights.map((recording) => new Flight(replay, recording));
    // The expert sets the scale, with some room. Robots outside get a mark at the border.
    const widest = 1.06 * Math.max(...this.flights.map((flight) => flight.reach()));
    const expert = this.flights.find((flight) => flight.name === "expert");
    this.reach = Math.max(0.5, expert ? Math.min(1.3 * expert.reach(), widest) : widest);
    this.panels = this.flights.map((flight, index) => this.panel(find("panels"), flight, index));
    this.charts = [...root.querySelectorAll(".chart")].map((figure, place) => new LineChart(figure, specs[place]));
    if (this.charts.length) find("charts").before(LineChart.legend(this.charts));
    find("square").textContent = square(this.reach);
    this.ramp = find("ramp");
    this.scrub.max = this.last;
    this.scrub.step = 1;
    this.speed.value = this.last * replay.period > 3 ? "1" : "0.5";
    this.listen();
    new ResizeObserver(() => this.show(true)).observe(find("panels"));
    this.recolor();
  }

  panel(place, flight, index) {
    const canvas = element("canvas", { role: "img", "aria-label": `Replay of the swarm: ${flight.title}` });
    const name = element("span", { style: `--color: ${colorOf(flight.name, index)}` }, flight.title);
    const number = element("output");
    place.append(element("figure", {}, canvas, element("figcaption", {}, name, number)));
    return { flight, canvas, number };
  }

  listen() {
    this.play.addEventListener("click", () => this.setPlaying(!this.playing));
    this.scrub.addEventListener("input", () => this.seek(Number(this.scrub.value)));
    for (const chart of this.charts) chart.onpick = (seconds) => this.seek(seconds / this.replay.period);
    // Pictures outside the window are not drawn.
    const watcher = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) isIntersecting ? this.seen.add(target) : this.seen.delete(target);
      this.show();
    }, { rootMargin: "100px" });
    for (const { canvas } of this.panels) watcher.observe(canvas);
  }

  // Draws the pictures in the window, or all.
  show(everything = false) {
    for (const { flight, canvas, number } of this.panels) {
      if (everything || this.seen.has(canvas)) drawSwarm(canvas, flight, this.tick, this.reach, this.ink);
      number.value = figure(flight.scoreAt(this.tick));
    }
    const time = (this.tick * this.replay.period).toFixed(2) + " s";
    this.scrub.value = this.tick;
    this.scrub.setAttribute("aria-valuetext", time);
    this.clock.value = time;
    for (const chart of this.charts) chart.playhead(this.tick * this.replay.period);
    this.frames = (this.frames ?? 0) + 1;
    this.root.dataset.frame = this.frames;
  }

  advance(now) {
    if (!this.playing) return;
    // A tab in the background does not skip frames.
    const seconds = Math.min(Math.max(now - this.before, 0) / 1000, 0.1);
    this.before = now;
    if (this.tick < this.last) {
      this.tick = Math.min(this.tick + (seconds * Number(this.speed.value)) / this.replay.period, this.last);
      this.hold = 0;
      this.show();
    } else if ((this.hold += seconds) > HOLD) {
      this.tick = 0;
    }
    requestAnimationFrame((later) => this.advance(later));
  }

  setPlaying(playing) {
    const starts = playing && !this.playing;
    this.playing = playing;
    this.play.setAttribute("aria-label", playing ? "Pause" : "Play");
    this.play.querySelector("path").setAttribute("d", playing ? PAUSE : PLAY);
    if (!starts) return;
    if (this.tick >= this.last) this.tick = 0;
    this.before = performance.now();
    requestAnimationFrame((now) => this.advance(now));
  }

  seek(tick) {
    this.setPlaying(false);
    this.tick = Math.min(Math.max(tick, 0), this.last);
    this.show();
  }

  recolor() {
    this.ink = inks();
    const stops = Array.from({ length: 13 }, (_, index) => shade(index / 12));
    this.ramp.style.background = `linear-gradient(to right, ${stops.join(",")})`;
    this.show(true);
  }
}

const views = [...document.querySelectorAll(".replay")].map((root, index) => new View(root, data.views[index]));

// Keys control the first replay in the window.
addEventListener("keydown", (event) => {
  if (event.target !== document.body || event.ctrlKey || event.metaKey || event.altKey) return;
  const view = views.find((one) => one.seen.size) ?? views[0];
  if (event.key === " ") view.setPlaying(!view.playing);
  else if (event.key === "ArrowLeft") view.seek(Math.ceil(view.tick) - 1);
  else if (event.key === "ArrowRight") view.seek(Math.floor(view.tick) + 1);
  else return;
  event.preventDefault();
});
darkMode.addEventListener("change", () => views.forEach((view) => view.recolor()));
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
views.forEach((view) => view.setPlaying(!still));
