import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { VmView } from '@headgate/api-contracts';
import { openBrowser, type Browser } from './browser.js';
import { CHROMIUM, describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

const why = spawnSync('openssl', ['version']).status === 0 ? undefined : 'openssl is not installed';

describeIf(CHROMIUM === undefined ? 'no Chromium' : why, 'npm start -- --tls-cert FILE --tls-key FILE', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-tls-'));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  let service: RunningService;
  let browser: Browser;

  beforeAll(async () => {
    const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
    const names = ['-subj', '/CN=headgate', '-addext', 'subjectAltName=IP:127.0.0.1'];
    execFileSync('openssl', [...kind, ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    service = await RunningService.start(['--sandbox=5', '--tls-cert', cert, '--tls-key', key]);
    browser = await openBrowser(service.url, { trustsAll: true });
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function list(): Promise<VmView[]> {
    const outgoing = request(`${service.url}/api/vms`, { ca: readFileSync(cert), agent: false }).end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return JSON.parse(Buffer.concat(chunks).toString()) as VmView[];
  }

  test('prints an address with https, and clients that trust the certificate are answered', async () => {
    expect(service.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(await list()).toHaveLength(5);
  });

  test('serves the page, its stream and a console to a browser', async () => {
    const { page } = browser;
    const vm = (await list()).find(({ status }) => status === 'Running')!;
    await page.getByRole('link', { name: vm.name, exact: true }).waitFor();
    await page.goto(`${service.url}/#/vms/${vm.context}/${vm.namespace}/${vm.name}/serial`);
    // Keys that are pressed before are lost.
    await page
      .getByRole('region', { name: `Serial console of ${vm.name}` })
      .getByText('Connected')
      .waitFor();
    await page.locator('.xterm').click();
    await page.keyboard.press('Enter');
    await until(
      'the guest asks for a login',
      () => page.locator('.xterm-rows').innerText(),
      (seen) => /login:/.test(seen),
    );
    expect([browser.errors, browser.foreign]).toEqual([[], []]);
  });

  test('does not start with a key of another certificate, and shows no part of the key', async () => {
    const other = join(folder, 'other.key');
    execFileSync('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', other]);
    const { code, said } = await RunningService.runToEnd(['--sandbox=0', '--tls-cert', cert, '--tls-key', other]);
    expect([code, said]).toEqual([1, expect.stringContaining('does not belong to the certificate')]);
    expect(said).not.toContain(readFileSync(other, 'utf8').split('\n')[1]);
    copyFileSync(cert, other);
    const noKey = await RunningService.runToEnd(['--sandbox=0', '--tls-cert', cert, '--tls-key', other]);
    expect([noKey.code, noKey.said]).toEqual([1, expect.stringContaining('is not a private key in PEM')]);
  });
});
