import 'reflect-metadata';
import type { Backend } from '@headgate/domain-contracts';
import { away, Edge } from '../testing/edge.js';

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

describe('a context that is known to be lost', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = new Edge();
    await edge.open();
    hang(edge.lab);
    edge.lab.engine.disconnect(away);
  });

  afterEach(() => edge.close());

  test.each([
    ['GET', '/api/vms/default/db', undefined],
    ['DELETE', '/api/vms/default/web', undefined],
    ['POST', '/api/vms/default/web/start', undefined],
    ['POST', '/api/vms/default/web/start?dryRun=true', undefined],
    ['POST', '/api/vms/default/web/tags', { tag: 'a', on: true }],
    ['POST', '/api/vms', { name: 'new', pvc: 'volume-1' }],
    ['POST', '/api/vms?dryRun=true', { name: 'new', pvc: 'volume-1' }],
  ])('answers %s %s with 503 at once', async (method, path, body) => {
    const { status, json } = await edge.send(method, path, body);
    expect([status, json.code]).toEqual([503, 'BACKEND_UNREACHABLE']);
    expect(json.error).toContain('lab does not answer.');
  });

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
