// The robots' core as WebAssembly, and access to its memory.
const SHOWN = 9;

class Engine {
  static async load(packed) {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const { instance } = await WebAssembly.instantiate(await new Response(stream).arrayBuffer());
    const plain = ([name, value]) => [name.replace(/^live_/, ""), value];
    return new Engine(Object.fromEntries(Object.entries(instance.exports).map(plain)));
  }

  constructor(core) {
    this.core = core;
  }

  text() {
    return new TextDecoder().decode(new Uint8Array(this.core.memory.buffer, this.core.text(), this.core.text_length()));
  }

  // The digest of the flight that `host-sim run` flies.
  check() {
    this.core.check();
    return this.text();
  }

  // Starts an episode; returns an error message on failure.
  begin(state) {
    KNOBS.forEach((name, knob) => this.core.turn(knob, state[name]));
    this.core.hand_over(0, CONTROLLERS.findIndex(({ name }) => name === state.left));
    this.core.hand_over(1, CONTROLLERS.findIndex(({ name }) => name === state.right));
    const begun = this.core.begin(MISSIONS.findIndex(({ name }) => name === state.mission), state.robots, state.speed, state.seed);
    if (begun) {
      state.dead.forEach((robot) => this.core.kill(robot));
      state.liars.forEach((robot) => this.core.set_liar(robot, true));
      this.core.cut(state.cut);
    }
    return begun ? "" : this.text();
  }

  robots(side) {
    const length = this.core.show(side);
    return new Float32Array(this.core.memory.buffer, this.core.numbers(), length);
  }

  pairs(side) {
    const length = this.core.pairs(side);
    return new Uint32Array(this.core.memory.buffer, this.core.pairs_at(), length);
  }

  scenery(side) {
    const length = this.core.scenery(side);
    return new Float32Array(this.core.memory.buffer, this.core.scenery_at(), length);
  }

  figures(side) {
    // The call comes first: if memory grows, its buffer is replaced.
    const place = this.core.figures(side);
    const [score, close, disagreement, gain, groups, robots, seconds] = new Float64Array(this.core.memory.buffer, place, 7);
    return { score, close, disagreement, gain, groups, robots, seconds };
  }
}
