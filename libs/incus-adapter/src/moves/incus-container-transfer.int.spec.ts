import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { join } from 'node:path';
import {
  SystemClock,
  type ContainerTransfer,
  type InstanceRef,
  type TransferPlan,
  type TransferSpec,
} from '@headgate/domain-contracts';
import { INCUS_FLAVORS, PrivateIncusd, TINY_ALIAS, whyIncusIsUnavailable } from '@headgate/testing';
import type { InstanceObject } from '../api/incus-objects.js';
import { IncusBackend } from '../incus-backend.js';

const MIB = 1024 ** 2;
const TIMEOUT_MS = 240_000;
const { signal } = new AbortController();

interface End {
  readonly daemon: PrivateIncusd;
  readonly backend: IncusBackend;
  readonly transfer: ContainerTransfer;
}

const why = INCUS_FLAVORS.map(whyIncusIsUnavailable).find((reason) => reason !== undefined);
const describeOnBoth = why === undefined ? describe : describe.skip;

describeOnBoth(`moves of containers between Incus and LXD${why === undefined ? '' : ` (${why})`}`, () => {
  let folder: string;
  const ends = {} as Record<'incus' | 'lxd', End>;
  let count = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'headgate-moves-'));
    await Promise.all(
      INCUS_FLAVORS.map(async (flavor) => {
        const daemon = await PrivateIncusd.start(flavor);
        const target = { kind: 'socket', path: daemon.socket } as const;
        const backend = IncusBackend.open({ context: flavor, target, dataDir: folder, clock: new SystemClock() });
        ends[flavor] = { daemon, backend, transfer: backend.require('containerTransfer') };
      }),
    );
  }, TIMEOUT_MS);
  afterAll(async () => {
    for (const end of Object.values(ends)) {
      await end.backend.close();
      await end.daemon.close();
    }
    if (folder) await rm(folder, { recursive: true, force: true });
  }, TIMEOUT_MS);

  const refOn = (context: 'incus' | 'lxd', name = `box-${++count}`): InstanceRef => ({
    kind: 'ct',
    context,
    namespace: 'default',
    name,
  });
  const inside = ({ context, name }: InstanceRef, script: string): Promise<string> =>
    ends[context as 'lxd'].daemon.run('exec', name, '--', 'sh', '-c', script);
  const run = ({ context }: Pick<InstanceRef, 'context'>, ...args: string[]): Promise<string> =>
    ends[context as 'lxd'].daemon.run(...args);
  const objectOf = async (ref: InstanceRef): Promise<InstanceObject> =>
    JSON.parse(await run(ref, 'query', `/1.0/instances/${ref.name}`)) as InstanceObject;
  const volumes = async (context: 'incus' | 'lxd'): Promise<string[]> =>
    (await run({ context }, 'storage', 'volume', 'list', 'default', 'type=custom', '-c', 'n', '-f', 'csv'))
      .split('\n')
      .filter((name) => name !== '');
  const containersOf = ({ context }: InstanceRef) => ends[context as 'lxd'].backend.require('containers');
  /** One of the service, with a data volume and some content, stopped. */
  const given = async (context: 'incus' | 'lxd', privileged = false): Promise<InstanceRef> => {
    const ref = refOn(context);
    const size = { cpu: 1, memoryBytes: 256 * MIB, diskBytes: 64 * MIB, storageClass: '' };
    await containersOf(ref).create({ ref, image: TINY_ALIAS, ...size, privileged });
    // Old times: rsync, with which the servers copy snapshots, keeps no time of a folder that is of the present second.
    await inside(
      ref,
      `cd /root; echo 'grüße ☃' > 'ä ö'; mkfifo fifo; ln 'ä ö' hard; ln -s /nowhere sym; chmod 4711 hard
       mkdir /data/sub; echo data > /data/sub/file; chown -R 5:6 /data/sub; chown 5:0 /data; chmod 750 /data
       find /root /data -exec touch -h -d '2001-02-03 04:05:06' {} +; sync`,
    );
    await containersOf(ref).stop(ref);
    return ref;
  };
  const CHECK = `cd /root; cat 'ä ö'; readlink sym; test -p fifo && stat -c '%a %h %u' hard
    stat -c '%u:%g %a' /data /data/sub /data/sub/file; cat /data/sub/file; touch /data/written && echo writable`;
  /** Without the permissions of /data, a loss of the plan. */
  const CONTENT = 'grüße ☃\n/nowhere\n4711 2 0\n5:0 711\n5:6 755\n5:6 644\ndata\nwritable\n';
  const specFor = async (source: InstanceRef, ref: InstanceRef, more: Partial<TransferSpec['mapping']> = {}) => ({
    id: randomUUID(),
    ref,
    container: (await ends[source.context as 'lxd'].transfer.describe(source)).container,
    mapping: { networks: {}, storageClasses: {}, ...more },
  });
  const receiverOf = ({ ref }: TransferSpec): ContainerTransfer => ends[ref.context as 'lxd'].transfer;
  const senderOf = (source: InstanceRef): ContainerTransfer => ends[source.context as 'lxd'].transfer;
  const copy = async (source: InstanceRef, spec: TransferSpec): Promise<void> => {
    for (const part of spec.container.parts) {
      const archive = await senderOf(source).open({ id: spec.id, ref: source }, { part, signal });
      await receiverOf(spec).receive(spec, { part, signal }, archive);
    }
  };
  const hashes = (transfer: ContainerTransfer, spec: TransferSpec, ref: InstanceRef): Promise<string[]> =>
    Promise.all(spec.container.parts.map((part) => transfer.fingerprint({ id: spec.id, ref }, { part, signal })));
  const codes = ({ refusals }: Pick<TransferPlan, 'refusals'>): string[] => refusals.map(({ code }) => code);

  test.each([
    ['incus', 'lxd', false],
    ['lxd', 'incus', false],
    ['incus', 'lxd', true],
    ['lxd', 'incus', true],
  ] as const)(
    'copies a container from %s to %s with its volume, its snapshots and its settings (privileged: %s)',
    async (from, to, privileged) => {
      const source = await given(from, privileged);
      const { name } = source;
      await ends[from].backend.require('containers').setTag(source, 'prod', true);
      const snapshots = ends[from].backend.require('snapshots');
      const { remaining } = await snapshots.create(source, { name: 'before' });
      await remaining?.({ step: () => undefined, progress: () => undefined, log: () => undefined, signal } as never);
      await run(source, 'config', 'set', name, 'boot.autostart=true', 'user.note=yes: "ü"\n0o17');
      const before = await objectOf(source);
      const spec = await specFor(source, refOn(to, `moved-${name}`));
      const plan = await ends[to].transfer.plan(spec);
      expect([codes(plan), plan.warnings]).toEqual([[], []]);
      expect(plan.losses).toMatchObject([{ what: expect.stringContaining('permissions of /data itself') as string }]);
      await copy(source, spec);
      expect(await hashes(senderOf(source), spec, source)).toEqual(await hashes(receiverOf(spec), spec, spec.ref));
      await receiverOf(spec).commit(spec);
      await containersOf(spec.ref).start(spec.ref);
      expect(await inside(spec.ref, CHECK)).toBe(CONTENT);
      const found = await objectOf(spec.ref);
      expect(found.config['volatile.uuid']).toBe(spec.id);
      for (const key of ['limits.cpu', 'limits.memory', 'boot.autostart', 'user.note', 'user.headgate.image'])
        expect([key, found.config[key]]).toEqual([key, before.config[key]]);
      expect([found.description, found.config['security.privileged']]).toEqual([
        before.description,
        privileged ? 'true' : undefined,
      ]);
      expect(await ends[to].backend.require('snapshots').list(spec.ref)).toMatchObject([{ name: 'before' }]);
      // Nothing of the source has changed, and no backup is left.
      const after = await objectOf(source);
      expect([after.status, after.config, after.devices]).toEqual([before.status, before.config, before.devices]);
      expect(JSON.parse(await run(source, 'query', `/1.0/instances/${name}/backups`))).toEqual([]);
      expect(JSON.parse(await run(spec.ref, 'query', `/1.0/instances/${spec.ref.name}/backups`))).toEqual([]);
      // Each is deleted with its own volume only.
      await containersOf(source).delete(source);
      expect(await volumes(from)).not.toContain(`${name}-ct-data`);
      expect(await inside(spec.ref, 'cat /data/sub/file')).toBe('data\n');
      await containersOf(spec.ref).delete(spec.ref);
      expect(await volumes(to)).not.toContain(`${spec.ref.name}-ct-data`);
    },
    TIMEOUT_MS,
  );

  test(
    'removes the incomplete copy, also a protected one, and nothing else',
    async () => {
      const source = await given('incus');
      await run(source, 'config', 'set', source.name, 'security.protection.delete=true');
      const other = await given('lxd');
      const spec = await specFor(source, refOn('lxd', source.name));
      await copy(source, spec);
      expect(await receiverOf(spec).state(spec)).toBe('partial');
      await receiverOf(spec).discard(spec);
      expect(await receiverOf(spec).state(spec)).toBe('absent');
      expect(await ends.lxd.daemon.instances()).toEqual([other.name]);
      expect(await volumes('lxd')).toEqual([`${other.name}-ct-data`]);
      expect(await volumes('incus')).toContain(`${source.name}-ct-data`);
      await containersOf(other).delete(other);
    },
    TIMEOUT_MS,
  );

  test(
    'leaves a container and a volume of another client alone that have the name',
    async () => {
      const source = await given('lxd');
      const spec = await specFor(source, refOn('incus', source.name));
      await run(spec.ref, 'storage', 'volume', 'create', 'default', `${source.name}-ct-data`, 'user.mine=yes');
      expect(codes(await receiverOf(spec).plan(spec))).toEqual(['ALREADY_EXISTS']);
      await expect(copy(source, spec)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
      await receiverOf(spec).discard(spec);
      expect(await volumes('incus')).toContain(`${source.name}-ct-data`);
      await run(spec.ref, 'storage', 'volume', 'delete', 'default', `${source.name}-ct-data`);
      // Another client is first while the volume is copied.
      const [data = '', root = ''] = spec.container.parts;
      const transfer = receiverOf(spec);
      const end = { id: spec.id, ref: source };
      await transfer.receive(spec, { part: data, signal }, await senderOf(source).open(end, { part: data, signal }));
      await run(spec.ref, 'init', TINY_ALIAS, source.name);
      const { config } = await objectOf(spec.ref);
      const archive = await senderOf(source).open(end, { part: root, signal });
      await expect(transfer.receive(spec, { part: root, signal }, archive)).rejects.toMatchObject({
        code: 'ALREADY_EXISTS',
      });
      await transfer.discard(spec);
      expect((await objectOf(spec.ref)).config).toEqual(config);
      expect(await volumes('incus')).not.toContain(`${source.name}-ct-data`);
      await run(spec.ref, 'delete', source.name);
      await containersOf(source).delete(source);
    },
    TIMEOUT_MS,
  );

  test(
    'refuses what the destination lacks, and takes another pool and another network',
    async () => {
      const source = await given('incus');
      const { name } = source;
      await run(source, 'profile', 'create', 'special');
      await run(source, 'profile', 'add', name, 'special');
      await run(source, 'config', 'device', 'add', name, 'eth0', 'nic', 'nictype=macvlan', 'parent=lo');
      const spec = await specFor(source, refOn('lxd', name));
      const wanted = { ...spec.container, arch: 's390x', networks: ['lan'] };
      const mapping = { networks: {}, storageClasses: { default: 'none' } };
      const refused = await receiverOf(spec).plan({ ...spec, container: wanted, mapping });
      expect(refused.refusals.map(({ reason }) => reason)).toEqual([
        expect.stringContaining('has no storage pool none'),
        expect.stringContaining('for s390x'),
        expect.stringContaining('no network or interface lan'),
        expect.stringContaining('no profile special'),
      ]);
      await run(spec.ref, 'profile', 'create', 'special', '-q');
      await run(spec.ref, 'profile', 'set', 'special', 'user.other=1');
      await run(spec.ref, 'storage', 'create', 'second', 'dir');
      const mapped = { ...spec, mapping: { networks: {}, storageClasses: { default: 'second' } } };
      const plan = await receiverOf(spec).plan(mapped);
      expect([codes(plan), plan.warnings]).toEqual([
        [],
        [expect.stringContaining('The profile special of lxd differs')],
      ]);
      await copy(source, mapped);
      const { devices, profiles } = await objectOf(spec.ref);
      expect(profiles).toEqual(['default', 'special']);
      expect(devices).toMatchObject({
        root: { pool: 'second' },
        data: { pool: 'second', source: `${name}-ct-data` },
        eth0: { parent: 'lo' },
      });
      await receiverOf(spec).commit(spec);
      await containersOf(spec.ref).delete(spec.ref);
      expect(await run(spec.ref, 'storage', 'volume', 'list', 'second', 'type=custom', '-f', 'csv')).toBe('');
    },
    TIMEOUT_MS,
  );

  test(
    'refuses a container that depends on its machine, and moves a plain one of another client',
    async () => {
      const ref = refOn('lxd');
      await run(ref, 'init', TINY_ALIAS, ref.name, '--ephemeral');
      await run(ref, 'storage', 'volume', 'create', 'default', 'shared');
      await run(ref, 'storage', 'volume', 'attach', 'default', 'shared', ref.name, 'more', '/more');
      await run(ref, 'config', 'device', 'add', ref.name, 'null', 'unix-char', 'source=/dev/null', 'path=/dev/n');
      const { refusals } = await ends.lxd.transfer.describe(ref);
      expect(refusals.map(({ reason }) => reason)).toEqual([
        expect.stringContaining('The disk more'),
        expect.stringContaining('The device null'),
        expect.stringContaining('is ephemeral'),
      ]);
      await run(ref, 'delete', ref.name);
      const plain = refOn('lxd');
      await run(plain, 'init', TINY_ALIAS, plain.name);
      const spec = await specFor(plain, refOn('incus', plain.name));
      expect(spec.container.parts).toEqual(['root']);
      await copy(plain, spec);
      await receiverOf(spec).commit(spec);
      await containersOf(spec.ref).start(spec.ref);
      expect(await inside(spec.ref, 'hostname')).toBe(`${plain.name}\n`);
      await containersOf(spec.ref).delete(spec.ref);
      await run(plain, 'delete', plain.name);
    },
    TIMEOUT_MS,
  );

  test.each(INCUS_FLAVORS)(
    'undoes a copy during which the server %s was killed, and copies it again',
    async (to) => {
      const from = to === 'lxd' ? 'incus' : 'lxd';
      const source = await given(from);
      const spec = await specFor(source, refOn(to, source.name));
      const [data = '', root = ''] = spec.container.parts;
      const transfer = receiverOf(spec);
      const end = { id: spec.id, ref: source };
      await transfer.receive(spec, { part: data, signal }, await senderOf(source).open(end, { part: data, signal }));
      const archive = await senderOf(source).open(end, { part: root, signal });
      const { daemon } = ends[to];
      const killing = Readable.from(killAfterFirst(archive, daemon), { objectMode: false });
      await expect(transfer.receive(spec, { part: root, signal }, killing)).rejects.toMatchObject({
        code: 'BACKEND_UNREACHABLE',
      });
      await expect(transfer.state(spec)).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
      await daemon.resume();
      expect(await transfer.state(spec)).toBe('partial');
      await transfer.discard(spec);
      expect(await transfer.state(spec)).toBe('absent');
      expect(await volumes(to)).not.toContain(`${source.name}-ct-data`);
      await copy(source, spec);
      expect(await hashes(senderOf(source), spec, source)).toEqual(await hashes(transfer, spec, spec.ref));
      await transfer.discard(spec);
      await containersOf(source).delete(source);
    },
    TIMEOUT_MS,
  );

  test(
    'reports a source that was killed while it was read as that source',
    async () => {
      const source = await given('incus');
      const spec = await specFor(source, refOn('lxd', source.name));
      const [part = ''] = spec.container.parts.slice(-1);
      const archive = await senderOf(source).open({ id: spec.id, ref: source }, { part, signal });
      await ends.incus.daemon.kill();
      const first = spec.container.parts[0] ?? '';
      await expect(receiverOf(spec).receive(spec, { part: first, signal }, archive)).rejects.toMatchObject({
        code: expect.stringMatching(/^BACKEND_/) as string,
      });
      await ends.incus.daemon.resume();
      await receiverOf(spec).discard(spec);
      expect(await receiverOf(spec).state(spec)).toBe('absent');
      await senderOf(source).release({ id: spec.id, ref: source });
      expect(JSON.parse(await run(source, 'query', `/1.0/instances/${source.name}/backups`))).toEqual([]);
      await containersOf(source).delete(source);
    },
    TIMEOUT_MS,
  );
});

async function* killAfterFirst(stream: Readable, daemon: PrivateIncusd): AsyncGenerator<Buffer> {
  let isKilled = false;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    yield chunk;
    if (!isKilled) await daemon.kill();
    isKilled = true;
  }
}
