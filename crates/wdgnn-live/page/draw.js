// Drawing of a swarm.

// Deviations from the mean velocity at the two ends of the logarithmic color scale, in m/s.
const DEVIATIONS = [0.02, 3];
const SHADES = 32;
// Time for the length of velocity lines, in seconds: length = deviation · time.
const LINE_SECONDS = 0.5;
// Largest length of velocity lines in meters.
const MAX_LINE_METERS = 1.5;
// Seconds for which the position of a removed robot is marked.
const MARK_SECONDS = 4;
// Side of the coverage square in meters.
const SQUARE = 10;

const dark = matchMedia("(prefers-color-scheme: dark)");
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// Lightness, chroma and hue are monotonic, so that the order is visible with color blindness, and the largest deviation has the strongest contrast.
function shade(share) {
  const mix = (low, high) => low + (high - low) * share;
  return dark.matches
    ? `oklch(${mix(0.62, 0.9)} ${mix(0.12, 0.18)} ${mix(245, 430)})`
    : `oklch(${mix(0.66, 0.45)} ${mix(0.12, 0.2)} ${mix(235, 385)})`;
}

function inks() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    line: colour("soft"), grid: colour("faint"), heap: colour("series-6"), ink: colour("ink"), liar: colour("trouble"), border: colour("line"),
    rem: parseFloat(style.fontSize),
    sides: [colour("wd-gnn"), colour("wd-gnn-online")],
    shades: Array.from({ length: SHADES }, (_, index) => shade(index / (SHADES - 1))),
  };
}

// Resizes a canvas to device pixels; returns its context, and its size in CSS pixels.
function prepare(canvas) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const ratio = Math.min(devicePixelRatio || 1, 2);
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

// One swarm on its canvas: camera and selected robot.
class Picture {
  constructor(canvas) {
    this.canvas = canvas;
    this.graves = [];
    this.chosen = null;
    this.drag = null;
    this.turn = 0;
  }

  // Center and radius of the swarm without its outliers, plus a margin.
  measure(robots, mission) {
    if (mission === "coverage") return { middle: [SQUARE / 2, SQUARE / 2, 0], reach: 0.54 * SQUARE, mean: [0, 0, 0] };
    const count = Math.max(robots.length / SHOWN, 1);
    const [middle, mean] = [[0, 0, 0], [0, 0, 0]];
    for (let at = 0; at < robots.length; at += SHOWN) {
      for (let axis = 0; axis < 3; axis++) mean[axis] += robots[at + 3 + axis] / count;
    }
    // Quantiles instead of the mean, which a few distant robots would shift.
    const reach = [0, 1, 2].map((axis) => {
      const along = Array.from({ length: robots.length / SHOWN }, (_, robot) => robots[robot * SHOWN + axis]).sort((a, b) => a - b);
      const [low, high] = [0.03, 0.97].map((share) => along[Math.round(share * (along.length - 1))] ?? 0);
      middle[axis] = (low + high) / 2;
      return (high - low) / 2;
    });
    const least = mission === "rendezvous" ? 5 : 1.5;
    return { middle, mean, reach: Math.max(1.18 * Math.max(...reach), least) };
  }

  // Center for a scattered swarm: the robot that was followed before, or else a central one.
  stay(robots) {
    const place = (at) => [robots[at], robots[at + 1], robots[at + 2]];
    const known = Array.from({ length: robots.length / SHOWN }, (_, robot) => robot * SHOWN);
    const followed = known.find((at) => robots[at + 8] === this.followed);
    if (followed !== undefined) return place(followed);
    const middle = [0, 1].map((axis) => known.map((at) => robots[at + axis]).sort((a, b) => a - b)[known.length >> 1]);
    const away = (at) => Math.hypot(robots[at] - middle[0], robots[at + 1] - middle[1]);
    const best = known.reduce((one, other) => (away(other) < away(one) ? other : one), 0);
    this.followed = robots[best + 8];
    return place(best);
  }

  // Draws all robots; `reach` meters around the center fit into the picture.
  draw(robots, pairs, scenery, { middle, mean }, reach, mission, ink) {
    const { context, width, height } = prepare(this.canvas);
    if (!width) return;
    const scale = Math.min(width, height) / 2 / reach;
    const flat = mission !== "flocking-3d";
    const [cos, sin] = flat ? [1, 0] : [Math.cos(this.turn), Math.sin(this.turn)];
    Object.assign(this, { middle, scale, width, height, robots: Float32Array.from(robots) });
    const count = robots.length / SHOWN;
    this.xs = new Float32Array(count);
    this.ys = new Float32Array(count);
    for (let robot = 0, at = 0; robot < count; robot++, at += SHOWN) {
      const [dx, dy, dz] = [robots[at] - middle[0], robots[at + 1] - middle[1], robots[at + 2] - middle[2]];
      this.xs[robot] = width / 2 + scale * (cos * dx + sin * dz);
      // The y axis points up.
      this.ys[robot] = height / 2 - scale * dy;
    }
    this.ground(context, ink, mission, scenery);
    this.links(context, pairs, ink);
    this.darts(context, robots, mean, mission, [cos, sin], ink);
    this.marks(context, robots, ink);
    this.away(context, ink);
  }

