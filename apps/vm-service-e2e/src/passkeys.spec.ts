import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { violations } from './axe.js';
import { openBrowser, type Browser } from './browser.js';
import { cutOff } from './cut-off.js';
import { CHROMIUM, describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { tooSmall } from './too-small.js';

const TIMEOUT_MS = 400_000;
const PASSWORD = 'correct horse battery';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

describeIf(CHROMIUM === undefined ? 'no Chromium' : undefined, 'passkeys in a browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-passkeys-'));
  let service: RunningService;
  let address: string;
  let browser: Browser;
  let page: Page;
  let devices: CDPSession;
  let authenticatorId: string;

  beforeAll(async () => {
    const port = await freePort();
    address = `http://localhost:${port}`;
    writeFileSync(join(folder, 'headgate.yaml'), JSON.stringify({ login: { address } }));
    const config = ['--sandbox=5', '--config', join(folder, 'headgate.yaml'), '--listen', `127.0.0.1:${port}`];
    service = await RunningService.start(config);
    const secret = /login\?first=(\S+)/.exec(service.said)?.[1] ?? '';
    browser = await openBrowser(`${address}/#/login?first=${secret}`);
    page = browser.page;
    devices = await page.context().newCDPSession(page);
    await devices.send('WebAuthn.enable');
    authenticatorId = await addDevice();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const addDevice = async (): Promise<string> =>
    (
      await devices.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          transport: 'internal',
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      })
    ).authenticatorId;
  const logOut = async (): Promise<void> => {
    await page.getByRole('button', { name: 'User: ann', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log in with a passkey' }).waitFor();
  };
  const logIn = () => page.getByRole('button', { name: 'Log in with a passkey' }).click();

  test('adds a passkey on the account page, also on a phone', async () => {
    await page.getByLabel('Login').fill('ann');
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('button', { name: 'User: ann', exact: true }).waitFor();
    await page.goto(`${address}/#/account`);
    await page.getByLabel('Name of the passkey').fill('laptop');
    await page.getByLabel('Your password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Add passkey' }).click();
    await page.getByRole('button', { name: 'Remove the passkey laptop' }).waitFor();
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect({ width, cutOff: await cutOff(page) }).toEqual({ width, cutOff: [] });
      if (width < 640) expect(await tooSmall(page)).toEqual([]);
      expect({ width, violations: await violations(page) }).toEqual({ width, violations: [] });
    }
    const { credentials } = await devices.send('WebAuthn.getCredentials', { authenticatorId });
    expect(credentials).toMatchObject([{ isResidentCredential: true, rpId: 'localhost', userName: 'ann' }]);
  });

  test('logs in with it without a login or a password', async () => {
    await logOut();
    await logIn();
    await page.getByRole('button', { name: 'User: ann', exact: true }).waitFor();
    await page.goto(`${address}/#/account`);
    expect(await page.getByRole('cell', { name: 'Never' }).count()).toBe(0);
  });

  test('says so when the authenticator does not recognize the user', async () => {
    await logOut();
    await devices.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await logIn();
    await page.getByText('No passkey was used').waitFor();
    await devices.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
  });

  test('refuses a copy of the authenticator, and says so on the account page', async () => {
    const { credentials } = await devices.send('WebAuthn.getCredentials', { authenticatorId });
    const [credential] = credentials;
    expect(credential?.signCount).toBeGreaterThan(0);
    await devices.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    authenticatorId = await addDevice();
    const copied = { ...credential!, signCount: 0 };
    await devices.send('WebAuthn.addCredential', { authenticatorId, credential: copied });
    await logIn();
    await page.getByText('A copy of the passkey laptop may exist').waitFor();
    await page.getByLabel('Login').fill('ann');
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByRole('button', { name: 'User: ann', exact: true }).waitFor();
    await page.goto(`${address}/#/account`);
    await page.getByText('A passkey is refused').waitFor();
    await page.getByRole('button', { name: 'Remove the passkey laptop' }).click();
    await page.getByText('A passkey is refused').waitFor({ state: 'hidden' });
    expect(browser.errors).toEqual([]);
  });
});
