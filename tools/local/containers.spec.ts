import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureContainers, SOCKETS, type ContainerPorts } from './containers.mjs';
import { processWithId } from './process.mjs';

const MACHINE = { name: 'Debian', packager: 'apt' as const, root: true, elevate: [], systemd: false };
const RESULT = { code: 0, stdout: '', stderr: '', timedOut: false, missing: false };
const IMAGE = { path: '/cache/tiny.tar.gz', version: '1.abc' };
const candidates = (...names: string[]) =>
  ['incus-base', 'incus-client', 'lxd', 'lxd-client']
    .map((name) => `${name}:\n  Installed: (none)\n  Candidate: ${names.includes(name) ? '6.0' : '(none)'}\n`)
    .join('');

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'hgc-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** A machine on which the sockets in `listening` accept connections. */
function portsOf(
  overrides: Partial<ContainerPorts> & { listening?: string[]; programs?: string[]; apt?: string } = {},
) {
  const { listening = [], programs = [], apt = '', ...rest } = overrides;
  const calls: string[] = [];
  const ports: ContainerPorts = {
    run: async (file, args) => {
      calls.push([file, ...args].join(' '));
      if (file === 'apt-cache') return { ...RESULT, stdout: apt };
      if (args.includes('incus-base')) programs.push('incusd');
      if (args.includes('lxd')) programs.push('lxd');
      return RESULT;
    },
    find: (name) => (programs.includes(name) ? `/usr/bin/${name}` : undefined),
    machine: MACHINE,
    log: () => {},
    isListening: async (socket) => listening.includes(socket),
    startDaemon: (program, folder) => {
      calls.push(`start ${program}`);
      listening.push(join(folder, 'unix.socket'));
      return processWithId(process.pid);
    },
    endProcess: async () => {
      calls.push('end');
      return true;
    },
    buildImage: async () => IMAGE,
    setUp: async (socket, { version }) => void calls.push(`set up ${socket} ${version}`),
    ...rest,
  };
  return { ports, calls, listening };
}

test.each(SOCKETS)('uses a daemon that listens on %s, and leaves it running', async (socket) => {
  const { ports, calls } = portsOf({ listening: [socket], programs: ['incusd'] });
  const engine = await ensureContainers(ports, { dataDir });
  expect(engine).toMatchObject({ socket, started: [], installed: [] });
  expect(engine.warning).toBeUndefined();
  expect(await engine.stop()).toEqual([]);
  expect(calls).toEqual([`set up ${socket} 1.abc`]);
});

test('starts the installed daemon on a folder of its own, and stops it', async () => {
  const { ports, calls } = portsOf({ programs: ['lxd'] });
  const engine = await ensureContainers(ports, { dataDir });
  const socket = join(dataDir, 'lxd/unix.socket');
  expect(engine.socket).toBe(socket);
  expect(engine.started).toHaveLength(1);
  expect(readdirSync(join(dataDir, 'containers'))).toEqual(['daemons.json']);
  expect(await engine.stop()).toEqual([]);
  expect(calls).toEqual(['start /usr/bin/lxd', `set up ${socket} 1.abc`, 'end']);
  expect(readdirSync(join(dataDir, 'containers'))).toEqual([]);
});

test('keeps the record of a daemon that does not stop', async () => {
  const { ports } = portsOf({ programs: ['incusd'], endProcess: async () => false });
  const engine = await ensureContainers(ports, { dataDir });
  expect(await engine.stop()).toEqual(engine.started);
  expect(readdirSync(join(dataDir, 'containers'))).toEqual(['daemons.json']);
});

test.each([
  ['Incus, if the configured sources have it', candidates('incus-base', 'incus-client', 'lxd', 'lxd-client'), 'incus'],
  ['LXD, if they have only that', candidates('lxd', 'lxd-client'), 'lxd'],
])('installs %s', async (_, apt, folder) => {
  const { ports, calls } = portsOf({ apt });
  const engine = await ensureContainers(ports, { dataDir });
  expect(engine.socket).toBe(join(dataDir, folder, 'unix.socket'));
  expect(engine.installed.length).toBe(2);
  expect(calls[1]).toMatch(/^env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends /);
});

test.each([
  [
    'no package has an engine',
    { apt: candidates() },
    /^There are no containers: Debian has no packages of Incus or LXD/,
  ],
  [
    'nothing may be installed',
    { apt: candidates('lxd', 'lxd-client'), machine: { ...MACHINE, root: false, elevate: undefined } },
    /LXD is not installed: run `sudo apt-get install -y --no-install-recommends lxd lxd-client`, then try again\.$/,
  ],
  [
    'the installation fails',
    {
      run: async (file: string) =>
        file === 'apt-cache'
          ? { ...RESULT, stdout: candidates('lxd', 'lxd-client') }
          : { ...RESULT, code: 100, stderr: 'E: broken' },
    },
    /the installation of LXD failed \(E: broken\)/,
  ],
  [
    'the distribution is unknown',
    { machine: { ...MACHINE, packager: undefined } },
    /has neither Incus nor LXD: install/,
  ],
  [
    'the daemon may not be started',
    { programs: ['incusd'], machine: { ...MACHINE, root: false } },
    /Incus is not running and only root can start it: run `sudo systemctl start incus`\.$/,
  ],
  [
    'the daemon exits',
    { programs: ['incusd'], startDaemon: () => undefined },
    /incusd exited during startup: see \S+\.$/,
  ],
  [
    'the engine refuses the image',
    { listening: [SOCKETS[2]!], setUp: async () => Promise.reject(new Error('no space left')) },
    /unix\.socket could not be set up \(no space left\)\.$/,
  ],
])('has no containers, with one sentence, when %s', async (_, overrides, warning) => {
  const { ports } = portsOf(overrides as Parameters<typeof portsOf>[0]);
  const engine = await ensureContainers(ports, { dataDir });
  expect(engine).toMatchObject({ started: [], warning: expect.stringMatching(warning) });
  expect(engine.socket).toBeUndefined();
  expect(await engine.stop()).toEqual([]);
});

test('refuses a folder whose socket would have too long a path', async () => {
  const { ports } = portsOf({ programs: ['incusd'] });
  const engine = await ensureContainers(ports, { dataDir: join(dataDir, 'x'.repeat(100)) });
  expect(engine.warning).toMatch(/longer than the 107 bytes that a socket may have: choose another --data-dir\.$/);
});

test('stops the daemon again when it could not be set up', async () => {
  const { ports, calls } = portsOf({ programs: ['incusd'], setUp: async () => Promise.reject(new Error('broken')) });
  expect((await ensureContainers(ports, { dataDir })).socket).toBeUndefined();
  expect(calls).toEqual(['start /usr/bin/incusd', 'end']);
});
