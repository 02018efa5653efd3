// Tasks, controllers, sliders and scenes.
const MISSIONS = [
  { name: "flocking", title: "flocking in the plane", score: "velocity variation", unit: "m²/s²", noise: "m/s", range: [1e-5, 10] },
  { name: "flocking-3d", title: "flocking in space", score: "velocity variation", unit: "m²/s²", noise: "m/s", range: [1e-5, 10] },
  { name: "coverage", title: "coverage of an area", score: "squared distance to a robot", unit: "m²", noise: "m", range: [0.1, 10],
    rivals: ["Lloyd with local sensors", "Lloyd, sees all robots"] },
  { name: "rendezvous", title: "rendezvous", score: "squared distance from the center", unit: "m²", noise: "m", range: [1e-5, 100],
    rivals: ["To the mean of the neighbors", "To the center of all robots"] },
];

const CONTROLLERS = [
  { name: "averaging", title: "Averaging over 1 hop" },
  { name: "expert", title: "Expert, sees all robots" },
  { name: "offline", title: "WD-GNN, as trained" },
  { name: "paper", title: "WD-GNN, the paper’s learning rule", learns: true },
  { name: "online", title: "WD-GNN, learning in flight", learns: true },
  { name: "wary", title: "WD-GNN, learning, checks messages", learns: true },
];

// Title of a controller in a task.
function titled(controller, mission) {
  const number = CONTROLLERS.findIndex(({ name }) => name === controller);
  return MISSIONS.find(({ name }) => name === mission).rivals?.[number] ?? CONTROLLERS[number].title;
}

// Sliders, in the order of the core's controls.
const KNOBS = ["range", "loss", "noise", "spread", "delay", "strength"];

const percent = (share) => `${Math.round(100 * share)} %`;
const SLIDERS = [
  { name: "robots", title: "Robots", scale: [2, 1000], say: (n) => `${n}`, anew: true },
  { name: "range", title: "Radio range", scale: [0.5, 6, 0.1], say: (x) => `${x.toFixed(1)} m` },
  { name: "speed", title: "Starting speed", scale: [0, 6, 0.1], say: (x) => `${x.toFixed(1)} m/s`, anew: true },
  { name: "loss", title: "Frames lost", scale: [0, 0.95, 0.05], say: percent },
  { name: "noise", title: "Sensor noise", scale: [0, 1, 0.01], say: (x, mission) => `${x.toFixed(2)} ${mission.noise}` },
  { name: "spread", title: "Actuators differ by", scale: [0, 0.9, 0.05], say: (x) => `± ${percent(x)}` },
  { name: "delay", title: "Actuators late by", scale: [0, 20, 1], say: (n, mission, period) => `${Math.round(1000 * n * period)} ms` },
];

const PLAIN = {
  scene: "late", mission: "flocking", left: "offline", right: "online",
  robots: 50, range: 2, speed: 3, loss: 0, noise: 0, spread: 0, delay: 0, strength: 1,
  seed: 1, rate: 1, every: 0, cut: false, liars: [], dead: [],
};

