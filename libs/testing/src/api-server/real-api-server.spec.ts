import { describeOnRealApiServer, RealApiServer } from './real-api-server.js';

describeOnRealApiServer('a real API server', () => {
  let server: RealApiServer;
  beforeAll(async () => {
    server = await RealApiServer.start();
  }, 180_000);
  afterAll(() => server.close());

  test('has the pinned release', async () => {
    expect(JSON.parse((await server.send('GET', '/version')).text)).toMatchObject({
      gitVersion: 'v1.34.4',
      minor: '34',
    });
  });

  test('knows its service accounts, and gives them no rights', async () => {
    await server.createNamespace('lab');
    const token = await server.createServiceAccount('lab', 'headgate');
    const { status, text } = await server.send('GET', '/api/v1/namespaces/lab/pods', undefined, { token });
    expect([status, text]).toEqual([403, expect.stringContaining('system:serviceaccount:lab:headgate')]);
    expect((await server.send('GET', '/api/v1/namespaces/lab/pods', undefined, { token: 'none' })).status).toBe(401);
  });

  test('keeps its objects over a restart of both processes', async () => {
    await server.createNamespace('kept');
    await server.server.kill();
    await server.etcd.kill();
    await server.etcd.start();
    await server.server.start();
    expect((await server.send('GET', '/api/v1/namespaces/kept')).status).toBe(200);
  });

  test('has no old revisions after a compaction', async () => {
    const list = await server.send('GET', '/api/v1/namespaces');
    const { metadata } = JSON.parse(list.text) as { metadata: { resourceVersion: string } };
    await server.createNamespace('newer');
    await server.compact();
    // Its cache of watches has them.
    await server.server.kill();
    await server.server.start();
    const path = `/api/v1/namespaces?watch=true&timeoutSeconds=1&resourceVersion=${metadata.resourceVersion}`;
    expect((await server.send('GET', path)).text).toMatch(/"code":410/);
  });
});

test('a server that does not start shows the end of its log', async () => {
  if (!RealApiServer.isInstalled) return;
  await expect(RealApiServer.start({ flags: ['--no-such-flag'] })).rejects.toThrow(/unknown flag: --no-such-flag/);
});
