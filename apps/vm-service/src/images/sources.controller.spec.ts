import 'reflect-metadata';
import { Edge } from '../testing/edge.js';

const DEBIAN = { name: 'golden', kind: 'url', uri: 'https://example.org/debian.qcow2', description: 'Ours' };

describe('custom sources', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  const add = (source: object) => edge.send('POST', '/api/sources', source);
  const list = async (path: string): Promise<{ name: string; custom?: boolean }[]> =>
    (await edge.send('GET', path)).json as unknown as { name: string; custom?: boolean }[];

  test('are added, replaced and removed, and survive a restart', async () => {
    const added = await add(DEBIAN);
    expect([added.status, added.json]).toEqual([200, { status: 'ok', name: 'golden' }]);
    await add({ name: 'disk', kind: 'containerDisk', uri: 'registry.example.org/debian:13' });
    await add({ ...DEBIAN, kind: 'iso', uri: 'https://example.org/debian.iso' });
    await edge.reopen();
    expect(await list('/api/sources')).toEqual([
      {
        name: 'disk',
        description: '',
        containerDisk: 'registry.example.org/debian:13',
        kind: 'containerDisk',
        defaultUser: '',
        custom: true,
      },
      {
        name: 'golden',
        description: 'Ours',
        containerDisk: '',
        kind: 'iso',
        uri: 'https://example.org/debian.iso',
        defaultUser: '',
        custom: true,
      },
    ]);
    expect((await edge.send('DELETE', '/api/sources/golden')).json).toEqual({ status: 'removed' });
    expect((await list('/api/sources')).map(({ name }) => name)).toEqual(['disk']);
    expect((await edge.send('DELETE', '/api/sources/golden')).status).toBe(404);
  });

  test('are not needed for the built-in catalog, whose entries have the fields of the contract', async () => {
    const images = (await edge.send('GET', '/api/images')).json as unknown as Record<string, string>[];
    for (const { name, description, containerDisk, defaultUser, ...rest } of images) {
      expect([name, description, containerDisk, defaultUser].map((value) => typeof value)).toEqual(
        Array(4).fill('string'),
      );
      expect(Object.keys(rest)).toEqual(['kind']);
    }
    const kinds = Object.fromEntries(images.map(({ name, kind }) => [name, kind]));
    expect(kinds).toMatchObject({ tiny: 'builtLocally', 'debian-13': 'containerDisk', arch: 'cloudImage' });
    expect((await add({ ...DEBIAN, name: 'debian-13' })).json.code).toBe('ALREADY_EXISTS');
  });

  test('follow the built-in images in the catalog', async () => {
    await add({ ...DEBIAN, name: 'aaa' });
    const custom = (await list('/api/images')).map((image) => image.custom ?? false);
    expect(custom.length).toBeGreaterThan(1);
    expect(custom.indexOf(true)).toBe(custom.length - 1);
  });

  test.each([
    DEBIAN,
    { ...DEBIAN, kind: 'iso' },
    { ...DEBIAN, kind: 'containerDisk', uri: 'registry.example.org/debian:13' },
  ])('create VMs by their name, which stay when the source is removed: %j', async (source) => {
    await add(source);
    const created = await edge.send('POST', '/api/vms', { name: 'new', image: 'golden' });
    expect(created.status).toBe(201);
    await edge.send('DELETE', '/api/sources/golden');
    expect((await edge.send('GET', '/api/vms/tailvm/new')).status).toBe(200);
    expect((await edge.send('POST', '/api/vms', { name: 'other', image: 'golden' })).status).toBe(400);
  });

  test.each([
    [400, { ...DEBIAN, name: 'No Name' }],
    [400, { ...DEBIAN, name: '../etc' }],
    [400, { ...DEBIAN, kind: 'floppy' }],
    [400, { ...DEBIAN, uri: 'ftp://example.org/a' }],
    [400, { ...DEBIAN, uri: 'file:///etc/passwd' }],
    [400, { ...DEBIAN, uri: 'https://ann:secret@example.org/a.qcow2' }],
    [400, { ...DEBIAN, uri: `https://example.org/${'a'.repeat(2048)}` }],
    [400, { ...DEBIAN, kind: 'containerDisk', uri: 'https://example.org/a.qcow2' }],
    [400, { ...DEBIAN, kind: 'url', uri: 'registry.example.org/debian:13' }],
    [400, { name: 'golden', kind: 'url' }],
    [400, { ...DEBIAN, user: 'ann' }],
    [409, { ...DEBIAN, name: 'tiny' }],
  ])('answer %i to %j', async (status, source) => {
    const refused = await add(source);
    expect([refused.status, typeof refused.json.error]).toEqual([status, 'string']);
    expect(refused.body).not.toContain('secret');
    expect(await list('/api/sources')).toEqual([]);
  });

  test('are only planned with dryRun', async () => {
    expect((await edge.send('POST', '/api/sources?dryRun=true', DEBIAN)).json).toMatchObject({
      steps: [{ name: 'add source', detail: `golden: ${DEBIAN.uri}` }],
    });
    await add(DEBIAN);
    expect((await edge.send('POST', '/api/sources?dryRun=true', DEBIAN)).json).toMatchObject({
      steps: [{ name: 'replace source' }],
    });
    expect((await edge.send('DELETE', '/api/sources/golden?dryRun=true')).json).toMatchObject({
      steps: [{ name: 'remove source', detail: 'golden' }],
    });
    expect(await list('/api/sources')).toHaveLength(1);
  });

  test('are changed by administrators only', async () => {
    await edge.reopen({ SVC_ADMINS: 'ann' });
    expect((await add(DEBIAN)).status).toBe(403);
    expect(await list('/api/sources')).toEqual([]);
  });
});
