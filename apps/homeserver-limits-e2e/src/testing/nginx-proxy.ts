import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, untilAccepting } from './ports.js';

export const isNginxInstalled = spawnSync('nginx', ['-v']).status === 0;

/** Of `proxy_pass http://server$uri`: the next server decodes the path once more. */
export const DECODED_PATH = '$uri$is_args$args';

/**
 * nginx in front of a server, by default with `proxy_pass http://server/;`: it decodes each path and resolves its dot
 * segments.
 */
export class NginxProxy {
  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
    readonly url: string,
  ) {}

  /** @param path `/` to forward resolved paths, `DECODED_PATH` to forward them decoded */
  static start(upstream: string, path = '/'): Promise<NginxProxy> {
    return NginxProxy.startWith(`location / { proxy_pass ${upstream}${path}; }`);
  }

  /** @param locations of its server, in the syntax of its configuration */
  static async startWith(locations: string): Promise<NginxProxy> {
    const folder = await mkdtemp(join(tmpdir(), 'limits-e2e-nginx-'));
    const port = await freePort();
    const file = join(folder, 'nginx.conf');
    await writeFile(file, configOf(folder, port, locations));
    const process = spawn('nginx', ['-p', folder, '-c', file], { stdio: 'ignore' });
    const proxy = new NginxProxy(process, folder, `http://127.0.0.1:${port}`);
    await untilAccepting(port, process);
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
}

const configOf = (folder: string, port: number, locations: string): string => `
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  server { listen 127.0.0.1:${port}; keepalive_requests 100000; ${locations} }
}`;
