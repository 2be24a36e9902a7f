import { spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeConnection, openOver } from '../open-connection.js';
import { procedures } from '../procedures.js';
import { connectToSession } from './session-daemon.js';

const UNPRIVILEGED_ID = 65_534;
const IS_INSTALLED = spawnSync('libvirtd', ['--version']).status === 0;
const missing = !IS_INSTALLED
  ? 'libvirtd is not installed'
  : process.geteuid?.() === 0
    ? undefined
    : 'another user can be chosen by root only';
const testWithDaemon = missing === undefined ? test : test.skip;

/** The daemon of a session is that of an unprivileged user, and the tests are root: this one changes the user first. */
const LIBVIRTD = `#!/bin/sh
echo $$ > "$HOME/pid"
PATH=/usr/sbin:/usr/bin:/bin
exec setpriv --reuid ${UNPRIVILEGED_ID} --regid ${UNPRIVILEGED_ID} --clear-groups libvirtd "$@"
`;

describe('the session of a user', () => {
  let folder: string;

  beforeEach(async () => {
    // A short path: those of sockets are limited to 107 characters.
    folder = await mkdtemp(join(tmpdir(), 'hgs-'));
    await chmod(folder, 0o755);
    for (const name of ['bin', 'run', 'config', 'cache']) {
      await mkdir(join(folder, name));
      await chown(join(folder, name), UNPRIVILEGED_ID, UNPRIVILEGED_ID);
    }
    await writeFile(join(folder, 'bin/hgtestd'), LIBVIRTD, { mode: 0o755 });
  });
  afterEach(async () => {
    const pid = Number(await readFile(join(folder, 'pid'), 'utf8').catch(() => ''));
    if (pid > 0) process.kill(pid, 'SIGKILL');
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  testWithDaemon(
    `has a real libvirtd that is started without the variables of this process${missing === undefined ? '' : `: skipped, ${missing}`}`,
    async () => {
      const env = {
        PATH: join(folder, 'bin'),
        HOME: folder,
        SVC_SECRET: 'hunter2',
        XDG_RUNTIME_DIR: join(folder, 'run'),
        XDG_CONFIG_HOME: join(folder, 'config'),
        XDG_CACHE_HOME: join(folder, 'cache'),
      };
      const target = {
        kind: 'unix' as const,
        sockets: [join(folder, 'run/libvirt/libvirt-sock')],
        daemons: ['hgtestd'],
      };
      const transport = await connectToSession(target, { env, isRoot: false, signal: AbortSignal.timeout(50_000) });
      const connection = await openOver(transport, 'qemu:///session');
      expect(await connection.call(procedures.connectGetHostname, undefined)).toEqual({ hostname: hostname() });
      const pid = (await readFile(join(folder, 'pid'), 'utf8')).trim();
      expect((await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0')).toEqual(['libvirtd', '--timeout=120', '']);
      expect(await readFile(`/proc/${pid}/environ`, 'utf8')).not.toContain('hunter2');
      await closeConnection(connection);
    },
  );
});
