// Compares a gateway in one process with one of two workers. Run alone: npm run bench -- workers
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../start/workspace.mjs';
import { Child } from './gateway/child.mjs';
import { load } from './gateway/load.mjs';

const MAIN = join(root, 'apps/homeserver-limits/dist/main.js');
const ROUNDS = 11;
const LOAD = { connections: 32, ms: 500 };
const WARM_UP_MS = 5000;
const TICKS_PER_SECOND = 100;
const BODY = '{"msgtype":"m.text","body":"hello"}';
const SEND = Buffer.from(
  `PUT /_matrix/client/v3/rooms/!r:b.example/send/m.room.message/1 HTTP/1.1\r\nHost: b.example\r\nAuthorization: Bearer bench\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
);
/** A limit that is never reached. */
const RULE = `[[rules]]\nname = "messages"\non = ["message"]\nby = "source"\nlimit = 1000000\nwindow = "1s"\n`;

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** The CPU time of a gateway's processes so far, in µs. */
function cpuOf({ process: { pid } }) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [pid, ...children].map((one) => {
    const fields = readFileSync(`/proc/${one}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1e6;
  });
}

/** Responses per second, and the CPU time per response of all processes and of the busiest one, in µs. */
async function measure(gateway) {
  const before = cpuOf(gateway);
  const rate = await load(gateway.url, SEND, LOAD);
  const used = cpuOf(gateway).map((cpu, index) => (cpu - before[index]) / ((rate * LOAD.ms) / 1000));
  return { rate, total: used.reduce((sum, one) => sum + one, 0), busiest: Math.max(...used) };
}

/** Short rounds in turn, so that other load on the machine affects both. */
async function compare(one, two) {
  for (const gateway of [one, two]) await load(gateway.url, SEND, { ...LOAD, ms: WARM_UP_MS });
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const first = round % 2 === 0;
    const figures = [await measure(first ? one : two), await measure(first ? two : one)];
    rounds.push(first ? figures : figures.toReversed());
  }
  const of = (select) => median(rounds.map(select));
  return {
    throughput: of(([, ours]) => ours.rate),
    ratio: of(([base, ours]) => ours.rate / base.rate),
    single: of(([base]) => base.total),
    total: of(([, ours]) => ours.total),
    // Where every process has a CPU of its own, the busiest one is the limit.
    possible: of(([base, ours]) => base.total / ours.busiest),
  };
}

export default async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  const started = [];
  const keep = async (starting) => {
    const server = await starting;
    started.push(server);
    return server;
  };
  try {
    const upstream = await keep(Child.start([join(import.meta.dirname, 'gateway/upstream.mjs')]));
    const start = (name, workers, rules) => {
      const config = join(folder, `${name}.toml`);
      writeFileSync(config, `[server]\nworkers = ${workers}\n[gateway]\nupstream = "${upstream.url}"\n${rules}`);
      return keep(Child.start([MAIN, '--config', config, '--listen', '127.0.0.1:0', '--data-dir', join(folder, name)]));
    };
    const kinds = [
      ['relayed', await start('one', 1, ''), await start('two', 2, '')],
      ['under a message rule', await start('ruled-one', 1, RULE), await start('ruled-two', 2, RULE)],
    ];
    const rows = [];
    for (const [kind, one, two] of kinds) {
      const { throughput, ratio, single, total, possible } = await compare(one, two);
      rows.push(
        {
          what: `sends ${kind}, two workers (ratio: to one process)`,
          value: throughput,
          unit: 'requests/s',
          ratio,
          target: 'at least 1.8 on two free CPUs',
          ok: ratio >= 1.8,
        },
        { what: `CPU of a send ${kind}, one process`, value: single, unit: 'µs' },
        { what: `CPU of a send ${kind}, two workers and the main process`, value: total, unit: 'µs' },
        {
          what: `CPU of one process to that of the busiest of three, ${kind}`,
          value: possible,
          unit: 'times',
          target: 'at least 1.8',
          ok: possible >= 1.8,
        },
      );
    }
    rows.push({ what: 'CPUs, with the clients and the upstream', value: availableParallelism(), unit: '' });
    return { name: 'workers', rows };
  } finally {
    for (const server of started.reverse()) await server.end();
    rmSync(folder, { recursive: true, force: true });
  }
}
