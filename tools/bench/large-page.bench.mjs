// The web console in Chromium with 100,000 instances in memory, which change. Run alone: npm run bench -- large-page
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBrowser } from '../../apps/web-console/dev/browser.mjs';
import { VM_SERVICE_FLAGS } from '../start/run-service.mjs';
import { allRows, domNodes, longestFrame, median, openList, searchList } from './ui/page-probes.mjs';
import { startChild } from './vm-service/child.mjs';

const root = join(import.meta.dirname, '../..');
const PAGE = join(root, 'apps/web-console/dist');
const INSTANCES = 100_000;
const CHANGES_PER_SECOND = 20;
const ROUNDS = 3;
const FRAMES = 120;
/** Five rows per frame: fast scrolling with the wheel. */
const STEP_PX = 150;
const PATIENCE_MS = 120_000;
/** Queries, and how many instances of the fleet match them. */
const QUERIES = [
  ['vm-0500', 10],
  ['status:running tag:rack-3', 8_334],
  ['status:stopped', 25_000],
];

export default async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  const browser = await openBrowser();
  let service;
  try {
    buildFleet(folder);
    const args = [String(INSTANCES), '', String(CHANGES_PER_SECOND), PAGE];
    service = await startChild(join(folder, 'fixed-fleet.bench.js'), args, VM_SERVICE_FLAGS);
    const url = `http://127.0.0.1:${service.port}`;
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(PATIENCE_MS);
    const loads = [];
    for (let round = 0; round < ROUNDS; round++) {
      const { row } = await openList(page, url);
      await allRows(page, INSTANCES);
      loads.push({ row, all: await page.evaluate(() => performance.now()) });
    }
    const nodes = await domNodes(page);
    const frames = [];
    for (let round = 0; round < ROUNDS; round++) frames.push(await longestFrame(page, FRAMES, STEP_PX));
    const searches = [];
    for (const [query, matches] of QUERIES) searches.push(await searchList(page, query, matches));
    const heap = await heapMib(page);
    return {
      rows: [
        row('first row of 100,000 instances', median(loads.map((load) => load.row)), 'ms', 1500),
        { what: 'all rows of 100,000 instances', value: median(loads.map((load) => load.all)), unit: 'ms' },
        row('elements in the page', nodes, 'elements', 2000),
        row('longest frame while scrolling and 20 instances change per second', median(frames), 'ms', 50),
        { what: 'results of a query, slowest of three', value: Math.max(...searches), unit: 'ms' },
        { what: 'memory of the page', value: heap, unit: 'MiB' },
      ],
    };
  } finally {
    await browser.close();
    await service?.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

const row = (what, value, unit, limit) => ({
  what,
  value,
  unit,
  target: `at most ${limit} ${unit}`,
  ok: value <= limit,
});

function buildFleet(folder) {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const config = join(import.meta.dirname, 'vm-service/vite.config.js');
  const args = ['build', '--ssr', 'src/bench/fixed-fleet.bench.ts', '--outDir', folder, '--logLevel', 'error'];
  execFileSync(process.execPath, [vite, ...args, '--config', config], {
    cwd: join(root, 'apps/vm-service'),
    stdio: 'inherit',
  });
}

async function heapMib(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / 1024 ** 2;
}
