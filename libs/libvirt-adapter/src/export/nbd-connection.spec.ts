import { spawn } from 'node:child_process';
import { pbkdf2 } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NbdConnection } from './nbd-connection.js';

const SOCKET = 'nbd.sock';
/** Listens, and accepts no connection. */
const DEAF_SERVER = `
require('node:net').createServer().listen(process.argv[1], () => {
  require('node:fs').writeSync(1, 'listening');
  for (;;);
});`;
/** More than the threads that Node has for files. */
const BUSY_THREADS = 8;

describe('NbdConnection', () => {
  let folder: string;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'hgtest-nbd-'))));
  afterEach(() => rm(folder, { recursive: true }));

  const pipes = (): number => process.getActiveResourcesInfo().filter((one) => one === 'PipeWrap').length;

  test('is none if the server ends as soon as it was connected, as qemu-nbd does with a disk in use', async () => {
    const server = spawn(process.execPath, ['-e', DEAF_SERVER, join(folder, SOCKET)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(server.stdout, 'data');
    const before = pipes();
    const opened = NbdConnection.open(folder, SOCKET);
    // The folder stays open until a thread is free to close it. The connection breaks off before.
    const busy = Array.from({ length: BUSY_THREADS }, () => promisify(pbkdf2)('x', 'y', 1_000_000, 32, 'sha256'));
    while (pipes() === before) await new Promise((resolve) => setImmediate(resolve));
    server.kill('SIGKILL');
    await once(server, 'close');
    await Promise.all(busy);
    expect(await opened).toBeUndefined();
  });

  test('is none if nothing listens', async () => {
    expect(await NbdConnection.open(folder, SOCKET)).toBeUndefined();
  });
});
