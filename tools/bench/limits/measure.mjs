// node --expose-gc measure.mjs CONTENDER SCENARIO: one contender, one scenario, one process; prints what it measured as JSON.
import { contenders } from './contenders.mjs';

const TERMS = { limit: 100, windowMs: 600_000 };
const MANY = 1_000_000;
/** Has no factor in common with MANY: its multiples meet each number once, far from the one before. */
const STRIDE = 618_033;
const YIELD_EVERY = 10_000;

const keyOf = (number) => `@user${number}:example.org`;
// A request brings a string of its own, flat and never seen before, not the one that the last request brought.
const fresh = (text) => Buffer.from(text, 'latin1').latin1Slice();
const memory = () => {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** CPU time of the process, its garbage collector's threads included; whatever else the machine does is left out. */
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
/** Nanoseconds of CPU per decision over keys. Asynchronous contenders are awaited one by one, as a guard does. */
async function timePerDecision({ decide, sync }, keys, times) {
  let passed = 0;
  const started = cpuMs();
  if (sync) for (let i = 0; i < times; i++) passed += decide(keys[i % keys.length]) ? 1 : 0;
  else for (let i = 0; i < times; i++) passed += (await decide(keys[i % keys.length])) ? 1 : 0;
  return { ns: ((cpuMs() - started) * 1e6) / times, passed };
}

/** Microseconds of each of many decisions. */
async function timeEach({ decide, sync }, keys) {
  const times = new Float64Array(1_500_000);
  for (let i = 0; i < times.length; i++) {
    const key = keys[i % keys.length];
    const started = performance.now();
    if (sync) decide(key);
    else await decide(key);
    times[i] = (performance.now() - started) * 1000;
    if (i % YIELD_EVERY === 0) await turn();
  }
  times.sort();
  const at = (share) => times[Math.floor(times.length * share)];
  return { p50: at(0.5), p999: at(0.999), p9999: at(0.9999), longest: times.at(-1) };
}

const scenarios = {
  async oneKey(make) {
    const contender = await make(TERMS);
    const copies = Array.from({ length: 1024 }, () => fresh(keyOf(7)));
    await timePerDecision(contender, copies, 200_000);
    return { ns: (await timePerDecision(contender, copies, 1_000_000)).ns };
  },

  async manyKeys(make) {
    const contender = await make(TERMS);
    const warm = Array.from({ length: 20_000 }, (_, number) => fresh(keyOf(-number)));
    await timePerDecision(await make(TERMS), warm, 200_000);
    const keys = Array.from({ length: MANY }, (_, number) => fresh(keyOf(number)));
    // Who comes again comes in an order of his own, and with a string of his own.
    const again = Array.from({ length: MANY }, (_, number) => fresh(keyOf((number * STRIDE) % MANY)));
    globalThis.gc();
    const first = await timePerDecision(contender, keys, MANY);
    const second = await timePerDecision(contender, again, MANY);
    if (first.passed !== MANY) throw new Error(`${MANY - first.passed} of the first events were refused`);
    return { firstNs: first.ns, againNs: second.ns, bothNs: (first.ns + second.ns) / 2 };
  },

  /** Memory with a million keys, those the contender keeps included: nobody else holds them. */
  async bytesPerKey(make) {
    const contender = await make(TERMS);
    await contender.decide(keyOf(-1));
    const before = memory();
    for (let number = 0; number < MANY; number++) {
      await contender.decide(fresh(keyOf(number)));
      if (number % YIELD_EVERY === 0) await turn();
    }
    const bytes = memory() - before;
    await contender.decide(keyOf(-2));
    return { bytes: bytes / MANY };
  },

  /** Time of each decision while keys come by the hundred thousand and their windows close again. */
  async pauses(make) {
    const contender = await make({ limit: 100, windowMs: 1_000 });
    const keys = Array.from({ length: 300_000 }, (_, number) => fresh(keyOf(number)));
    for (let i = 0; i < 300_000; i++) await contender.decide(keys[i]);
    globalThis.gc();
    const { p50, p999, p9999, longest } = await timeEach(contender, keys);
    // What the machine itself takes away, from a loop that decides nothing.
    const idle = await timeEach({ sync: true, decide: () => true }, keys);
    return { p50, p999, p9999, longest, idle: idle.longest };
  },
};

const [name, scenario] = process.argv.slice(2);
console.log(JSON.stringify(await scenarios[scenario](contenders[name])));
process.exit(0);
