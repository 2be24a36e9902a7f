import 'reflect-metadata';
import { rmSync } from 'node:fs';
import type { CheckView } from '@headgate/api-contracts';
import { AuditLog, DomainError, FleetAuditLog, TaskStore, type InstancePower } from '@headgate/domain-contracts';
import { SmallDisk } from '@headgate/testing';
import { MetricsSnapshot } from '../exposition/metrics-snapshot.js';
import { checkRegistryDisk } from '../store/registry-check.js';
import { Edge, refusalOf } from '../testing/edge.js';

const MIB = 1024 ** 2;
const isRoot = process.getuid?.() === 0;
const suite = isRoot ? describe : describe.skip;

suite(`on a full disk of the registry${isRoot ? '' : ': needs root, to mount a small one'}`, () => {
  let edge: Edge;
  let disk: SmallDisk;

  beforeEach(async () => {
    edge = new Edge();
    disk = new SmallDisk(edge.folder, 64);
    await edge.open();
    await edge.send('GET', '/api/vms');
  });

  afterEach(async () => {
    await edge.service.close();
    disk.unmount();
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
    const before = (await edge.send('GET', '/api/vms')).body;
    disk.fill(8 * MIB);
    for (const [method, path, body] of changes) {
      const { status, json } = await edge.send(method, path, body);
      expect([path, status, json.code]).toEqual([path, 503, 'REGISTRY_FULL']);
      expect(json.error).toContain(edge.folder);
    }
    expect(await edge.send('GET', '/readyz')).toMatchObject({ status: 503, json: { code: 'REGISTRY_FULL' } });
    expect((await edge.send('GET', '/healthz')).status).toBe(200);
    expect((await edge.send('GET', '/api/vms')).body).toBe(before);
    disk.empty();
    expect((await edge.send('GET', '/readyz')).status).toBe(200);
    for (const [method, path, body] of changes) expect((await edge.send(method, path, body)).status).toBeLessThan(300);
    const [newest] = edge.service.app.get(FleetAuditLog, { strict: false }).find({ limit: 1 });
    expect(newest?.outcome).toBe('ok');
  });

  /** Holds the power actions of the lab back. */
  const hold = (): { readonly held: string[]; readonly release: () => void } => {
    const power = edge.lab.require('power');
    const apply = power.apply.bind(power);
    const gate = Promise.withResolvers<void>();
    const held: string[] = [];
    power.apply = async (...args: Parameters<InstancePower['apply']>) => {
      held.push(args[0].name);
      await gate.promise;
      return apply(...args);
    };
    return { held, release: gate.resolve };
  };

  const putMany = (count: number): string[] =>
    Array.from({ length: count }, (_none, index) => {
      const vm = edge.lab.engine.all()[0]!;
      const name = `many-${index}`;
      edge.lab.engine.put({ ...vm, uid: name, ref: { ...vm.ref, name } } as typeof vm);
      return name;
    });

  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  };

  const entriesOf = (action: string): string[] =>
    edge.service.app
      .get(FleetAuditLog, { strict: false })
      .find({ limit: 1000 })
      .filter((entry) => entry.action === action && entry.kind === 'action')
      .map(({ ref, outcome }) => `${ref} ${outcome}`)
      .sort();

  test('changes that began before the last byte was taken are recorded, in space that was reserved before', async () => {
    const names = putMany(50);
    const { held, release } = hold();
    const answers = names.map((name) => edge.send('POST', `/api/vms/default/${name}/start`, {}));
    await until(() => held.length === names.length);
    disk.fill();
    release();
    for (const { status, json } of await Promise.all(answers)) expect([status, json.error]).toEqual([200, undefined]);
    expect(entriesOf('start')).toEqual(names.map((name) => `vm/lab/default/${name} ok`).sort());
    expect(disk.freeBytes).toBe(0);
  });

  test('a task that began before is recorded to its end, with each of its members', async () => {
    const names = putMany(20);
    const { held, release } = hold();
    const refs = names.map((name) => `vm/lab/default/${name}`);
    const { json: started } = await edge.send('POST', '/api/ext/bulk', { action: 'start', refs });
    await until(() => held.length > 0);
    disk.fill();
    release();
    const tasks = edge.service.app.get(TaskStore, { strict: false });
    await until(() => tasks.get(String(started['task']))?.status !== 'running');
    expect(tasks.get(String(started['task']))).toMatchObject({ status: 'done', bulk: { counts: { done: 20 } } });
    expect(entriesOf('start')).toEqual(refs.map((ref) => `${ref} ok`).sort());
    expect(disk.freeBytes).toBe(0);
  });

  test('reads that are recorded are refused: exports, which may create checkpoints, and consoles', async () => {
    disk.fill();
    for (const [method, path] of [
      ['GET', '/api/vms/default/db/export?checkpoint=one'],
      ['HEAD', '/api/vms/default/db/export?checkpoint=one'],
      ['GET', '/api/vms/default/web/export'],
    ] as const)
      expect([path, (await edge.send(method, path)).status]).toEqual([path, 503]);
    for (const path of ['/api/vnc/default/db', '/api/tty/default/db'])
      expect(await refusalOf(edge.socket(path))).toBe(503);
    expect((await edge.send('GET', '/api/ext/vms/default/db/checkpoints')).json).toEqual([]);
    disk.empty();
    expect((await edge.send('GET', '/api/vms/default/web/export')).status).toBe(200);
  });

  test('refused requests are counted when only the space of changes is left', async () => {
    const denied = () =>
      edge.send('DELETE', '/api/vms/default/web', {}, { host: 'localhost:8006', origin: 'https://evil.example' });
    expect((await denied()).status).toBe(403);
    const journal = edge.service.app.get(FleetAuditLog, { strict: false });
    const before = journal.find({ limit: 1000 }).length;
    edge.service.app.get(AuditLog, { strict: false }).reserve = () => {
      throw new DomainError('REGISTRY_FULL', 'The space is used up.');
    };
    expect((await denied()).status).toBe(403);
    expect(journal.find({ limit: 1000 })).toHaveLength(before);
  });

  test('the doctor reports it, and a disk that is about to be full', async () => {
    const check = async () =>
      ((await edge.send('GET', '/api/doctor')).json as unknown as CheckView[]).find(
        ({ name }) => name === 'registry-disk',
      );
    expect(await check()).toMatchObject({ status: 'warning', context: 'service/registry', fixable: false });
    disk.fill(8 * MIB);
    const full = await check();
    expect(full).toMatchObject({ status: 'error', remedy: expect.stringContaining('move the data directory') });
    expect(full?.message).toBe(
      `The disk of the registry, which holds ${edge.folder}, has 8Mi free. Changes are refused until it has 16Mi, because they could not be recorded.`,
    );
    expect(
      checkRegistryDisk({ registryDisk: { folder: '/srv', freeBytes: 1024 ** 3, requiredBytes: 16 * MIB } }),
    ).toEqual(
      expect.objectContaining({
        status: 'ok',
        message: 'The disk of the registry, which holds /srv, has enough free space.',
      }),
    );
  });

  test('the metrics have its free space, and how much changes need', async () => {
    await edge.reopen({}, ['--metrics']);
    const snapshot = edge.service.app.get(MetricsSnapshot, { strict: false });
    const valueOf = async (series: string): Promise<number> => {
      await snapshot.refresh();
      const { body } = await edge.send('GET', '/metrics');
      return Number(
        body
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.slice(series.length + 1),
      );
    };
    expect(await valueOf('svc_registry_required_bytes')).toBe(16 * MIB);
    expect(await valueOf('svc_registry_free_bytes')).toBeGreaterThan(16 * MIB);
    disk.fill(8 * MIB);
    expect(await valueOf('svc_registry_free_bytes')).toBeLessThan(16 * MIB);
    expect(await valueOf('svc_collection_success')).toBe(1);
    expect(await valueOf('svc_check{name="registry-disk",context="service/registry",severity="error"}')).toBe(1);
  });
});
