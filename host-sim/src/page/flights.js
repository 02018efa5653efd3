// The page of flights: all flights of one swarm side by side, played together; the chart; the moments.
const { replay } = data;
const flights = replay.flights.map((recording) => new Flight(replay, recording));
const last = replay.ticks.at(-1);
// Seconds that the end stays before the replay begins anew.
const HOLD = 1.5;
const PLAY = "M4 2.5v11l9-5.5z";
const PAUSE = "M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z";
// Everybody has the same scale. The expert sets it, with some room; who scatters further flies out of the picture.
const widest = 1.06 * Math.max(...flights.map((flight) => flight.reach()));
const expert = flights.find((flight) => flight.name === "expert");
const reach = Math.max(0.5, expert ? Math.min(1.3 * expert.reach(), widest) : widest);

const find = (id) => document.getElementById(id);
const [play, scrub, clock, speed] = ["play", "scrub", "clock", "speed"].map(find);
const state = { tick: 0, playing: false, hold: 0, before: 0, frames: 0, ink: inks() };

function picture(flight, label) {
  const canvas = element("canvas", { role: "img", "aria-label": label });
  const number = element("output");
  return { flight, canvas, number };
}

const panels = flights.map((flight, index) => {
  const panel = picture(flight, `Replay of the swarm under: ${flight.title}`);
  const name = element("span", { style: `--color: ${colorOf(flight.name, index)}` }, flight.title);
  find("panels").append(element("figure", {}, panel.canvas, element("figcaption", {}, name, panel.number)));
  return panel;
});

const maps = flights.flatMap((flight, index) => {
  const { map } = replay.flights[index];
  if (!map) return [];
  const canvas = element("canvas", { role: "img", "aria-label": `All of the swarm under: ${flight.title}` });
  const name = element("span", { style: `--color: ${colorOf(flight.name, index)}` }, flight.title);
  find("whole").append(element("figure", {}, canvas, element("figcaption", {}, name)));
  return [{ map: new SwarmMap(replay, map), canvas }];
});

const online = flights.find((flight) => flight.name === "wd-gnn-online") ?? flights.at(-1);
const moments = data.moments.filter((tick) => tick <= last).map((tick) => {
  const time = (tick * replay.period).toFixed(2) + " s";
  const moment = { ...picture(online, `The swarm at ${time}`), tick };
  moment.number.value = figure(online.scoreAt(tick));
  find("moments").append(element("figure", {}, moment.canvas, element("figcaption", {}, element("span", {}, time), moment.number)));
  return moment;
});

find("charts").before(LineChart.legend(charts));

// Four decimals are the table's; a flock at rest has none to show.
function figure(value) {
  return value >= 10 ? value.toFixed(2) : value >= 1e-4 || value === 0 ? value.toFixed(4) : "< 0.0001";
}

// Pictures out of sight are not drawn.
const seen = new Set();
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) isIntersecting ? seen.add(target) : seen.delete(target);
  show();
}, { rootMargin: "100px" });
for (const { canvas } of [...panels, ...maps]) watcher.observe(canvas);

function show(everything = false) {
  for (const { flight, canvas, number } of panels) {
    if (everything || seen.has(canvas)) drawSwarm(canvas, flight, state.tick, reach, state.ink);
    number.value = figure(flight.scoreAt(state.tick));
  }
  for (const { map, canvas } of maps) if (everything || seen.has(canvas)) map.draw(canvas, state.tick, state.ink);
  const time = (state.tick * replay.period).toFixed(2) + " s";
  scrub.value = state.tick;
  scrub.setAttribute("aria-valuetext", time);
  clock.value = time;
  for (const chart of charts) chart.playhead(state.tick * replay.period);
  state.frames += 1;
  document.documentElement.dataset.frame = state.frames;
}

function showMoments() {
  for (const { flight, canvas, tick } of moments) drawSwarm(canvas, flight, tick, reach, state.ink);
}

function advance(now) {
  if (!state.playing) return;
  // A tab that slept does not leap.
  const seconds = Math.min(Math.max(now - state.before, 0) / 1000, 0.1);
  state.before = now;
  if (state.tick < last) {
    state.tick = Math.min(state.tick + (seconds * Number(speed.value)) / replay.period, last);
    state.hold = 0;
    show();
  } else if ((state.hold += seconds) > HOLD) {
    state.tick = 0;
  }
  requestAnimationFrame(advance);
}

function setPlaying(playing) {
  const starts = playing && !state.playing;
  state.playing = playing;
  play.setAttribute("aria-label", playing ? "Pause" : "Play");
  play.querySelector("path").setAttribute("d", playing ? PAUSE : PLAY);
  document.documentElement.dataset.playing = playing;
  if (!starts) return;
  if (state.tick >= last) state.tick = 0;
  state.before = performance.now();
  requestAnimationFrame(advance);
}

function seek(tick) {
  setPlaying(false);
  state.tick = Math.min(Math.max(tick, 0), last);
  show();
}

function drawScale() {
  const stops = Array.from({ length: 13 }, (_, index) => shade(index / 12));
  find("ramp").style.background = `linear-gradient(to right, ${stops.join(",")})`;
}

scrub.max = last;
scrub.step = 1;
play.addEventListener("click", () => setPlaying(!state.playing));
scrub.addEventListener("input", () => seek(Number(scrub.value)));
for (const chart of charts) chart.onpick = (seconds) => seek(seconds / replay.period);
addEventListener("keydown", (event) => {
  if (event.target !== document.body || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " ") setPlaying(!state.playing);
  else if (event.key === "ArrowLeft") seek(Math.ceil(state.tick) - 1);
  else if (event.key === "ArrowRight") seek(Math.floor(state.tick) + 1);
  else return;
  event.preventDefault();
});
darkMode.addEventListener("change", () => {
  state.ink = inks();
  drawScale();
  show(true);
  showMoments();
});
new ResizeObserver(() => {
  show(true);
  showMoments();
}).observe(find("panels"));

const middle = Math.sqrt(DEVIATIONS[0] * DEVIATIONS[1]);
find("ramp-ticks").append(...[`≤ ${DEVIATIONS[0]}`, `${middle}`, `≥ ${DEVIATIONS[1]}`].map((label) => element("span", {}, label)));
find("square").textContent = square(reach);
drawScale();
show(true);
showMoments();
setPlaying(!matchMedia("(prefers-reduced-motion: reduce)").matches);
