import type { VmView } from '@headgate/api-contracts';
import type { Locator, Page } from 'playwright-core';
import { Api } from './api.js';
import { violations } from './axe.js';
import { openBrowser, type Browser } from './browser.js';
import { CHROMIUM, describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { SimulatedCluster } from './simulated-cluster.js';
import { until } from './until.js';

const TIMEOUT_MS = 400_000;
const ARGS = ['--sandbox=5'];

/** A second cluster that an administrator adds on the page of the settings, while the service runs. */
describeIf(CHROMIUM ? undefined : 'Chromium is not installed', 'the contexts in the web console', () => {
  let cluster: SimulatedCluster;
  let service: RunningService;
  let browser: Browser | undefined;

  beforeAll(async () => {
    cluster = await SimulatedCluster.start('far');
    cluster.simulation.seedVm({
      name: 'far-away',
      namespace: 'tailvm',
      status: 'Running',
      cpu: 1,
      memory: '256Mi',
      disk: '16Mi',
    });
    service = await RunningService.start(ARGS);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await cluster?.close();
  });

  const openSettings = async (): Promise<Page> => {
    await browser?.close();
    browser = await openBrowser(`${service.url}/#/settings`);
    await browser.page.getByRole('table', { name: 'Contexts' }).waitFor();
    return browser.page;
  };
  const form = (page: Page): Locator => page.getByRole('form', { name: 'New context' });
  const untilListed = (isListed: boolean) =>
    until(
      isListed ? 'the VM of the added cluster is listed' : 'the VM of the removed cluster is not listed',
      async () => (await new Api(service.url).send<VmView[]>('GET', '/api/vms')).body,
      (vms) => Array.isArray(vms) && vms.some(({ ref }) => ref === 'vm/far/tailvm/far-away') === isListed,
    );

  test(
    'are tested, added with their VMs, there after a restart, changed, and removed without a change of their VMs',
    async () => {
      const before = cluster.objects('tailvm');
      let page = await openSettings();
      await page
        .getByRole('row', { name: /^sandbox/ })
        .getByText('From the configuration')
        .waitFor();
      await form(page).getByLabel('Name').fill('far');
      await form(page).getByRole('textbox', { name: 'Kubeconfig', exact: false }).first().fill('nonsense');
      await form(page).getByRole('button', { name: 'Test' }).click();
      await form(page)
        .getByText(/has no current-context/)
        .waitFor();
      await form(page)
        .getByRole('textbox', { name: 'Kubeconfig', exact: false })
        .first()
        .fill(cluster.sandbox.kubeconfig());
      await form(page).getByRole('button', { name: 'Test' }).click();
      await form(page).getByText('The test succeeded.').waitFor();
      await form(page)
        .getByText(/The API server answers/)
        .waitFor();
      expect(cluster.objects('tailvm')).toEqual(before);
      expect(await violations(page)).toEqual([]);

      await form(page).getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByRole('row', { name: /^far/ }).getByText('Reachable').waitFor();
      await untilListed(true);
      await page
        .getByRole('link', { name: /^Machines/ })
        .first()
        .click();
      await page.getByRole('link', { name: 'far-away' }).first().waitFor();

      await service.interrupt();
      service = await RunningService.start(ARGS, { dataDir: service.dataDir });
      await untilListed(true);
      page = await openSettings();
      await page.getByRole('row', { name: /^far/ }).getByText('Reachable').waitFor();

      await page.getByRole('button', { name: 'Change far' }).click();
      const panel = page.locator('.hg-side-panel');
      const kubeconfig = panel.getByRole('textbox', { name: /^Kubeconfig/ });
      expect(await kubeconfig.inputValue()).toBe('');
      await panel.getByText('Nothing has changed yet.').waitFor();
      await kubeconfig.fill('nonsense');
      await panel.getByText(/has no current-context/).waitFor();
      await kubeconfig.fill(cluster.sandbox.kubeconfig('rotated'));
      await panel.getByText('kubeconfig of far, if the test succeeds').waitFor();
      expect(await violations(page)).toEqual([]);
      await panel.getByRole('button', { name: 'Change', exact: true }).click();
      await page.getByText('far was changed').waitFor();
      await page
        .getByRole('row', { name: /^far/ })
        .getByText(/user: rotated/)
        .waitFor();
      await untilListed(true);

      await page.setViewportSize({ width: 400, height: 900 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
      expect(await violations(page)).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 900 });

      await page.getByRole('button', { name: 'Remove far' }).click();
      await panel.getByText(/1 VMs and 0 containers of far/).waitFor();
      await panel.getByRole('button', { name: 'Remove', exact: true }).click();
      await page.getByText('far was removed').waitFor();
      await untilListed(false);
      expect(cluster.vmNames()).toEqual(['far-away']);
      expect(cluster.objects('tailvm')).toEqual(before);
      expect(browser?.errors).toEqual([]);
      for (const user of [undefined, 'rotated']) {
        const token = /token: (\S+)/.exec(cluster.sandbox.kubeconfig(user))?.[1] ?? '';
        expect(token).not.toBe('');
        expect(service.said).not.toContain(token);
      }
    },
    TIMEOUT_MS,
  );
});
