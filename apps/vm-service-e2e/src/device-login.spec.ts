import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { WhoamiView } from '@headgate/api-contracts';
import { violations } from './axe.js';
import { openBrowser, type Browser } from './browser.js';
import { cutOff } from './cut-off.js';
import { HeadgateProgram } from './headgate-program.js';
import { CHROMIUM, describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { tooSmall } from './too-small.js';

const TIMEOUT_MS = 600_000;
const PASSWORD = 'correct horse battery';
const hasPty = spawnSync('python3', ['-c', 'import pty']).status === 0;
const why = CHROMIUM === undefined ? 'no Chromium' : hasPty ? undefined : 'python3 is not installed';

describeIf(why, 'headgate login, with a browser', () => {
  let service: RunningService;
  let headgate: HeadgateProgram;
  let browser: Browser;

  beforeAll(async () => {
    service = await RunningService.start(['--sandbox=5', '--login']);
    headgate = await HeadgateProgram.build(service.url);
    const secret = /login\?first=(\S+)/.exec(service.said)?.[1] ?? '';
    browser = await openBrowser(`${service.url}/#/login?first=${secret}`);
    await browser.page.getByLabel('Login').fill('ann');
    await browser.page.getByLabel('New password').fill(PASSWORD);
    await browser.page.getByRole('button', { name: 'Create account' }).click();
    await browser.page.getByRole('button', { name: 'User: ann', exact: true }).waitFor();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    headgate?.remove();
    await service?.stop();
  });

  /** Starts a login on a terminal, and types its code on the page that it names. */
  const begin = async (machine: string) => {
    const args = [
      'login',
      service.url,
      '--name',
      'lab',
      '--machine',
      machine,
      '--actions',
      'read,power',
      '--days',
      '7',
    ];
    const program = headgate.start(args, { onTerminal: true });
    const shown = await program.expect(/Waiting/);
    const { page } = browser;
    await page.goto('about:blank');
    await page.goto(/(http\S+#\/device)/.exec(shown)?.[1] ?? '');
    await page.getByRole('textbox', { name: 'Code' }).fill(/[A-Z]{4}-[A-Z]{4}/.exec(shown)?.[0] ?? '');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('region', { name: 'Program' }).getByText(machine, { exact: true }).waitFor();
    return program;
  };

  test('stores nothing when the user denies it', async () => {
    const program = await begin('stranger');
    const { page } = browser;
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect({ width, cutOff: await cutOff(page) }).toEqual({ width, cutOff: [] });
      if (width < 640) expect(await tooSmall(page)).toEqual([]);
      expect({ width, violations: await violations(page) }).toEqual({ width, violations: [] });
    }
    await page.getByRole('button', { name: 'Deny' }).click();
    await program.expect(/LOGIN_DENIED/);
    expect(await program.ended).toBe(3);
    expect(await headgate.json(['context', 'list'])).toEqual([]);
  });

  test('lets the command line act for the user who approves it, until they revoke it', async () => {
    const program = await begin('desk');
    const { page } = browser;
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('The program was approved').waitFor();
    await program.expect(/The context lab is used from now on/);
    expect(await program.ended).toBe(0);
    const file = join(headgate.home, '.config/headgate/config.yaml');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toMatch(/token: hgt_/);
    const whoami = await headgate.json<WhoamiView>(['whoami', '--context', 'lab']);
    expect(whoami).toMatchObject({ login: 'ann', name: 'desk' });
    const vms = await headgate.json<{ ref: string }[]>(['list', '--kind', 'vm', '--context', 'lab']);
    expect(vms.length).toBeGreaterThan(0);
    expect(await headgate.run(['delete', vms[0]!.ref, '--yes', '--context', 'lab'])).toMatchObject({ code: 3 });
    await page.goto(`${service.url}/#/account`);
    await page.getByRole('button', { name: 'Revoke desk' }).click();
    await page.getByText('No programs yet').waitFor();
    expect(await headgate.run(['list', '--context', 'lab'])).toMatchObject({ code: 3 });
    expect(browser.errors).toEqual([]);
  });

  test('revokes its own token with a logout', async () => {
    const program = await begin('desk');
    await browser.page.getByRole('button', { name: 'Approve' }).click();
    expect(await program.ended).toBe(0);
    expect(await headgate.run(['logout', '--context', 'lab'])).toMatchObject({ code: 0 });
    expect(await headgate.json(['context', 'list'])).toEqual([]);
    await browser.page.goto(`${service.url}/#/account`);
    await browser.page.getByText('No programs yet').waitFor();
  });

  test('is refused where no user sees the code', async () => {
    expect(await headgate.run(['login', service.url])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/terminal/),
    });
  });
});
