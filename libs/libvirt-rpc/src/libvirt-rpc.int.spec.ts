import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { ErrorNumber } from './errors.js';
import { subscribeToEvents, type DomainEventMessage } from './events.js';
import { closeConnection, openLibvirt } from './open-connection.js';
import { procedures } from './procedures.js';
import type { RpcConnection } from './rpc-connection.js';
import { domainOf, type WireVolume } from './wire/types.js';

const URI = process.env['HEADGATE_TEST_LIBVIRT_URI'] ?? 'qemu:///system';
/** VIR_DOMAIN_START_PAUSED */
const START_PAUSED = 1;
const run = promisify(execFile);

async function whyUnavailable(): Promise<string | undefined> {
  try {
    await closeConnection(await openLibvirt(URI));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const missing = await whyUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;

/** virsh, the real client, is the counterpart: it has to see the same. */
const virsh = async (...args: string[]): Promise<string> =>
  (await run('virsh', ['--quiet', '--connect', URI, ...args], { env: { ...process.env, LC_ALL: 'C' } })).stdout.trim();

const domainXml = (name: string, devices = ''): string =>
  `<domain type='qemu'><name>${name}</name><memory unit='MiB'>64</memory><vcpu>1</vcpu><os><type arch='x86_64' machine='pc'>hvm</type><bios useserial='yes'/></os><devices>${devices}<serial type='pty'/></devices></domain>`;

describeWithLibvirt(`a real libvirt${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let connection: RpcConnection;
  let folder: string;
  let name: string;

  beforeEach(async () => {
    connection = await openLibvirt(URI, { keepalive: { intervalMs: 2000, count: 2 } });
    folder = await mkdtemp(join(tmpdir(), 'hgtest-rpc-'));
    await chmod(folder, 0o755);
    name = `hgtest-${randomBytes(4).toString('hex')}`;
  });
  afterEach(async () => {
    await virsh('destroy', name).catch(() => undefined);
    await virsh('undefine', name).catch(() => undefined);
    await virsh('pool-destroy', name).catch(() => undefined);
    await virsh('pool-undefine', name).catch(() => undefined);
    await closeConnection(connection);
    await rm(folder, { recursive: true, force: true });
  });

  test('answers as virsh does', async () => {
    expect((await connection.call(procedures.connectGetHostname, undefined)).hostname).toBe(await virsh('hostname'));
    const { xml } = await connection.call(procedures.connectGetCapabilities, undefined);
    expect(xml.trim()).toBe(await virsh('capabilities'));
    const node = await connection.call(procedures.nodeGetInfo, undefined);
    expect(await virsh('nodeinfo')).toMatch(new RegExp(`Memory size: +${node.memoryKib} KiB`));
  });

  test('operates a domain and receives its events', async () => {
    const events: DomainEventMessage[] = [];
    const observer = await openLibvirt(URI);
    await subscribeToEvents(observer, (event) => events.push(event));
    const { domain } = await connection.call(procedures.domainDefineXmlFlags, { xml: domainXml(name), flags: 0 });
    expect(await virsh('domuuid', name)).toBe(domain.uuid);
    const metadata = { domain, type: 2, metadata: '<a/>', key: 'hg', uri: 'https://example.org/a', flags: 2 };
    await connection.call(procedures.domainSetMetadata, metadata);
    await connection.call(procedures.domainCreateWithFlags, { domain, flags: 0 }, { isSlow: true });
    expect(await virsh('domstate', name)).toBe('running');
    await connection.call(procedures.domainSuspend, { domain });
    expect(await connection.call(procedures.domainGetState, { domain, flags: 0 })).toEqual({ state: 3, reason: 1 });
    await connection.call(procedures.domainDestroyFlags, { domain, flags: 0 });
    await connection.call(procedures.domainUndefineFlags, { domain, flags: 0 });
    // The reply of a later call means that the earlier events of this connection have arrived.
    const own = () => events.filter((event) => event.domain.uuid === domain.uuid);
    while (!own().some((event) => event.name === 'lifecycle' && event.event === 1)) {
      await observer.call(procedures.connectGetHostname, undefined);
    }
    const lifecycle = own().flatMap((event) => (event.name === 'lifecycle' ? [event.event] : []));
    expect(lifecycle).toEqual(expect.arrayContaining([0, 2, 3, 5, 1]));
    expect(own()).toContainEqual(
      expect.objectContaining({ name: 'metadata-change', type: 2, namespace: 'https://example.org/a' }),
    );
    await closeConnection(observer);
  });

  test("reports libvirt's errors with their codes", async () => {
    const unknown = { domain: domainOf(randomUUID()), flags: 0 };
    await expect(connection.call(procedures.domainGetXmlDesc, unknown)).rejects.toMatchObject({
      code: ErrorNumber.noDomain,
    });
    const broken = { xml: '<domain><name>', flags: 0 };
    await expect(connection.call(procedures.domainDefineXmlFlags, broken)).rejects.toMatchObject({
      code: ErrorNumber.xmlDetail,
    });
    await expect(connection.call(procedures.storagePoolLookupByName, { name: 'nope' })).rejects.toMatchObject({
      code: ErrorNumber.noStoragePool,
    });
  });

  test('lists statistics of all domains in one call', async () => {
    await writeFile(join(folder, 'disk'), Buffer.alloc(1024 ** 2));
    const disk = `<disk type='file' device='disk'><driver name='qemu' type='raw'/><source file='${folder}/disk'/><target dev='vda' bus='virtio'/></disk>`;
    const { domain } = await connection.call(procedures.domainDefineXmlFlags, { xml: domainXml(name, disk), flags: 0 });
    const { records } = await connection.call(procedures.connectGetAllDomainStats, {
      domains: [],
      stats: 33,
      flags: 0,
    });
    const record = records.find((one) => one.domain.uuid === domain.uuid);
    expect(record?.stats.get('state.state')).toBe(5);
    expect(record?.stats.get('block.0.name')).toBe('vda');
    expect(record?.stats.get('block.0.capacity')).toBe(1024 ** 2);
  });

  describe('with a storage pool', () => {
    let volume: WireVolume;

    beforeEach(async () => {
      const { pool } = await connection.call(procedures.storagePoolDefineXml, {
        xml: `<pool type='dir'><name>${name}</name><target><path>${folder}</path></target></pool>`,
        flags: 0,
      });
      await connection.call(procedures.storagePoolCreate, { pool, flags: 0 });
      const xml = `<volume><name>disk</name><capacity>0</capacity><target><format type='raw'/></target></volume>`;
      ({ volume } = await connection.call(procedures.storageVolCreateXml, { pool, xml, flags: 0 }));
    });

    const whole = () => ({ volume, offset: 0, length: 0, flags: 0 });
    const download = () =>
      connection.openStream(procedures.storageVolDownload, whole(), { readable: true, writable: false });
    const upload = () =>
      connection.openStream(procedures.storageVolUpload, whole(), { readable: false, writable: true });

    test('uploads a volume, and downloads the same', async () => {
      const content = randomBytes(5_000_000);
      await pipeline(Readable.from([content.subarray(0, 1_000_001), content.subarray(1_000_001)]), await upload());
      expect(await virsh('vol-info', 'disk', '--pool', name, '--bytes')).toMatch(/Capacity: +5000000/);
      expect((await buffer(await download())).equals(content)).toBe(true);
    });

    test('stays usable after an upload and a download are aborted', async () => {
      const up = await upload();
      up.write(randomBytes(3_000_000));
      up.destroy();
      const down = await download();
      down.once('data', () => down.destroy());
      await new Promise((resolve) => down.once('close', resolve));
      expect((await connection.call(procedures.connectGetHostname, undefined)).hostname).not.toBe('');
      await connection.call(procedures.storageVolDelete, { volume, flags: 0 });
    });
  });

  test('opens a console that ends with the guest', async () => {
    const { domain } = await connection.call(procedures.domainDefineXmlFlags, { xml: domainXml(name), flags: 0 });
    // QEMU drops what a guest prints before the console is open, so this one starts paused.
    await connection.call(procedures.domainCreateWithFlags, { domain, flags: START_PAUSED }, { isSlow: true });
    const console = await connection.openStream(
      procedures.domainOpenConsole,
      { domain, device: null, flags: 0 },
      { readable: true, writable: true },
    );
    let text = '';
    console.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    const ended = once(console, 'end');
    await connection.call(procedures.domainResume, { domain });
    while (!text.includes('SeaBIOS')) await once(console, 'data');
    expect(console.readableEnded).toBe(false);
    await virsh('destroy', name);
    await ended;
  });

  describe('over ssh', () => {
    /** A simulated ssh: it records its arguments, and runs the command for the other machine on this one. */
    const fakeSsh = async (path: string): Promise<string> => {
      const program = join(folder, 'ssh');
      const script = `#!/bin/sh\nprintf '%s\\n' "$@" > '${folder}/arguments'\nfor last; do :; done\nPATH='${path}' exec /bin/sh -c "$last"\n`;
      await writeFile(program, script, { mode: 0o755 });
      return program;
    };

    test('connects through the real virt-ssh-helper', async () => {
      const sshProgram = await fakeSsh(process.env['PATH'] ?? '');
      const remote = await openLibvirt('qemu+ssh://ada@other.example/system', {
        sshProgram,
        keepalive: { intervalMs: 2000, count: 2 },
      });
      expect((await remote.call(procedures.connectGetHostname, undefined)).hostname).toBe(await virsh('hostname'));
      await closeConnection(remote);
    });

    test('connects through nc where there is no virt-ssh-helper', async () => {
      const nc = `#!/bin/sh\n[ "$1" = -q ] && { echo "nc: option requires an argument" >&2; exit 1; }\n[ "$1" = -q0 ] && shift\n[ "$1" = -U ] && exec '${process.execPath}' -e 'const s = require("net").connect(process.argv[1]); process.stdin.pipe(s); s.pipe(process.stdout)' "$2"\nexit 2\n`;
      await writeFile(join(folder, 'nc'), nc, { mode: 0o755 });
      await promisify(execFile)('ln', ['-s', '/bin/sh', '/usr/bin/grep', folder]);
      const sshProgram = await fakeSsh(folder);
      const remote = await openLibvirt('qemu+ssh://other.example/system', { sshProgram });
      expect((await remote.call(procedures.connectGetHostname, undefined)).hostname).toBe(await virsh('hostname'));
      remote.close();
    });

    test('reports a machine with neither', async () => {
      await promisify(execFile)('ln', ['-s', '/bin/sh', '/usr/bin/grep', folder]);
      const sshProgram = await fakeSsh(folder);
      await expect(openLibvirt('qemu+ssh://other.example/system', { sshProgram })).rejects.toMatchObject({
        failure: 'unreachable',
        message: expect.stringMatching(/nc: not found/),
      });
    });
  });
});
