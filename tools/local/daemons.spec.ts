import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordDaemons } from './daemon-record.mjs';
import { countConnections, ensureDaemons } from './daemons.mjs';
import type { DaemonPorts } from './daemons.mjs';
import type { RunningProcess } from './process.mjs';

const result = { code: 0, stdout: '', stderr: '', timedOut: false, missing: false };
const refusal = { ...result, code: 1, stderr: 'error: failed to connect to the hypervisor' };

/** A simulated machine; the daemon `crashes` exits during startup. */
function buildPorts({
  running = [],
  crashes,
  guests = [],
  clients = {},
  virsh,
  machine = {},
}: {
  running?: string[];
  crashes?: string;
  guests?: string[];
  clients?: Record<string, number>;
  virsh?: Partial<typeof result>;
  machine?: Partial<DaemonPorts['machine']>;
} = {}) {
  const alive = new Set(running);
  const commands: string[] = [];
  const ended: string[] = [];
  const ports: DaemonPorts = {
    find: (program) => `/usr/sbin/${program}`,
    log: () => {},
    machine: { name: 'Debian', packager: 'apt', root: true, elevate: [], systemd: false, ...machine },
    isListening: async (socket) => [...alive].some((name) => socket.includes(name.replace('libvirtd', 'libvirt-sock'))),
    processOf: (_, name) => (alive.has(name) ? buildProcess(name) : undefined),
    endProcess: async ({ name }) => {
      ended.push(name);
      alive.delete(name);
      return true;
    },
    countClients: (socket) => clients[socket] ?? 0,
    createFolder: () => {},
    shareKvm: () => {},
    run: async (file, args) => {
      commands.push([file, ...args].join(' '));
      if (file === 'virsh' && virsh) return { ...refusal, ...virsh };
      if (file === 'virsh' && !alive.has('libvirtd')) return refusal;
      if (file === 'virsh' && args.includes('list')) return { ...result, stdout: guests.join('\n') };
      if (file === 'tail') return { ...result, stdout: '2026: 1: error : virGetUserID:760 : no such user\n' };
      const name = ['virtlogd', 'libvirtd'].find((daemon) => file === `/usr/sbin/${daemon}`);
      if (name && name !== crashes) alive.add(name);
      if (file === 'systemctl' && args[0] === 'list-unit-files') {
        return { ...result, stdout: 'virtlogd.socket enabled\nlibvirtd.socket enabled\nlibvirtd.service enabled\n' };
      }
      if (args.includes('start')) alive.add('libvirtd');
      return result;
    },
  };
  return { ports, commands, ended, alive };
}

const buildProcess = (name: string): RunningProcess => ({ name, pid: process.pid, startTicks: 1 });

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'daemons-spec-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

