// A recorded swarm: decoding it, and drawing it on a canvas.

// Ends of the color scale: deviations from the mean velocity in m/s. The scale is logarithmic.
const DEVIATIONS = [0.05, 5];
const SHADES = 48;
const darkMode = matchMedia("(prefers-color-scheme: dark)");

// Lightness, chroma and hue are monotonic, so the scale is ordered for color-blind readers, too.
function shade(share) {
  const mix = (low, high) => low + (high - low) * share;
  return darkMode.matches
    ? `oklch(${mix(0.56, 0.93)} ${mix(0.13, 0.16)} ${mix(255, 455)})`
    : `oklch(${mix(0.67, 0.33)} ${mix(0.12, 0.16)} ${mix(232, 375)})`;
}

// Recordings contain changes of velocities in mm/s; positions follow by the trapezoidal rule. For states
// without velocities they contain changes of positions in mm; velocities are their differences.
class Flight {
  constructor(replay, recording) {
    Object.assign(this, { replay, name: recording.name, title: recording.title, score: recording.score, moving: recording.moving });
    const size = 2 * replay.robots;
    this.velocities = replay.ticks.map(() => new Float32Array(size));
    this.positions = replay.ticks.map(() => new Float32Array(size));
    recording.moving ? this.integrate(recording.changes, size) : this.differentiate(recording.changes, size);
    this.now = { position: new Float32Array(size), velocity: new Float32Array(size) };
    this.liars = new Set(recording.liars);
    this.away = recording.away;
    this.unheard = recording.unheard;
  }

  // Absent robots at a tick.
  gone(tick) {
    return new Set(this.away.filter(([, from, to]) => from <= tick && tick < to).map(([robot]) => robot));
  }

  // Failed links at the last recorded exchange: pairs of robots.
  silent(tick) {
    const pairs = this.unheard.findLast(([looked]) => looked <= tick)?.[1] ?? [];
    return pairs.map((pair) => [Math.floor(pair / this.replay.robots), pair % this.replay.robots]);
  }

  seconds(frame) {
    const { ticks, period } = this.replay;
    return frame ? (ticks[frame] - ticks[frame - 1]) * period : 0;
  }

  integrate(changes, size) {
    this.replay.ticks.forEach((_, frame) => {
      for (let at = 0; at < size; at++) {
        const before = frame ? this.velocities[frame - 1][at] : 0;
        const now = before + changes[frame * size + at] / 1000;
        this.velocities[frame][at] = now;
        this.positions[frame][at] = frame
          ? this.positions[frame - 1][at] + (this.seconds(frame) * (before + now)) / 2
          : this.replay.start[at] / 1000;
      }
    });
  }

  differentiate(changes, size) {
    this.replay.ticks.forEach((_, frame) => {
      for (let at = 0; at < size; at++) {
        const before = frame ? this.positions[frame - 1][at] : 0;
        this.positions[frame][at] = before + changes[frame * size + at] / 1000;
        if (frame) this.velocities[frame - 1][at] = changes[frame * size + at] / 1000 / this.seconds(frame);
      }
    });
    const end = this.velocities.length - 1;
    if (end > 0) this.velocities[end].set(this.velocities[end - 1]);
  }

  // The swarm at a time, interpolated between ticks.
  at(tick) {
    const { ticks, period } = this.replay;
    let frame = ticks.findLastIndex((recorded) => recorded <= tick);
    frame = Math.min(Math.max(frame, 0), Math.max(ticks.length - 2, 0));
    const next = Math.min(frame + 1, ticks.length - 1);
    const span = ticks[next] - ticks[frame];
    const share = span ? Math.min((tick - ticks[frame]) / span, 1) : 0;
    const { position, velocity } = this.now;
    for (let at = 0; at < position.length; at++) {
      const start = this.velocities[frame][at];
      velocity[at] = start + share * (this.velocities[next][at] - start);
      position[at] = this.moving
        ? this.positions[frame][at] + (share * span * period * (start + velocity[at])) / 2
        : this.positions[frame][at] + share * (this.positions[next][at] - this.positions[frame][at]);
    }
    this.now.scenery = this.replay.scenery[share < 0.5 ? frame : next] ?? [];
    return this.now;
  }

  scoreAt(tick) {
    return this.score[Math.min(Math.floor(tick + 1e-6), this.score.length - 1)];
  }

