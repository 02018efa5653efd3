// Buttons, sliders, pointer and keyboard.
const at = (id) => document.getElementById(id);

const GO = "M8 5v14l11-7z";
const PAUSE = "M6 5h4v14H6zM14 5h4v14h-4z";
// Change of velocity for a drag of one meter, in m/s.
const PUSH = 2;
// Largest change of velocity by a key or by a random push, in m/s.
const KICK = 3;

class Controls {
  constructor(show) {
    this.show = show;
    const options = (select, list) => select.append(...list.map(({ name, title }) => new Option(title, name)));
    options(at("left"), CONTROLLERS);
    options(at("right"), CONTROLLERS);
    options(at("mission"), MISSIONS);
    at("scenes").append(...SCENES.map(({ name, title }) => this.button(title, () => show.open({ ...fromLink(`#scene=${name}`) }), name)));
    this.sliders = SLIDERS.map((slider) => this.slider(slider));
    for (const side of ["left", "right"]) at(side).onchange = () => show.set({ [side]: at(side).value });
    at("mission").onchange = () => show.open({ ...show.state, ...missionDefaults(at("mission").value) });
    at("seed").onchange = () => show.set({ seed: Math.min(Math.max(Math.round(at("seed").valueAsNumber) || 1, 1), 999999) }, true);
    at("rate").onchange = () => show.set({ rate: Number(at("rate").value) });
    at("play").onclick = () => show.play(!show.playing);
    at("step").onclick = () => show.stepOnce();
    at("again").onclick = () => show.again();
    at("payload").onclick = () => show.set({ strength: show.state.strength > 1 ? 1 : 2 });
    at("cut").onclick = () => show.set({ cut: !show.state.cut });
    at("stir").onclick = () => show.stir(KICK);
    at("reset").onclick = () => show.open(fromLink(`#scene=${show.state.scene}`));
    at("share").onclick = () => this.share();
    document.addEventListener("keydown", (event) => this.key(event));
    show.pictures.forEach((picture) => this.pointer(picture));
  }

  button(title, act, name) {
    const button = document.createElement("button");
    button.textContent = title;
    button.dataset.scene = name;
    button.onclick = act;
    return button;
  }

  slider({ name, title, scale: [min, max, step = 1], say, anew }) {
    const label = document.createElement("label");
    const [text, output, input] = ["span", "output", "input"].map((kind) => document.createElement(kind));
    text.textContent = title;
    // Square-root scale: small swarm sizes need a finer step than large ones.
    const square = name === "robots";
    Object.assign(input, { type: "range", id: `slider-${name}`, min: square ? Math.sqrt(min) : min, max: square ? Math.sqrt(max) : max, step: square ? 0.01 : step });
    const value = () => (square ? Math.round(input.valueAsNumber ** 2) : input.valueAsNumber);
    input.oninput = () => this.show.set({ [name]: value() }, anew);
    label.append(text, output, input);
    at("sliders").append(label);
    return {
      update: (state, mission, period) => {
        const now = state[name];
        if (value() !== now) input.value = square ? Math.sqrt(now) : now;
        output.textContent = say(now, mission, period);
        input.setAttribute("aria-valuetext", output.textContent);
      },
    };
  }

  // Updates all controls from the state.
  update(state, playing, period) {
    const mission = MISSIONS.find(({ name }) => name === state.mission);
    for (const side of ["left", "right"]) {
      for (const option of at(side).options) option.text = titled(option.value, state.mission);
      at(side).value = state[side];
    }
    at("mission").value = state.mission;
    at("seed").value = state.seed;
    at("rate").value = state.rate;
    at("payload").setAttribute("aria-pressed", state.strength > 1);
    at("cut").setAttribute("aria-pressed", state.cut);
    at("play").setAttribute("aria-label", playing ? "Pause" : "Play");
    at("play").querySelector("path").setAttribute("d", playing ? PAUSE : GO);
    for (const button of at("scenes").children) button.setAttribute("aria-current", button.dataset.scene === state.scene);
    const { heading, lead } = introduction(state);
    at("title").textContent = heading;
    at("lead").innerHTML = lead;
    at("note").textContent = SCENES[0].note;
    for (const unit of document.querySelectorAll(".unit")) unit.textContent = `${mission.unit} ${mission.score}`;
    for (const slider of this.sliders) slider.update(state, mission, period);
  }

