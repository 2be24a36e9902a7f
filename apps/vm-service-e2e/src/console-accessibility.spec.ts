import type { ContainerView, VmView } from '@headgate/api-contracts';
import type { Page } from 'playwright-core';
import { Api } from './api.js';
import { violations } from './axe.js';
import { openBrowser, type Browser } from './browser.js';
import { PLACES } from './console-places.js';
import { CHROMIUM, describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

const TIMEOUT_MS = 400_000;
const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [400, 800, 1280].map((width) => ({ colorScheme, width })),
);
const TABS = ['overview', 'console', 'serial', 'guest', 'metrics', 'hardware', 'snapshots', 'events', 'manifest'];

/** The rules of axe on all pages of the console, in both themes, in a wide window and on a phone. */
describeIf(CHROMIUM ? undefined : 'Chromium is not installed', 'the accessibility of the web console', () => {
  let service: RunningService;
  let browser: Browser;
  let page: Page;
  let running: VmView;
  let template: VmView;
  let container: ContainerView;

  beforeAll(async () => {
    service = await RunningService.start(['--sandbox=40']);
    const api = new Api(service.url);
    const vms = (await api.send<VmView[]>('GET', '/api/vms')).body;
    running = vms.find(({ status }) => status === 'Running') as VmView;
    const stopped = vms.find(({ status }) => status === 'Stopped') as VmView;
    await api.send('POST', `/api/vms/${stopped.namespace}/${stopped.name}/template?context=${stopped.context}`, {
      on: true,
    });
    const tags = `/api/vms/${running.namespace}/${running.name}/tags?context=${running.context}`;
    await api.send('POST', tags, { tag: 'seen', on: true });
    template = stopped;
    container = (await api.send<ContainerView[]>('GET', '/api/cts')).body[0] as ContainerView;
    browser = await openBrowser(service.url);
    page = browser.page;
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const open = async (place: string): Promise<void> => {
    await page.goto('about:blank');
    await page.goto(`${service.url}/#${place}`);
    await loaded();
  };
  const loaded = async (): Promise<void> => {
    await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
    await page.waitForFunction(() => !document.querySelector('.hg-spinner, .hg-skeleton'));
  };

  /** Checks the page that is open in all looks, because most of the time is spent on loading it. */
  const expectRules = async (): Promise<void> => {
    for (const { colorScheme, width } of LOOKS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      // React has rendered for the new width after two frames.
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      await loaded();
      expect({ colorScheme, width, violations: await violations(page) }).toEqual({
        colorScheme,
        width,
        violations: [],
      });
    }
  };

  test.each(PLACES)('%s follows the rules in each theme and width', async (place) => {
    await open(place);
    await expectRules();
  });

  test.each(TABS)('the tab %s of a VM follows the rules in each theme and width', async (tab) => {
    await open(`/vms/${running.context}/${running.namespace}/${running.name}/${tab}`);
    await expectRules();
  });

  test('the pages of a template, a container and an unknown VM follow the rules', async () => {
    for (const path of [
      `/vms/${template.context}/${template.namespace}/${template.name}`,
      `/containers/${container.context}/${container.namespace}/${container.name}`,
      `/vms/${running.context}/${running.namespace}/ghost`,
    ]) {
      await open(path);
      await expectRules();
    }
  });

  // What opens in a wide window may close when it becomes narrow, so each look opens it again.
  describe.each(LOOKS)('in the $colorScheme theme at a width of $width px', ({ colorScheme, width }) => {
    test('dialogs, menus and panels follow the rules', async () => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await open(`/vms/${running.context}/${running.namespace}/${running.name}`);
      await page.getByRole('button', { name: 'Move…' }).click();
      await page.getByRole('dialog').waitFor();
      expect(await violations(page)).toEqual([]);
      await open('/vms');
      await page.getByRole('button', { name: /^Tasks/ }).click();
      await page.getByRole('complementary', { name: 'Tasks' }).waitFor();
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('grid').locator('.hg-row').first().getByRole('rowheader').click();
      await page.getByRole('complementary', { name: /^Details of/ }).waitFor();
      await page.waitForFunction(() => !document.querySelector('.hg-spinner, .hg-skeleton'));
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press('.');
      await page.getByRole('menu').waitFor();
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await open(`/vms/${running.context}/${running.namespace}/${running.name}`);
      await page.getByRole('button', { name: 'Shut down' }).click();
      await page.getByRole('region', { name: 'Planned changes' }).waitFor();
      expect(await violations(page)).toEqual([]);
      await open('/vms');
      await page.getByRole('checkbox', { name: 'Select all shown' }).check();
      // Cards have no columns to choose, and a phone folds the filters.
      if (width < 640) await page.getByRole('button', { name: 'Filters' }).click();
      const [menu, choice] = width < 640 ? ['Namespace', running.namespace] : ['Columns', 'IP address'];
      await page.getByRole('button', { name: menu }).click();
      await page.getByRole('checkbox', { name: choice }).waitFor();
      expect(await violations(page)).toEqual([]);
    });
  });

  test('shows nothing in green once the service does not respond', async () => {
    /** The texts in the color of success. */
    const green = (): Promise<string[]> =>
      page.evaluate(() => {
        const probe = document.body.appendChild(document.createElement('span'));
        probe.style.color = 'var(--hg-success)';
        const { color } = getComputedStyle(probe);
        probe.remove();
        return [...document.querySelectorAll('.hg-shell *')]
          .filter((element) => getComputedStyle(element).color === color && element.closest('svg') === null)
          .map(({ textContent }) => textContent ?? '');
      });
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto('about:blank');
    await page.goto(`${service.url}/#/vms`);
    // The first rows appear before all.
    await page.getByRole('grid').getByText('Running').first().waitFor();
    await page.getByText(/^\d+ VMs$/).waitFor();
    expect(await green()).not.toEqual([]);
    await service.interrupt();
    await page.getByText('The list is out of date').waitFor();
    await until('nothing is green', green, (texts) => texts.length === 0);
    await page
      .getByRole('button', { name: /^Create VM/ })
      .and(page.locator('[aria-disabled=true]'))
      .waitFor();
  });

  test('requested no other origin and logged no error', () => {
    expect(browser.foreign).toEqual([]);
    expect(browser.errors).toEqual([]);
  });
});
