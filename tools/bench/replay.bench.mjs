// How fast homeserver-limits replays a request log, compared with reading and parsing the same lines.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, openSync, rmSync, closeSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../start/workspace.mjs';

const LINES = 1_000_000;
const TARGET_LINES = 10_000_000;
const TARGET_SECONDS = 60;
const MAIN = join(root, 'apps/homeserver-limits/dist/main.js');

const RULES = `[[rules]]
name = "messages"
on = ["message"]
by = "user"
limit = 5
window = "1h"
`;

/** The floor: the lines of the file as objects. */
const PARSE = `
const { createInterface } = require('node:readline');
let requests = 0;
createInterface({ input: require('node:fs').createReadStream(process.argv[1]) })
  .on('line', (line) => void (JSON.parse(line).parts && requests++))
  .on('close', () => console.log(requests));`;

/** Two lines for each request of a day, of 100,000 users. */
function writeLog(path) {
  const file = openSync(path, 'w');
  const requests = LINES / 2;
  const stepMs = (24 * 60 * 60 * 1000) / requests;
  let lines = [];
  for (let i = 0; i < requests; i++) {
    const user = `@user${(i * 7919) % 100_000}:example.org`;
    const t = Math.floor(1_700_000_000_000 + i * stepMs);
    const part =
      i % 5 === 0 ? { event: 'login', account: `user:${user}` } : { event: 'message', user, room: `!room${i % 5000}` };
    const address = `198.51.${i % 200}.${i % 250}`;
    lines.push(JSON.stringify({ t, id: i + 1, address, parts: [part] }));
    lines.push(JSON.stringify({ t, id: i + 1, outcome: i % 10 === 0 ? 'forbidden' : 'success' }));
    if (lines.length >= 10_000) {
      writeSync(file, `${lines.join('\n')}\n`);
      lines = [];
    }
  }
  writeSync(file, lines.length > 0 ? `${lines.join('\n')}\n` : '');
  closeSync(file);
}

function seconds(args) {
  const began = performance.now();
  execFileSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  return (performance.now() - began) / 1000;
}

export default async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'replay-bench-'));
  try {
    const [log, rules] = [join(folder, 'requests.jsonl'), join(folder, 'rules.toml')];
    writeLog(log);
    writeFileSync(rules, RULES);
    const floor = seconds(['-e', PARSE, log]);
    const ours = seconds([MAIN, 'replay', '--log', log, '--rules', rules]);
    const scaled = ours * (TARGET_LINES / LINES);
    return {
      name: 'replay',
      rows: [
        { what: `replay of ${LINES} lines`, value: LINES / ours, unit: 'lines/s', ratio: floor / ours },
        { what: 'reading and parsing the same lines', value: LINES / floor, unit: 'lines/s' },
        {
          what: `replay of ${TARGET_LINES} lines, from that`,
          value: scaled,
          unit: 's',
          target: `at most ${TARGET_SECONDS}`,
          ok: scaled <= TARGET_SECONDS,
        },
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