  async share() {
    history.replaceState(null, "", this.show.link());
    let said = "Link copied";
    try {
      await navigator.clipboard.writeText(location.href);
    } catch {
      said = "Link is in the address bar";
    }
    at("share").textContent = said;
    setTimeout(() => (at("share").textContent = "Copy link"), 2000);
  }

  get tool() {
    return document.querySelector("#tools input:checked").value;
  }

  pointer(picture) {
    const { canvas } = picture;
    const spot = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left - canvas.clientLeft, event.clientY - box.top - canvas.clientTop];
    };
    canvas.onpointerdown = (event) => {
      const from = spot(event);
      if (this.tool === "push") {
        canvas.setPointerCapture(event.pointerId);
        picture.drag = { from, to: from };
        this.show.redraw();
        return;
      }
      const robot = picture.nearest(from, 28);
      if (robot >= 0) this.apply(this.tool, picture.id(robot));
    };
    canvas.onpointermove = (event) => {
      const to = spot(event);
      if (picture.drag) {
        picture.drag.to = to;
        this.show.redraw();
      } else if (event.buttons === 1 && this.tool === "liar") {
        // A drag turns each robot on its way into a liar.
        const robot = picture.nearest(to, 18);
        if (robot >= 0 && !this.show.state.liars.includes(picture.id(robot))) this.apply("liar", picture.id(robot));
      }
    };
    canvas.onpointerup = () => {
      if (!picture.drag) return;
      const { from, to } = picture.drag;
      picture.drag = null;
      this.show.pushAround(picture, from, [(PUSH * (to[0] - from[0])) / picture.scale, (-PUSH * (to[1] - from[1])) / picture.scale]);
    };
    canvas.onpointercancel = () => (picture.drag = null);
  }

  apply(tool, id) {
    if (tool === "kill") this.show.kill(id);
    if (tool === "liar") this.show.lie(id);
    if (tool === "push") this.show.push([[id, [KICK, 0]]]);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches?.("input, select, textarea");
    const picture = this.show.pictures.find(({ canvas }) => canvas === event.target);
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (picture && this.chosenKey(picture, key)) return event.preventDefault();
    if (typing || (event.target.matches?.("button, summary") && key === " ")) return;
    const scene = SCENES[Number(key) - 1];
    const deeds = {
      " ": () => at("play").click(), ".": () => at("step").click(), r: () => at("again").click(), d: () => at("payload").click(),
      c: () => at("cut").click(), s: () => at("stir").click(),
    };
    const deed = scene ? () => this.show.open(fromLink(`#scene=${scene.name}`)) : deeds[key];
    if (deed) {
      event.preventDefault();
      deed();
    }
  }

  // Keys on a swarm: select a robot and act on it.
  chosenKey(picture, key) {
    const count = picture.xs?.length ?? 0;
    const tools = { k: "kill", l: "liar", p: "push" };
    if (!count || !(key.startsWith("Arrow") || key in tools)) return false;
    const ids = Array.from({ length: count }, (_, robot) => picture.id(robot));
    const before = ids.indexOf(picture.chosen);
    if (key in tools) {
      if (before >= 0) this.apply(tools[key], ids[before]);
      return true;
    }
    const next = ids[(before + (key === "ArrowLeft" || key === "ArrowUp" ? -1 : 1) + count) % count] ?? ids[0];
    this.show.pictures.forEach((other) => (other.chosen = next));
    at("words").textContent = `Robot ${next} is selected.`;
    this.show.redraw();
    return true;
  }
}

// Default state of a task.
function missionDefaults(mission) {
  const scene = { flocking: "trained", "flocking-3d": "space", coverage: "coverage", rendezvous: "rendezvous" }[mission];
  const { state } = SCENES.find(({ name }) => name === scene);
  const { robots, range, speed, every, rate } = { ...PLAIN, ...state };
  return { mission, scene, robots, range, speed, every, rate, liars: [], dead: [], cut: false };
}
