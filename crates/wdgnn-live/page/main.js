// The main loop: a clock that drives the core, the pictures and the plots.

// Simulation time per frame in milliseconds; drawing and the browser get the rest of 16 ms.
const BUDGET = 9;
// Ratio of radii above which the larger swarm counts as scattered.
const TORN = 1.8;
// Milliseconds between two text descriptions.
const WORDS_EVERY = 10000;

class Show {
  constructor(engine) {
    this.engine = engine;
    this.pictures = [0, 1].map((side) => new Picture(at(`swarm-${side}`)));
    this.plots = new Plots(at("plots"));
    this.ink = inks();
    this.playing = !calm.matches;
    this.cost = 1;
    this.controls = new Controls(this);
    this.paintRamp();
    dark.addEventListener("change", () => {
      this.ink = inks();
      this.paintRamp();
      this.redraw();
    });
    new ResizeObserver(() => {
      this.ink = inks();
      this.redraw();
    }).observe(document.body);
    // The URL may have changed: it follows the state.
    addEventListener("hashchange", ({ newURL }) => {
      const { hash } = new URL(newURL);
      if (hash !== this.link()) this.open(fromLink(hash));
    });
    document.addEventListener("visibilitychange", () => (this.last = null));
    this.open(fromLink(location.hash));
    requestAnimationFrame((now) => this.frame(now));
  }

  paintRamp() {
    at("ramp").style.background = `linear-gradient(90deg, ${this.ink.shades.join(",")})`;
  }

  // Opens a state from its start.
  open(state) {
    this.state = state;
    const trouble = this.engine.begin(state);
    at("lead").classList.toggle("trouble", trouble !== "");
    this.period = this.engine.core.period();
    this.owed = 0;
    this.last = null;
    this.reach = null;
    this.rounds = 0;
    this.spoken = -Infinity;
    this.plots.clear();
    at("words").textContent = "";
    this.pictures.forEach((picture) => Object.assign(picture, { graves: [], drag: null, turn: 0, followed: null }));
    this.changed();
    if (trouble) at("lead").textContent = trouble;
    this.redraw();
  }

  // Changes the state; some changes need a restart.
  set(change, anew = false) {
    const { left, right } = this.state;
    Object.assign(this.state, change);
    if (anew) return this.open(this.state);
    const number = (controller) => CONTROLLERS.findIndex(({ name }) => name === controller);
    if (this.state.left !== left) this.engine.core.hand_over(0, number(this.state.left));
    if (this.state.right !== right) this.engine.core.hand_over(1, number(this.state.right));
    if ("cut" in change) this.engine.core.cut(this.state.cut);
    KNOBS.forEach((name, knob) => name in change && this.engine.core.turn(knob, this.state[name]));
    this.changed();
    this.redraw();
  }

  changed() {
    this.controls.update(this.state, this.playing, this.period);
    clearTimeout(this.linking);
    // Browsers limit the rate of URL changes.
    this.linking = setTimeout(() => history.replaceState(null, "", this.link()), 300);
  }

  // Link to the current state.
  link() {
    return toLink(this.state);
  }

  play(on) {
    this.playing = on;
    this.last = null;
    this.controls.update(this.state, this.playing, this.period);
    this.speak();
  }

  stepOnce() {
    this.play(false);
    this.engine.core.step(1);
    this.redraw();
    this.speak();
  }

  // Restarts with the learned parameters.
  again() {
    this.rounds += 1;
    const { robots, speed, seed } = this.state;
    this.engine.core.land(robots, speed, seed + this.rounds);
    this.state.dead = [];
    this.state.liars.forEach((robot) => this.engine.core.set_liar(robot, true));
    this.engine.core.cut(this.state.cut);
    this.plots.clear();
    at("words").textContent = "";
    this.spoken = -Infinity;
    this.changed();
    this.redraw();
  }

  kill(id) {
    this.pictures.forEach((picture) => {
      const robot = Array.from(picture.xs, (_, index) => picture.id(index)).indexOf(id);
      if (robot >= 0) picture.graves.push({ x: picture.robots[robot * SHOWN], y: picture.robots[robot * SHOWN + 1], since: performance.now() / 1000 });
    });
    this.engine.core.kill(id);
    this.state.dead = [...this.state.dead, id];
    this.changed();
    this.redraw();
  }

  lie(id) {
    const lies = !this.state.liars.includes(id);
    this.engine.core.set_liar(id, lies);
    this.state.liars = lies ? [...this.state.liars, id] : this.state.liars.filter((other) => other !== id);
    this.changed();
    this.redraw();
  }

  // Pushes robots, by address, in both swarms.
  push(pushes) {
    for (const [id, [x, y]] of pushes) this.engine.core.push(id, x, y);
    this.redraw();
  }

  // Pushes all robots within a meter of a position, the nearest most.
  pushAround(picture, from, [x, y]) {
    const pushes = [];
    for (let robot = 0; robot < picture.xs.length; robot++) {
      const away = Math.hypot(picture.xs[robot] - from[0], picture.ys[robot] - from[1]) / picture.scale;
      const share = Math.max(1 - away / 1.2, 0);
      if (share > 0) pushes.push([picture.id(robot), [share * x, share * y]]);
    }
    this.push(pushes);
  }