describe('ensureDaemons', () => {
  test('starts nothing if libvirt responds', async () => {
    const { ports, commands } = buildPorts({ running: ['virtlogd', 'libvirtd'] });
    expect(await ensureDaemons(ports)).toMatchObject({ started: [] });
    expect(commands).toEqual(['virsh -c qemu:///system uri']);
  });

  test('starts virtlogd, then libvirtd, without a service manager', async () => {
    const { ports, commands } = buildPorts();
    expect(await ensureDaemons(ports)).toMatchObject({ started: ['virtlogd', 'libvirtd'] });
    expect(commands.filter((command) => command.includes(' -d '))).toEqual([
      '/usr/sbin/virtlogd -d -p /run/virtlogd.pid',
      '/usr/sbin/libvirtd -d -p /run/libvirtd.pid',
    ]);
  });

  test('reuses a virtlogd that an earlier run left for its guests', async () => {
    const { ports } = buildPorts({ running: ['virtlogd'] });
    expect(await ensureDaemons(ports)).toMatchObject({ started: ['libvirtd'] });
  });

  test('starts a missing virtlogd even if libvirtd responds', async () => {
    const { ports } = buildPorts({ running: ['libvirtd'] });
    expect(await ensureDaemons(ports)).toMatchObject({ started: ['virtlogd'] });
  });

  test('reports why libvirtd exited during startup, and leaves nothing running', async () => {
    const { ports, alive } = buildPorts({ crashes: 'libvirtd' });
    const { problem, started } = await ensureDaemons(ports, { dataDir });
    expect(problem).toBe('libvirtd exited during startup (no such user).');
    expect(started).toEqual([]);
    expect([...alive]).toEqual([]);
  });

  test('starts systemd units if systemd is running', async () => {
    const { ports, commands } = buildPorts({ machine: { systemd: true } });
    const state = await ensureDaemons(ports);
    expect(state.started).toEqual(['virtlogd.socket', 'libvirtd.socket', 'libvirtd.service']);
    expect(commands).toContain('systemctl start virtlogd.socket libvirtd.socket libvirtd.service');
  });

  test('does not stop systemd units', async () => {
    const { ports, commands, ended } = buildPorts({ machine: { systemd: true } });
    const state = await ensureDaemons(ports);
    expect(await state.stop()).toEqual([]);
    expect(ended).toEqual([]);
    expect(commands.filter((command) => command.includes('stop'))).toEqual([]);
  });

  test.each([
    [
      'systemd runs and sudo requires a password',
      { systemd: true, root: false, elevate: undefined },
      {},
      'sudo systemctl start',
    ],
    ['only root can start it', { root: false, elevate: undefined }, {}, 'sudo virtlogd -d; sudo libvirtd -d'],
    [
      'the user has no permission',
      { root: false },
      { stderr: 'authentication unavailable' },
      'sudo usermod -aG libvirt',
    ],
    ['virsh is missing', {}, { missing: true, code: null as unknown as number }, 'install.mjs'],
    ['libvirtd hangs', {}, { timedOut: true }, 'restart it'],
  ])('reports the remedy when %s', async (_, machine, virsh, advice) => {
    const { ports } = buildPorts({ machine, virsh });
    expect((await ensureDaemons(ports)).problem).toContain(advice);
  });
});

describe('stop', () => {
  test('stops the started daemons, libvirtd first', async () => {
    const { ports, ended } = buildPorts();
    const state = await ensureDaemons(ports);
    expect(await state.stop()).toEqual([]);
    expect(ended).toEqual(['libvirtd', 'virtlogd']);
  });

  test('keeps virtlogd running while there are guests', async () => {
    const { ports, ended } = buildPorts({ guests: ['web'] });
    const state = await ensureDaemons(ports);
    expect(await state.stop()).toEqual(['virtlogd']);
    expect(ended).toEqual(['libvirtd']);
  });

  test('keeps the daemons running while another program is connected to libvirtd', async () => {
    const { ports, ended } = buildPorts({ clients: { '/run/libvirt/libvirt-sock': 1 } });
    const state = await ensureDaemons(ports);
    expect(await state.stop()).toEqual(['libvirtd', 'virtlogd']);
    expect(ended).toEqual([]);
  });

  test('stops nothing that it did not start', async () => {
    const { ports, ended } = buildPorts({ running: ['virtlogd', 'libvirtd'] });
    await (await ensureDaemons(ports)).stop();
    expect(ended).toEqual([]);
  });

  test('leaves alone the daemons of a run that is still active', async () => {
    // The parent process is alive, so its record belongs to another active run.
    recordDaemons(dataDir, [buildProcess('libvirtd')], process.ppid);
    const { ports, ended } = buildPorts({ running: ['virtlogd', 'libvirtd'] });
    await (await ensureDaemons(ports, { dataDir })).stop();
    expect(ended).toEqual([]);
  });
});

describe('countConnections', () => {
  // Lines of /proc/net/unix while libvirtd listens and two clients are connected.
  const table = `Num       RefCount Protocol Flags    Type St Inode Path
00000000b3605c55: 00000002 00000000 00010000 0001 01 137931 /run/libvirt/libvirt-sock
00000000911d8933: 00000003 00000000 00000000 0001 03 137950 /run/libvirt/libvirt-sock
00000000911d8934: 00000003 00000000 00000000 0001 03 137951 /run/libvirt/libvirt-sock-ro
00000000911d8935: 00000003 00000000 00000000 0001 03 137952
00000000911d8936: 00000003 00000000 00000000 0001 03 137953 /run/other
`;

  test('counts the connections to a socket and to its read-only variant', () => {
    expect(countConnections(table, '/run/libvirt/libvirt-sock')).toBe(2);
    expect(countConnections(table, '/run/libvirt/virtlogd-sock')).toBe(0);
  });
});
