import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeSandbox } from '@headgate/kube-sandbox';
import { normalizedBody, type Answer } from './answer.js';
import { compare, listenForComparison, nearestRelease, parseCompareOptions } from './compare.js';
import { differences, report } from './differences.js';
import { covers, loadReasons } from './reasons.js';
import { loadScenarios, type Json } from './scenario.js';

const SCENARIOS = join(import.meta.dirname, '../../compare');
/** The answers of a real control plane: Kubernetes 1.34.4, KubeVirt 1.9.0, CDI 1.66.0. */
const RECORDED = join(SCENARIOS, 'recorded/real-1.9.json');
/** Guests start and stop in these scenarios. */
const TIMEOUT_MS = 120_000;

let folder: string;
let sandbox: KubeSandbox | undefined;
let lines: string[];
const say = (line: string): void => void lines.push(line);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'headgate-compare-'));
  lines = [];
});

afterEach(async () => {
  await sandbox?.close();
  sandbox = undefined;
  rmSync(folder, { recursive: true });
});

async function kubeconfigOf(version: Parameters<typeof listenForComparison>[0]): Promise<string> {
  sandbox = await listenForComparison(version);
  const path = join(folder, 'kubeconfig');
  writeFileSync(path, sandbox.kubeconfig());
  return path;
}