// `heading` and `lead` hold for the controllers of the scene.
const SCENES = [
  {
    name: "late", title: "Late actuators", state: { delay: 8 },
    heading: "Late actuators: learning in flight stops the oscillation",
    lead: "All actuators respond 80 ms late; in training they responded at once. <b>Left:</b> the network as trained keeps oscillating. <b>Right:</b> the robots learn in flight. Each robot notices that it overshoots and lowers its own gain.",
    note: "Learning in flight helps where robots differ from the training. With late actuators, the expert and the paper’s learning rule oscillate too; select them above the pictures to see it. Where robots behave as in training, learning changes almost nothing (scene “As trained”). With frozen sensors or half the radio range, it costs a little: docs/experiments.md has all conditions.",
  },
  {
    name: "payload", title: "Dropped payload", state: { delay: 2, strength: 2 },
    heading: "Dropped payload: robots learn their new strength",
    lead: "The robots dropped a payload. Their actuators are now twice as strong as in training, and 20 ms late. <b>Left:</b> the network as trained. <b>Right:</b> each robot learns its own strength in flight. The button “Drop payload” changes the strength.",
  },
  {
    name: "noise", title: "Noisy sensors", state: { noise: 0.2 },
    heading: "Noisy sensors: robots learn a lower gain",
    lead: "The velocity sensors have an error of 0.2 m/s, and a high gain amplifies it. <b>Left:</b> the network as trained. <b>Right:</b> the robots learn in flight and lower their gain.",
  },
  {
    name: "trained", title: "As trained", state: {},
    heading: "As trained: learning in flight changes almost nothing",
    lead: "The robots behave as in training. Both swarms agree on one velocity within a second, with learning and without.",
  },
  {
    name: "no-network", title: "No network", state: { delay: 8, left: "averaging" },
    heading: "Averaging compared with a network that learns in flight",
    lead: "All actuators respond 80 ms late. <b>Left:</b> robots steer to the mean velocity of their neighbors, without a network. <b>Right:</b> the network learns in flight. Averaging is hard to beat where actuators respond at once; here it oscillates.",
  },
  {
    name: "liars", title: "Liars", state: { left: "online", right: "wary", liars: [3, 14, 22, 31, 45] },
    heading: "Liars: robots that check each message",
    lead: "Five robots (ringed) report velocities that are wrong by 5 m/s. <b>Left:</b> the other robots believe every message. <b>Right:</b> they compare each message with the track of its sender and ignore implausible ones.",
  },
  {
    name: "space", title: "In space", state: { mission: "flocking-3d", delay: 8 },
    heading: "Three dimensions: learning in flight stops the oscillation",
    lead: "Flocking in space with actuators that respond 80 ms late: another task and another network on the same core. <b>Left:</b> as trained. <b>Right:</b> learning in flight.",
  },
  {
    name: "coverage", title: "Coverage", state: { mission: "coverage", robots: 30, range: 3, speed: 0, left: "averaging", right: "offline", rate: 4 },
    heading: "Coverage: a network compared with Lloyd’s algorithm",
    lead: "Robots spread over a square. Yellow regions are more important, and they move. <b>Left:</b> Lloyd’s algorithm with local sensors. <b>Right:</b> the network as trained, which also uses what neighbors received. Neither swarm learns in flight.",
  },
  {
    name: "rendezvous", title: "Rendezvous", state: { mission: "rendezvous", robots: 20, range: 4, speed: 0, left: "averaging", right: "offline", every: 5 },
    heading: "Rendezvous: a task from a crate outside the core",
    lead: "The robots meet at one point. <b>Left:</b> each robot moves to the mean of its neighbors. <b>Right:</b> the network as trained. Neither swarm learns in flight. The scene restarts every five seconds.",
  },
];

// Heading and introduction of a state. They make no claim once the user has changed more than robots, seed and speed of time.
function introduction(state) {
  const scene = SCENES.find(({ name }) => name === state.scene);
  const own = { ...PLAIN, ...scene.state };
  const fixed = Object.keys(PLAIN).filter((key) => !["scene", "robots", "dead", "seed", "rate", "every"].includes(key));
  if (fixed.every((key) => String(state[key]) === String(own[key]))) return scene;
  const [left, right] = [state.left, state.right].map((controller) => titled(controller, state.mission));
  return {
    heading: `${scene.title}, modified`,
    lead: `You changed this scene. <b>Left:</b> ${left}. <b>Right:</b> ${right}. “Reset scene” restores it.`,
  };
}

// Link to a state: its differences from the scene.
function toLink(state) {
  const base = { ...PLAIN, ...SCENES.find(({ name }) => name === state.scene)?.state };
  const words = [`scene=${state.scene}`];
  for (const key of Object.keys(PLAIN)) {
    const [now, before] = [state[key], base[key]].map((value) => (Array.isArray(value) ? value.join(".") : String(Number(value) === Number(value) ? Number(value) : value)));
    if (key !== "scene" && now !== before) words.push(`${key}=${encodeURIComponent(now)}`);
  }
  return `#${words.join("&")}`;
}

// State of a link. Invalid words are ignored.
function fromLink(link) {
  const words = new URLSearchParams(link.replace(/^#/, ""));
  const scene = SCENES.find(({ name }) => name === words.get("scene")) ?? SCENES[0];
  const state = { ...structuredClone(PLAIN), ...structuredClone(scene.state), scene: scene.name };
  const chosen = { mission: MISSIONS, left: CONTROLLERS, right: CONTROLLERS };
  const scales = Object.fromEntries(SLIDERS.map(({ name, scale }) => [name, scale]));
  Object.assign(scales, { strength: [0, 5], seed: [1, 999999], rate: [0.1, 4], every: [0, 600] });
  for (const [key, word] of words) {
    if (key === "scene" || !(key in PLAIN)) continue;
    if (chosen[key]) {
      if (chosen[key].some(({ name }) => name === word)) state[key] = word;
    } else if (Array.isArray(PLAIN[key])) {
      state[key] = word.split(".").filter(Boolean).map(Number).filter((id) => Number.isInteger(id) && id >= 0 && id < 65535);
    } else if (key === "cut") {
      state.cut = word === "1";
    } else if (word !== "" && Number.isFinite(Number(word))) {
      const [low, high] = scales[key];
      state[key] = Math.min(Math.max(Number(word), low), high);
      if (["robots", "delay", "seed"].includes(key)) state[key] = Math.round(state[key]);
    }
  }
  return state;
}
