import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Page } from 'playwright-core';
import { DeskBrowser, type DeskTab, violations } from './testing/desk-browser.js';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { freshAddress, MatrixUser } from './testing/matrix-user.js';
import { freePort } from './testing/ports.js';
import { describeWithSynapse, Synapse } from './testing/synapse.js';

const LOGIN = '/_matrix/client/v3/login';
const ALICE = 'operator-token-alice';
const BOB = 'operator-token-bob-0';
const PAGES = ['refusals', 'why', 'overrides', 'rules', 'proposal', 'journal'];

/** A user name with markup, a right-to-left override, a control character, and the greatest length. */
const HOSTILE = `<img src=x onerror=alert(1)>\u202egnp.\u0007${'x'.repeat(220)}`;

const tokens = (alice: string) => `[operator.tokens]\nalice = "${alice}"\nbob = "${BOB}"\n`;

describeWithSynapse("the operator's desk, in front of Synapse", () => {
  let synapse: Synapse;
  let limits: LimitsProcess;
  let browser: DeskBrowser;
  let config: (alice: string) => string;
  let operatorUrl: string;
  let deskUrl: string;

  beforeAll(async () => {
    synapse = await Synapse.start();
    // The restart takes it again, so it must be none that the kernel gives to a connection meanwhile.
    const port = await freePort();
    config = (alice) =>
      `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.1"]\n[gateway]\nupstream = "${synapse.url}"\n` +
      `[operator]\nlisten = "127.0.0.1:${port}"\n${tokens(alice)}[log]\nrequests_file = "${limits.folder}/requests.jsonl"\n` +
      '[rates.login_account]\nwindow = "10m"\nblock = { after = 2, for = "1h", max = "1d" }\n';
    limits = await LimitsProcess.prepare('');
    await limits.configure(config(ALICE));
    await limits.launch();
    operatorUrl = limits.operatorUrl;
    deskUrl = `${operatorUrl}/desk`;
    browser = await DeskBrowser.launch();
  });
  afterAll(async () => {
    await browser?.close();
    await limits?.dispose();
    await synapse?.dispose();
  });

  const login = (user: string, password: string, from: string) =>
    call(limits.url, 'POST', LOGIN, {
      from,
      body: { type: 'm.login.password', identifier: { type: 'm.id.user', user }, password },
    }).then(({ status }) => status);
  /** A stranger guesses passwords until the account is blocked. */
  const lockOut = async (user: string, from = freshAddress()): Promise<void> => {
    const statuses: number[] = [];
    for (let i = 0; i < 8; i++) statuses.push(await login(user, 'wrong', from));
    expect(statuses.slice(5)).toEqual([429, 429, 429]);
  };
  const signIn = async (page: Page, token: string): Promise<void> => {
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  };
  const open = async (token = ALICE, hash = '', options: Parameters<DeskBrowser['open']>[1] = {}): Promise<DeskTab> => {
    const tab = await browser.open(`${deskUrl}${hash}`, options);
    await signIn(tab.page, token);
    return tab;
  };
  const why = (subject: string) => `#/why?${new URLSearchParams({ subject }).toString()}`;
  const close = (...tabs: DeskTab[]) => Promise.all(tabs.map(({ page }) => page.context().close()));
  const ask = (method: string, target: string, body?: object) =>
    call(operatorUrl, method, target, {
      token: ALICE,
      ...(body && { body, headers: { 'Content-Type': 'application/json' } }),
    });

  test('an owner who was locked out by a stranger logs in after an operator has lifted it', async () => {
    const owner = await MatrixUser.register(limits.url);
    const name = owner.name;
    const stranger = freshAddress();
    const tab = await open();
    const { page } = tab;
    await page.getByText('Live').waitFor();
    await lockOut(name, stranger);
    expect(await login(name, MatrixUser.password, freshAddress())).toBe(429);

    // Refusals arrive; the first ones are shown, later ones wait for the button.
    const row = page
      .getByRole('row')
      .filter({ hasText: `user:${name}` })
      .first();
    await row.waitFor();
    expect(await row.textContent()).toContain('login_account');
    expect(await row.textContent()).toContain(LOGIN);
    await row.getByRole('link', { name: 'Why' }).click();

    const card = page.getByRole('region', { name: 'login_account' });
    await card.getByText('Blocked').waitFor();
    expect(await card.textContent()).toContain('5 of 5 counted in 10 min');
    expect(await card.textContent()).toMatch(/the block ends in \d+ min/);
    expect(await card.getByRole('row').filter({ hasText: stranger }).filter({ hasText: 'yes' }).count()).toBe(5);
    await card.getByRole('button', { name: 'Lift…' }).click();

    const plan = page.getByRole('complementary', { name: 'Plan' });
    expect(await plan.textContent()).toContain('Nothing has happened yet.');
    expect(await plan.textContent()).toContain('forgets 5 counted requests');
    expect(await login(name, MatrixUser.password, freshAddress())).toBe(429);
    await plan.getByLabel('Reason (for the journal)').fill('the owner called');
    await plan.getByRole('button', { name: 'Lift login_account' }).click();
    await plan.getByText('Lifted.').waitFor();
    expect(await login(name, MatrixUser.password, freshAddress())).toBe(200);

    await page.getByRole('link', { name: 'Journal' }).click();
    // The page before has rows of the user as well, until the journal is drawn.
    const entry = page
      .getByRole('row')
      .filter({ hasText: `user:${name}` })
      .filter({ hasText: 'Lift' });
    await entry.waitFor();
    for (const text of ['alice', 'Lift', 'login_account', 'the owner called', 'Done'])
      expect(await entry.textContent()).toContain(text);
    expect([tab.foreign, tab.errors]).toEqual([[], []]);
    expect(page.url()).not.toContain(ALICE);
    await close(tab);
  });

  test('an override and a proposed rule go through the desk', async () => {
    const tab = await open(ALICE, '#/overrides');
    const { page } = tab;
    await page.getByRole('button', { name: 'Add…' }).click();
    await page.getByLabel('Rule or cap').selectOption('ring');
    await page.getByLabel('User, room or other key of the rule').fill('@bot:b.example');
    await page.getByLabel('Times its limit').fill('3');
    await page.getByText('30 instead of 10').waitFor();
    await page.getByLabel('Reason (for the journal)').fill('a conference');
    await page.getByRole('button', { name: 'Add the override' }).click();
    await page.getByText('The override is in force.').waitFor();
    expect((await ask('GET', '/rates/ring?key=%40bot%3Ab.example')).body.limit).toBe(30);
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('button', { name: 'Remove…' }).click();
    await page.getByLabel('Reason (for the journal)').fill('it is over');
    await page.getByRole('button', { name: 'Remove the override' }).click();
    await page.getByText('Removed.').waitFor();
    expect((await ask('GET', '/overrides')).body.overrides).toEqual([]);

    await lockOut('replayed');
    // The log is written within a second.
    await page.goto(`${deskUrl}#/proposal`);
    await page.locator('textarea').fill('[rates.login_account]\nlimit = 1\n');
    const result = page.getByRole('region', { name: 'Result' });
    await expectEventually(async () => {
      await page.getByRole('button', { name: 'Try on the recorded requests' }).click();
      await result.waitFor();
      return (await result.textContent())?.includes('user:replayed') === true;
    });
    await page.locator('textarea').fill('[[rules]]\nname = "broken"\n');
    await page.getByRole('button', { name: 'Try on the recorded requests' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('broken');
    await close(tab);
  });

  test('hostile names are text, on every page', async () => {
    for (let i = 0; i < 8; i++) await login(HOSTILE, 'wrong', freshAddress());
    const { refusals } = (await ask('GET', '/refusals?limit=1')).body;
    const { key } = refusals[0];
    expect(key).toContain('<img');
    const reason = '\u202eevil <script>alert(2)</script>';
    await ask('POST', '/lifts', { rule: 'login_account', key, reason });
    for (let i = 0; i < 8; i++) await login(HOSTILE, 'wrong', freshAddress());
    const tab = await open();
    const { page } = tab;
    for (const hash of ['#/refusals', why(key), '#/journal']) {
      await page.goto(`${deskUrl}${hash}`);
      await page.getByText('<img').first().waitFor();
      expect(await page.locator('img, script:not([src])').count()).toBe(0);
      // No character reverses the text around it.
      expect(await page.locator('body').textContent()).not.toMatch(/[\u202a-\u202e\u0007]/);
    }
    // One, or it throws.
    await page.getByText('\\u{202e}evil <script>').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect([tab.foreign, tab.errors]).toEqual([[], []]);
    await close(tab);
  });

  describe('a page of another site', () => {
    let server: Server;
    let site: string;
    beforeAll(async () => {
      server = createServer((_request, response) => {
        response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>evil</title>');
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      site = `http://localhost:${(server.address() as AddressInfo).port}`;
    });
    afterAll(() => {
      server.closeAllConnections();
      server.close();
    });

    test('can neither lift, nor read, nor frame the desk of a signed-in operator, or of a listener without a token', async () => {
      await lockOut('forged');
      const open2 = await LimitsProcess.start('[server]\nname = "b.example"\n[operator]\nlisten = "127.0.0.1:0"\n');
      try {
        const signedIn = await open();
        const evil = await signedIn.page.context().newPage();
        await evil.goto(site);
        for (const base of [operatorUrl, open2.operatorUrl]) {
          const results = await evil.evaluate(async (target) => {
            const body = JSON.stringify({ rule: 'login_account', key: 'user:forged', reason: 'forged' });
            const outcome = (init: RequestInit, path: string) =>
              fetch(`${target}${path}`, init).then(
                ({ type, status }) => `${type} ${status}`,
                () => 'failed',
              );
            return Promise.all([
              outcome({ method: 'POST', body, mode: 'no-cors', credentials: 'include' }, '/lifts'),
              outcome({ method: 'POST', body, headers: { 'Content-Type': 'application/json' } }, '/lifts'),
              outcome({ method: 'DELETE' }, '/rates/login_account?key=user:forged'),
              outcome({ credentials: 'include' }, '/journal'),
            ]);
          }, base);
          // The policy of the resource hides even the status.
          expect(results).toEqual(['failed', 'failed', 'failed', 'failed']);
          await evil.evaluate((target) => {
            const frame = document.createElement('iframe');
            frame.src = `${target}/desk`;
            document.body.append(frame);
            return new Promise((done) => frame.addEventListener('load', done, { once: true }));
          }, base);
          const framed = evil.frames().find((frame) => frame !== evil.mainFrame())!;
          expect(framed.url()).not.toContain('/desk');
          await evil.reload();
        }
        const { journal } = (await ask('GET', '/journal?limit=1000')).body;
        expect(journal.filter(({ reason }: { reason?: string }) => reason === 'forged')).toEqual([]);
        expect((await call(open2.operatorUrl, 'GET', '/journal')).body.journal).toEqual([]);
        expect((await ask('GET', '/rates/login_account?key=user:forged')).body.counted).toBe(5);
        await close(signedIn);
      } finally {
        await open2.dispose();
      }
    });
  });

  test('of two operators who lift the same key, the second one learns who was first', async () => {
    await lockOut('raced');
    const tabs = [await open(ALICE, why('@raced:b.example')), await open(BOB, why('@raced:b.example'))];
    const plans = tabs.map(({ page }) => page.getByRole('complementary', { name: 'Plan' }));
    for (const [index, { page }] of tabs.entries()) {
      await page.getByRole('region', { name: 'login_account' }).getByRole('button', { name: 'Lift…' }).click();
      await plans[index]!.getByLabel('Reason (for the journal)').fill('a call');
    }
    await Promise.all(plans.map((plan) => plan.getByRole('button', { name: 'Lift login_account' }).click()));
    const texts = await Promise.all(plans.map((plan) => plan.getByRole('status').textContent()));
    const [first, second] = texts.sort((a, b) => Number(b?.startsWith('Lifted')) - Number(a?.startsWith('Lifted')));
    expect(first).toBe('Lifted. The next request is counted from zero.');
    expect(second).toMatch(/^There was nothing left to lift: (alice|bob) lifted it \d+ s ago\.$/);
    await close(...tabs);
  });

  test('each page has no violations in both themes, and fits a phone', async () => {
    await lockOut('seen');
    for (const colorScheme of ['light', 'dark'] as const) {
      const tab = await open(ALICE, '', { colorScheme });
      for (const name of PAGES) {
        const hash = name === 'why' ? why('@seen:b.example') : `#/${name}`;
        await tab.page.goto(`${deskUrl}${hash}`);
        await tab.page.locator('table, textarea, .desk-card').first().waitFor();
        expect([name, await violations(tab.page)]).toEqual([name, []]);
      }
      await tab.page.goto(`${deskUrl}${why('@seen:b.example')}`);
      await tab.page.getByRole('button', { name: 'Lift…' }).first().click();
      expect(await violations(tab.page)).toEqual([]);
      expect(tab.errors).toEqual([]);
      await close(tab);
      const fresh = await browser.open(deskUrl, { colorScheme });
      await fresh.page.getByLabel('Token').waitFor();
      expect(await violations(fresh.page)).toEqual([]);
      await close(fresh);
    }
    const phone = await open(ALICE, '', { viewport: { width: 390, height: 844 } });
    for (const name of PAGES) {
      await phone.page.goto(`${deskUrl}#/${name}`);
      await phone.page.locator('h1').waitFor();
      expect([name, await phone.page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([name, 390]);
    }
    await close(phone);
  });

  // Last, since the listener starts again on the same port.
  test('a page with a replaced token asks for the new one, and the journal survives the restart', async () => {
    const tab = await open(ALICE, '#/journal');
    const before = (await ask('GET', '/journal?limit=1000')).body.journal;
    expect(before.length).toBeGreaterThan(0);
    const next = 'operator-token-renewed';
    await limits.end();
    await limits.configure(config(next));
    await limits.launch();
    expect(limits.operatorUrl).toBe(operatorUrl);
    await tab.page.getByText('The token is no longer accepted: it was replaced.').waitFor();
    expect(await tab.page.evaluate(() => sessionStorage.length)).toBe(0);
    expect((await ask('GET', '/journal')).status).toBe(401);
    await signIn(tab.page, next);
    await tab.page.getByText('the owner called').waitFor();
    const after = (await call(operatorUrl, 'GET', '/journal?limit=1000', { token: next })).body.journal;
    expect(after).toEqual(before);
    await close(tab);
  });
});

/** Repeats a check until it holds; the test's own timeout ends it. */
async function expectEventually(check: () => Promise<boolean>): Promise<void> {
  while (!(await check())) await new Promise((resume) => setImmediate(resume));
}
