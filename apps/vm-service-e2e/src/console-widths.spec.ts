import type { MetricsSampleView, NodeView, UsageHistoryView, UsageView, VmView } from '@headgate/api-contracts';
import type { Locator, Page } from 'playwright-core';
import { Api } from './api.js';
import { openBrowser, type Browser } from './browser.js';
import { PLACES } from './console-places.js';
import { cutOff } from './cut-off.js';
import { CHROMIUM, describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { tooSmall } from './too-small.js';

const TIMEOUT_MS = 400_000;
const HEIGHT = 800;
/** A window without room for bars at its edges, as with a zoom of 200%. */
const LOW = 500;
const PAGES = [
  'Machines',
  'Containers',
  'Folders',
  'Nodes',
  'Storage',
  'Networks',
  'Images',
  'Plugins',
  'Backups',
  'Schedules',
  'Approvals',
  'Activity',
  'Health',
  'Messages',
  'Access',
  'Integrations',
  'Settings',
];

/** The layout of the console in narrow and wide windows, and its charts, which only a real browser draws. */
describeIf(CHROMIUM ? undefined : 'Chromium is not installed', 'the layout of the web console', () => {
  let service: RunningService;
  let browser: Browser;
  let page: Page;
  let api: Api;
  let running: VmView;
  let stopped: VmView;

  beforeAll(async () => {
    service = await RunningService.start(['--sandbox=12']);
    api = new Api(service.url);
    const { body } = await api.send<VmView[]>('GET', '/api/vms');
    [running, stopped] = body.filter(({ status }) => status === 'Running') as [VmView, VmView];
    await api.send('POST', `/api/vms/${stopped.namespace}/${stopped.name}/stop?force=true`);
    await api.untilVm(stopped.name, 'has stopped', (vm) => vm?.status === 'Stopped');
    browser = await openBrowser(service.url);
    page = browser.page;
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const open = async (place: string, width = 1280, height = HEIGHT): Promise<void> => {
    await page.setViewportSize({ width, height });
    await page.goto('about:blank');
    await page.goto(`${service.url}/#${place}`);
  };
  const pageOf = ({ context, namespace, name }: VmView, tab: string): string =>
    `/vms/${context}/${namespace}/${name}/${tab}`;
  const navigation = (): Locator => page.getByRole('navigation', { name: 'Pages' });
  const links = (): Locator => navigation().getByRole('link');

  const hasMenu = async (): Promise<boolean> => (await navigation().getByRole('button').count()) > 0;

  /** Opens the menu of the pages where there is one. */
  const showPages = async (): Promise<void> => {
    await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
    if (await hasMenu()) await navigation().getByRole('button').press('Enter');
    await links()
      .nth(PAGES.length - 1)
      .waitFor();
  };
  /** The names of the links that can be clicked: inside the window, and not below something else. */
  const clickableLinks = async (): Promise<string[]> => {
    const names: string[] = [];
    for (const link of await links().all()) {
      const isOnTop = await link.evaluate((element) => {
        const { left, right, top, bottom } = element.getBoundingClientRect();
        const corners = [left + 2, (left + right) / 2, right - 2];
        return corners.every((x) => element.contains(document.elementFromPoint(x, (top + bottom) / 2)));
      });
      if (isOnTop) names.push(nameOf(await link.innerText()));
    }
    return names;
  };

  test.each([320, 400])('a long name of the only context makes no page of %i px wider', async (width) => {
    await open('/nodes', width);
    const summary = page.locator('.hg-connection > .hg-button > span').first();
    await summary.waitFor({ state: 'attached' });
    const overflow = await summary.evaluate((element) => {
      element.textContent = `${'production-'.repeat(5)}frankfurt is reachable`;
      return document.documentElement.scrollWidth - window.innerWidth;
    });
    expect(overflow).toBe(0);
  });

  test.each([
    [400, LOW],
    ...[640, 700, 701, 1023, 1024, 1101, 1280, 1440].map((width) => [width, HEIGHT] as const),
  ] as const)(
    'shows every page of the navigation in a window of %i by %i px, and reaches it with the keyboard',
    async (width, height) => {
      await open('/nodes', width, height);
      await showPages();
      expect(await clickableLinks()).toEqual(PAGES);
      await links().first().focus();
      const reached: string[] = [];
      for (let index = 0; index < PAGES.length; index++) {
        reached.push(nameOf(await page.evaluate(() => document.activeElement?.textContent ?? '')));
        await page.keyboard.press('Tab');
      }
      expect(reached).toEqual(PAGES);
      // A menu closes when the focus leaves it.
      if (await hasMenu()) {
        await links().first().waitFor({ state: 'detached' });
        await showPages();
      }
      await links().last().press('Enter');
      await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    },
    TIMEOUT_MS,
  );

  test('closes the menu of the pages with Escape, and returns the focus to its button', async () => {
    await open('/nodes', 400, LOW);
    await showPages();
    await page.keyboard.press('Escape');
    await links().first().waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Nodes');
  });

  test.each(PLACES)(
    'shows %s at widths of 320, 400 and 640 px without anything beyond the window, with room for fingers on phones',
    async (place) => {
      for (const width of [320, 400, 640]) {
        await open(place, width);
        await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
        await page.waitForFunction(() => !document.querySelector('.hg-spinner, .hg-skeleton'));
        expect({ width, cutOff: await cutOff(page) }).toEqual({ width, cutOff: [] });
        if (width < 640) expect({ width, tooSmall: await tooSmall(page) }).toEqual({ width, tooSmall: [] });
      }
    },
    TIMEOUT_MS,
  );

  test('has room for fingers in the panels that pages open on a phone', async () => {
    const { ref, context } = running;
    const [node] = (await api.send<NodeView[]>('GET', '/api/nodes')).body;
    const peeks = [`/vms?peek=${ref}`, `/nodes?peek=${context}/${node!.name}`, '/storage', '/folders?peek=prod'];
    for (const place of peeks) {
      for (const width of [320, 400]) {
        await open(place, width);
        if (place === '/storage') await page.locator('.hg-resource-name').first().click();
        await page.locator('.hg-side-panel').waitFor();
        await page.waitForFunction(() => !document.querySelector('.hg-spinner, .hg-skeleton'));
        expect({ place, width, tooSmall: await tooSmall(page) }).toEqual({ place, width, tooSmall: [] });
      }
    }
  });

  test.each(['overview', 'guest', 'metrics', 'hardware', 'snapshots', 'events', 'manifest'])(
    'shows the tab %s of a VM at widths of 320 and 400 px without anything beyond the window, with room for fingers',
    async (tab) => {
      for (const width of [320, 400]) {
        await open(pageOf(running, tab), width);
        await page.getByRole('heading', { name: running.name, level: 1 }).waitFor();
        await page.waitForFunction(() => !document.querySelector('.hg-spinner, .hg-skeleton'));
        expect({ width, cutOff: await cutOff(page) }).toEqual({ width, cutOff: [] });
        expect({ width, tooSmall: await tooSmall(page) }).toEqual({ width, tooSmall: [] });
        const overlapping = page
          .getByRole('tab')
          .evaluateAll((tabs) => tabs.filter((one) => one.scrollWidth > one.clientWidth));
        expect(await overlapping).toEqual([]);
      }
    },
    TIMEOUT_MS,
  );

  describe('on a phone', () => {
    const card = (name: string): Locator => page.locator('.hg-row', { hasText: name });
    const untilCards = async (): Promise<void> => {
      await open('/vms', 390);
      // All cards are visible: a list that scrolls closes the menu of a card.
      await page.setViewportSize({ width: 390, height: 1600 });
      await page.locator('.hg-table--cards .hg-row').first().waitFor();
      // Until then, the rows are the first ones only.
      await page.getByText('12 VMs', { exact: true }).waitFor();
    };

    test.each([400, 639])(
      'shows every page of the bar and its menu at a width of %i px, and reaches it with the keyboard',
      async (width) => {
        await open('/nodes', width);
        await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
        // With the contexts, the menu has its first page.
        await page.getByText('The guests of sandbox are simulated').waitFor();
        expect(await clickableLinks()).toEqual(['Machines', 'Health']);
        const { bottom } = await navigation().evaluate(
          (element) => element.getBoundingClientRect().toJSON() as DOMRect,
        );
        expect(bottom).toBe(HEIGHT);
        await navigation().getByRole('button', { name: 'More' }).press('Enter');
        await links()
          .nth(PAGES.length - 1)
          .waitFor();
        const others = PAGES.filter((name) => name !== 'Machines' && name !== 'Health');
        expect(await clickableLinks()).toEqual(['Machines', 'Health', ...others]);
        const reached: string[] = [];
        for (let index = 0; index < others.length; index++) {
          reached.push(await page.evaluate(() => document.activeElement?.textContent ?? ''));
          await page.keyboard.press('Tab');
        }
        expect(reached).toEqual(others);
        await page.keyboard.press('Shift+Tab');
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
      },
      TIMEOUT_MS,
    );

    test('has room for a finger in its bars and the toolbar of a list, which has one line', async () => {
      await untilCards();
      const controls = page.locator('.hg-phone-bar > a, .hg-phone-bar button, .hg-toolbar > *, .hg-masthead button');
      const boxes = await controls.evaluateAll((all) =>
        all.map((one) => one.getBoundingClientRect().toJSON() as DOMRect),
      );
      expect(boxes.length).toBeGreaterThanOrEqual(9);
      expect(
        boxes.filter(({ width, height }) => width > 0 && (Math.round(width) < 44 || Math.round(height) < 44)),
      ).toEqual([]);
      const toolbar = await page.locator('.hg-toolbar').evaluate((element) => element.getBoundingClientRect().height);
      expect(toolbar).toBeLessThan(2 * 44);
      await page.getByRole('button', { name: /^Tasks/ }).click();
      await page.getByRole('complementary', { name: 'Tasks' }).waitFor();
      await page.getByRole('button', { name: /^Tasks/ }).click();
      await page.getByRole('complementary', { name: 'Tasks' }).waitFor({ state: 'detached' });
    });

    test('has machines as cards that do not overlap, with everything in them', async () => {
      await untilCards();
      const cards = await page.locator('.hg-row').evaluateAll((rows) =>
        rows
          .map((row) => ({
            top: row.getBoundingClientRect().top,
            height: row.getBoundingClientRect().height,
            outside: [...row.children].filter((cell) => {
              const { left, right, top, bottom } = cell.getBoundingClientRect();
              const box = row.getBoundingClientRect();
              return left < 0 || right > innerWidth || top < box.top || bottom > box.bottom;
            }).length,
          }))
          .sort((a, b) => a.top - b.top),
      );
      expect(cards.length).toBeGreaterThan(5);
      expect(cards.filter(({ outside }) => outside > 0)).toEqual([]);
      for (const [index, { top }] of cards.slice(1).entries())
        expect(top).toBe((cards[index]?.top ?? 0) + (cards[index]?.height ?? 0));
      await card(running.name).getByText(String(running.node)).waitFor();
    });

    test('has room for a finger at each control of a card and of its menu', async () => {
      await untilCards();
      const sizes = (place: Locator) =>
        place.evaluateAll((controls) =>
          controls
            .map((control) => control.getBoundingClientRect())
            .filter(({ width }) => width > 0)
            .filter(({ width, height }) => Math.round(width) < 44 || Math.round(height) < 44),
        );
      const controls = page.locator('.hg-row .hg-cell--select, .hg-row button');
      expect(await controls.count()).toBeGreaterThan(10);
      expect(await sizes(controls)).toEqual([]);
      await card(running.name)
        .getByRole('button', { name: `More actions for ${running.name}` })
        .click();
      await page.getByRole('menuitem', { name: /^Restart/ }).waitFor();
      expect(await sizes(page.getByRole('menuitem'))).toEqual([]);
      await page.keyboard.press('Escape');
    });

    test('selects a card at its edge, and restarts a machine through its plan', async () => {
      await untilCards();
      const box = card(running.name).getByRole('checkbox');
      await card(running.name)
        .locator('.hg-cell--select')
        .click({ position: { x: 4, y: 60 } });
      await page.getByText('1 selected').first().waitFor();
      expect(await box.isChecked()).toBe(true);
      await card(running.name)
        .locator('.hg-cell--select')
        .click({ position: { x: 4, y: 60 } });
      await card(running.name)
        .getByRole('button', { name: `More actions for ${running.name}` })
        .click();
      await page.getByRole('menuitem', { name: /^Restart/ }).click();
      const panel = page.locator('.hg-side-panel');
      await panel.getByRole('button', { name: `Restart ${running.name}` }).click();
      await api.untilVm(
        running.name,
        'runs again',
        (vm) => vm?.status === 'Running' && vm.startedAt !== undefined && vm.startedAt !== running.startedAt,
      );
    });
  });

  describe('in a window of 640 by 450 px, as with a zoom of 200 %', () => {
    /** The share of the window that a part of the page fills when the user has scrolled to it. */
    const shareOf = async (part: Locator): Promise<number> => {
      await part.waitFor();
      return part.evaluate((element) => {
        element.scrollIntoView({ block: 'start' });
        const { top, bottom } = element.getBoundingClientRect();
        const shown = Math.min(bottom, window.innerHeight) - Math.max(top, 0);
        return shown / window.innerHeight;
      });
    };
    const openLow = async (place: string): Promise<void> => {
      await page.setViewportSize({ width: 640, height: 450 });
      await page.goto('about:blank');
      await page.goto(`${service.url}/#${place}`);
    };

    test('leaves it to the list, whose rows all appear when scrolled to', async () => {
      await openLow('/vms');
      const table = page.getByRole('grid', { name: 'Virtual machines' });
      expect(await shareOf(table)).toBeGreaterThan(0.85);
      await table.evaluate((element) => {
        element.scrollTop = element.scrollHeight;
      });
      const last = page.getByRole('row').last();
      await last.waitFor();
      expect(await last.evaluate((row) => row.getBoundingClientRect().bottom <= window.innerHeight)).toBe(true);
    });

    test.each(['overview', 'metrics', 'hardware', 'manifest', 'console'])('leaves it to the tab %s', async (tab) => {
      await openLow(pageOf(running, tab));
      expect(await shareOf(page.getByRole('tabpanel'))).toBeGreaterThan(0.85);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    });

    test.each(['/nodes', '/images', '/doctor'])('leaves it to the page %s', async (place) => {
      await openLow(place);
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await shareOf(page.getByRole('main'))).toBeGreaterThan(0.85);
    });
  });

  describe('the charts of a VM', () => {
    const NOW = Date.UTC(2026, 0, 1, 12);
    const MINUTE_MS = 60_000;
    /** 41 minutes with a sample per minute: 0, 25, 50 … millicores, so the newest has 1.00 CPUs. */
    const samples: MetricsSampleView[] = Array.from({ length: 41 }, (_, index) => ({
      t: NOW - (40 - index) * MINUTE_MS,
      cpu: index * 25,
      memory: { usedBytes: 2 ** 30, totalBytes: 2 ** 32 },
      disk: null,
      network: null,
    }));
    const cpu = (): Locator => page.getByRole('region', { name: /^CPU/ });
    const chart = (): Locator => cpu().getByRole('img');
    /** The left and right ends of the drawn line, as shares of the chart's width. */
    const extent = (): Promise<readonly [number, number]> =>
      chart().evaluate((svg) => {
        const { left, width } = svg.getBoundingClientRect();
        const line = svg.querySelector('.hg-chart-line--1')!.getBoundingClientRect();
        return [(line.left - left) / width, (line.right - left) / width] as const;
      });

    const openCharts = async (history: readonly MetricsSampleView[], vm = running): Promise<void> => {
      await page.route('**/metrics/history*', (route) => route.fulfill({ json: history }));
      await open(pageOf(vm, 'metrics'));
    };
    afterEach(() => page.unroute('**/metrics/history*'));

    test('draw the values over the chosen range', async () => {
      await openCharts(samples);
      await cpu().getByText('CPU: 1.00 CPUs').waitFor();
      const [left, right] = await extent();
      expect(left).toBeCloseTo(20 / 60, 1);
      expect(right).toBeCloseTo(1, 1);
      await page.getByRole('combobox', { name: 'Range' }).selectOption({ label: 'Last 15 minutes' });
      // The charts have one axis, below the last of them.
      await page.getByText('15 minutes ago').locator('visible=true').waitFor();
      expect((await extent())[0]).toBeCloseTo(0, 1);
      expect(await chart().getAttribute('aria-label')).toMatch(/over the last 15 minutes, from 0 to /);
      await page.getByRole('button', { name: 'All values as a table' }).click();
      const table = page.getByRole('table', { name: 'Metrics of the last 15 minutes, newest first' });
      expect(await table.getByRole('row').count()).toBe(1 + 16);
      expect(await table.getByRole('row').nth(1).innerText()).toContain('1.00 CPUs');
    });

    test('have the averages and maxima of steps at their times, and dates that fit, for longer ranges', async () => {
      const [to, stepMs] = [NOW, 15 * MINUTE_MS];
      const [from, middle] = [to - 672 * stepMs, to - 336 * stepMs];
      const usage = (cpu: number): UsageView => ({ cpu, memory: null, disk: null, network: null });
      // Two days until the middle of the week, then nothing until its last day.
      const points = Array.from({ length: 672 }, (_none, index) => from + index * stepMs)
        .filter((t) => (t >= middle - 192 * stepMs && t < middle) || t >= to - 96 * stepMs)
        .map((t) => ({ t, ...usage(running.cpu * 250), max: usage(running.cpu * 750) }));
      const legend = (): Locator => cpu().getByText(/^CPU: .+ CPUs, max .+ CPUs$/);
      const history: UsageHistoryView = { range: '7d', from, to, stepMs, recordedSince: points[0]!.t, points };
      await page.route('**/metrics/history*', (route) => route.fulfill({ json: history }));
      await open(`${pageOf(running, 'metrics')}?range=7d`, 400);
      await legend().waitFor();
      expect(await page.getByRole('combobox', { name: 'Range' }).inputValue()).toBe('7d');
      const [left, right] = await extent();
      expect(left).toBeCloseTo((336 - 192) / 672, 1);
      expect(right).toBeCloseTo(1, 1);
      const line = chart().locator('.hg-chart-line--1');
      expect((await line.getAttribute('d'))!.match(/M/g)).toHaveLength(2);
      const band = await chart().locator('.hg-chart-band').boundingBox();
      expect(band!.height / (await chart().boundingBox())!.height).toBeCloseTo(0.5, 1);
      // The box of the line has its width, too.
      expect(Math.abs(band!.y + band!.height - (await line.boundingBox())!.y)).toBeLessThan(5);
      const labels = page.locator('.hg-chart-scale:visible > span');
      const rows = await labels.evaluateAll((found) => found.map((label) => label.getBoundingClientRect().y));
      expect(rows).toHaveLength(5);
      expect(new Set(rows).size).toBe(1);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
      await page.getByText('Recorded since').waitFor();
      await page.reload();
      await legend().waitFor();
    });

    test('show the value and the time under the pointer, and the current one again without it', async () => {
      await openCharts(samples);
      await cpu().getByText('CPU: 1.00 CPUs').waitFor();
      const { x, y, width } = (await chart().boundingBox())!;
      // 30 minutes before the newest sample
      await page.mouse.move(x + width / 2, y + 20);
      await cpu().getByText('CPU: 0.25 CPUs').waitFor();
      expect(await cpu().locator('time').getAttribute('datetime')).toBe('2026-01-01T11:30:00.000Z');
      await page.mouse.move(x, y - 60);
      await cpu().getByText('CPU: 1.00 CPUs').waitFor();
      expect(await cpu().locator('time').count()).toBe(0);
    });

    test('say which values a context does not report, and why there are none at all', async () => {
      await openCharts(samples);
      const network = page.getByRole('region', { name: 'Network' });
      await network.getByText('This context reports no values').waitFor();
      expect(await network.getByRole('img').count()).toBe(0);
      await openCharts([], stopped);
      await page.getByText('A VM is measured while it runs.').waitFor();
      expect(await page.getByRole('img').count()).toBe(0);
    });
  });

  test('requested no other origin and logged no error', () => {
    expect(browser.foreign).toEqual([]);
    expect(browser.errors).toEqual([]);
  });
});

/** The name of a page without the number of its entries. */
const nameOf = (text: string): string => text.replace(/\s*[\d,]+(\s+problems?)?\s*$/, '').trim();
