import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionView, VmView, WhoamiView } from '@headgate/api-contracts';
import type { Page } from 'playwright-core';
import { WebSocket } from 'ws';
import { Api } from './api.js';
import { violations } from './axe.js';
import { openBrowser, type Browser } from './browser.js';
import { cutOff } from './cut-off.js';
import { CHROMIUM, describeIf } from './machine.js';
import { Attempt, COOKIE } from './login-attempt.js';
import { CLIENT_SECRET, OpenIdPeer } from './openid-peer.js';
import { RunningService } from './running-service.js';
import { tooSmall } from './too-small.js';
import { until } from './until.js';

const TIMEOUT_MS = 400_000;

describeIf(CHROMIUM === undefined ? 'no Chromium' : undefined, 'the login of a service', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-login-'));
  let peer: OpenIdPeer;
  let service: RunningService;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    peer = await OpenIdPeer.listen();
    peer.groups.set('ann', ['ops', 'dev']);
    const provider = (id: string, name: string) => ({
      id,
      name,
      issuer: peer.issuer,
      clientId: 'headgate',
      clientSecretFile: join(folder, 'secret'),
      scopes: ['profile', 'groups'],
      groupsClaim: 'groups',
    });
    writeFileSync(join(folder, 'secret'), `${CLIENT_SECRET}\n`, { mode: 0o600 });
    const login = { providers: [provider('corp', 'Example Corp'), provider('other', 'Another')] };
    writeFileSync(join(folder, 'headgate.yaml'), JSON.stringify({ login, admins: ['corp:ann'] }));
    // The provider is down now, which must not matter.
    service = await RunningService.start(['--sandbox=5', '--config', join(folder, 'headgate.yaml')]);
    browser = await openBrowser(service.url);
    page = browser.page;
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await peer?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const cookieOfBrowser = async (): Promise<string> => {
    const cookies = await page.context().cookies(service.url);
    return cookies.filter(({ name }) => name === COOKIE).map(({ name, value }) => `${name}=${value}`)[0] ?? '';
  };
  const whoamiOf = async (cookie: string) => new Api(service.url, { cookie }).send<WhoamiView>('GET', '/api/whoami');
  const firstLink = (): string => /\S+\/#\/login\?first=\S+/.exec(service.said)?.[0] ?? '';

  test('shows the login page instead of the console, also on a phone', async () => {
    await page.getByRole('link', { name: 'Log in with Example Corp' }).waitFor();
    expect(await page.getByRole('link', { name: 'Machines' }).count()).toBe(0);
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect({ width, cutOff: await cutOff(page) }).toEqual({ width, cutOff: [] });
      if (width < 640) expect(await tooSmall(page)).toEqual([]);
      expect({ width, violations: await violations(page) }).toEqual({ width, violations: [] });
    }
  });

  test('says that the provider does not answer while it is down', async () => {
    await page.getByRole('link', { name: 'Log in with Example Corp' }).click();
    await page.getByText('The provider does not answer.').waitFor();
    await page.getByText("Couldn't log in with Example Corp").waitFor();
  });

  test('logs a user in at the provider, and returns to the page that they wanted', async () => {
    peer.open(service.url, ['corp', 'other']);
    await page.goto('about:blank');
    await page.goto(`${service.url}/#/nodes`);
    await page.getByRole('link', { name: 'Log in with Example Corp' }).click();
    await page.getByLabel('Name').fill('ann');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Nodes' }).waitFor();
    expect(page.url()).toBe(`${service.url}/#/nodes`);
    const { body } = await whoamiOf(await cookieOfBrowser());
    expect(body).toMatchObject({ login: 'corp:ann', name: 'Name of ann', groups: ['ops', 'dev'], admin: true });
  });

  test('shows the sessions of the user, also on a phone', async () => {
    await page.goto(`${service.url}/#/account`);
    await page.getByText('This session').waitFor();
    expect(await page.getByText('ops, dev').isVisible()).toBe(true);
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect({ width, cutOff: await cutOff(page) }).toEqual({ width, cutOff: [] });
      expect({ width, violations: await violations(page) }).toEqual({ width, violations: [] });
    }
  });

  test('keeps the groups of the login until the next one', async () => {
    peer.groups.set('ann', ['dev']);
    expect((await whoamiOf(await cookieOfBrowser())).body.groups).toEqual(['ops', 'dev']);
    const again = await new Attempt(service.url).logIn('ann');
    expect((await whoamiOf(again)).body.groups).toEqual(['dev']);
  });

  test('closes the streams and consoles of a session that logs out, here and at the provider', async () => {
    const cookie = await cookieOfBrowser();
    const api = new Api(service.url, { cookie });
    const vm = (await api.send<VmView[]>('GET', '/api/vms')).body.find(({ status }) => status === 'Running')!;
    const path = `/api/tty/${vm.namespace}/${vm.name}?context=${vm.context}`;
    const socket = new WebSocket(`${service.socketUrl}${path}`, { headers: { cookie }, origin: service.url });
    await once(socket, 'open');
    const closed = once(socket, 'close');
    const stream = await fetch(`${service.url}/api/vms`, { headers: { cookie, accept: 'text/event-stream' } });
    const ended = (async () => {
      for await (const _ of stream.body!) void _;
    })().catch(() => undefined);
    await page.goto(`${service.url}/#/vms`);
    await page.getByRole('button', { name: 'User: Name of ann' }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    expect((await closed)[0]).toBe(1008);
    await ended;
    await page.getByRole('button', { name: 'Leave the provider' }).click();
    await page.getByRole('link', { name: 'Log in with Example Corp' }).waitFor();
    expect((await whoamiOf(cookie)).status).toBe(401);
  });

  test('asks for the login again when an administrator ends the session of an open page', async () => {
    await page.getByRole('link', { name: 'Log in with Example Corp' }).click();
    await page.getByLabel('Name').fill('bob');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'User: Name of bob' }).waitFor();
    const bob = new Api(service.url, { cookie: await cookieOfBrowser(), origin: service.url });
    const start = await bob.send('POST', '/api/vms/default/none/start');
    expect([start.status, start.body['code']]).toEqual([403, 'NOT_PERMITTED']);
    const cookie = await new Attempt(service.url).logIn('ann');
    const ann = new Api(service.url, { cookie, origin: service.url });
    const { body } = await ann.send<SessionView[]>('GET', '/api/ext/sessions');
    const session = body.find(({ login }) => login === 'corp:bob');
    expect((await ann.send('DELETE', `/api/ext/sessions/${session?.id}`, {})).status).toBe(200);
    await page.getByRole('link', { name: 'Log in with Example Corp' }).waitFor();
  });

  describe('refuses', () => {
    let attempt: Attempt;
    beforeEach(() => (attempt = new Attempt(service.url)));

    test('an answer that was already used', async () => {
      const callback = await attempt.approve('ann');
      const kept = new Map(attempt.jar.of(callback));
      expect((await attempt.jar.get(callback)).headers.get('location')).toBe('/#/vms');
      // The browser has removed the cookie of the login; an attacker may have kept it.
      for (const [name, value] of kept) attempt.jar.of(callback).set(name, value);
      expect(await attempt.failure(callback)).toBe('expired');
    });

    test('a code that was already used, in another login', async () => {
      const first = await attempt.approve('ann');
      await attempt.jar.get(first);
      const second = await attempt.approve('ann');
      second.searchParams.set('code', first.searchParams.get('code') ?? '');
      expect(await attempt.failure(second)).toBe('refused');
    });

    test('the answer to the login of another browser', async () => {
      const callback = await attempt.approve('ann');
      expect(await new Attempt(service.url).failure(callback)).toBe('expired');
      const victim = new Attempt(service.url);
      await victim.approve('bob');
      expect(await victim.failure(callback)).toBe('expired');
    });

    test('the answer of one provider as that of another', async () => {
      const callback = await attempt.approve('ann');
      const mixed = new URL(callback);
      mixed.pathname = mixed.pathname.replace('/corp/', '/other/');
      expect(await attempt.failure(mixed)).toBe('expired');
      const next = await attempt.approve('ann');
      next.searchParams.set('iss', 'https://evil.example');
      expect(await attempt.failure(next)).toBe('refused');
    });

    test('a session that was set beforehand', async () => {
      const callback = await attempt.approve('ann');
      const planted = 'AAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
      attempt.jar.of(callback).set(COOKIE, planted);
      await attempt.jar.get(callback);
      expect(attempt.jar.of(callback).get(COOKIE)).not.toBe(planted);
      expect((await whoamiOf(`${COOKIE}=${planted}`)).status).toBe(401);
    });

    test.each(['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '/a\nb'])(
      'to return to %p',
      async (returnTo) => {
        const callback = await attempt.approve('ann', returnTo);
        const location = (await attempt.jar.get(callback)).headers.get('location') ?? '';
        expect(new URL(location, service.url).href.startsWith(`${service.url}/#/`)).toBe(true);
      },
    );
  });

  test('creates the first account with the printed link, and other accounts on the page', async () => {
    const link = firstLink();
    expect(link).toContain(`${service.url}/#/login?first=`);
    await page.context().clearCookies();
    await page.goto('about:blank');
    await page.goto(`${service.url}/`);
    await page.getByText('There is no account yet').waitFor();
    // Opened in the same tab, a link changes the address of the page only.
    await page.goto(link);
    await page.getByLabel('Login').fill('root');
    await page.getByLabel('New password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('button', { name: 'User: root', exact: true }).waitFor();
    expect(page.url()).not.toContain('first=');
    await page.goto(`${service.url}/#/account`);
    const accounts = page.getByRole('region', { name: 'Accounts' });
    await accounts.getByLabel('Login').fill('carl');
    await accounts.getByRole('button', { name: 'Create account' }).click();
    const setup = await accounts.locator('code').innerText();
    await page.getByRole('button', { name: 'User: root', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Use a recovery code' }).waitFor();
    await page.goto(setup);
    await page.getByLabel('New password').fill('another staple, please');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('button', { name: 'User: carl', exact: true }).waitFor();
    const { body } = await whoamiOf(await cookieOfBrowser());
    expect(body).toMatchObject({ login: 'carl', admin: false, groups: [] });
  });

  test('shows neither secrets nor passwords in its output', async () => {
    await until(
      'it is written',
      () => Promise.resolve(service.said),
      (said) => said.includes('Headgate serves'),
    );
    expect(service.said).not.toMatch(new RegExp(`${CLIENT_SECRET}|correct horse|another staple`));
  });
});
