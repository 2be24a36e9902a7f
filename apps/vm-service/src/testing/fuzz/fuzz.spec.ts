import 'reflect-metadata';
import fc from 'fast-check';
import { formatRef, POWER_ACTIONS } from '@headgate/domain-contracts';
import { pino } from 'pino';
import { chooseContexts } from '../../composition/choose-contexts.js';
import { parseCommandLine } from '../../config/command-line.js';
import { loadSettings } from '../../config/load-config.js';
import { createService } from '../../create-app.js';
import { Edge } from '../edge.js';
import { openapiDocument } from '../../reference/openapi-document.js';
import { previewApplication } from '../../reference/preview-application.js';
import { requestArbitrary, type ApiDocument, type FuzzRequest, type KnownNames } from './request-arbitrary.js';

/** `HEADGATE_FUZZ_RUNS=100000 npx nx test @headgate/vm-service -- fuzz` runs more; a seed makes a run repeatable. */
const RUNS = Number(process.env['HEADGATE_FUZZ_RUNS'] ?? 2000);
const SEED = Number(process.env['HEADGATE_FUZZ_SEED'] ?? 8006);
/** A request takes a few milliseconds. Shrinking a failure takes many more requests. */
const TIMEOUT_MS = 60_000 + RUNS * 20;

/** A backend may lack an ability. Nothing else is missing, slow or unreachable. */
const EXPECTED_SERVER_ERRORS = [501];
/** Most guests have no agent, or are not running. */
const NO_AGENT = 'GUEST_AGENT_UNREACHABLE';

const ACTIONS = [...POWER_ACTIONS, 'resume', 'migrate'];

/** The service over a simulated cluster, through the real Kubernetes adapter. */
class ClusterEdge extends Edge {
  override async open(): Promise<this> {
    const options = parseCommandLine(['--sandbox=6', '--data-dir', this.folder, '--listen', '127.0.0.1:0']);
    const settings = loadSettings(options, {});
    const log = pino({ level: 'silent' });
    const contexts = await chooseContexts({ options, settings, log });
    this.service = await createService({ settings, contexts, log, pageDir: this.folder, peerUsers: this.peerUsers });
    await this.service.start();
    return this;
  }
}

async function apiDocument(): Promise<ApiDocument> {
  const app = await previewApplication();
  const document = openapiDocument(app, '0');
  await app.close();
  return document as unknown as ApiDocument;
}

interface Target {
  readonly edge: Edge;
  readonly known: KnownNames;
  /** Brings back what earlier requests have deleted. */
  restore(): void;
}

function memoryTarget(): Target {
  const edge = new Edge();
  const instances = [...edge.lab.engine.all(), ...edge.other.engine.all()];
  return {
    edge,
    known: {
      namespaces: ['default', 'tailvm', 'local'],
      names: ['web', 'db', 'twin', 'box', 'tiny', 'golden'],
      contexts: ['lab', 'other', 'none'],
      refs: instances.map(({ ref }) => formatRef(ref)),
      actions: ACTIONS,
    },
    restore: () => {
      for (const instance of instances) {
        const { engine } = instance.ref.context === 'lab' ? edge.lab : edge.other;
        if (!engine.all().some(({ ref }) => formatRef(ref) === formatRef(instance.ref))) engine.put(instance);
      }
    },
  };
}

const clusterTarget = (): Target => ({
  edge: new ClusterEdge(),
  known: {
    namespaces: ['default', 'tailvm', 'kube-system'],
    names: ['web', 'web-1', 'db', 'golden', 'debian-12'],
    contexts: ['sandbox', 'none'],
    refs: ['vm/sandbox/tailvm/web', 'ct/sandbox/tailvm/web', 'vm/sandbox/default/db'],
    actions: ACTIONS,
  },
  restore: () => undefined,
});

describe.each([
  ['memory', memoryTarget, RUNS],
  // Creating and deleting takes the simulated cluster longer.
  ['a simulated cluster', clusterTarget, RUNS / 4],
] as const)('any request over the API document, on %s', (_title, openTarget, runs) => {
  let target: Target;
  let document: ApiDocument;
  /** How many answers there were of each hundred: 2 for 2xx and so on. */
  const answers = new Map<number, number>();

  beforeAll(async () => {
    document = await apiDocument();
    target = openTarget();
    await target.edge.open();
    await target.edge.send('GET', '/api/vms');
  });

  afterAll(() => target.edge.close());

  const check = async ({ method, path, body, headers }: FuzzRequest): Promise<void> => {
    const { status, headers: answered, body: text, json } = await target.edge.send(method, path, body, headers);
    const hundred = Math.floor(status / 100);
    answers.set(hundred, (answers.get(hundred) ?? 0) + 1);
    if (status >= 500 && json.code !== NO_AGENT) expect(EXPECTED_SERVER_ERRORS).toContain(status);
    if (String(answered['content-type']).startsWith('application/json') && text !== '') JSON.parse(text);
    if (status >= 400) {
      expect([typeof json.error, typeof json.code]).toEqual(['string', 'string']);
      expect(text).not.toMatch(/\bat .+\.[jt]s:\d+/);
    }
  };

  test(
    `gets an answer, and never an error of our own (${runs} requests)`,
    async () => {
      const property = fc.asyncProperty(requestArbitrary(document, target.known), async (request) => {
        target.restore();
        await check(request);
      });
      await fc.assert(property, { numRuns: runs, seed: SEED, endOnFailure: runs > 10_000 });
      expect((await target.edge.send('GET', '/healthz')).status).toBe(200);
      // The requests are neither all refused nor all harmless.
      for (const hundred of [2, 4]) expect(answers.get(hundred)).toBeGreaterThan(runs / 10);
    },
    TIMEOUT_MS,
  );
});
