import type { ScheduleView, SnapshotView, VmView } from '@headgate/api-contracts';
import type { Locator, Page } from 'playwright-core';
import { Api } from './api.js';
import { violations } from './axe.js';
import { openBrowser, type Browser } from './browser.js';
import { CHROMIUM, describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

const TIMEOUT_MS = 400_000;
const ARGS = ['--sandbox=5'];
const SCHEDULES = '/api/ext/schedules';

/** A nightly snapshot, which an operator plans on the page of schedules of a simulated cluster. */
describeIf(CHROMIUM ? undefined : 'Chromium is not installed', 'the schedules in the web console', () => {
  let service: RunningService;
  let browser: Browser | undefined;

  beforeAll(async () => {
    service = await RunningService.start(ARGS);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const api = (): Api => new Api(service.url);
  const schedules = async (): Promise<ScheduleView[]> => (await api().send<ScheduleView[]>('GET', SCHEDULES)).body;
  const open = async (): Promise<Page> => {
    await browser?.close();
    browser = await openBrowser(`${service.url}/#/schedules`);
    return browser.page;
  };
  const row = (page: Page, name: string): Locator => page.getByRole('row', { name: new RegExp(`^${name}`) });

  test(
    'are created with a preview, run now, disabled, there after a restart, and deleted',
    async () => {
      const vms = (await api().send<VmView[]>('GET', '/api/vms')).body;
      const { namespace, name } = vms.find(({ status }) => status === 'Running') ?? vms[0]!;
      const snapshots = async (): Promise<SnapshotView[]> =>
        (await api().send<SnapshotView[]>('GET', `/api/vms/${namespace}/${name}/snapshots`)).body;
      const before = await snapshots();
      let page = await open();
      const form = page.getByRole('form', { name: 'New schedule' });
      const runs = form.getByRole('group', { name: 'Next runs' });
      await runs.getByRole('listitem').nth(4).waitFor();
      await form.getByLabel('Cron expression').fill('0 0 30 2 *');
      await runs.getByText(/never matches/).waitFor();
      await form.getByLabel('Cron expression').fill('30 2 * * 1-5');
      await form.getByLabel('Time zone').fill('Europe/Berlin');
      await runs.getByText(/2:30/).nth(4).waitFor();
      await form.getByLabel('Name').fill('Nightly');
      await form.getByLabel('Query').fill(`name:${name}`);
      expect(await violations(page)).toEqual([]);
      await form.getByRole('button', { name: 'Create schedule' }).click();
      await row(page, 'Nightly').waitFor();
      expect(await schedules()).toMatchObject([
        {
          name: 'Nightly',
          cron: '30 2 * * 1-5',
          timeZone: 'Europe/Berlin',
          enabled: true,
          job: { action: 'snapshot', keep: 7, query: { kind: 'vm', q: `name:${name}` } },
        },
      ]);

      await page.getByRole('button', { name: 'Run now: Nightly' }).click();
      await page.locator('.hg-side-panel').getByRole('button', { name: 'Run now', exact: true }).click();
      await until('the run has ended', schedules, ([one]) => one?.lastRun?.endedAt !== undefined);
      expect((await schedules())[0]?.lastRun).toMatchObject({ status: 'done', trigger: 'request' });
      const created = (await snapshots()).filter((one) => !before.some((old) => old.name === one.name));
      expect(created).toMatchObject([{ name: expect.stringMatching(/-\d{14}-[0-9a-f]{6}$/), phase: 'Succeeded' }]);

      await page.getByRole('switch', { name: 'Run Nightly at its times' }).click();
      await row(page, 'Nightly').getByText('Disabled').waitFor();
      await service.interrupt();
      service = await RunningService.start(ARGS, { dataDir: service.dataDir });
      page = await open();
      await row(page, 'Nightly').getByRole('link', { name: 'Done' }).waitFor();
      expect(await schedules()).toMatchObject([{ enabled: false, nextRun: null }]);

      await page.setViewportSize({ width: 400, height: 900 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
      expect(await violations(page)).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 900 });

      await page.getByRole('button', { name: 'Delete Nightly' }).click();
      await page.locator('.hg-side-panel').getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByText('Nightly was deleted').waitFor();
      expect(await schedules()).toEqual([]);
      expect(browser?.errors).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
