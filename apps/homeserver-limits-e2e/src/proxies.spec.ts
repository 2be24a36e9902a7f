import { readFile } from 'node:fs/promises';
import { type IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { canCreateCertificates, Certificate } from './testing/certificate.js';
import { LimitsProcess } from './testing/limits-process.js';
import { freePort } from './testing/ports.js';
import { isInstalled, ProxyProgram, type ProxySetup } from './testing/proxy-program.js';
import { describeWithSynapse, Synapse } from './testing/synapse.js';

const FOLDER = resolve(import.meta.dirname, '../../../deploy/homeserver-limits/proxies');
const CLIENT = '/_matrix/client/v3';
const TOKEN = 'operator-token-0123';
const MIB = 1024 * 1024;

interface Ports {
  readonly front: number;
  readonly desk: number;
  readonly behind: number;
}

/** A file of the folder, with the ports and the certificate of this run, and its homeserver. */
type Adapt = (text: string, folder: string) => string;

const nginx = (adapt: Adapt, text: string): Omit<ProxySetup, 'program'> => ({
  args: (config, folder) => ['-p', folder, '-c', config],
  config: (_port, folder) => `
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  ${adapt(text, folder)}
}`,
});

const caddy = (adapt: Adapt, text: string): Omit<ProxySetup, 'program'> => ({
  args: (config) => ['run', '--adapter', 'caddyfile', '--config', config],
  config: (_port, folder) => adapt(text, folder),
});

const PROXIES = [
  ['nginx', 'nginx.conf', nginx],
  ['caddy', 'Caddyfile', caddy],
] as const;

describeWithSynapse('a proxy with TLS in front of the gateway and behind it', () => {
  let synapse: Synapse;
  let certificate: Certificate;
  beforeAll(async () => {
    certificate = await Certificate.create();
    synapse = await Synapse.start();
  });
  afterAll(async () => {
    await synapse?.dispose();
    await certificate?.dispose();
  });

  for (const [program, name, setupOf] of PROXIES) {
    const canRun = isInstalled(program) && canCreateCertificates;
    (canRun ? describe : describe.skip)(`${program}${canRun ? '' : ' (not installed)'}`, () => {
      let ports: Ports;
      let limits: LimitsProcess;
      let proxy: ProxyProgram;

      beforeAll(async () => {
        ports = { front: await freePort(), desk: await freePort(), behind: await freePort() };
        const operatorPort = await freePort();
        limits = await LimitsProcess.start(
          '[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.0/8"]\n' +
            `[gateway]\nupstream = "https://localhost:${ports.behind}"\nca_file = "${certificate.certPath}"\n` +
            `[operator]\nlisten = "127.0.0.1:${operatorPort}"\ntoken = "${TOKEN}"\n`,
        );
        const adapt: Adapt = (text) =>
          text
            .replaceAll('/etc/ssl/matrix/cert.pem', certificate.certPath)
            .replaceAll('/etc/ssl/matrix/key.pem', certificate.keyPath)
            .replaceAll('example.org', 'localhost')
            .replaceAll('127.0.0.1:8008', new URL(limits.url).host)
            .replaceAll('127.0.0.1:8448', new URL(synapse.url).host)
            .replaceAll('127.0.0.1:9008', `127.0.0.1:${operatorPort}`)
            .replace('listen 443', `listen 127.0.0.1:${ports.front}`)
            .replace('listen 9443', `listen 127.0.0.1:${ports.desk}`)
            .replace('localhost:443', `localhost:${ports.front}`)
            .replace('localhost:9443', `localhost:${ports.desk}`)
            .replace(/(127\.0\.0\.1|https:\/\/localhost):8449( ssl| \{)/, `$1:${ports.behind}$2`);
        const setup = setupOf(adapt, await readFile(join(FOLDER, name), 'utf8'));
        proxy = await ProxyProgram.start({
          program,
          port: ports.front,
          morePorts: [ports.desk, ports.behind],
          ...setup,
        });
      });
      afterAll(async () => {
        await proxy?.dispose();
        await limits?.dispose();
      });

      const open = async (
        port: number,
        method: string,
        path: string,
        headers: Record<string, string> = {},
        body?: string | Buffer,
      ): Promise<IncomingMessage> => {
        const outgoing = request({
          host: '127.0.0.1',
          servername: 'localhost',
          ca: certificate.cert,
          port,
          method,
          path,
          agent: false,
          headers: { Host: `localhost:${port}`, ...headers },
        });
        outgoing.end(body);
        const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
        return response;
      };
      const ask = async (...args: Parameters<typeof open>) => {
        const response = await open(...args);
        let text = '';
        for await (const chunk of response.setEncoding('utf8')) text += chunk as string;
        return { status: response.statusCode, text, body: (text.startsWith('{') ? JSON.parse(text) : {}) as never };
      };
      const register = async (): Promise<{ access_token: string; user_id: string }> =>
        (
          await ask(
            ports.front,
            'POST',
            `${CLIENT}/register`,
            {},
            JSON.stringify({ username: `user${program}`, password: 'correct horse', auth: { type: 'm.login.dummy' } }),
          )
        ).body;
      const as = (token: string) => ({ Authorization: `Bearer ${token}` });

      test('forwards paths as they are, and bodies that are larger than its own default', async () => {
        const { access_token: token, user_id: user } = await register();
        const path = `${CLIENT}/user/${encodeURIComponent(user)}/account_data/a%2Fb%20c`;
        expect((await ask(ports.front, 'PUT', path, as(token), '{"n":1}')).status).toBe(200);
        expect((await ask(ports.front, 'GET', path, as(token))).body).toEqual({ n: 1 });
        const media = { ...as(token), 'Content-Type': 'application/octet-stream' };
        const upload = await ask(ports.front, 'POST', '/_matrix/media/v3/upload', media, Buffer.alloc(3 * MIB, 7));
        expect(upload.status).toBe(200);
      });

      test('counts by the address of the client, and not by one that it names', async () => {
        const statuses: (number | undefined)[] = [];
        for (let i = 0; i < 6; i++) {
          const body = JSON.stringify({ type: 'm.login.password', user: `victim${program}`, password: 'wrong' });
          const forged = { 'X-Forwarded-For': `203.0.113.${i}` };
          statuses.push((await ask(ports.front, 'POST', `${CLIENT}/login`, forged, body)).status);
        }
        expect(statuses).toEqual([403, 403, 403, 403, 403, 429]);
        const { refusals } = (await ask(ports.desk, 'GET', '/refusals', as(TOKEN))).body as { refusals: object[] };
        expect(refusals[0]).toMatchObject({ address: '127.0.0.1', key: `user:victim${program}` });
        // The homeserver behind the second proxy has the same address in its log.
        expect(await synapse.log()).not.toContain('203.0.113.');
      });

      test('serves the desk, its actions and its stream, and refuses pages of other sites', async () => {
        expect((await ask(ports.desk, 'GET', '/desk')).text).toContain('/desk/app.js');
        expect((await ask(ports.desk, 'GET', '/journal')).status).toBe(401);
        const json = { ...as(TOKEN), 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin' };
        const lift = JSON.stringify({ rule: 'login_account', key: `user:victim${program}`, reason: 'a call' });
        const from = (origin: string) => ask(ports.desk, 'POST', '/lifts', { ...json, Origin: origin }, lift);
        expect((await from(`https://localhost:${ports.front}`)).status).toBe(403);
        expect((await from(`https://localhost:${ports.desk}`)).body).toMatchObject({ lifted: true });
        const stream = await open(ports.desk, 'GET', '/refusals/stream', as(TOKEN));
        let text = '';
        stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        while (!text.includes(`victim${program}`)) await once(stream, 'data');
        stream.destroy();
      });
    });
  }
});
