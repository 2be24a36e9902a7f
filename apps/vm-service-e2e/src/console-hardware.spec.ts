import type { HardwareView, VmView } from '@headgate/api-contracts';
import type { Locator, Page } from 'playwright-core';
import { Api } from './api.js';
import { violations } from './axe.js';
import { openBrowser, type Browser } from './browser.js';
import { CHROMIUM, describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

const TIMEOUT_MS = 400_000;

/** The hardware of a machine as one table, in Chromium over the sandbox. */
describeIf(CHROMIUM ? undefined : 'Chromium is not installed', 'the hardware table of the console', () => {
  let service: RunningService;
  let api: Api;
  let browser: Browser;
  let page: Page;
  let running: VmView;
  let stopped: VmView;

  beforeAll(async () => {
    service = await RunningService.start(['--sandbox=40']);
    api = new Api(service.url);
    const vms = (await api.send<VmView[]>('GET', '/api/vms')).body;
    running = vms.find(({ status, liveMigratable }) => status === 'Running' && liveMigratable) as VmView;
    stopped = vms.find(({ status, isTemplate }) => status === 'Stopped' && !isTemplate) as VmView;
    browser = await openBrowser(service.url);
    page = browser.page;
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const box = (name: string): Locator => page.getByRole('textbox', { name, exact: true });
  const panel = (): Locator => page.locator('.hg-side-panel');
  const open = async ({ context, namespace, name } = running): Promise<void> => {
    await page.goto('about:blank');
    await page.goto(`${service.url}/#/vms/${context}/${namespace}/${name}/hardware`);
    await box('Memory').waitFor();
  };
  const hardware = async (): Promise<HardwareView> => {
    const { namespace, name, context } = running;
    return (await api.send<HardwareView>('GET', `/api/ext/vms/${namespace}/${name}/hardware?context=${context}`)).body;
  };

  /** Until the end of the page, the footer covers a row, whose buttons are then too small a target for the rules. */
  const toEnd = (): Promise<void> =>
    page.evaluate(() => {
      for (let one = document.querySelector('.hg-hardware-foot'); one; one = one.parentElement)
        one.scrollTop = one.scrollHeight;
    });

  describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
    test.each([400, 800, 1280])('with changes and their plan follows the rules at a width of %i px', async (width) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await open();
      await box('CPUs').fill('0');
      await box('Size of the new disk').fill('5Gi');
      await toEnd();
      expect(await violations(page)).toEqual([]);
      await box('CPUs').fill('2');
      await box('Memory').fill('64Gi');
      await box('Memory').press('Control+Enter');
      await panel().getByRole('region', { name: 'Planned changes' }).waitFor();
      expect(await violations(page)).toEqual([]);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(overflow).toBeLessThanOrEqual(0);
      await panel().getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Discard changes' }).click();
    });
  });

  test('keeps the typed changes over a reload of the page, and applies it with one request', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await open();
    const before = await hardware();
    await box('Size of the new disk').fill('5Gi');
    await box('Name of the new NIC').fill('eth7');
    await box('Network of the new NIC').fill('default/br1');
    await page.reload();
    await box('Name of the new NIC').waitFor();
    const size = () => box('Size of the new disk').inputValue();
    await until('the typed size is back', size, (text) => text === '5Gi');
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && !request.url().includes('dryRun')) sent.push(request.url());
    });
    await page.getByRole('button', { name: 'Review 2 changes…' }).click();
    await panel().getByRole('button', { name: 'Apply 2 changes' }).click();
    const hasBoth = ({ nics, disks }: HardwareView): boolean =>
      nics.some(({ iface }) => iface === 'eth7') && disks.length === before.disks.length + 1;
    await until('the machine has both', hardware, hasBoth);
    expect(sent).toHaveLength(1);
    await box('Network of eth7').waitFor();
    await page.getByRole('button', { name: /^Review/ }).waitFor({ state: 'detached' });
  });

  test('marks a value that another user has changed, and asks for another plan', async () => {
    await open(stopped);
    await box('Size of the new disk').fill('6Gi');
    await page.getByRole('button', { name: /^Review/ }).click();
    await panel().getByRole('button', { name: 'Apply 1 change' }).waitFor();
    const { namespace, name, context } = stopped;
    await api.send('POST', `/api/vms/${namespace}/${name}/volumes?context=${context}`, { size: '7Gi' });
    await page.getByRole('button', { name: 'Reload' }).click();
    await panel().getByText(`${name} changed since this plan was created`).waitFor();
    await panel().getByRole('button', { name: 'Rehearse again' }).click();
    await panel().getByText(`${name} changed since this plan was created`).waitFor({ state: 'detached' });
    await panel().getByRole('button', { name: 'Apply 1 change' }).click();
    await page.getByRole('button', { name: /^Review/ }).waitFor({ state: 'detached' });
  });
});
