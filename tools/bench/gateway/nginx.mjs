import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

export const isInstalled = (program, ...args) => {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

const config = (folder, port, upstream) => `
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  upstream homeserver { server ${new URL(upstream).host}; keepalive 64; }
  server {
    listen 127.0.0.1:${port}; keepalive_requests 100000000;
    location / { proxy_pass http://homeserver; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; proxy_request_buffering off; }
  }
}`;

/** nginx with one worker as a plain proxy; undefined if it is not installed. */
export async function startNginx(folder, upstream) {
  if (!isInstalled('nginx', '-v')) return undefined;
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, config(folder, port, upstream));
  const nginx = spawn('nginx', ['-p', folder, '-c', file], { stdio: 'ignore' });
  await waitUntilListening(port);
  return {
    url: `http://127.0.0.1:${port}`,
    async end() {
      const ended = once(nginx, 'exit');
      nginx.kill('SIGTERM');
      await ended;
    },
  };
}

export async function waitUntilListening(port) {
  for (const deadline = performance.now() + 5000; performance.now() < deadline;) {
    const open = await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (open) return;
  }
  throw new Error('nginx does not listen');
}
