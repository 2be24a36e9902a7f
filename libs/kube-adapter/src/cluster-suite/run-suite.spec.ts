import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runSuite } from './run-suite.js';
import type { SuiteOptions } from './suite-options.js';
import type { SuiteReport } from './suite-report.js';
import type { SuiteSettings } from './suite-settings.js';
import { SuiteSandbox } from './testing/suite-sandbox.contract.js';

// Each run starts Jest in a process of its own.
const TIMEOUT_MS = 180_000;
const PROJECT = join(import.meta.dirname, '../..');

describe('the suites on the cluster of a kubeconfig', () => {
  let cluster: SuiteSandbox;
  let said: string[];
  beforeEach(async () => {
    cluster = await SuiteSandbox.open();
    said = [];
  });
  afterEach(() => cluster.close());

  const run = (
    settings: Partial<SuiteSettings>,
    more: Partial<SuiteOptions> = {},
    signal = new AbortController().signal,
  ) =>
    runSuite({
      options: {
        settings: cluster.settings({ kubeconfig: 'kubeconfig', ...settings }),
        command: 'all',
        keeps: false,
        report: 'report.json',
        ...more,
      },
      project: PROJECT,
      folder: cluster.folder,
      signal,
      isQuiet: true,
      say: (line) => void said.push(line),
    });
  const reportText = (): Promise<string> => readFile(join(cluster.folder, 'report.json'), 'utf8');
  /** Nothing by which the cluster could be found or entered. */
  const expectHarmless = async (): Promise<void> => {
    const text = await reportText();
    const token = /token: "?([^"\s]+)/.exec(cluster.sandbox.kubeconfig())?.[1];
    expect(token?.length).toBeGreaterThan(5);
    for (const secret of [token!, '127.0.0.1', String(cluster.sandbox.port), cluster.folder, 'corp.example', PROJECT])
      expect(text).not.toContain(secret);
  };

  test(
    'run, are reported, and leave nothing behind',
    async () => {
      const before = cluster.contents();
      const settings = { containerDisk: 'guest:1', imageUrl: 'https://images.example/d.img', storageClass: 'topolvm' };
      const code = await run(settings);
      const report = JSON.parse(await reportText()) as SuiteReport;
      expect(report.suites.flatMap(({ failures }) => failures)).toEqual([]);
      expect([code, said.at(-1)]).toEqual([0, 'The namespace suite was deleted.']);
      expect(report).toMatchObject({
        versions: { kubernetes: 'v1.34.0+sandbox', kubevirt: expect.stringMatching(/^v1\.9/), cdi: expect.any(String) },
        nodes: [{ architecture: 'amd64', cpuVendor: 'Intel', count: 2 }],
        failed: 0,
        notRun: [],
        reservesCpus: false,
      });
      expect(report.passed).toBeGreaterThan(200);
      expect(report.suites.map(({ suite }) => suite)).toEqual(
        expect.arrayContaining(['Backend', 'InstancePower', 'InstanceMigration', 'DiskMove', 'GuestInspection']),
      );
      expect(cluster.contents()).toEqual(before);
      await expectHarmless();
    },
    TIMEOUT_MS,
  );

  test(
    'that fail are reported with their messages, and leave nothing behind either',
    async () => {
      const before = cluster.contents();
      cluster.sandbox.faults.failNext({ resource: 'events', verb: 'list' }, 500);
      expect(await run({ suites: ['events'] })).toBe(1);
      const report = JSON.parse(await reportText()) as SuiteReport;
      expect(report.notRun.map(({ remedy }) => remedy).join(' ')).toContain('--image-url');
      const events = report.suites.find(({ suite }) => suite === 'InstanceEvents');
      expect(report.failed).toBe(events?.failed);
      expect(events?.failures[0]?.message).toContain('etcdserver: request timed out');
      expect(cluster.contents()).toEqual(before);
      await expectHarmless();
    },
    TIMEOUT_MS,
  );

  test(
    'that are interrupted say so, and leave nothing behind either',
    async () => {
      const before = cluster.contents();
      const stop = new AbortController();
      const seen = cluster.sandbox.store.subscribe('virtualmachines.kubevirt.io', () => stop.abort());
      expect(await run({ suites: ['power'] }, {}, stop.signal)).toBe(1);
      seen();
      expect(JSON.parse(await reportText())).toMatchObject({ problem: 'The suites were interrupted.', passed: 0 });
      expect(cluster.contents()).toEqual(before);
    },
    TIMEOUT_MS,
  );

  test('prepare a cluster only, or remove that, on request', async () => {
    const before = cluster.contents();
    expect(await run({}, { command: 'prepare' })).toBe(0);
    expect(said).toContain('The namespace suite was created.');
    expect(await run({}, { command: 'remove' })).toBe(0);
    expect(cluster.contents()).toEqual(before);
    await expect(reportText()).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('change nothing in a cluster that can run none of them', async () => {
    await cluster.close();
    cluster = await SuiteSandbox.open({ without: ['kubevirt'] });
    const before = cluster.contents();
    expect(await run({ suites: ['power'] })).toBe(2);
    expect(said.join(' ')).toContain('Install KubeVirt.');
    expect(cluster.contents()).toEqual(before);
  });
});
