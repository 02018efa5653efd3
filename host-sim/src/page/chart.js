// The colour of a controller, or of a line by its place where there is none.
function colourOf(name, index) {
  const place = `var(--series-${(index % 7) + 1})`;
  return name ? `var(--${name}, ${place})` : place;
}

// Line charts in SVG: linear or logarithmic, spread bands, a key that switches series, a readout for pointer and keyboard.
const SVG = "http://www.w3.org/2000/svg";
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
// Series with more points than this are drawn without a dot per point.
const DOTTED = 24;

function element(name, attributes = {}, ...children) {
  const made = name === "svg" || element.inSvg.has(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
element.inSvg = new Set(["g", "path", "line", "rect", "circle", "text", "clipPath", "defs"]);

function power(exponent) {
  return "10" + (exponent < 0 ? "⁻" : "") + [...String(Math.abs(exponent))].map((digit) => SUPERSCRIPTS[digit]).join("");
}

// Three or four digits, plain where that is short.
function brief(value) {
  if (value === null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-4 || size >= 1e6) {
    const exponent = Math.floor(Math.log10(size));
    return (value / 10 ** exponent).toFixed(1) + "·" + power(exponent);
  }
  const exponent = Math.floor(Math.log10(size));
  return value.toFixed(exponent < -1 ? 2 - exponent : Math.max(0, Math.min(3, 3 - exponent)));
}

// A step of 1, 2 or 5 times a power of ten that goes about `count` times between two values.
function stepBetween(low, high, count) {
  const rough = (high - low) / count;
  const unit = 10 ** Math.floor(Math.log10(rough));
  return unit * ([1, 2, 5].find((factor) => factor * unit >= rough) ?? 10);
}

// `outwards` widens the scale to whole steps.
function linearScale(low, high, from, to, count, outwards) {
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  // From zero, where that costs little room.
  if (low > 0 && low < 0.3 * high) low = 0;
  const step = stepBetween(low, high, count);
  if (outwards) [low, high] = [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high + step * 1e-9; index++) {
    ticks.push({ value: index * step, label: (index * step).toFixed(digits) });
  }
  return { at: (value) => from + ((value - low) / (high - low)) * (to - from), ticks };
}

function logScale(low, high, from, to) {
  const nice = [1, 2, 5, 10];
  const down = 10 ** Math.floor(Math.log10(low) + 1e-9);
  const up = 10 ** Math.floor(Math.log10(high) + 1e-9);
  low = down * nice.filter((factor) => factor * down <= low * (1 + 1e-9)).at(-1);
  high = up * nice.find((factor) => factor * up >= high * (1 - 1e-9));
  if (low === high) high = low * 10;
  const decades = Math.log10(high / low);
  const at = (value) => (value > 0 ? from + (Math.log10(value / low) / decades) * (to - from) : from + 1e4);
  const ticks = [];
  const every = Math.ceil(decades / 8);
  for (let exponent = Math.floor(Math.log10(low)); exponent <= Math.ceil(Math.log10(high)); exponent++) {
    for (let factor = 1; factor < 10; factor++) {
      const value = factor * 10 ** exponent;
      if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
      const labelled = factor === 1 ? exponent % every === 0 : decades < 2 && (factor === 2 || factor === 5);
      const plain = value >= 1e-3 && value < 1e5;
      const label = !labelled ? "" : plain ? String(Number(value.toPrecision(1))) : (factor > 1 ? factor + "·" : "") + power(exponent);
      if (factor === 1 || labelled) ticks.push({ value, label, minor: factor > 1 });
    }
  }
  return { at, ticks };
}

class LineChart {
  static count = 0;

  constructor(spec) {
    this.spec = spec;
    this.id = "chart-" + LineChart.count++;
    this.hidden = new Set();
    this.cursor = null;
    this.head = null;
    this.svg = element("svg", { tabindex: 0, role: "img", "aria-label": this.describe() });
    this.readout = element("div", { class: "readout", hidden: "", "aria-live": "polite" });
    this.figure = element("figure", { class: "chart" });
    if (spec.title) this.figure.append(element("h3", {}, spec.title));
    this.figure.append(this.svg, this.readout);
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.figure);
  }

  describe() {
    const { title, yLabel, xLabel, series } = this.spec;
    return `${title || yLabel}: ${yLabel} against ${xLabel} for ${series.map((one) => one.name).join(", ")}. Arrow keys read values.`;
  }

  colour(index) {
    const { colour } = this.spec.series[index];
    return `--colour: ${colourOf(colour, index)}`;
  }

  swatch(index) {
    const dashed = this.spec.series[index].dashed ? " dashed" : "";
    return element("i", { class: "swatch" + dashed, style: this.colour(index) });
  }

  // One key for charts of the same series.
  static key(charts) {
    const list = element("ul", { class: "keys", "aria-label": "Series" });
    charts[0].spec.series.forEach((series, index) => {
      const button = element("button", { type: "button", "aria-pressed": "true" }, charts[0].swatch(index), series.name);
      button.addEventListener("click", () => {
        const shown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(shown));
        for (const chart of charts) chart.toggle(index, shown);
      });
      for (const [event, strong] of [["pointerenter", index], ["focus", index], ["pointerleave", null], ["blur", null]]) {
        button.addEventListener(event, () => charts.forEach((chart) => chart.emphasise(strong)));
      }
      list.append(element("li", {}, button));
    });
    return list;
  }

  toggle(index, shown) {
    shown ? this.hidden.delete(index) : this.hidden.add(index);
    this.draw();
  }

  emphasise(strong) {
    for (const group of this.svg.querySelectorAll(".series")) {
      const here = Number(group.dataset.index);
      group.classList.toggle("strong", strong === null ? Boolean(this.spec.series[here].strong) : strong === here);
      group.classList.toggle("dim", strong !== null && strong !== here);
    }
  }

  visible() {
    return this.spec.series.map((series, index) => ({ series, index })).filter(({ index }) => !this.hidden.has(index));
  }

  scales(width, height) {
    const margin = { left: 52, right: 14, top: 26, bottom: 40 };
    const numbers = (values) => values.filter((value) => value !== null && Number.isFinite(value));
    const all = this.spec.series;
    const xs = numbers(all.flatMap((series) => series.points.map(([x]) => x)));
    let ys = numbers(all.flatMap((series) => [...series.points.map(([, y]) => y), ...(series.band ?? []).flat()]));
    if (this.spec.logY) ys = ys.filter((value) => value > 0 && value >= (this.spec.yFloor ?? 0));
    const [left, right, top, bottom] = [margin.left, width - margin.right, margin.top, height - margin.bottom];
    const range = (values) => (values.length ? [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))] : [0.1, 1]);
    const x = linearScale(...range(xs), left, right, Math.max(3, Math.round((right - left) / 90)), false);
    let [low, high] = range(ys);
    if (this.spec.logY && this.spec.yFloor) low = Math.min(this.spec.yFloor, high);
    const y = this.spec.logY ? logScale(low, high, bottom, top) : linearScale(low, high, bottom, top, Math.max(3, Math.round((bottom - top) / 45)), true);
    return { x, y, left, right, top, bottom };
  }

  draw() {
    const width = this.figure.clientWidth;
    if (!width) return;
    const height = Math.round(Math.min(440, Math.max(260, width * 0.45)));
    this.area = this.scales(width, height);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.style.height = height + "px";
    const { left, right, top, bottom } = this.area;
    const clip = element("clipPath", { id: this.id }, element("rect", { x: left - 6, y: top - 6, width: right - left + 12, height: bottom - top + 6 }));
    const lines = element("g", { "clip-path": `url(#${this.id})` }, ...this.visible().map((one) => this.line(one)));
    this.playheadLine = element("line", { class: "playhead", y1: top, y2: bottom, visibility: "hidden" });
    this.marks = element("g");
    this.svg.replaceChildren(element("defs", {}, clip), this.axes(width, height), lines, this.playheadLine, this.marks);
    this.emphasise(null);
    this.playhead(this.head);
    this.point(this.cursor);
  }

  axes(width, height) {
    const { x, y, left, right, top, bottom } = this.area;
    const group = element("g");
    for (const { value, label, minor } of y.ticks) {
      const at = Math.round(y.at(value)) + 0.5;
      group.append(element("line", { class: minor ? "grid minor" : "grid", x1: left, x2: right, y1: at, y2: at }));
      if (label) group.append(element("text", { x: left - 8, y: at + 4, "text-anchor": "end" }, label));
    }
    for (const { value, label } of x.ticks) {
      group.append(element("text", { x: x.at(value), y: bottom + 18, "text-anchor": "middle" }, label));
    }
    group.append(element("text", { x: 0, y: 12 }, this.spec.yLabel));
    group.append(element("text", { x: right, y: height - 4, "text-anchor": "end" }, this.spec.xLabel));
    return group;
  }

  line({ series, index }) {
    const { x, y } = this.area;
    const group = element("g", { class: "series", style: this.colour(index), "data-index": index });
    const place = ([px, py]) => `${x.at(px).toFixed(1)} ${y.at(py).toFixed(1)}`;
    if (series.band) {
      const whole = series.points.map(([px], at) => [px, ...series.band[at]]).filter((row) => row.every((value) => value !== null));
      const high = whole.map(([px, , upper]) => place([px, upper]));
      const low = whole.map(([px, lower]) => place([px, lower])).reverse();
      if (whole.length > 1) group.append(element("path", { class: "band", d: `M${[...high, ...low].join("L")}Z` }));
    }
    let pen = "M";
    let path = "";
    for (const point of series.points) {
      const missing = point[1] === null || (this.spec.logY && point[1] <= 0);
      if (!missing) path += pen + place(point);
      pen = missing ? "M" : "L";
    }
    group.append(element("path", { class: series.dashed ? "dashed" : "", d: path || "M0 0" }));
    if (series.points.length <= DOTTED) {
      for (const point of series.points) {
        if (point[1] !== null) group.append(element("circle", { cx: x.at(point[0]), cy: y.at(point[1]), r: 4 }));
      }
    }
    return group;
  }

  listen() {
    const xs = new Set(this.spec.series.flatMap((series) => series.points.map(([x]) => x)));
    this.stops = [...xs].sort((a, b) => a - b);
    const nearest = (event) => {
      const offset = event.clientX - this.svg.getBoundingClientRect().left;
      let best = 0;
      this.stops.forEach((x, index) => {
        if (Math.abs(this.area.x.at(x) - offset) < Math.abs(this.area.x.at(this.stops[best]) - offset)) best = index;
      });
      return best;
    };
    for (const event of ["pointermove", "pointerdown"]) this.svg.addEventListener(event, (pointer) => this.point(nearest(pointer)));
    this.svg.addEventListener("click", (pointer) => this.onpick?.(this.stops[nearest(pointer)]));
    for (const event of ["pointerleave", "blur"]) this.svg.addEventListener(event, () => this.point(null));
    this.svg.addEventListener("keydown", (event) => {
      const last = this.stops.length - 1;
      const stride = event.shiftKey ? 10 : 1;
      const here = this.cursor ?? 0;
      const there = { ArrowLeft: here - stride, ArrowRight: here + stride, Home: 0, End: last, Escape: null }[event.key];
      if (there === undefined) return;
      event.preventDefault();
      this.point(there === null ? null : Math.min(last, Math.max(0, there)));
    });
  }

  // Shows the values at one stop of the horizontal axis; null takes them away.
  point(stop) {
    this.cursor = stop;
    this.marks?.replaceChildren();
    this.readout.hidden = stop === null;
    if (stop === null || !this.area) return;
    const { x, y, left, right, top, bottom } = this.area;
    const value = this.stops[stop];
    const rows = this.visible()
      .map(({ series, index }) => ({ series, index, at: series.points.findIndex(([px]) => px === value) }))
      .filter(({ series, at }) => at >= 0 && series.points[at][1] !== null)
      .sort((a, b) => b.series.points[b.at][1] - a.series.points[a.at][1]);
    const px = x.at(value);
    this.marks.append(element("line", { class: "cursor", x1: px, x2: px, y1: top, y2: bottom }));
    for (const { series, index, at } of rows) {
      const py = y.at(series.points[at][1]);
      if (py > bottom + 1) continue;
      this.marks.append(element("g", { class: "series", style: this.colour(index) }, element("circle", { cx: px, cy: py, r: 4 })));
    }
    this.readout.replaceChildren(
      element("b", {}, `${this.spec.xLabel}: ${Number(value.toPrecision(4))}`),
      ...rows.map(({ series, index, at }) =>
        element("div", {}, this.swatch(index), element("span", {}, series.name), element("span", {}, brief(series.points[at][1]))),
      ),
    );
    const box = this.readout.getBoundingClientRect();
    const beside = px + 14 + box.width <= right ? px + 14 : px - 14 - box.width;
    this.readout.style.left = Math.max(0, beside) + "px";
    const above = this.svg.getBoundingClientRect().top - this.figure.getBoundingClientRect().top;
    this.readout.style.top = above + top + 4 + "px";
  }

  // Marks a moment, such as the replay's.
  playhead(x) {
    this.head = x;
    if (!this.playheadLine || x === null) return;
    const at = this.area.x.at(x);
    this.playheadLine.setAttribute("x1", at);
    this.playheadLine.setAttribute("x2", at);
    this.playheadLine.setAttribute("visibility", "visible");
  }
}
