import 'reflect-metadata';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { buildVm, MemoryBackend, withStatus } from '@headgate/testing';
import { pino } from 'pino';
import { parseCommandLine } from '../config/command-line.js';
import { loadSettings } from '../config/load-config.js';
import { createService } from '../create-app.js';
import { MetricsSnapshot } from '../exposition/metrics-snapshot.js';

// The exposition of many instances, for tools/bench: `scrape.bench COUNT`, with --expose-gc. Prints one line of JSON:
// the bytes of a scrape, the milliseconds that the service works on one with and without gzip, the bytes that a handled
// scrape leaves on the heap and in buffers before a collection of garbage, and the CPU time and the longest pause of a
// collection of metrics.

const count = Number(process.argv[2]);
const SCRAPES = 200;
const COLLECTIONS = 10;

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
const allocated = (): number => {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const backend = new MemoryBackend('lab');
for (let index = 0; index < count; index++) {
  const name = `vm-${String(index).padStart(5, '0')}`;
  const vm = buildVm({ ref: { namespace: `team-${index % 40}`, name }, uid: name });
  backend.engine.put(withStatus(vm, index % 4 === 0 ? 'Stopped' : 'Running'));
}
const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
const service = await createService({
  settings: loadSettings(parseCommandLine(['--data-dir', folder, '--listen', '127.0.0.1:0', '--metrics']), {}),
  contexts: { backends: [backend], simulated: new Set(), hasTinyGuest: false, notes: [], close: async () => undefined },
  log: pino({ level: 'silent' }),
  pageDir: folder,
});
await service.start();
const snapshot = service.app.get(MetricsSnapshot);
await snapshot.refresh();

/** The times that the service works on a scrape: from its request until the bytes were handed to the socket. */
const handled: number[] = [];
service.app.getHttpServer().prependListener('request', (_request: unknown, response: ServerResponse) => {
  const startedAt = performance.now();
  let endedAt = startedAt;
  const uncork = response.uncork.bind(response);
  response.uncork = () => {
    uncork();
    endedAt = performance.now();
  };
  response.once('close', () => handled.push(endedAt - startedAt));
});

/** Prometheus keeps its connections too; the service identifies the peer of each new one. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const scrape = async (headers: Record<string, string>): Promise<number> => {
  const [response] = await once(get({ port: service.port(), path: '/metrics', headers, agent }), 'response');
  let bytes = 0;
  response.on('data', ({ length }: Buffer) => (bytes += length));
  await once(response, 'end');
  return bytes;
};

const measure = async (headers: Record<string, string>) => {
  const bytes = await scrape(headers);
  for (let index = 0; index < 20; index++) await scrape(headers);
  handled.length = 0;
  for (let index = 0; index < SCRAPES; index++) await scrape(headers);
  return { bytes, ms: median(handled) };
};

const plain = await measure({});
const gzip = await measure({ 'accept-encoding': 'gzip' });

gc!();
const before = allocated();
for (let index = 0; index < SCRAPES; index++) snapshot.read();
const scrapeBytes = (allocated() - before) / SCRAPES;

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const began = process.cpuUsage();
for (let index = 0; index < COLLECTIONS; index++) await snapshot.refresh();
const { user, system } = process.cpuUsage(began);
delay.disable();
const collectionMs = (user + system) / 1000 / COLLECTIONS;
agent.destroy();
await service.close();
rmSync(folder, { recursive: true });
process.stdout.write(
  `${JSON.stringify({ plain, gzip, scrapeBytes, collectionMs, longestPauseMs: delay.max / 1_000_000 })}\n`,
);
process.exit(0);
