// What can be chosen, and scenes that show something.
const MISSIONS = [
  { name: "flocking", title: "flocking in the plane", score: "velocity variation", unit: "m²/s²", noise: "m/s", range: [1e-5, 10] },
  { name: "flocking-3d", title: "flocking in space", score: "velocity variation", unit: "m²/s²", noise: "m/s", range: [1e-5, 10] },
  { name: "coverage", title: "coverage of an area", score: "squared distance to a robot", unit: "m²", noise: "m", range: [0.1, 10],
    rivals: ["Lloyd, as far as sensors reach", "Lloyd, sees everything"] },
  { name: "rendezvous", title: "robots that meet", score: "squared distance from the middle", unit: "m²", noise: "m", range: [1e-5, 100],
    rivals: ["To the neighbours’ mean", "To the middle of all"] },
];

const CONTROLLERS = [
  { name: "averaging", title: "Averaging, one hop" },
  { name: "expert", title: "Expert, sees everything" },
  { name: "offline", title: "WD-GNN, as trained" },
  { name: "paper", title: "WD-GNN online, paper’s rule" },
  { name: "online", title: "WD-GNN online" },
  { name: "wary", title: "WD-GNN online, wary" },
];

// What a controller is called in a task.
function titled(controller, mission) {
  const number = CONTROLLERS.findIndex(({ name }) => name === controller);
  return MISSIONS.find(({ name }) => name === mission).rivals?.[number] ?? CONTROLLERS[number].title;
}

// In the order of the core's knobs.
const KNOBS = ["range", "loss", "noise", "spread", "delay", "strength"];

const percent = (share) => `${Math.round(100 * share)} %`;
const SLIDERS = [
  { name: "robots", title: "Robots", scale: [2, 1000], say: (n) => `${n}`, anew: true },
  { name: "range", title: "Radio range", scale: [0.5, 6, 0.1], say: (x) => `${x.toFixed(1)} m` },
  { name: "speed", title: "Starting speed", scale: [0, 6, 0.1], say: (x) => `${x.toFixed(1)} m/s`, anew: true },
  { name: "loss", title: "Frames lost", scale: [0, 0.95, 0.05], say: percent },
  { name: "noise", title: "Sensor noise", scale: [0, 1, 0.01], say: (x, mission) => `${x.toFixed(2)} ${mission.noise}` },
  { name: "spread", title: "Motors differ by", scale: [0, 0.9, 0.05], say: (x) => `± ${percent(x)}` },
  { name: "delay", title: "Motors late by", scale: [0, 20, 1], say: (n, mission, period) => `${Math.round(1000 * n * period)} ms` },
];

const PLAIN = {
  scene: "late", mission: "flocking", left: "offline", right: "online",
  robots: 50, range: 2, speed: 3, loss: 0, noise: 0, spread: 0, delay: 0, strength: 1,
  seed: 1, rate: 1, every: 0, cut: false, liars: [], dead: [],
};

const SCENES = [
  {
    name: "late", title: "Late motors", state: { delay: 8 },
    lead: "Every motor answers 80 ms late. <b>Left</b>, the network as it was trained swings for ever. <b>Right</b>, the same robots from the same start learn in flight: each notices that it overshoots and turns its own gain down, and the swing is gone.",
    note: "Learning wins here because robots are not what training assumed: the expert, who sees everything, swings too, and so does the paper’s own learning rule, which leaves the gain alone (choose them above). Where robots are as assumed, it changes next to nothing (scene “As trained”), and with frozen sensors or half the range lost it costs a little: docs/experiments.md has all eighteen conditions.",
  },
  {
    name: "payload", title: "Payload dropped", state: { delay: 2, strength: 2 },
    lead: "A payload is gone and motors do twice what they are told, 20 ms late. <b>Left</b> nobody knows. <b>Right</b> every robot finds out by itself. Take the payload up and drop it again with the button.",
  },
  {
    name: "noise", title: "Noisy sensors", state: { noise: 0.2 },
    lead: "Velocities are sensed with an error of 0.2 m/s. A high gain adds noise of its own; <b>right</b>, robots that learn turn it down.",
  },
  {
    name: "trained", title: "As trained", state: {},
    lead: "Robots are what training assumed. Both swarms agree within a second, and learning in flight <b>changes next to nothing</b>.",
  },
  {
    name: "no-network", title: "No network", state: { delay: 8, left: "averaging" },
    lead: "Late motors again. <b>Left</b>, plain averaging of the neighbours’ velocities, without any network: where motors are on time it is hard to beat, here it swings like the network that does not learn.",
  },
  {
    name: "liars", title: "Liars", state: { left: "online", right: "wary", liars: [3, 14, 22, 31, 45] },
    lead: "Five robots (ringed) tell velocities that are 5 m/s off. <b>Left</b>, everybody is believed. <b>Right</b>, only who bears itself out: a word must go with the track that it left.",
  },
  {
    name: "space", title: "In space", state: { mission: "flocking-3d", delay: 8 },
    lead: "The same in three dimensions, with late motors: another network, another task, the same core.",
  },
  {
    name: "coverage", title: "Coverage", state: { mission: "coverage", robots: 30, range: 3, speed: 0, left: "averaging", right: "offline", rate: 4 },
    lead: "Robots spread over a square in which there is more to see in some places (yellow), and those move. <b>Left</b>, Lloyd’s way as far as sensors reach; <b>right</b>, the network, which also heeds what neighbours heard.",
  },
  {
    name: "rendezvous", title: "Rendezvous", state: { mission: "rendezvous", robots: 20, range: 4, speed: 0, left: "averaging", right: "offline", every: 5 },
    lead: "Robots that meet. <b>Left</b>, everybody goes to its neighbours’ mean; <b>right</b>, the network. A task that was written outside of this project’s core, in one small crate. It starts anew every five seconds.",
  },
];

// A state as a link carries it: what differs from the scene's own.
function toLink(state) {
  const base = { ...PLAIN, ...SCENES.find(({ name }) => name === state.scene)?.state };
  const words = [`scene=${state.scene}`];
  for (const key of Object.keys(PLAIN)) {
    const [now, before] = [state[key], base[key]].map((value) => (Array.isArray(value) ? value.join(".") : String(Number(value) === Number(value) ? Number(value) : value)));
    if (key !== "scene" && now !== before) words.push(`${key}=${encodeURIComponent(now)}`);
  }
  return `#${words.join("&")}`;
}

// The state that a link carries. What cannot be is left out.
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