  // Pushes each robot in a random direction.
  stir(most) {
    const draw = () => most * (2 * Math.random() - 1);
    this.push(Array.from(this.pictures[0].xs, (_, robot) => [this.pictures[0].id(robot), [draw(), draw()]]));
  }

  frame(now) {
    requestAnimationFrame((next) => this.frame(next));
    if (!this.playing) {
      // Marks fade.
      if (this.pictures.some(({ graves }) => graves.length)) this.redraw();
      this.draw();
      return;
    }
    // After a pause by the browser, time continues from now.
    const passed = this.last === null ? 0 : Math.min((now - this.last) / 1000, 0.1);
    this.last = now;
    this.owed += (passed * this.state.rate) / this.period;
    const possible = Math.max(1, Math.floor(BUDGET / this.cost));
    const ticks = Math.min(Math.floor(this.owed), possible);
    if (ticks > 0) {
      const begin = performance.now();
      this.engine.core.step(ticks);
      this.cost += 0.1 * ((performance.now() - begin) / ticks - this.cost);
      this.owed -= ticks;
      this.flown = (this.flown ?? 0) + ticks;
      if (!calm.matches) this.pictures.forEach((picture) => (picture.turn += 0.2 * passed));
      this.redraw();
    }
    // Backlog that cannot be simulated in time is dropped.
    this.owed = Math.min(this.owed, 1);
    this.pace(now);
    if (this.state.every && this.seconds >= this.state.every) this.again();
    this.draw();
    document.documentElement.dataset.frame = 1 + Number(document.documentElement.dataset.frame ?? 0);
  }

  // Actual speed, if it is lower than requested.
  pace(now) {
    if (this.since === undefined || now - this.since > 2000) {
      const real = this.since === undefined ? 1 : ((this.flown ?? 0) * this.period * 1000) / (now - this.since) / this.state.rate;
      at("pace").textContent = real < 0.8 ? `this machine manages ${(real * this.state.rate).toPrecision(1)}×` : "";
      [this.since, this.flown] = [now, 0];
    }
  }

  redraw() {
    this.stale = true;
  }

  draw() {
    if (!this.stale) return;
    this.stale = false;
    const mission = MISSIONS.find(({ name }) => name === this.state.mission);
    const views = this.pictures.map((picture, side) => picture.measure(this.engine.robots(side), mission.name));
    // Scale for the smaller swarm: a scattered swarm leaves the picture instead of shrinking the other one.
    const reaches = views.map(({ reach }) => reach);
    const wanted = Math.min(Math.max(...reaches), TORN * Math.min(...reaches));
    this.pictures.forEach((picture, side) => reaches[side] > wanted && (views[side].middle = picture.stay(this.engine.robots(side))));
    this.reach = this.reach && Math.abs(wanted / this.reach - 1) < 0.5 ? this.reach + 0.06 * (wanted - this.reach) : wanted;
    this.figures = [0, 1].map((side) => this.engine.figures(side));
    this.seconds = this.figures[0].seconds;
    this.pictures.forEach((picture, side) => {
      picture.draw(this.engine.robots(side), this.engine.pairs(side), this.engine.scenery(side), views[side], this.reach, mission.name, this.ink);
      this.plots.add(side, this.figures[side]);
      const { score, groups } = this.figures[side];
      at(`figure-${side}`).textContent = words(score);
      at(`groups-${side}`).textContent = groups > 1 ? `, in ${groups} groups` : "";
    });
    const learns = CONTROLLERS.some(({ name, learns }) => learns && [this.state.left, this.state.right].includes(name));
    this.plots.draw(mission, learns, this.ink);
    at("clock").textContent = `${this.seconds.toFixed(1)} s`;
    if (this.playing && performance.now() - this.spoken > WORDS_EVERY && this.seconds > 3) this.speak();
  }

  // Text description of both swarms.
  speak() {
    if (!this.figures) return;
    this.spoken = performance.now();
    const mission = MISSIONS.find(({ name }) => name === this.state.mission);
    const title = (side) => titled(this.state[side], mission.name);
    const told = ["left", "right"].map((side, index) => {
      const { score, robots, groups, close } = this.figures[index];
      const parts = groups > 1 ? `, in ${groups} groups` : "";
      this.pictures[index].canvas.setAttribute("aria-label", `${title(side)}: ${robots} robots${parts}`);
      return `${side} (${title(side)}) ${words(score)}${parts}${close ? `, ${close} close pair${close === 1 ? "" : "s"}` : ""}`;
    });
    at("words").textContent = `At ${this.seconds.toFixed(1)} s, ${mission.score} in ${mission.unit}: ${told.join("; ")}.`;
  }
}

// Flies what `host-sim run` flies by default, and says whether it comes to the same.
function check(engine) {
  const digest = engine.check();
  at("digest").textContent = digest;
  at("verdict").textContent = digest === NATIVE ? "identical to the native program" : `but the native program computes ${NATIVE}`;
}

try {
  const engine = await Engine.load(CORE);
  globalThis.live = new Show(engine);
  // Starts after the first simulated second.
  setTimeout(() => check(engine), 1500);
} catch (error) {
  at("lead").textContent = `The simulator did not start: ${error.message}. This page needs a browser of 2023 or later.`;
  throw error;
}
