// Plots that run along: both swarms over the last seconds.
const WINDOW = 20;
const KEPT = 600;

const PLOTS = [
  { key: "score", title: (mission) => `${mission.score}, ${mission.unit}`, log: true, range: (mission) => mission.range },
  { key: "gain", title: () => "own gain (mean)", range: () => [0, 1.05] },
  { key: "close", title: () => "pairs within 0.2 m", least: 4 },
  { key: "disagreement", title: () => "disagreement of parameters", least: 0.004 },
];

class Plots {
  constructor(place) {
    this.history = [[], []];
    this.plots = PLOTS.map((plot) => {
      const figure = document.createElement("figure");
      const [caption, canvas] = [document.createElement("figcaption"), document.createElement("canvas")];
      canvas.setAttribute("role", "img");
      figure.append(caption, canvas);
      place.append(figure);
      return { ...plot, caption, canvas };
    });
  }

  clear() {
    this.history = [[], []];
  }

  add(side, figures) {
    const history = this.history[side];
    const last = history.at(-1);
    // A new start goes back in time.
    if (last && figures.seconds < last.seconds) history.length = 0;
    if (last && figures.seconds - last.seconds < WINDOW / KEPT) return;
    history.push(figures);
    if (history.length > KEPT + 50) history.splice(0, 50);
  }

  draw(mission, ink) {
    for (const plot of this.plots) {
      const title = plot.title(mission);
      if (plot.caption.textContent !== title) plot.caption.textContent = title;
      plot.canvas.setAttribute("aria-label", `${title}: left ${words(this.history[0].at(-1)?.[plot.key])}, right ${words(this.history[1].at(-1)?.[plot.key])}`);
      this.one(plot, mission, ink);
    }
  }

  one(plot, mission, ink) {
    const { context, width, height } = prepare(plot.canvas);
    if (!width) return;
    const end = Math.max(...this.history.map((history) => history.at(-1)?.seconds ?? 0), WINDOW);
    const all = this.history.flat().filter(({ seconds }) => seconds >= end - WINDOW).map((figures) => figures[plot.key]);
    const [low, high] = plot.range?.(mission) ?? [0, 1.1 * Math.max(plot.least, ...all)];
    const [left, right, top, bottom] = [2.6 * ink.rem, 6, 8, 6];
    const x = (seconds) => left + ((seconds - end + WINDOW) / WINDOW) * (width - left - right);
    const share = (value) => (plot.log ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / (high - low));
    const y = (value) => height - bottom - Math.min(share(value), 1) * (height - top - bottom);
    context.font = `${0.7 * ink.rem}px system-ui, sans-serif`;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const tick of ticks(low, high, plot.log)) {
      context.strokeStyle = ink.grid;
      context.beginPath();
      context.moveTo(left, y(tick));
      context.lineTo(width - right, y(tick));
      context.stroke();
      context.fillStyle = ink.line;
      context.fillText(plot.log ? exponent(tick) : short(tick), left - 5, y(tick));
    }
    context.save();
    context.beginPath();
    context.rect(left, 0, width - left, height);
    context.clip();
    this.history.forEach((history, side) => {
      context.beginPath();
      history.forEach((figures, index) => context[index ? "lineTo" : "moveTo"](x(figures.seconds), y(figures[plot.key])));
      context.strokeStyle = ink.sides[side];
      context.lineWidth = 2;
      context.lineJoin = "round";
      context.stroke();
    });
    context.restore();
  }
}

function ticks(low, high, log) {
  if (log) {
    const first = Math.ceil(Math.log10(low) - 1e-9);
    const count = Math.floor(Math.log10(high) + 1e-9) - first;
    const every = Math.max(1, Math.ceil(count / 3));
    return Array.from({ length: Math.floor(count / every) + 1 }, (_, index) => 10 ** (first + every * index));
  }
  const step = 10 ** Math.floor(Math.log10(high / 2));
  const rough = [1, 2, 5, 10].map((factor) => factor * step).find((size) => high / size <= 3.5) ?? high;
  return Array.from({ length: Math.floor(high / rough) + 1 }, (_, index) => index * rough);
}

const exponent = (value) => (value >= 0.1 && value <= 100 ? `${+value.toPrecision(1)}` : `1e${Math.round(Math.log10(value))}`);
const short = (value) => `${+value.toPrecision(2)}`;

// A number as people read it.
function words(value) {
  if (value === undefined) return "–";
  if (value === 0) return "0";
  return value < 0.0001 ? "below 0.0001" : value < 0.1 ? value.toFixed(4) : value < 100 ? value.toFixed(2) : value.toFixed(0);
}