  // Center of all positions.
  middle() {
    if (!this.centre) {
      const spots = this.replay.scenery.flat().map((spot) => spot.at);
      const range = (axis) => {
        const all = spots.map((at) => at[axis]);
        for (const position of this.positions) for (let at = axis; at < position.length; at += 2) all.push(position[at]);
        return all.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
      };
      this.centre = [0, 1].map((axis) => range(axis).reduce((sum, end) => sum + end / 2, 0));
    }
    return this.centre;
  }

  // Largest distance from the center over the recording in m.
  reach() {
    return Math.max(...this.positions.map((position) => {
      const [cx, cy] = this.replay.scenery.flat().length ? this.middle() : mean(position);
      let reach = 0;
      for (let at = 0; at < position.length; at += 2) reach = Math.max(reach, Math.hypot(position[at] - cx, position[at + 1] - cy));
      return reach;
    }));
  }
}

function mean(pairs) {
  let [x, y] = [0, 0];
  for (let at = 0; at < pairs.length; at += 2) {
    x += pairs[at];
    y += pairs[at + 1];
  }
  const count = pairs.length / 2;
  return [x / count, y / count];
}

// Colors of the style sheet, read again after a change between light and dark.
function inks() {
  const style = getComputedStyle(document.documentElement);
  const shades = Array.from({ length: SHADES }, (_, index) => shade(index / (SHADES - 1)));
  return { link: style.getPropertyValue("--soft"), trouble: style.getPropertyValue("--trouble"), away: style.getPropertyValue("--ink"), heap: style.getPropertyValue("--series-6").trim(), grid: style.getPropertyValue("--faint"), shades };
}

// Width of the grid squares in m, for a picture that shows `reach` m from the center.
function square(reach) {
  return reach > 10 ? 5 : 1;
}

// Draws the swarm at a tick in a picture that shows `reach` m from the center.
function drawSwarm(canvas, flight, tick, reach, ink) {
  const side = canvas.clientWidth;
  if (!side) return;
  const pixels = Math.round(side * Math.min(devicePixelRatio || 1, 2));
  if (canvas.width !== pixels) canvas.width = canvas.height = pixels;
  const context = canvas.getContext("2d");
  const scale = side / 2 / reach;
  const { position, velocity, scenery } = flight.at(tick);
  // Swarms with scenery keep a fixed view.
  const [cx, cy] = scenery.length ? flight.middle() : mean(position);
  context.setTransform(pixels / side, 0, 0, pixels / side, 0, 0);
  context.clearRect(0, 0, side, side);
  const x = (at) => side / 2 + (position[at] - cx) * scale;
  // The y axis points up.
  const y = (at) => side / 2 - (position[at + 1] - cy) * scale;
  drawGrid(context, side, scale, square(reach), cx, cy, ink.grid);
  drawScenery(context, scenery, (px) => side / 2 + (px - cx) * scale, (py) => side / 2 - (py - cy) * scale, scale, ink.heap);
  const gone = flight.gone(tick);
  const size = Math.min(Math.max(side / 31, 4), 10) * Math.min(1, Math.sqrt(60 / (velocity.length / 2)));
  drawLinks(context, position, flight.replay.radius, x, y, ink.link, side, gone, glow(flight.replay.exchange, tick));
  drawSilence(context, flight.silent(tick), x, y, ink.trouble, side);
  drawRobots(context, velocity, x, y, size, ink.shades, gone);
  drawTroubles(context, flight.liars, gone, x, y, size, ink);
  drawAway(context, position, x, y, side, size, gone, ink.away);
}

// A triangle at the border points to each robot outside the picture.
function drawAway(context, position, x, y, side, size, gone, color) {
  context.fillStyle = color;
  for (let at = 0; at < position.length; at += 2) {
    const [dx, dy] = [x(at) - side / 2, y(at) - side / 2];
    const beyond = Math.max(Math.abs(dx), Math.abs(dy)) / (side / 2);
    if (beyond <= 1 || gone.has(at / 2)) continue;
    const [px, py] = [side / 2 + (dx / beyond) * 0.985, side / 2 + (dy / beyond) * 0.985];
    const length = Math.hypot(dx, dy);
    const [cos, sin] = [(dx / length) * 1.7 * size, (dy / length) * 1.7 * size];
    context.beginPath();
    context.moveTo(px, py);
    context.lineTo(px - cos + 0.35 * sin, py - sin - 0.35 * cos);
    context.lineTo(px - cos - 0.35 * sin, py - sin + 0.35 * cos);
    context.fill();
  }
}

// Links light up at exchanges that are rarer than ticks.
function glow(exchange, tick) {
  return exchange > 1 ? 0.12 + 0.38 * Math.max(0, 1 - (2 * (tick % exchange)) / exchange) : 0.3;
}

