import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';

export const isNginxInstalled = spawnSync('nginx', ['-v']).status === 0;

const START_TIMEOUT_MS = 10_000;

/** nginx in front of a server with `proxy_pass http://server/;`: it decodes each path and resolves its dot segments. */
export class NginxProxy {
  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
    readonly url: string,
  ) {}

  static async start(upstream: string): Promise<NginxProxy> {
    const folder = await mkdtemp(join(tmpdir(), 'limits-e2e-nginx-'));
    const port = await freePort();
    const file = join(folder, 'nginx.conf');
    await writeFile(file, configOf(folder, port, upstream));
    const process = spawn('nginx', ['-p', folder, '-c', file], { stdio: 'ignore' });
    const proxy = new NginxProxy(process, folder, `http://127.0.0.1:${port}`);
    await proxy.untilListening(port);
    return proxy;
  }

  async dispose(): Promise<void> {
    if (this.process.exitCode === null) {
      const exited = once(this.process, 'exit');
      this.process.kill('SIGTERM');
      await exited;
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  private async untilListening(port: number): Promise<void> {
    const end = Date.now() + START_TIMEOUT_MS;
    while (!(await accepts(port))) {
      if (this.process.exitCode !== null) throw new Error(`nginx exited with status ${this.process.exitCode}`);
      if (Date.now() > end) throw new Error('nginx does not listen');
      await setImmediate();
    }
  }
}

const configOf = (folder: string, port: number, upstream: string): string => `
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  server { listen 127.0.0.1:${port}; location / { proxy_pass ${upstream}/; } }
}`;

function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1', () => resolve(true));
  socket.once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
