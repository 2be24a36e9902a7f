import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asRequestLine, PROXIES, targets } from '@headgate/homeserver-contracts/testing';
import { startNginxWith } from './testing/nginx-proxy.js';
import { installedPeer } from './testing/peers.js';
import { isInstalled, ProxyProgram } from './testing/proxy-program.js';
import { RawTargetClient } from './testing/raw-target-client.js';
import { MARK, TargetRecorder } from './testing/target-recorder.js';

/** Targets for each setting. 10,000 were checked once with `HEADGATE_TEST_TARGETS=10000`. */
const COUNT = Number(process.env['HEADGATE_TEST_TARGETS'] ?? 2_000);

/** Starts a proxy. @param upstream such as `http://127.0.0.1:8008` */
type Start = (upstream: string) => Promise<ProxyProgram>;

const TRAEFIK = installedPeer('traefik') ?? 'traefik';
const ENVOY = installedPeer('envoy') ?? 'envoy';

const nginx =
  (locations: (upstream: string) => string): Start =>
  (upstream) =>
    startNginxWith(locations(upstream));

const haproxy =
  (rules: string): Start =>
  (upstream) =>
    ProxyProgram.start({
      program: 'haproxy',
      args: (config) => ['-f', config],
      config: (port) => `
global
  expose-experimental-directives
defaults
  mode http
  timeout connect 30s
  timeout client 60s
  timeout server 60s
listen gateway
  bind 127.0.0.1:${port}
  ${rules}
  server homeserver ${new URL(upstream).host}
`,
    });

const caddy =
  (rules: string): Start =>
  (upstream) =>
    ProxyProgram.start({
      program: 'caddy',
      args: (config) => ['run', '--adapter', 'caddyfile', '--config', config],
      config: (port) => `
{
  admin off
  auto_https off
}
http://:${port} {
  bind 127.0.0.1
  ${rules}
  reverse_proxy ${upstream}
}
`,
    });

const MODULES = '/usr/lib/apache2/modules';
const apache =
  (rules: (upstream: string) => string): Start =>
  (upstream) =>
    ProxyProgram.start({
      program: 'apache2',
      args: (config, folder) => ['-DFOREGROUND', '-d', folder, '-f', config],
      config: (port, folder) => `
Listen 127.0.0.1:${port}
ServerName localhost
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
MaxKeepAliveRequests 0
LoadModule mpm_event_module ${MODULES}/mod_mpm_event.so
LoadModule authz_core_module ${MODULES}/mod_authz_core.so
LoadModule rewrite_module ${MODULES}/mod_rewrite.so
LoadModule proxy_module ${MODULES}/mod_proxy.so
LoadModule proxy_http_module ${MODULES}/mod_proxy_http.so
RewriteEngine On
${rules(upstream)}
`,
    });

const traefik =
  (entryPoint: string): Start =>
  async (upstream) => {
    const proxy = await ProxyProgram.start({
      program: TRAEFIK,
      args: (config) => [`--configFile=${config}.yml`],
      config: (port, folder) => {
        const rules = join(folder, 'rules.yml');
        writeFileSync(
          rules,
          `http:
  routers: { all: { rule: 'PathPrefix(\`/\`)', service: hs, entryPoints: [web] } }
  services: { hs: { loadBalancer: { servers: [{ url: '${upstream}' }] } } }
`,
        );
        const settings = `entryPoints: { web: { address: '127.0.0.1:${port}', http: { ${entryPoint} } } }
providers: { file: { filename: '${rules}' } }
log: { level: ERROR }
`;
        // Traefik finds the language of the file in its name.
        writeFileSync(join(folder, 'proxy.conf.yml'), settings);
        return settings;
      },
    });
    // It listens before it has read its rules.
    while ((await fetch(proxy.url, { headers: { [MARK]: '1' } })).status !== 200);
    return proxy;
  };

const ROUTER = 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router';
const MANAGER = 'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const addressOf = (port: number | string) => ({
  address: { socket_address: { address: '127.0.0.1', port_value: Number(port) } },
});

const envoy =
  (manager: object): Start =>
  (upstream) =>
    ProxyProgram.start({
      program: ENVOY,
      args: (config) => ['-c', config, '--use-dynamic-base-id', '--concurrency', '1', '-l', 'off'],
      config: (port) => {
        const http = {
          '@type': MANAGER,
          stat_prefix: 'gateway',
          ...manager,
          route_config: {
            virtual_hosts: [
              { name: 'all', domains: ['*'], routes: [{ match: { prefix: '/' }, route: { cluster: 'homeserver' } }] },
            ],
          },
          http_filters: [{ name: 'envoy.filters.http.router', typed_config: { '@type': ROUTER } }],
        };
        const filter = { name: 'envoy.filters.network.http_connection_manager', typed_config: http };
        const lb_endpoints = [{ endpoint: addressOf(new URL(upstream).port) }];
        const load_assignment = { cluster_name: 'homeserver', endpoints: [{ lb_endpoints }] };
        return JSON.stringify({
          static_resources: {
            listeners: [{ ...addressOf(port), filter_chains: [{ filters: [filter] }] }],
            clusters: [{ name: 'homeserver', connect_timeout: '30s', load_assignment }],
          },
        });
      },
    });

