// Interaction with SVG line charts: a legend that hides series, and a readout for pointer and keyboard.
const SVG = "http://www.w3.org/2000/svg";
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

function element(name, attributes = {}, ...children) {
  const made = ["g", "line", "circle"].includes(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// CSS color of a controller; by index for any other name.
function colorOf(name, index) {
  const place = `var(--series-${(index % 7) + 1})`;
  return name ? `var(--${name}, ${place})` : place;
}

// Three or four digits.
function brief(value) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  const exponent = Math.floor(Math.log10(size));
  if (size < 1e-4 || size >= 1e6) {
    const power = [...String(Math.abs(exponent))].map((digit) => SUPERSCRIPTS[digit]).join("");
    return `${(value / 10 ** exponent).toFixed(1)}·10${exponent < 0 ? "⁻" : ""}${power}`;
  }
  return value.toFixed(exponent < -1 ? 2 - exponent : Math.max(0, Math.min(3, 3 - exponent)));
}

// Position of a value on an axis, in pixels of the drawing.
function position({ ends: [low, high], pixels: [from, to], log }, value) {
  const share = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return from + share * (to - from);
}

class LineChart {
  constructor(figure, spec) {
    Object.assign(this, { figure, spec, hidden: new Set(), cursor: null });
    this.frame = figure.querySelector(".plot");
    this.svg = figure.querySelector("svg");
    this.svg.setAttribute("tabindex", 0);
    this.readout = element("div", { class: "readout", hidden: "", "aria-live": "polite" });
    figure.append(this.readout);
    const [bottom, top] = spec.y.pixels;
    this.playheadLine = element("line", { class: "playhead", y1: top, y2: bottom, visibility: "hidden" });
    this.marks = element("g");
    this.svg.append(this.playheadLine, this.marks);
    this.stops = [...new Set(spec.series.flatMap(({ points }) => points.map(([x]) => x)))].sort((a, b) => a - b);
    this.listen();
  }

  swatch(index) {
    const { color, dashed } = this.spec.series[index];
    return element("i", { class: dashed ? "swatch dashed" : "swatch", style: `--color: ${colorOf(color, index)}` });
  }

  // One legend for charts that have the same series.
  static legend(charts) {
    const list = element("ul", { class: "keys", "aria-label": "Series" });
    charts[0].spec.series.forEach(({ name }, index) => {
      const button = element("button", { type: "button", "aria-pressed": "true" }, charts[0].swatch(index), name);
      button.addEventListener("click", () => {
        const shown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(shown));
        for (const chart of charts) chart.toggle(index, shown);
      });
      for (const [event, bold] of [["pointerenter", index], ["focus", index], ["pointerleave", null], ["blur", null]]) {
        button.addEventListener(event, () => charts.forEach((chart) => chart.emphasize(bold)));
      }
      list.append(element("li", {}, button));
    });
    return list;
  }

  toggle(index, shown) {
    shown ? this.hidden.delete(index) : this.hidden.add(index);
    this.svg.querySelector(`.series[data-index="${index}"]`).classList.toggle("hidden", !shown);
    this.point(this.cursor);
  }

  emphasize(bold) {
    for (const group of this.svg.querySelectorAll(".series")) {
      group.classList.toggle("bold", bold === Number(group.dataset.index));
      group.classList.toggle("dim", bold !== null && bold !== Number(group.dataset.index));
    }
  }

  listen() {
    const nearest = (event) => {
      const box = this.svg.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * this.svg.viewBox.baseVal.width;
      const away = this.stops.map((x) => Math.abs(position(this.spec.x, x) - at));
      return away.indexOf(away.reduce((a, b) => Math.min(a, b), Infinity));
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

  // Shows the values at one stop of the horizontal axis; null hides them.
  point(stop) {
    this.cursor = stop !== null && stop >= 0 ? stop : null;
    this.marks.replaceChildren();
    this.readout.hidden = this.cursor === null;
    if (this.cursor === null) return;
    const { x, y, series, xLabel } = this.spec;
    const value = this.stops[stop];
    const rows = series
      .map(({ name, points }, index) => ({ name, index, y: points.find(([px]) => px === value)?.[1] ?? null }))
      .filter((row) => row.y !== null && !this.hidden.has(row.index))
      .sort((a, b) => b.y - a.y);
    const px = position(x, value);
    const [bottom, top] = y.pixels;
    this.marks.append(element("line", { class: "cursor", x1: px, x2: px, y1: top, y2: bottom }));
    for (const row of rows) {
      const py = position(y, row.y);
      const style = `color: ${colorOf(series[row.index].color, row.index)}`;
      if (py <= bottom + 1) this.marks.append(element("circle", { cx: px, cy: py, r: 4, style }));
    }
    this.readout.replaceChildren(
      element("b", {}, `${xLabel}: ${Number(value.toPrecision(4))}`),
      ...rows.map((row) => element("div", {}, this.swatch(row.index), element("span", {}, row.name), element("span", {}, brief(row.y)))),
    );
    this.place(px, top);
  }

  // Puts the readout next to the cursor, within the figure.
  place(px, top) {
    const [svg, figure] = [this.svg, this.figure].map((part) => part.getBoundingClientRect());
    const scale = svg.width / this.svg.viewBox.baseVal.width;
    const at = svg.left - figure.left + scale * px;
    const { width } = this.readout.getBoundingClientRect();
    this.readout.style.left = Math.max(0, at + 14 + width <= figure.width ? at + 14 : at - 14 - width) + "px";
    this.readout.style.top = svg.top - figure.top + scale * top + 4 + "px";
  }

  // Marks a time, such as that of the replay.
  playhead(x) {
    const at = position(this.spec.x, x);
    this.playheadLine.setAttribute("x1", at);
    this.playheadLine.setAttribute("x2", at);
    this.playheadLine.setAttribute("visibility", "visible");
  }
}

// A table or chart that is wider than its frame has a shadow until its right end is in view.
for (const frame of document.querySelectorAll(".table, .plot")) {
  const mark = () => {
    const hidden = frame.scrollWidth - frame.clientWidth;
    frame.classList.toggle("wide", hidden > 1);
    frame.classList.toggle("cut", hidden - frame.scrollLeft > 1);
  };
  frame.addEventListener("scroll", mark);
  new ResizeObserver(mark).observe(frame);
}
