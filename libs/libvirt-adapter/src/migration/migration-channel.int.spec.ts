import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { InstanceRef } from '@headgate/domain-contracts';
import { createdVm, InventoryRecorder, NodeProgram, recordingReporter, type BackendHarness } from '@headgate/testing';
import { describeDomain } from '../domain-xml/domain-description.js';
import { LOCAL_NAMESPACE } from '../domains/instance-name.js';
import type { LibvirtBackend } from '../libvirt-backend.js';
import { askNbd } from '../testing/ask-nbd.js';
import { LibvirtPair } from '../testing/libvirt-pair.js';
import { whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { listenersOf } from '../testing/listening-sockets.js';
import type { KilledMigration } from '../testing/migrating-process.js';
import { createMigrationCertificates } from '../testing/migration-certificates.js';
import { beginSlowMigration, type SlowMigration } from '../testing/slow-migration.js';
import { TINY_ENTRY, tinyGuest } from '../testing/tiny-guest.js';

const missing = process.getuid?.() === 0 ? await whyLibvirtIsUnavailable() : 'it needs root';
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const TIMEOUT_MS = 480_000;
/** The user of the private libvirts, and another one. */
const QEMU_USER = 65534;
const OTHER_USER = 65533;
/** `NBD_REP_SERVER` and `NBD_REP_ERR_TLS_REQD`. */
const EXPORT = 2;
const TLS_REQUIRED = 0x80000005;

describeWithLibvirt(`The way of a live migration${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let image: string;
  let pair: LibvirtPair;
  let alpha: LibvirtBackend;
  let recorders: InventoryRecorder[] = [];
  let names = 0;

  const start = async (options: Parameters<LibvirtPair['start']>[0] = {}): Promise<void> => {
    const backends = pair.start(options);
    [alpha] = backends;
    recorders = backends.map((backend) => InventoryRecorder.over(backend.require('inventory')));
    await Promise.all(recorders.map((recorder) => recorder.whenListed()));
  };
  const stop = async (): Promise<void> => {
    await Promise.all(recorders.map((recorder) => recorder.stop()));
    await pair.stop();
  };
  const running = async (): Promise<InstanceRef> => {
    const ref: InstanceRef = {
      kind: 'vm',
      context: 'alpha',
      namespace: LOCAL_NAMESPACE,
      name: `hgtest-w${++names}`,
    };
    const quickSource = async () => ({ kind: 'image', entry: TINY_ENTRY }) as const;
    const harness = { backend: alpha, freshRef: () => ref, quickSource } as unknown as BackendHarness;
    return (await createdVm(harness, recorders[0] as InventoryRecorder, { ref, start: true })).ref;
  };
  const copying = (ref: InstanceRef): Promise<SlowMigration> => beginSlowMigration(pair, alpha, ref);
  const qemus = async (): Promise<number[]> =>
    (await Promise.all(pair.machines.map((machine) => machine.guests()))).flat();
  const isPending = async ({ name }: Pick<InstanceRef, 'name'>): Promise<boolean> =>
    describeDomain(await pair.machines[0].virsh('dumpxml', name)).metadata.pending !== undefined;
  /**
   * The guest is on alpha and no longer being changed, and beta has nothing of it. While the libvirt of beta still ends
   * its part, the service cleans up later.
   */
  const expectKept = async ({ name }: InstanceRef, state: RegExp): Promise<void> => {
    const [here, there] = pair.machines;
    while (await isPending({ name }));
    expect(await here.virsh('domstate', name)).toMatch(state);
    expect(await there.domains()).not.toContain(name);
    expect((await there.volumes()).filter((volume) => /^migration-|^hgtest-/.test(volume))).toEqual([]);
  };

  beforeAll(async () => {
    image = await tinyGuest();
  }, TIMEOUT_MS);

  describe('on one machine', () => {
    beforeEach(async () => {
      pair = await LibvirtPair.open(image);
      await start();
    }, 60_000);
    afterEach(async () => {
      await stop();
      await pair.close();
    }, 60_000);

    test(
      'opens no port, and sockets only for the user of QEMU',
      async () => {
        const ref = await running();
        const migration = await copying(ref);
        const pids = await qemus();
        expect(pids).toHaveLength(2);
        expect(await listenersOf(pids)).toEqual([]);

        const [folder] = (await pair.machines[1].volumes()).filter((name) => name.startsWith('migration-'));
        const path = join(pair.machines[1].images, folder ?? 'none');
        const { mode, uid } = await stat(path);
        expect([mode & 0o777, uid]).toEqual([0o700, QEMU_USER]);
        expect(existsSync(join(path, 'd'))).toBe(true);
        const connect = `require('net').connect('${path}/d').on('error',(e)=>console.log(e.code)).on('connect',()=>{console.log('connected');process.exit()})`;
        const as = async (user: number): Promise<string> => {
          const identity = ['--reuid', String(user), '--regid', String(user), '--clear-groups'];
          const { stdout } = await promisify(execFile)('setpriv', [...identity, process.execPath, '-e', connect]);
          return stdout.trim();
        };
        expect(await as(OTHER_USER)).toBe('EACCES');
        expect(await as(QEMU_USER)).toBe('connected');

        await migration.cancel();
        await expectKept(ref, /running/);
      },
      TIMEOUT_MS,
    );

    test(
      'removes what a migration has left in QEMU when its libvirt was killed, and migrates the guest',
      async () => {
        const ref = await running();
        const [source] = pair.machines;
        const add = (node: object): Promise<string> =>
          source.virsh('qemu-monitor-command', ref.name, JSON.stringify({ execute: 'blockdev-add', arguments: node }));
        await add({ driver: 'null-co', 'node-name': 'migration-vda-storage', size: 1024 ** 3 });
        await add({ driver: 'raw', 'node-name': 'migration-vda-format', file: 'migration-vda-storage' });
        const work = await alpha.require('migration').migrate(ref, 'beta');
        await work(recordingReporter());
        expect(await pair.machines[1].virsh('domstate', ref.name)).toMatch(/running/);
        expect(await source.domains()).not.toContain(ref.name);
        expect((await pair.machines[1].volumes()).filter((name) => name.startsWith('migration-'))).toEqual([]);
      },
      TIMEOUT_MS,
    );

    test.each([
      ['Preparing', 0],
      ['Copying', 0],
      ['progress', 0],
      ['Removing', 1],
    ] as const)(
      'brings the guest to one host when the service is killed at "%s" and started again',
      async (killAt, host) => {
        const program = await NodeProgram.build(join(import.meta.dirname, '../testing/migrating-process.ts'));
        try {
          const ref = await running();
          await pair.machines[0].virsh('migrate-setspeed', ref.name, killAt === 'progress' ? '1' : '1000');
          await stop();
          const killed: KilledMigration = { contexts: pair.contexts, name: ref.name, killAt, task: 'migrate-web-1' };
          await expect(program.run(JSON.stringify(killed))).rejects.toMatchObject({ signal: 'SIGKILL' });
          await start();
          const migration = alpha.require('migration');
          const key = { id: killed.task, wasRunning: true };
          const stateOf = async (id = key.id) => (await migration.stateOf(ref, { ...key, id })).state;
          // The recovery of the adapter may have ended before.
          if ((await stateOf()) === 'running') {
            const outcome = (await migration.resume(ref, key))(recordingReporter());
            if (host === 0) await expect(outcome).rejects.toThrow(/interrupted: its guest runs on alpha, as before/);
            else await outcome;
          }
          expect([await stateOf(), await stateOf('migrate-web-2')]).toEqual([host === 0 ? 'absent' : 'done', 'absent']);
          if (host === 0) {
            while (await isPending(ref));
            return await expectKept(ref, /running/);
          }
          const [source, destination] = pair.machines;
          while ((await source.domains()).includes(ref.name));
          expect(await destination.virsh('domstate', ref.name)).toMatch(/running/);
          expect(
            (await source.volumes()).filter((name) => name.endsWith('.qcow2') && name.startsWith('hgtest-')),
          ).toEqual([]);
          expect((await destination.volumes()).filter((name) => name.startsWith('migration-'))).toEqual([]);
        } finally {
          await program.close();
        }
      },
      TIMEOUT_MS,
    );

    test(
      'says that the guest was stopped when it was stopped during the copy',
      async () => {
        const ref = await running();
        const { end } = await copying(ref);
        const failed = expect(end).rejects.toThrow(/not running|no longer running|has stopped/i);
        await pair.machines[0].virsh('destroy', ref.name);
        await failed;
        await expectKept(ref, /shut off/);
      },
      TIMEOUT_MS,
    );

    test(
      'says why the copy has ended when QEMU of the destination dies, and keeps the guest',
      async () => {
        const ref = await running();
        const { end } = await copying(ref);
        const failed = end.catch((error: Error) => error.message);
        for (const pid of await pair.machines[1].guests()) process.kill(pid, 'SIGKILL');
        const message = await failed;
        expect(message).not.toMatch(/is not being migrated|libvirtd is stopped/);
        expect(message).toMatch(/migration|block|disk|monitor|socket|connection/i);
        await recorders[0]?.untilVm(ref, ({ status }) => status === 'Running');
        await expectKept(ref, /running/);
      },
      TIMEOUT_MS,
    );

    test(
      'migrates a guest whose libvirt was killed during an earlier attempt',
      async () => {
        const ref = await running();
        const { end } = await copying(ref);
        const failed = expect(end).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
        await pair.machines[0].kill();
        await failed;
        await pair.machines[0].start();
        await stop();
        await start();
        await recorders[0]?.untilVm(ref, ({ status }) => status === 'Running');
        await expectKept(ref, /running/);
        await pair.machines[0].virsh('migrate-setspeed', ref.name, '1000');
        await (
          await alpha.require('migration').migrate(ref, 'beta')
        )(recordingReporter());
        expect(await pair.machines[1].virsh('domstate', ref.name)).toMatch(/running/);
      },
      TIMEOUT_MS,
    );
  });

  test(
    'listens at one address with TLS, where clients without a certificate learn and change nothing',
    async () => {
      const certificates = await createMigrationCertificates('127.0.0.1', QEMU_USER);
      pair = await LibvirtPair.open(image, `migrate_tls_x509_cert_dir = "${certificates}"\n`);
      try {
        await start({ transport: 'tls' });
        const ref = await running();
        const migration = await copying(ref);
        const listeners = await listenersOf(await pair.machines[1].guests());
        expect(listeners.length).toBeGreaterThan(0);
        expect(new Set(listeners.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']));
        const pem = (name: string): Promise<string> => readFile(join(certificates, `${name}.pem`), 'utf8');
        const own = { cert: await pem('client-cert'), key: await pem('client-key') };
        // libvirt takes the next port for the disks. The one of the memory accepts a single connection, and says
        // nothing first.
        const port = Math.max(...listeners.map((one) => one.port));
        expect(await askNbd(port)).toBe(TLS_REQUIRED);
        expect(await askNbd(port, {})).toBeUndefined();
        expect(await askNbd(port, own)).toBe(EXPORT);
        await migration.cancel();
        await expectKept(ref, /running/);
        await pair.machines[0].virsh('migrate-setspeed', ref.name, '1000');
        await (
          await alpha.require('migration').migrate(ref, 'beta')
        )(recordingReporter());
        expect(await pair.machines[1].virsh('domstate', ref.name)).toMatch(/running/);
      } finally {
        await stop();
        await pair.close();
        await rm(certificates, { recursive: true, force: true });
      }
    },
    TIMEOUT_MS,
  );
});
