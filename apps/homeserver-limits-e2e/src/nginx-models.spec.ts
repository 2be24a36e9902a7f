import { asRequestLine, PROXIES, targets } from '@headgate/homeserver-contracts/testing';
import { isNginxInstalled, NginxProxy } from './testing/nginx-proxy.js';
import { RawTargetClient } from './testing/raw-target-client.js';
import { TargetRecorder } from './testing/target-recorder.js';

/** Targets for each setting. 10,000 were checked once with `HEADGATE_TEST_TARGETS=10000`. */
const COUNT = Number(process.env['HEADGATE_TEST_TARGETS'] ?? 2_000);

/** The location for each model of nginx. @param upstream such as `http://127.0.0.1:8008` */
const LOCATIONS: Readonly<Record<string, (upstream: string) => string>> = {
  'nginx, proxy_pass http://hs': (upstream) => `location / { proxy_pass ${upstream}; }`,
  'nginx, proxy_pass http://hs/': (upstream) => `location / { proxy_pass ${upstream}/; }`,
  'nginx, proxy_pass http://hs$uri$is_args$args': (upstream) =>
    `location / { proxy_pass ${upstream}$uri$is_args$args; }`,
  'nginx, location ~ ^/(.*)$ { proxy_pass http://hs/$1; }': (upstream) =>
    `location ~ ^/(.*)$ { proxy_pass ${upstream}/$1; } location / { return 404; }`,
  'nginx, rewrite ^/(.*)$ /$1 break': (upstream) => `location / { rewrite ^/(.*)$ /$1 break; proxy_pass ${upstream}; }`,
  'nginx, rewrite ^/(.*) /$1 break': (upstream) => `location / { rewrite ^/(.*) /$1 break; proxy_pass ${upstream}; }`,
};

(isNginxInstalled ? describe : describe.skip)(
  `the models of nginx${isNginxInstalled ? '' : ' (nginx is not installed)'}`,
  () => {
    let upstream: TargetRecorder;
    beforeAll(async () => (upstream = await TargetRecorder.listen()));
    afterAll(() => upstream.close());

    test('are all compared', () =>
      expect(Object.keys(LOCATIONS)).toEqual(Object.keys(PROXIES).filter((name) => name.startsWith('nginx'))));

    test.each(Object.entries(LOCATIONS))('forward each target as %s does', async (name, location) => {
      const model = PROXIES[name];
      const nginx = await NginxProxy.startWith(location(upstream.url));
      const client = new RawTargetClient(Number(new URL(nginx.url).port));
      const different: Record<string, readonly unknown[]> = {};
      let forwarded = 0;
      try {
        for (const { target } of targets(COUNT)) {
          // No proxy passes others.
          if (!target.startsWith('/')) continue;
          const { status, body } = await client.get(target);
          const received = status === 200 ? asRequestLine(Buffer.from(body, 'base64').toString('latin1')) : undefined;
          const expected = model?.(target);
          if (received !== undefined) forwarded++;
          if (received !== expected) different[target] = [expected, received];
        }
      } finally {
        client.close();
        await nginx.dispose();
      }
      expect(different).toEqual({});
      expect(forwarded).toBeGreaterThan(COUNT / 2);
    });
  },
);
