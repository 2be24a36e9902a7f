import { isInstalled, ProxyProgram } from './proxy-program.js';

export const isNginxInstalled = isInstalled('nginx');

/** Of `proxy_pass http://server$uri`: the next server decodes the path once more. */
export const DECODED_PATH = '$uri$is_args$args';

/**
 * nginx in front of a server, by default with `proxy_pass http://server/;`: it decodes each path and resolves its dot
 * segments.
 * @param path `/` to forward resolved paths, `DECODED_PATH` to forward them decoded
 */
export const startNginx = (upstream: string, path = '/'): Promise<ProxyProgram> =>
  startNginxWith(`location / { proxy_pass ${upstream}${path}; }`);

/** @param locations of its server, in the syntax of its configuration */
export const startNginxWith = (locations: string): Promise<ProxyProgram> =>
  ProxyProgram.start({
    program: 'nginx',
    args: (config, folder) => ['-p', folder, '-c', config],
    config: (port, folder) => `
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 64; }
http {
  access_log off; keepalive_requests 100000;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  server { listen 127.0.0.1:${port}; ${locations} }
}`,
  });