  // A triangle at the border points to each robot outside the picture; a label counts them.
  away(context, ink) {
    const { xs, ys, width, height, size } = this;
    let count = 0;
    context.fillStyle = ink.ink;
    for (let robot = 0; robot < xs.length; robot++) {
      const [dx, dy] = [xs[robot] - width / 2, ys[robot] - height / 2];
      const beyond = Math.max(Math.abs(dx) / (width / 2), Math.abs(dy) / (height / 2));
      if (beyond <= 1) continue;
      count += 1;
      const length = Math.hypot(dx, dy);
      const [x, y] = [width / 2 + (0.985 * dx) / beyond, height / 2 + (0.985 * dy) / beyond];
      const [c, s] = [(dx / length) * 1.7 * size, (dy / length) * 1.7 * size];
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x - c + 0.35 * s, y - s - 0.35 * c);
      context.lineTo(x - c - 0.35 * s, y - s + 0.35 * c);
      context.fill();
    }
    if (!count) return;
    context.font = `${0.8 * ink.rem}px system-ui, sans-serif`;
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillStyle = ink.line;
    context.fillText(`${count} robot${count === 1 ? "" : "s"} outside`, 0.7 * ink.rem, height - 0.9 * ink.rem);
  }

  ground(context, ink, mission, scenery) {
    const { width, height, scale, middle } = this;
    const step = scale * (scale < 18 ? 5 : 1);
    context.beginPath();
    for (let x = (((width / 2 - middle[0] * scale) % step) + step) % step; x < width; x += step) {
      context.moveTo(x, 0);
      context.lineTo(x, height);
    }
    for (let y = (((height / 2 + middle[1] * scale) % step) + step) % step; y < height; y += step) {
      context.moveTo(0, y);
      context.lineTo(width, y);
    }
    context.strokeStyle = ink.grid;
    context.lineWidth = 1;
    context.stroke();
    for (let at = 0; at < scenery.length; at += 4) {
      const [x, y] = this.toScreen(scenery[at], scenery[at + 1]);
      const size = scenery[at + 2] * scale;
      const heap = context.createRadialGradient(x, y, 0, x, y, size);
      heap.addColorStop(0, ink.heap);
      // The color with zero opacity; `transparent` would be black.
      heap.addColorStop(1, `${ink.heap}00`);
      context.globalAlpha = 0.45 * scenery[at + 3];
      context.fillStyle = heap;
      context.fillRect(x - size, y - size, 2 * size, 2 * size);
    }
    context.globalAlpha = 1;
    if (mission === "coverage") {
      const [x, y] = this.toScreen(0, SQUARE);
      context.strokeStyle = ink.border;
      context.strokeRect(x, y, SQUARE * scale, SQUARE * scale);
    }
  }

  links(context, pairs, ink) {
    context.beginPath();
    for (let at = 0; at < pairs.length; at += 2) {
      context.moveTo(this.xs[pairs[at]], this.ys[pairs[at]]);
      context.lineTo(this.xs[pairs[at + 1]], this.ys[pairs[at + 1]]);
    }
    context.strokeStyle = ink.line;
    context.globalAlpha = Math.min(0.22, 60 / Math.max(pairs.length / 2, 1));
    context.lineWidth = 1;
    context.stroke();
    context.globalAlpha = 1;
  }

  darts(context, robots, mean, mission, [cos, sin], ink) {
    const { xs, ys, scale } = this;
    const count = xs.length;
    const size = Math.min(Math.max(Math.min(this.width, this.height) / 44, 4), 13) * Math.min(1, Math.sqrt(70 / Math.max(count, 1)));
    const span = Math.log(DEVIATIONS[1] / DEVIATIONS[0]);
    const order = Array.from({ length: count }, (_, robot) => robot);
    if (mission === "flocking-3d") order.sort((a, b) => depth(robots, a, cos, sin) - depth(robots, b, cos, sin));
    for (const robot of order) {
      const at = robot * SHOWN;
      const [vx, vy] = [cos * robots[at + 3] + sin * robots[at + 5], robots[at + 4]];
      const [ax, ay] = [vx - (cos * mean[0] + sin * mean[2]), vy - mean[1]];
      const deviation = Math.hypot(robots[at + 3] - mean[0], robots[at + 4] - mean[1], robots[at + 5] - mean[2]);
      const share = Math.min(Math.max(Math.log(Math.max(deviation, 1e-9) / DEVIATIONS[0]) / span, 0), 1);
      const colour = ink.shades[Math.round(share * (SHADES - 1))];
      const near = mission === "flocking-3d" ? 1 + 0.09 * Math.max(-6, Math.min(6, depth(robots, robot, cos, sin) - depth(this.robots, -1, cos, sin, this.middle))) : 1;
      const [x, y] = [xs[robot], ys[robot]];
      if (deviation > DEVIATIONS[0]) {
        context.beginPath();
        const ahead = scale * Math.min(LINE_SECONDS, MAX_LINE_METERS / deviation);
        context.moveTo(x, y);
        context.lineTo(x + ahead * ax, y - ahead * ay);
        context.strokeStyle = colour;
        context.lineWidth = Math.max(1.2, size / 5);
        context.stroke();
      }
      const speed = Math.hypot(vx, vy);
      context.fillStyle = colour;
      context.beginPath();
      if (speed < 0.02) {
        context.arc(x, y, 0.55 * size, 0, 2 * Math.PI);
      } else {
        const [c, s] = [(vx / speed) * size * near, (-vy / speed) * size * near];
        // Arrow: tip, left, notch, right.
        context.moveTo(x + c, y + s);
        context.lineTo(x - 0.75 * c + 0.62 * s, y - 0.75 * s - 0.62 * c);
        context.lineTo(x - 0.35 * c, y - 0.35 * s);
        context.lineTo(x - 0.75 * c - 0.62 * s, y - 0.75 * s + 0.62 * c);
      }
      context.fill();
    }
    this.size = size;
  }

  // Marks for liars, the selected robot, removed robots and the current push.
  marks(context, robots, ink) {
    const now = performance.now() / 1000;
    context.lineWidth = 2;
    for (let robot = 0; robot < this.xs.length; robot++) {
      const at = robot * SHOWN;
      const [lies, chosen] = [robots[at + 7] % 2 === 1, robots[at + 8] === this.chosen];
      if (!lies && !chosen) continue;
      context.strokeStyle = lies ? ink.liar : ink.ink;
      context.beginPath();
      context.arc(this.xs[robot], this.ys[robot], (chosen ? 2.1 : 1.6) * this.size, 0, 2 * Math.PI);
      context.stroke();
    }
    this.graves = this.graves.filter(({ since }) => now - since < MARK_SECONDS);
    for (const { x, y, since } of this.graves) {
      const [px, py] = this.toScreen(x, y);
      context.globalAlpha = 1 - (now - since) / MARK_SECONDS;
      context.strokeStyle = ink.ink;
      context.beginPath();
      context.moveTo(px - 6, py - 6);
      context.lineTo(px + 6, py + 6);
      context.moveTo(px + 6, py - 6);
      context.lineTo(px - 6, py + 6);
      context.stroke();
    }
    context.globalAlpha = 1;
    if (this.drag) {
      const { from, to } = this.drag;
      context.strokeStyle = ink.ink;
      context.lineWidth = 2.5;
      context.beginPath();
      context.arc(from[0], from[1], this.scale, 0, 2 * Math.PI);
      context.setLineDash([4, 4]);
      context.stroke();
      context.setLineDash([]);
      context.beginPath();
      context.moveTo(...from);
      context.lineTo(...to);
      context.stroke();
    }
  }

  toScreen(x, y) {
    return [this.width / 2 + this.scale * (x - this.middle[0]), this.height / 2 - this.scale * (y - this.middle[1])];
  }

  // Index of the robot nearest to a screen position, within `most` pixels.
  nearest([x, y], most) {
    let [best, least] = [-1, most];
    for (let robot = 0; robot < (this.xs?.length ?? 0); robot++) {
      const away = Math.hypot(this.xs[robot] - x, this.ys[robot] - y);
      if (away < least) [best, least] = [robot, away];
    }
    return best;
  }

  id(robot) {
    return this.robots[robot * SHOWN + 8];
  }
}

// Depth of a robot in space; without a robot, of the swarm's center.
function depth(robots, robot, cos, sin, middle = null) {
  return middle ? cos * middle[2] - sin * middle[0] : cos * robots[robot * SHOWN + 2] - sin * robots[robot * SHOWN];
}
