// The web console in Chromium, with 10,000 instances of a simulated cluster. Run alone: npm run bench:ui
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { openBrowser } from '../../apps/web-console/dev/browser.mjs';
import {
  allRows,
  domNodes,
  fillPeek,
  idle,
  longestFrame,
  median,
  openList,
  searchPalette,
  seeTag,
  unusedCss,
} from './ui/page-probes.mjs';
import { limitNetwork } from '../../apps/web-console/dev/probes.mjs';
import { startSandboxService } from '../../apps/web-console/dev/sandbox-service.mjs';
import { VM_SERVICE_FLAGS } from '../start/run-service.mjs';

const PAGE = join(import.meta.dirname, '../../apps/web-console/dist');
const INSTANCES = 10_000;
const ROUNDS = 5;
const FRAMES = 120;
/** Five rows per frame: fast scrolling with the wheel. */
const STEP_PX = 150;
const IDLE_MS = 20_000;
/** The first samples and the health checks after the start of the service. */
const SETTLE_MS = 20_000;
/** Between two changes, so that each is a lone one. */
const QUIET_MS = 1_500;
const PATIENCE_MS = 120_000;
const SEARCHES = ['web', 'web-99', 'restart web-1', 'status:running tag:prod', 'w9b'];
const TOUR = [
  '/vms',
  '/vms/create',
  '/containers',
  '/containers/create',
  '/folders',
  '/nodes',
  '/storage',
  '/networks',
  '/images',
  '/plugins',
  '/backups',
  '/schedules',
  '/activity',
  '/journal',
  '/doctor',
  '/messages',
  '/integrations',
  '/approvals',
  '/access',
  '/settings',
];
const TABS = ['overview', 'console', 'serial', 'guest', 'hardware', 'snapshots', 'events', 'manifest'];
const VIEWPORT = { width: 1440, height: 900 };

export default async function run() {
  const service = await startSandboxService(INSTANCES, VM_SERVICE_FLAGS);
  const browser = await openBrowser();
  try {
    const open = async () => {
      const page = await browser.newPage({ viewport: VIEWPORT });
      page.setDefaultTimeout(PATIENCE_MS);
      return page;
    };
    const page = await open();
    await openList(page, service.url);
    await allRows(page, await countVms(service.url));
    await page.waitForTimeout(SETTLE_MS);
    const local = await loads(page, service.url);
    await allRows(page, await countVms(service.url));
    const nodes = await domNodes(page);
    const frame = median(await repeat(ROUNDS, () => longestFrame(page, FRAMES, STEP_PX)));
    const peeks = await repeat(ROUNDS, (round) => fillPeek(page, round));
    await page.keyboard.press('Escape');
    const changes = await repeat(ROUNDS, (round) => change(page, service.url, round));
    const { share, requests } = await idle(page, IDLE_MS);
    await page.keyboard.press('Control+k');
    await page.locator('.hg-palette-input').waitFor();
    const searches = [];
    for (const text of SEARCHES) searches.push(median(await repeat(ROUNDS, () => searchPalette(page, text))));
    await page.close();
    const slow = await open();
    await limitNetwork(slow, 10, 40);
    const remote = await loads(slow, service.url);
    await slow.close();
    const vm = await firstRunning(service.url, 'vms', '/vms');
    const container = await firstRunning(service.url, 'cts', '/containers');
    const tour = await open();
    const places = [...TOUR, ...TABS.map((tab) => `${vm}/${tab}`), container];
    const unused = await unusedCss(tour, service.url, places);
    await tour.close();
    return { rows: toRows({ local, remote, nodes, frame, peeks, changes, share, requests, searches, unused }) };
  } finally {
    await browser.close();
    await service.stop();
  }
}

const countVms = async (url) => (await (await fetch(`${url}/api/vms`)).json()).length;

/** The page of a running instance. Containers have a phase instead of a status. */
async function firstRunning(url, collection, prefix) {
  const instances = await (await fetch(`${url}/api/${collection}`)).json();
  const { context, namespace, name } = instances.find(({ status, phase }) => (status ?? phase) === 'Running');
  return `${prefix}/${context}/${namespace}/${name}`;
}

/** Loads of the page, without a cache of the browser: the medians. */
async function loads(page, url) {
  const rounds = await repeat(ROUNDS, () => openList(page, url));
  return { paint: median(rounds.map(({ paint }) => paint)), row: median(rounds.map(({ row }) => row)) };
}

/** Gives a VM a tag while the page shows the VMs with that tag. */
async function change(page, url, round) {
  await page.waitForTimeout(QUIET_MS);
  const { context, namespace, name } = (await (await fetch(`${url}/api/vms`)).json())[round];
  const tag = `bench-${round}`;
  return seeTag(page, url, { path: `/api/vms/${namespace}/${name}/tags?context=${context}`, tag });
}

async function repeat(rounds, measure) {
  const values = [];
  for (let round = 0; round < rounds; round++) values.push(await measure(round));
  return values;
}

/** The page and its scripts and styles, compressed as the service sends them. */
function compressedKib() {
  const files = readdirSync(PAGE, { recursive: true, withFileTypes: true }).filter(
    (file) => file.isFile() && /\.(html|js|css)$/.test(file.name),
  );
  return (
    files.reduce(
      (sum, { parentPath, name }) => sum + brotliCompressSync(readFileSync(join(parentPath, name))).length,
      0,
    ) / 1000
  );
}

function toRows({ local, remote, nodes, frame, peeks, changes, share, requests, searches, unused }) {
  const row = (what, value, unit, limit) => ({
    what,
    value,
    unit,
    target: `at most ${limit} ${unit}`,
    ok: value <= limit,
  });
  return [
    row(`first paint with ${INSTANCES} instances`, local.paint, 'ms', 800),
    row('first row', local.row, 'ms', 1000),
    row('first row over 10 Mbit/s with a latency of 40 ms', remote.row, 'ms', 1500),
    row('elements in the page', nodes, 'elements', 2000),
    row('longest frame while scrolling', frame, 'ms', 50),
    row('panel of a machine filled after a click', median(peeks), 'ms', 150),
    row('lone change visible after its answer, median', median(changes), 'ms', 60),
    row('lone change visible after its answer, slowest', Math.max(...changes), 'ms', 300),
    row('results of the palette, slowest of the searches', Math.max(...searches), 'ms', 50),
    row('CPU of an idle page', share * 100, '%', 1),
    row(`requests of an idle page in ${IDLE_MS / 1000} s besides the stream`, requests, 'requests', 0),
    row('files of the page, compressed', compressedKib(), 'kB', 450),
    row('styles that a tour does not use', unused * 100, '%', 20),
  ];
}

if (process.argv[1] === import.meta.filename)
  for (const { what, value, unit, target, ok } of (await run()).rows)
    console.log(
      `${what.padEnd(60)} ${value.toFixed(1).padStart(10)} ${unit.padEnd(9)} ${target}: ${ok ? 'met' : 'NOT MET'}`,
    );
