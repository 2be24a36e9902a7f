import 'reflect-metadata';
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Journal } from '@headgate/domain-contracts';
import { MetricsSnapshot } from '../exposition/metrics-snapshot.js';
import { Edge } from '../testing/edge.js';

const MIB = 1024 ** 2;
const isRoot = process.getuid?.() === 0;
const suite = isRoot ? describe : describe.skip;

suite(`on a full disk of the registry${isRoot ? '' : ': needs root, to mount a small one'}`, () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = new Edge();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'headgate-test', edge.folder]);
    await edge.open();
    await edge.send('GET', '/api/vms');
  });

  afterEach(async () => {
    await edge.service.close();
    execFileSync('umount', [edge.folder]);
    rmSync(edge.folder, { recursive: true });
  });

  const changes = [
    ['POST', '/api/vms/default/db/stop', {}],
    ['POST', '/api/vms/default/db/tags', { tag: 'a', on: true }],
    ['DELETE', '/api/vms/default/web', {}],
    ['POST', '/api/folders', { path: 'prod' }],
    ['POST', '/api/ext/bulk', { action: 'stop', refs: ['vm/lab/default/db'] }],
  ] as const;

  test('a change is refused before anything is touched, and accepted again when there is space', async () => {
    const filler = join(edge.folder, 'filler');
    const before = (await edge.send('GET', '/api/vms')).body;
    writeFileSync(filler, Buffer.alloc(24 * MIB));
    for (const [method, path, body] of changes) {
      const { status, json } = await edge.send(method, path, body);
      expect([path, status, json.code]).toEqual([path, 503, 'REGISTRY_FULL']);
      expect(json.error).toContain(edge.folder);
    }
    expect(await edge.send('GET', '/readyz')).toMatchObject({ status: 503, json: { code: 'REGISTRY_FULL' } });
    expect((await edge.send('GET', '/healthz')).status).toBe(200);
    expect((await edge.send('GET', '/api/vms')).body).toBe(before);
    rmSync(filler);
    expect((await edge.send('GET', '/readyz')).status).toBe(200);
    for (const [method, path, body] of changes) expect((await edge.send(method, path, body)).status).toBeLessThan(300);
    const [newest] = edge.service.app.get(Journal, { strict: false }).find({ limit: 1 });
    expect(newest?.outcome).toBe('ok');
  });

  test('the metrics have its free space, and how much changes need', async () => {
    await edge.reopen({}, ['--metrics']);
    const snapshot = edge.service.app.get(MetricsSnapshot, { strict: false });
    const valueOf = async (series: string): Promise<number> => {
      await snapshot.refresh();
      const { body } = await edge.send('GET', '/metrics');
      return Number(new RegExp(`^${series} (\\S+)$`, 'm').exec(body)?.[1]);
    };
    expect(await valueOf('svc_registry_required_bytes')).toBe(16 * MIB);
    expect(await valueOf('svc_registry_free_bytes')).toBeGreaterThan(16 * MIB);
    writeFileSync(join(edge.folder, 'filler'), Buffer.alloc(24 * MIB));
    expect(await valueOf('svc_registry_free_bytes')).toBeLessThan(16 * MIB);
    expect(await valueOf('svc_collection_success')).toBe(1);
  });
});
