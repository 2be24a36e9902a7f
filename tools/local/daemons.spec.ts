import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { note } from './daemon-note.mjs';
import { ensureDaemons } from './daemons.mjs';
import type { DaemonPorts } from './daemons.mjs';
import type { RunningProcess } from './process.mjs';

const result = { code: 0, stdout: '', stderr: '', timedOut: false, missing: false };
const refusal = { ...result, code: 1, stderr: 'error: failed to connect to the hypervisor' };

/** A machine whose daemons run or do not; `dies` ends at its start. */
function buildPorts({
  running = [],
  dies,
  guests = [],
  virsh,
  machine = {},
}: {
  running?: string[];
  dies?: string;
  guests?: string[];
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
    answers: async (socket) => [...alive].some((name) => socket.includes(name.replace('libvirtd', 'libvirt-sock'))),
    processOf: (_, name) => (alive.has(name) ? buildProcess(name) : undefined),
    endProcess: async ({ name }) => {
      ended.push(name);
      alive.delete(name);
      return true;
    },
    makeFolder: () => {},
    shareKvm: () => {},
    run: async (file, args) => {
      commands.push([file, ...args].join(' '));
      if (file === 'virsh' && virsh) return { ...refusal, ...virsh };
      if (file === 'virsh' && !alive.has('libvirtd')) return refusal;
      if (file === 'virsh' && args.includes('list')) return { ...result, stdout: guests.join('\n') };
      if (file === 'tail') return { ...result, stdout: '2026: 1: error : virGetUserID:760 : no such user\n' };
      const name = ['virtlogd', 'libvirtd'].find((daemon) => file === `/usr/sbin/${daemon}`);
      if (name && name !== dies) alive.add(name);
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
  test('starts nothing where libvirt answers', async () => {
    const { ports, commands } = buildPorts({ running: ['virtlogd', 'libvirtd'] });
    expect(await ensureDaemons(ports)).toMatchObject({ started: [] });
    expect(commands).toEqual(['virsh -c qemu:///system uri']);
  });

  test('starts virtlogd, then libvirtd, where no service manager does', async () => {
    const { ports, commands } = buildPorts();
    expect(await ensureDaemons(ports)).toMatchObject({ started: ['virtlogd', 'libvirtd'] });
    expect(commands.filter((command) => command.includes(' -d '))).toEqual([
      '/usr/sbin/virtlogd -d -p /run/virtlogd.pid',
      '/usr/sbin/libvirtd -d -p /run/libvirtd.pid',
    ]);
  });

  test('takes a virtlogd that an earlier run left for its guests', async () => {
    const { ports } = buildPorts({ running: ['virtlogd'] });
    expect(await ensureDaemons(ports)).toMatchObject({ started: ['libvirtd'] });
  });

  test('starts a virtlogd that is gone although libvirtd answers', async () => {
    const { ports } = buildPorts({ running: ['libvirtd'] });
    expect(await ensureDaemons(ports)).toMatchObject({ started: ['virtlogd'] });
  });

  test('says why libvirtd ended at its start, and leaves nothing behind', async () => {
    const { ports, alive } = buildPorts({ dies: 'libvirtd' });
    const { problem, started } = await ensureDaemons(ports, { dataDir });
    expect(problem).toBe('libvirtd ended at its start (no such user).');
    expect(started).toEqual([]);
    expect([...alive]).toEqual([]);
  });

  test('goes through systemd where it runs', async () => {
    const { ports, commands } = buildPorts({ machine: { systemd: true } });
    const state = await ensureDaemons(ports);
    expect(state.started).toEqual(['virtlogd.socket', 'libvirtd.socket', 'libvirtd.service']);
    expect(commands).toContain('systemctl start virtlogd.socket libvirtd.socket libvirtd.service');
  });

  test('leaves what systemd runs to systemd', async () => {
    const { ports, commands, ended } = buildPorts({ machine: { systemd: true } });
    const state = await ensureDaemons(ports);
    expect(await state.stop()).toEqual([]);
    expect(ended).toEqual([]);
    expect(commands.filter((command) => command.includes('stop'))).toEqual([]);
  });

  test.each([
    ['systemd runs and sudo asks', { systemd: true, root: false, elevate: undefined }, {}, 'sudo systemctl start'],
    ['only root can start it', { root: false, elevate: undefined }, {}, 'sudo virtlogd -d; sudo libvirtd -d'],
    ['this user is refused', { root: false }, { stderr: 'authentication unavailable' }, 'sudo usermod -aG libvirt'],
    ['virsh is missing', {}, { missing: true, code: null as unknown as number }, 'install.mjs'],
    ['libvirtd hangs', {}, { timedOut: true }, 'restart it'],
  ])('says what to do when %s', async (_, machine, virsh, advice) => {
    const { ports } = buildPorts({ machine, virsh });
    expect((await ensureDaemons(ports)).problem).toContain(advice);
  });
});

describe('stop', () => {
  test('ends what was started, libvirtd first', async () => {
    const { ports, ended } = buildPorts();
    const state = await ensureDaemons(ports);
    expect(await state.stop()).toEqual([]);
    expect(ended).toEqual(['libvirtd', 'virtlogd']);
  });

  test('leaves virtlogd to guests that run', async () => {
    const { ports, ended } = buildPorts({ guests: ['web'] });
    const state = await ensureDaemons(ports);
    expect(await state.stop()).toEqual(['virtlogd']);
    expect(ended).toEqual(['libvirtd']);
  });

  test('ends nothing that it did not start', async () => {
    const { ports, ended } = buildPorts({ running: ['virtlogd', 'libvirtd'] });
    await (await ensureDaemons(ports)).stop();
    expect(ended).toEqual([]);
  });

  test('leaves the daemons of a run that still lives alone', async () => {
    // The note of this very process counts as its own; a parent that lives is another run.
    note(dataDir, [buildProcess('libvirtd')], process.ppid);
    const { ports, ended } = buildPorts({ running: ['virtlogd', 'libvirtd'] });
    await (await ensureDaemons(ports, { dataDir })).stop();
    expect(ended).toEqual([]);
  });
});