/** The program and the setting of each model that can be compared. */
const SETTINGS: Readonly<Record<string, readonly [program: string, start: Start]>> = {
  'nginx, proxy_pass http://hs': ['nginx', nginx((hs) => `location / { proxy_pass ${hs}; }`)],
  'nginx, proxy_pass http://hs/': ['nginx', nginx((hs) => `location / { proxy_pass ${hs}/; }`)],
  'nginx, proxy_pass http://hs$uri$is_args$args': [
    'nginx',
    nginx((hs) => `location / { proxy_pass ${hs}$uri$is_args$args; }`),
  ],
  'nginx, location ~ ^/(.*)$ { proxy_pass http://hs/$1; }': [
    'nginx',
    nginx((hs) => `location ~ ^/(.*)$ { proxy_pass ${hs}/$1; } location / { return 404; }`),
  ],
  'nginx, rewrite ^/(.*)$ /$1 break': [
    'nginx',
    nginx((hs) => `location / { rewrite ^/(.*)$ /$1 break; proxy_pass ${hs}; }`),
  ],
  'nginx, rewrite ^/(.*) /$1 break': [
    'nginx',
    nginx((hs) => `location / { rewrite ^/(.*) /$1 break; proxy_pass ${hs}; }`),
  ],
  'HAProxy, set-path %[path,url_dec]': ['haproxy', haproxy('http-request set-path %[path,url_dec]')],
  'HAProxy, normalize-uri percent-decode-unreserved, path-strip-dotdot and path-merge-slashes': [
    'haproxy',
    haproxy(`http-request normalize-uri percent-decode-unreserved
  http-request normalize-uri path-merge-slashes
  http-request normalize-uri path-strip-dot
  http-request normalize-uri path-strip-dotdot full`),
  ],
  'Envoy, merge_slashes and normalize_path': [ENVOY, envoy({ merge_slashes: true, normalize_path: true })],
  'Envoy, UNESCAPE_AND_FORWARD': [
    ENVOY,
    envoy({ normalize_path: true, path_with_escaped_slashes_action: 'UNESCAPE_AND_FORWARD' }),
  ],
  Traefik: [TRAEFIK, traefik('sanitizePath: true')],
  'Traefik, sanitizePath: false': [TRAEFIK, traefik('sanitizePath: false')],
  'Caddy, rewrite * {path}': ['caddy', caddy('rewrite * {path}')],
  'Apache, RewriteRule ^/(.*)$ http://hs/$1 [P]': ['apache2', apache((hs) => `RewriteRule ^/(.*)$ ${hs}/$1 [P]`)],
};

describe('the models of proxies', () => {
  let upstream: TargetRecorder;
  beforeAll(async () => (upstream = await TargetRecorder.listen()));
  afterAll(() => upstream.close());

  test('are compared, apart from those of programs that are not here', () => {
    const missing = Object.keys(PROXIES).filter((name) => !(name in SETTINGS));
    expect(missing).toEqual(['Caddy, a path that is cleaned', 'WHATWG URL', 'WHATWG URL of the decoded path']);
    expect(Object.keys(SETTINGS).filter((name) => !(name in PROXIES))).toEqual([]);
  });

  for (const [name, [program, start]] of Object.entries(SETTINGS)) {
    const isThere = isInstalled(program);
    (isThere ? test : test.skip)(
      `forward each target as ${name} does${isThere ? '' : `: skipped, ${program} is not installed`}`,
      async () => {
        const proxy = await start(upstream.url);
        const client = new RawTargetClient(proxy.port);
        const different: Record<string, readonly unknown[]> = {};
        let forwarded = 0;
        try {
          for (const { target } of targets(COUNT)) {
            // No proxy passes others.
            if (!target.startsWith('/')) continue;
            const { status, body } = await client.get(target);
            const line = asRequestLine(Buffer.from(body, 'base64').toString('latin1'));
            // The next server refuses others.
            const received = status === 200 && line.startsWith('/') ? line : undefined;
            const expected = PROXIES[name]?.(target);
            if (received !== undefined) forwarded++;
            if (received !== expected) different[target] = [expected, received];
          }
        } finally {
          client.close();
          await proxy.dispose();
        }
        expect(different).toEqual({});
        expect(forwarded).toBeGreaterThan(COUNT / 2);
      },
    );
  }
});