function scenarioFile(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe('the scenarios', () => {
  test(
    'get the same answers from a cluster and from a sandbox of its release, and leave nothing behind',
    async () => {
      const kubeconfig = await kubevirtCluster();
      expect(await compare({ folders: [SCENARIOS], kubeconfig }, say)).toBe(0);
      expect(lines.at(-1)).toMatch(/^\d{3} requests compared, 0 with differences\.$/);
      expect(sandbox!.store.list('namespaces').filter(({ metadata }) => metadata.name.startsWith('compare-'))).toEqual(
        [],
      );
    },
    TIMEOUT_MS,
  );

  const kubevirtCluster = () => kubeconfigOf('1.9');

  test(
    'get the answers of a real control plane, but for the listed reasons',
    async () => {
      const found = await compare({ folders: [SCENARIOS], against: RECORDED }, say);
      const different = lines.flatMap((line) => /^(\S.* \d+): /.exec(line)?.[1] ?? []);
      expect(different).toEqual([]);
      expect(found).toBe(0);
    },
    TIMEOUT_MS,
  );

  test('show the differences of another release', async () => {
    const kubeconfig = await kubeconfigOf('1.5');
    const found = await compare({ folders: [SCENARIOS], kubeconfig, kubevirt: '1.9', only: 'discovery' }, say);
    expect(found).toBeGreaterThan(0);
    expect(lines.join('\n')).toMatch(
      /discovery 2: GET \/apis\/export\.kubevirt\.io\n {2}body\.versions\.0\.groupVersion/,
    );
  });

  test('are recorded, and compared with the recording', async () => {
    const kubeconfig = await kubeconfigOf('1.9');
    const record = join(folder, 'answers.json');
    expect(await compare({ folders: [SCENARIOS], kubeconfig, record, only: 'options' }, say)).toBe(0);
    expect(readFileSync(record, 'utf8')).not.toMatch(/compare-[0-9a-f]{8}/);
    expect(await compare({ folders: [SCENARIOS], kubeconfig, against: record, only: 'options' }, say)).toBe(0);
  });

  test('of another folder are added, and skipped on a cluster without their API group', async () => {
    scenarioFile('mine.json', {
      scenarios: [
        {
          name: 'mine',
          steps: [
            { method: 'POST', path: 'NS/configmaps', body: { $use: 'configMap', data: { a: null, b: '{ns}' } } },
            { method: 'GET', path: 'NS/configmaps/settings', only: ['data'] },
          ],
        },
        { name: 'mine too', needs: ['absent.example'], steps: [{ method: 'GET', path: 'NS/pods' }] },
      ],
    });
    const kubeconfig = await kubeconfigOf('1.9');
    const record = join(folder, 'out');
    expect(await compare({ folders: [SCENARIOS, folder], kubeconfig, record, only: 'mine' }, say)).toBe(0);
    const { answers } = JSON.parse(readFileSync(record, 'utf8')) as { answers: unknown[] };
    expect(answers).toMatchObject([
      { status: 201 },
      { status: 200, body: { data: { b: '<namespace>' } } },
      { status: 0, request: expect.stringContaining('skipped') },
    ]);
  });
});

describe('the recording of a real control plane', () => {
  const { answers } = JSON.parse(readFileSync(RECORDED, 'utf8')) as { answers: Answer[] };
  const reasons = loadReasons([SCENARIOS]);

  test('has at least 250 requests, and no server error but the three of the guest agent', () => {
    expect(answers.length).toBeGreaterThanOrEqual(250);
    expect(answers.filter(({ status }) => status >= 500).map(({ status, request }) => [status, request])).toEqual(
      ['guestosinfo', 'userlist', 'filesystemlist'].map((path) => [500, expect.stringMatching(`/absent/${path}$`)]),
    );
  });

  test('names no host, no path and no token', () => {
    expect(readFileSync(RECORDED, 'utf8')).not.toMatch(
      /\d+\.\d+\.\d+\.\d+|\/(home|root|tmp|work)\/|eyJ|\.local\b|bearer/i,
    );
  });

  test('has at most five reasons for differences, each for fields that it has', () => {
    expect(reasons.length).toBeLessThanOrEqual(5);
    const known = new Map(answers.map((answer) => [answer.request, answer]));
    for (const { covers: rules } of reasons) {
      for (const { request, field, values } of rules) {
        const answer = known.get(request);
        const body = (answer?.body ?? {}) as Record<string, Json>;
        expect(values).toContainEqual(body[field.replace(/^body\./, '')]);
      }
    }
  });

  test('reports a changed answer, a missing one and an unknown one', async () => {
    const only = 'hotplug of a stopped VM';
    const recording = JSON.parse(readFileSync(RECORDED, 'utf8')) as { kubevirt: string; answers: Answer[] };
    const [, second, third, fourth] = recording.answers.filter(({ request }) => request.startsWith(only));
    second!.status = 500;
    (third!.body as Record<string, Json>)['message'] = 'another text';
    fourth!.request = `${only} 99: GET /nothing`;
    const changed = join(folder, 'changed.json');
    writeFileSync(changed, JSON.stringify(recording));
    expect(await compare({ folders: [SCENARIOS], against: changed, only }, say)).toBe(4);
    expect(lines.filter((line) => /^ {2}\w/.test(line) && !line.includes(only))).toEqual([
      '  status',
      '  body.message',
      '  status',
      '  status',
    ]);
  });
});

describe('a reason', () => {
  const because = 'The clocks differ.';
  const rule = { request: 'a 1: GET /x', field: 'body.status.ready', values: [null, true] };
  const difference = { request: 'a 1: GET /x', field: 'body.status.ready', expected: null, actual: true };

  test('covers only its request, its field and its values', () => {
    const reason = { because, covers: [rule] };
    expect(covers(reason, difference)).toBe(true);
    expect(covers(reason, { ...difference, request: 'a 11: GET /x' })).toBe(false);
    expect(covers(reason, { ...difference, field: 'body.status' })).toBe(false);
    expect(covers(reason, { ...difference, actual: false })).toBe(false);
    expect(covers(reason, { ...difference, expected: undefined })).toBe(false);
  });

  test.each([
    ['no JSON', '{', /is no JSON/],
    ['no list', {}, /has no list "reasons"/],
    ['no sentence', { reasons: [{ covers: [rule] }] }, /needs a sentence/],
    ['no end of the sentence', { reasons: [{ because: 'noise', covers: [rule] }] }, /needs a sentence/],
    ['nothing to cover', { reasons: [{ because, covers: [] }] }, /needs a sentence/],
    ['no values', { reasons: [{ because, covers: [{ request: 'a', field: 'b' }] }] }, /"values"/],
  ])('is refused with %s', (_what, content, message) => {
    mkdirSync(join(folder, 'recorded'));
    scenarioFile('recorded/reasons.json', content);
    expect(() => loadReasons([folder])).toThrow(message);
  });
});

test.each([
  ['no JSON', '{', /is no JSON/],
  ['no list', {}, /has no list "scenarios"/],
  ['a nameless scenario', { scenarios: [{ steps: [] }] }, /needs a "name"/],
  ['a step without a path', { scenarios: [{ name: 'a', steps: [{ method: 'GET' }] }] }, /no "path"/],
  [
    'an unknown object',
    { scenarios: [{ name: 'a', steps: [{ method: 'GET', path: '/', body: { $use: 'x' } }] }] },
    /object "x"/,
  ],
  [
    'a name twice',
    {
      scenarios: [
        { name: 'a', steps: [] },
        { name: 'a', steps: [] },
      ],
    },
    /two scenarios/,
  ],
])('a file with %s is refused', (_what, content, message) => {
  scenarioFile('bad.json', content);
  expect(() => loadScenarios([folder])).toThrow(message);
});

test('uids, times, versions and the namespace do not count as differences', () => {
  const text = JSON.stringify({
    metadata: { uid: 'x', resourceVersion: '7', namespace: 'compare-1', creationTimestamp: 'now' },
    message: 'object 6ba7b810-9dad-41d1-80b4-00c04fd430c8 of compare-1 at 2026-01-01T00:00:00Z with v1.9.0',
  });
  expect(normalizedBody(text, 'compare-1')).toEqual({
    metadata: { namespace: '<namespace>' },
    message: 'object <uid> of <namespace> at <time> with <version>',
  });
});

test('a difference names its request and its field, with both values', () => {
  const answer = { request: 'a 1: GET /x', status: 200, body: { list: [1, { deep: 'old' }] } };
  const other = { ...answer, status: 404, body: { list: [1, { deep: 'new' }, 3] } };
  const found = differences([answer, { request: 'b 1: GET /y', status: 200 }], [other]);
  expect(found.map(({ request, field }) => `${request} ${field}`)).toEqual([
    'a 1: GET /x status',
    'a 1: GET /x body.list.1.deep',
    'a 1: GET /x body.list.2',
    'b 1: GET /y status',
  ]);
  expect(report(found, { expected: 'cluster', actual: 'sandbox' }).slice(0, 4)).toEqual([
    'a 1: GET /x',
    '  status',
    '    cluster  200',
    '    sandbox  404',
  ]);
  expect(differences([answer], [answer])).toEqual([]);
});

test.each([
  ['v1.9.2', '1.9'],
  ['v1.6.7', '1.6.5'],
  ['v1.6.2', '1.6'],
  ['v1.7.9', '1.7.4'],
  ['v2.0.0', '1.9'],
  ['v1.2.0', '1.3'],
  ['devel', '1.9'],
])('a cluster with %s is compared with a sandbox of %s', (tag, release) => {
  expect(nearestRelease(tag)).toBe(release);
});

test('the command line needs a cluster or a recording', () => {
  expect(parseCompareOptions([], SCENARIOS)).toBeUndefined();
  expect(parseCompareOptions(['--help', '--against', 'x'], SCENARIOS)).toBeUndefined();
  expect(
    parseCompareOptions(['--against', 'x', '--scenarios', 'more', '--kubevirt', '1.6.5'], SCENARIOS),
  ).toMatchObject({ against: 'x', folders: [SCENARIOS, 'more'], kubevirt: '1.6.5' });
  expect(() => parseCompareOptions(['--shade'], SCENARIOS)).toThrow("Unknown option '--shade'");
});
