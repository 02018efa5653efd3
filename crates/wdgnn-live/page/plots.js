// Plots of both swarms over the last seconds.
const WINDOW = 20;
const KEPT = 600;

// `range` is the smallest range of the vertical axis; larger values extend it. `learned` plots are hidden where no robot learns.
const PLOTS = [
  { key: "score", title: (mission) => `${mission.score} in ${mission.unit}`, log: true, range: (mission) => mission.range },
  { key: "gain", title: () => "learned gain, mean of the robots", range: () => [0, 1], learned: true },
  { key: "close", title: () => "pairs closer than 0.2 m", range: () => [0, 4] },
  { key: "disagreement", title: () => "difference of the learned parameters", range: () => [0, 0.004], learned: true },
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
      return { ...plot, figure, caption, canvas };
    });
  }

  clear() {
    this.history = [[], []];
  }

  add(side, figures) {
    const history = this.history[side];
    const last = history.at(-1);
    // A restart resets the time axis.
    if (last && figures.seconds < last.seconds) history.length = 0;
    if (last && figures.seconds - last.seconds < WINDOW / KEPT) return;
    history.push(figures);
    if (history.length > KEPT + 50) history.splice(0, 50);
  }

  draw(mission, learns, ink) {
    for (const plot of this.plots) {
      plot.figure.hidden = plot.learned && !learns;
      if (plot.figure.hidden) continue;
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
    const begin = end - WINDOW;
    const all = this.history.flat().filter(({ seconds }) => seconds >= begin).map((figures) => figures[plot.key]);
    const [low, least] = plot.range(mission);
    const high = Math.max(least, ...all) * (plot.log ? 1 : 1.05);
    const font = 0.72 * ink.rem;
    context.font = `${font}px system-ui, sans-serif`;
    const labels = ticks(low, high, plot.log).map((tick) => [tick, plot.log ? power(tick) : short(tick)]);
    const widest = Math.max(...labels.map(([, label]) => context.measureText(label).width));
    const [left, right, top, bottom] = [widest + 1.4 * font, 0.9 * font, 0.8 * font, 2.9 * font];
    const x = (seconds) => left + ((seconds - begin) / WINDOW) * (width - left - right);
    const share = (value) => (plot.log ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / (high - low));
    const y = (value) => height - bottom - share(value) * (height - top - bottom);
    context.fillStyle = ink.line;
    context.strokeStyle = ink.border;
    context.lineWidth = 1;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const [tick, label] of labels) {
      line(context, left, y(tick), width - right, y(tick));
      context.fillText(label, left - 0.5 * font, y(tick));
    }
    context.textBaseline = "alphabetic";
    context.textAlign = "center";
    for (let tick = Math.ceil(begin / 5) * 5; tick <= end; tick += 5) {
      line(context, x(tick), height - bottom, x(tick), height - bottom + 0.3 * font);
      context.fillText(short(tick), x(tick), height - bottom + 1.35 * font);
    }
    context.fillText("time in s", (left + width - right) / 2, height - 0.3 * font);
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

function line(context, x, y, toX, toY) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(toX, toY);
  context.stroke();
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

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

// Label of a power of ten: 0.1, 1, 10, 100; others as 10⁻⁵.
function power(value) {
  if (value >= 0.01 && value <= 1000) return `${+value.toPrecision(1)}`;
  const exponent = Math.round(Math.log10(value));
  return `10${exponent < 0 ? "⁻" : ""}${[...String(Math.abs(exponent))].map((digit) => SUPERSCRIPTS[digit]).join("")}`;
}

const short = (value) => `${+value.toPrecision(2)}`;

// Formats a number with few digits.
function words(value) {
  if (value === undefined) return "–";
  if (value === 0) return "0";
  return value < 0.0001 ? "below 0.0001" : value < 0.1 ? value.toFixed(4) : value < 100 ? value.toFixed(2) : value.toFixed(0);
}
