import 'reflect-metadata';
import type { Backend } from '@headgate/domain-contracts';
import { MemoryBackend } from '@headgate/testing';
import { openapiDocument } from '../reference/openapi-document.js';
import { previewApplication } from '../reference/preview-application.js';
import { unreachable, Edge, refusalOf } from '../testing/edge.js';
import type { ApiDocument, Schema } from '../testing/fuzz/request-arbitrary.js';

const never = (): Promise<never> => new Promise(() => undefined);

/** Makes every call of an ability hang, as those to an engine that lost its network do. */
function hang(backend: Backend): void {
  const ability = backend.ability.bind(backend);
  backend.ability = ((name: Parameters<Backend['ability']>[0]) => {
    const found = ability(name);
    if (name === 'inventory' || name === 'diagnostics') return Object.assign(Object.create(found), { manifest: never });
    const proxy = new Proxy(found, { get: (target, key) => (key === 'sources' ? Reflect.get(target, key) : never) });
    return 'reason' in found ? found : proxy;
  }) as Backend['ability'];
}

/** Bodies of the routes for which the required fields are not enough. */
const BODIES: Readonly<Record<string, unknown>> = {
  'POST /api/vms/{ns}/{name}/scale': { cpu: 2 },
  'POST /api/vms/{ns}/{name}/volumes': { size: '1Gi' },
  'POST /api/ext/vms/{ns}/{name}/nics/{iface}': { link: 'down' },
  'PATCH /api/ext/vms/{ns}/{name}': { tags: ['a'] },
  'PATCH /api/ext/cts/{ns}/{name}': { tags: ['a'] },
  'POST /api/ext/vms/{ns}/{name}/hardware': { changes: [{ kind: 'scale', cpu: 2 }] },
  'POST /api/ext/cts/{ns}/{name}/hardware': { changes: [{ kind: 'scale', cpu: 2 }] },
  'POST /api/ext/vms/{ns}/{name}/backup': { target: '0123456789abcdef' },
  'POST /api/ext/vms/{ns}/{name}/placement': { pinning: { vcpus: [{ vcpu: 0, cpus: '1' }] } },
};

/** Routes of values that the service keeps itself, also of a lost context. */
const ANSWERED_BY_THE_SERVICE = new Set([
  'GET /api/vms/{ns}/{name}/metrics/history',
  'GET /api/ext/vms/{ns}/{name}/metrics/history',
  'GET /api/ext/cts/{ns}/{name}/metrics/history',
  'GET /api/ext/vms/{ns}/{name}/watchers',
  // The sessions that are open.
  'GET /api/ext/vms/{ns}/{name}/files/{session}',
  'GET /api/ext/vms/{ns}/{name}/files/{session}/entries',
  'GET /api/ext/vms/{ns}/{name}/files/{session}/content',
  'GET /api/ext/vms/{ns}/{name}/files/{session}/archive',
  'DELETE /api/ext/vms/{ns}/{name}/files/{session}',
]);

async function readDocument(): Promise<ApiDocument> {
  const app = await previewApplication();
  try {
    return openapiDocument(app, '0') as unknown as ApiDocument;
  } finally {
    await app.close();
  }
}

/** Each route of a single instance that asks its backend, with a valid body. */
async function instanceRoutes(): Promise<[method: string, path: string, body: unknown][]> {
  const { paths, components } = await readDocument();
  const exampleOf = ({
    $ref,
    type,
    examples,
    enum: allowed,
    properties = {},
    required = [],
    items,
  }: Schema): unknown => {
    if ($ref !== undefined) return exampleOf(components.schemas[$ref.split('/').at(-1)!]!);
    if (examples) return examples[0];
    if (allowed) return allowed[0];
    if (type === 'array') return items ? [exampleOf(items)] : [];
    if (type === 'object') return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name]!)]));
    return type === 'boolean' ? true : type === 'string' ? 'a' : 1;
  };
  return Object.entries(paths)
    .filter(([path]) => path.includes('{ns}/{name}'))
    .flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([method]) => !ANSWERED_BY_THE_SERVICE.has(`${method.toUpperCase()} ${path}`))
        .map(([method, { requestBody }]): [string, string, unknown] => {
          const names: Record<string, string> = { ns: 'default', name: path.includes('/cts/') ? 'box' : 'db' };
          const filled = path
            .replace('{action}', 'stop')
            .replace(/\{(\w+)\}/g, (_all, name: string) => names[name] ?? 'a');
          const schema = requestBody?.content['application/json']?.schema;
          return [
            method.toUpperCase(),
            filled,
            BODIES[`${method.toUpperCase()} ${path}`] ?? (schema && exampleOf(schema)),
          ];
        }),
    );
}

const routes = await instanceRoutes();

describe('a context that is known to be lost', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = new Edge(new MemoryBackend('lab'));
    await edge.open();
    hang(edge.lab);
    edge.lab.engine.disconnect(unreachable);
  });

  afterEach(() => edge.close());

  test.each<[string, string, unknown]>([
    ...routes,
    ['POST', '/api/vms/default/web/start?dryRun=true', undefined],
    ['POST', '/api/vms', { name: 'new', pvc: 'volume-1' }],
    ['POST', '/api/vms?dryRun=true', { name: 'new', pvc: 'volume-1' }],
    ['POST', '/api/cts', { name: 'new', image: 'debian:12' }],
  ])('answers %s %s with 503 immediately', async (method, path, body) => {
    const { status, json } = await edge.send(method, path, body);
    expect([status, json.code]).toEqual([503, 'BACKEND_UNREACHABLE']);
    expect(json.error).toContain('lab does not answer.');
  });

  test.each(['/api/vnc/default/db', '/api/tty/default/db', '/api/tty/default/box?kind=ct'])(
    'refuses the console %s with 503 immediately',
    async (path) => {
      const origin = `http://${edge.base}`;
      expect(await refusalOf(edge.socket(path, { origin }))).toBe(503);
    },
  );

  test('does not delay the answers of the others', async () => {
    const nodes = await edge.send('GET', '/api/nodes');
    expect([nodes.status, nodes.headers['svc-partial']]).toEqual([200, 'true']);
    const { json } = await edge.send('GET', '/api/capabilities');
    expect(json['contexts']).toMatchObject([
      { context: 'lab', up: false },
      { context: 'other', up: true },
    ]);
  });
});