// Links on which a sent frame was lost.
function drawSilence(context, pairs, x, y, colour, side) {
  if (!pairs.length) return;
  context.beginPath();
  for (const [from, to] of pairs) {
    context.moveTo(x(2 * from), y(2 * from));
    context.lineTo(x(2 * to), y(2 * to));
  }
  context.strokeStyle = colour;
  context.globalAlpha = 0.55;
  context.lineWidth = Math.max(0.6, side / 400);
  context.setLineDash([3, 4]);
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
}

// Rings around liars, crosses for absent robots.
function drawTroubles(context, liars, gone, x, y, size, ink) {
  context.lineWidth = Math.max(1, size / 5);
  context.strokeStyle = ink.trouble;
  for (const robot of liars) {
    context.beginPath();
    context.arc(x(2 * robot), y(2 * robot), 1.5 * size, 0, 2 * Math.PI);
    context.stroke();
  }
  context.strokeStyle = ink.link;
  context.beginPath();
  for (const robot of gone) {
    const [px, py, arm] = [x(2 * robot), y(2 * robot), 0.7 * size];
    context.moveTo(px - arm, py - arm);
    context.lineTo(px + arm, py + arm);
    context.moveTo(px - arm, py + arm);
    context.lineTo(px + arm, py - arm);
  }
  context.stroke();
}

function drawGrid(context, side, scale, metres, cx, cy, colour) {
  const step = metres * scale;
  context.beginPath();
  for (let at = (side / 2 - cx * scale) % step; at < side; at += step) {
    context.moveTo(at, 0);
    context.lineTo(at, side);
  }
  for (let at = (side / 2 + cy * scale) % step; at < side; at += step) {
    context.moveTo(0, at);
    context.lineTo(side, at);
  }
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.stroke();
}

// Scenery: soft discs.
function drawScenery(context, scenery, x, y, scale, colour) {
  for (const { at, radius, weight } of scenery) {
    const [px, py, size] = [x(at[0]), y(at[1]), radius * scale];
    const heap = context.createRadialGradient(px, py, 0, px, py, size);
    heap.addColorStop(0, colour);
    // Transparent version of the color: `transparent` alone would be black.
    heap.addColorStop(1, colour + "00");
    context.globalAlpha = 0.45 * weight;
    context.fillStyle = heap;
    context.fillRect(px - size, py - size, 2 * size, 2 * size);
  }
  context.globalAlpha = 1;
}

function drawLinks(context, position, radius, x, y, colour, side, gone, alpha) {
  context.beginPath();
  for (let one = 0; one < position.length; one += 2) {
    if (gone.has(one / 2)) continue;
    for (let other = one + 2; other < position.length; other += 2) {
      const dx = position[one] - position[other];
      const dy = position[one + 1] - position[other + 1];
      if (dx * dx + dy * dy > radius * radius || gone.has(other / 2)) continue;
      context.moveTo(x(one), y(one));
      context.lineTo(x(other), y(other));
    }
  }
  context.strokeStyle = colour;
  context.globalAlpha = alpha;
  context.lineWidth = Math.max(0.5, side / 500);
  context.stroke();
  context.globalAlpha = 1;
}

function drawRobots(context, velocity, x, y, size, shades, gone) {
  const [vx, vy] = mean(velocity);
  const width = Math.log(DEVIATIONS[1] / DEVIATIONS[0]);
  for (let at = 0; at < velocity.length; at += 2) {
    if (gone.has(at / 2)) continue;
    const deviation = Math.hypot(velocity[at] - vx, velocity[at + 1] - vy);
    const share = Math.log(Math.max(deviation, 1e-9) / DEVIATIONS[0]) / width;
    const heading = Math.atan2(-velocity[at + 1], velocity[at]);
    const [cos, sin] = [Math.cos(heading) * size, Math.sin(heading) * size];
    const [px, py] = [x(at), y(at)];
    context.fillStyle = shades[Math.round(Math.min(Math.max(share, 0), 1) * (shades.length - 1))];
    context.beginPath();
    // A dart: tip, left, notch, right.
    context.moveTo(px + cos, py + sin);
    context.lineTo(px - 0.75 * cos + 0.62 * sin, py - 0.75 * sin - 0.62 * cos);
    context.lineTo(px - 0.35 * cos, py - 0.35 * sin);
    context.lineTo(px - 0.75 * cos - 0.62 * sin, py - 0.75 * sin + 0.62 * cos);
    context.fill();
  }
}
