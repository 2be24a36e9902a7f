import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConsoleStream, InstanceRef } from '@headgate/domain-contracts';
import { createdVm, InventoryRecorder, type BackendHarness } from '@headgate/testing';
import { HttpServer } from '@headgate/downloads/testing';
import { describeDomain } from '../domain-xml/domain-description.js';
import { LOCAL_NAMESPACE } from '../domains/instance-name.js';
import type { LibvirtBackend } from '../libvirt-backend.js';
import { openShell, ROOT_LOGIN, shell } from '../testing/guest-shell.js';
import { LibvirtPair } from '../testing/libvirt-pair.js';
import { whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { listenersOf } from '../testing/listening-sockets.js';
import { beginSlowMigration } from '../testing/slow-migration.js';
import { TINY_ENTRY, tinyGuest } from '../testing/tiny-guest.js';

const missing = process.getuid?.() === 0 ? await whyLibvirtIsUnavailable() : 'it needs root';
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const TIMEOUT_MS = 480_000;
/** The address in user-mode networking at which a guest reaches the loopback address of its host. */
const HOST = '10.0.2.2';
/**
 * The service never uses user-mode networking, because a guest reaches more of its host in it than in any other
 * network.
 */
const USER_NIC = `<interface type='user'><model type='virtio'/></interface>`;
const MAX_ATTEMPTS = 10;
/** The first ports that libvirt gives to migrations. */
const MIGRATION_PORTS = Array.from({ length: 8 }, (_none, i) => 49_152 + i);

describeWithLibvirt(
  `A live migration, from inside a guest${missing === undefined ? '' : `: skipped, ${missing}`}`,
  () => {
    let pair: LibvirtPair;
    let alpha: LibvirtBackend;
    let loopback: HttpServer;
    let folder: string;
    let recorders: InventoryRecorder[] = [];

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
    beforeAll(async () => {
      pair = await LibvirtPair.open(await tinyGuest());
      loopback = await HttpServer.listen();
      loopback.serve('/whoami', 'reached');
      folder = await mkdtemp(join(tmpdir(), 'hgm-nic-'));
      await start();
    }, TIMEOUT_MS);
    afterAll(async () => {
      await stop();
      await loopback.close();
      await pair.close();
      await rm(folder, { recursive: true, force: true });
    }, TIMEOUT_MS);

    const create = async (name: string, cloudInit: string): Promise<InstanceRef> => {
      const ref: InstanceRef = { kind: 'vm', context: 'alpha', namespace: LOCAL_NAMESPACE, name };
      const quickSource = async () => ({ kind: 'image', entry: TINY_ENTRY }) as const;
      const harness = { backend: alpha, freshRef: () => ref, quickSource } as unknown as BackendHarness;
      return (await createdVm(harness, recorders[0] as InventoryRecorder, { ref, cloudInit })).ref;
    };
    const run = async (ref: InstanceRef): Promise<void> => {
      await alpha.require('power').apply(ref, 'start');
      await recorders[0]?.untilVm(ref, ({ status }) => status === 'Running');
    };
    /** A guest with a network card that reaches the loopback address of the host. */
    const hostile = async (): Promise<InstanceRef> => {
      const ref = await create('hgtest-hostile', ROOT_LOGIN);
      const nic = join(folder, 'nic.xml');
      await writeFile(nic, USER_NIC);
      await pair.machines[0].virsh('attach-device', ref.name, nic, '--config');
      await run(ref);
      return ref;
    };
    /**
     * `port=` with the letters and digits at the beginning of its response, which a closed port does not have.
     * @param greets the server speaks first. A request that it does not understand could overtake its greeting: it
     *   closes the connection then, and the reset discards unread bytes
     */
    const ask = async (guest: ConsoleStream, ports: readonly number[], { greets = false } = {}): Promise<string[]> => {
      const text = greets ? 'sleep 1' : String.raw`printf 'GET /whoami HTTP/1.0\r\n\r\n'`;
      const request = `${text} | nc -w 5 ${HOST} $p 2>/dev/null | tr -cd 'a-zA-Z0-9' | head -c 200`;
      return (await shell(guest, `for p in ${ports.join(' ')}; do echo "$p=$(${request})"; done`)).split('\n');
    };
    /** An emulated guest on a busy machine may get the response after its program has given up. */
    const answerOf = async (
      guest: ConsoleStream,
      port: number,
      expected: string,
      options: { greets?: boolean } = {},
    ): Promise<string> => {
      let answers: string[] = [];
      for (let attempt = 0; attempt < MAX_ATTEMPTS && !answers.join().includes(expected); attempt++)
        answers = await ask(guest, [port], options);
      return answers.join();
    };
    const listeners = async () =>
      listenersOf((await Promise.all(pair.machines.map((machine) => machine.guests()))).flat());

    test(
      'has no port that the guest reaches, unless the operator has chosen an insecure one',
      async () => {
        const hostileRef = await hostile();
        const moved = await create('hgtest-moved', '');
        await run(moved);
        let guest = await openShell(alpha.require('consoles'), hostileRef);
        await shell(guest, 'until ip -4 addr show eth0 | grep -q inet; do usleep 50000; done');
        // The same request does reach a port of the loopback address.
        expect(await answerOf(guest, loopback.port, 'reached')).toMatch(/=.*reached/);

        let migration = await beginSlowMigration(pair, alpha, moved);
        expect(await listeners()).toEqual([]);
        // The kernel may have given one of them to the server of this test.
        const ports = MIGRATION_PORTS.filter((port) => port !== loopback.port);
        expect(await ask(guest, ports)).toEqual(ports.map((port) => `${port}=`));
        await migration.cancel();
        guest.destroy();
        await stop();

        await start({ transport: 'insecure' });
        await recorders[0]?.untilVm(moved, ({ status }) => status === 'Running');
        // The canceled one may be cleaned up later, which refuses another until then.
        while (describeDomain(await pair.machines[0].virsh('dumpxml', moved.name)).metadata.pending !== undefined);
        migration = await beginSlowMigration(pair, alpha, moved);
        const open = await listeners();
        expect(open.length).toBeGreaterThan(0);
        // Only at the address that is configured.
        expect(open.filter(({ address }) => address !== '127.0.0.1')).toEqual([]);
        guest = (await alpha.require('consoles').openSerial(hostileRef)).stream;
        // The port for the disk, which libvirt takes after that of the memory. Whatever connects to the latter ends
        // the migration, and closes both.
        const diskPort = Math.max(...open.map(({ port }) => port));
        expect(await answerOf(guest, diskPort, 'NBDMAGIC', { greets: true })).toContain('NBDMAGIC');
        await migration.cancel();
        guest.destroy();
      },
      TIMEOUT_MS,
    );
  },
);
