import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectToSession } from './session-daemon.js';

/** A daemon that records how it was started, listens, and ends with its first client. */
const DAEMON = `
  const { writeFileSync, mkdirSync } = require('node:fs');
  const folder = process.env.XDG_RUNTIME_DIR + '/libvirt';
  mkdirSync(folder, { recursive: true });
  writeFileSync(process.env.HOME + '/record.json', JSON.stringify({ arguments: process.argv.slice(2), env: process.env }));
  require('node:net').createServer((client) => client.resume().on('close', () => process.exit())).listen(folder + '/libvirt-sock');
`;

describe('connectToSession', () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;
  const target = (...daemons: string[]) => ({
    kind: 'unix' as const,
    sockets: [join(folder, 'libvirt/virtqemud-sock'), join(folder, 'libvirt/libvirt-sock')],
    daemons,
  });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgs-'));
    env = { PATH: join(folder, 'bin'), HOME: folder, XDG_RUNTIME_DIR: folder, SVC_SECRET: 'hunter2' };
    await mkdir(join(folder, 'bin'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const install = async (name: string, script: string): Promise<void> => {
    await writeFile(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  };
  const installDaemon = async (name: string): Promise<void> => {
    await writeFile(join(folder, 'daemon.cjs'), DAEMON);
    await install(name, `exec ${process.execPath} ${join(folder, 'daemon.cjs')} "$@"`);
  };
  const connect = async (daemons: string[], options = {}): Promise<void> => {
    const socket = await connectToSession(target(...daemons), { env, isRoot: false, ...options });
    socket.destroy();
    await once(socket, 'close');
  };
  const record = async () =>
    JSON.parse(await readFile(join(folder, 'record.json'), 'utf8')) as { arguments: string[]; env: object };

  test('starts a daemon that ends without clients, and knows no variables of this process', async () => {
    await installDaemon('hgtestd');
    await connect(['missing', 'hgtestd']);
    const { arguments: given, env: passedOn } = await record();
    expect(given).toEqual(['--timeout=120']);
    expect(passedOn).toMatchObject({ HOME: folder, XDG_RUNTIME_DIR: folder });
    expect(JSON.stringify(passedOn)).not.toContain('hunter2');
  });

  test('starts one for connections that open at the same time', async () => {
    await installDaemon('hgtestd');
    await install(
      'counts',
      `echo started >> ${folder}/starts; PATH=/bin:/usr/bin; exec ${join(folder, 'bin/hgtestd')} "$@"`,
    );
    const open = () => connectToSession(target('counts'), { env, isRoot: false });
    const sockets = await Promise.all([open(), open(), open()]);
    for (const socket of sockets) socket.destroy();
    expect(await readFile(join(folder, 'starts'), 'utf8')).toBe('started\n');
  });

  test('starts none if one listens', async () => {
    await install('hgtestd', `touch ${folder}/started`);
    await mkdir(join(folder, 'libvirt'));
    const server = createServer((client) => client.resume()).listen(join(folder, 'libvirt/libvirt-sock'));
    await once(server, 'listening');
    await connect(['hgtestd']);
    server.close();
    await expect(readFile(join(folder, 'started'))).rejects.toThrow('ENOENT');
  });

  test.each<[string, object]>([
    ['by root, whose daemons are those of the system', { isRoot: true }],
    ['if the user does not want it', { isUnwanted: true }],
  ])('starts none %s', async (_why, { isUnwanted = false, ...options }: { isUnwanted?: boolean }) => {
    await installDaemon('hgtestd');
    if (isUnwanted) env = { ...env, LIBVIRT_AUTOSTART: '0' };
    await expect(connect(['hgtestd'], options)).rejects.toMatchObject({ failure: 'unreachable' });
    await expect(record()).rejects.toThrow('ENOENT');
  });

  test('waits for the daemon that another client has started', async () => {
    await installDaemon('hgtestd');
    await install('ends', `PATH=/bin:/usr/bin; ${join(folder, 'bin/hgtestd')} & exit 1`);
    await connect(['ends']);
  });

  test.each([
    ['there is none', 'missing'],
    ['it fails', 'fails'],
  ])('reports the missing socket if %s', async (_why, name) => {
    await install('fails', 'exit 1');
    // Every retry is due immediately.
    const timers = { after: (_ms: number, callback: () => void) => (setImmediate(callback), () => undefined) };
    await expect(connect([name], { timers })).rejects.toMatchObject({
      failure: 'unreachable',
      message: `Failed to connect socket to '${join(folder, 'libvirt/libvirt-sock')}': No such file or directory`,
    });
  });
});
