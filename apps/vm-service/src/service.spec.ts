import 'reflect-metadata';
import { Edge } from './testing/edge.js';

describe('vm-service', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  test('answers probes, identity, capabilities, nodes and instancetypes', async () => {
    expect((await edge.send('GET', '/readyz')).json).toEqual({ status: 'ready' });
    expect((await edge.send('GET', '/healthz', undefined, { host: '10.0.0.7:8006' })).body).toBe('ok\n');
    expect((await edge.send('GET', '/api/whoami')).json).toEqual({
      login: '',
      name: '',
      admin: true,
      enforced: false,
      trust: 'users',
    });
    expect((await edge.send('GET', '/api/nodes')).json).toMatchObject([
      { name: 'memory-1', context: 'lab' },
      { context: 'other' },
    ]);
    expect((await edge.send('GET', '/api/instancetypes')).json).toEqual({
      instancetypes: ['u1.small'],
      preferences: ['debian'],
      sizes: [{ name: 'u1.small', cpu: 1, mem: '2Gi' }],
    });
    expect((await edge.send('GET', '/api/nads')).json).toEqual([
      { namespace: 'default', name: 'lan', ref: 'default/lan', context: 'lab' },
      { namespace: 'default', name: 'lan', ref: 'default/lan', context: 'other' },
    ]);
    expect((await edge.send('GET', '/api/nads?context=other')).json).toMatchObject([{ context: 'other' }]);
    expect((await edge.send('GET', '/api/nads?context=none')).status).toBe(400);
    expect((await edge.send('GET', '/api/cts')).json).toMatchObject([
      { name: 'box', phase: 'Running', node: 'node-1' },
    ]);
    const { contexts, ...flags } = (await edge.send('GET', '/api/capabilities')).json as Record<string, unknown>;
    expect(flags).toEqual({ storageClass: 'memory', canExpand: false, canSnapshot: false, bootc: false });
    expect(contexts).toMatchObject([
      {
        context: 'lab',
        up: true,
        simulated: true,
        abilities: { power: true, migration: 'Memory has nowhere to migrate to.' },
      },
      { context: 'other', simulated: false },
    ]);
  });

  test('closes everything that it opened', async () => {
    await edge.service.close();
    expect([edge.lab.closed, edge.other.closed]).toEqual([true, true]);
    await edge.open();
  });
});
