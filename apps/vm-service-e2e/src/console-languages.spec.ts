import type { ContainerView, VmView } from '@headgate/api-contracts';
import type { Page } from 'playwright-core';
import { Api } from './api.js';
import { openBrowser, type Browser } from './browser.js';
import { bracketTexts, TEXTS } from './console-dialogs/german.js';
import { SAME_EVERYWHERE, serviceSentences } from './console-dialogs/same-everywhere.js';
import { PLACES } from './console-places.js';
import { cutOff } from './cut-off.js';
import { CHROMIUM, describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { unbracketed } from './unbracketed.js';

const TIMEOUT_MS = 400_000;
const TABS = ['overview', 'guest', 'metrics', 'hardware', 'snapshots', 'events'];
const CONTAINER_TABS = ['', '/logs', '/files', '/hardware', '/snapshots', '/events'];
/** The console in German, which has longer words, and with each text in brackets. */
describeIf(CHROMIUM ? undefined : 'Chromium is not installed', 'the languages of the web console', () => {
  let service: RunningService;
  let browser: Browser;
  let page: Page;
  let api: Api;
  let running: VmView;
  let box: ContainerView;
  /** A moment of the history of the fleet. */
  let started: string;

  beforeAll(async () => {
    service = await RunningService.start(['--sandbox=40']);
    api = new Api(service.url);
    const { body } = await api.send<VmView[]>('GET', '/api/vms');
    running = body.find(({ status }) => status === 'Running')!;
    const { body: containers } = await api.send<ContainerView[]>('GET', '/api/cts');
    box = containers.find(({ phase }) => phase === 'Running')!;
    browser = await openBrowser(service.url);
    page = browser.page;
    started = new Date().toISOString();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const tabOf = (tab: string): string => `/vms/${running.context}/${running.namespace}/${running.name}/${tab}`;
  const places = (): string[] => [
    ...PLACES,
    `/vms?at=${started}`,
    ...TABS.map(tabOf),
    ...CONTAINER_TABS.map((tab) => `/containers/${box.context}/${box.namespace}/${box.name}${tab}`),
  ];
  const open = async (place: string, width = 1280, height = 900): Promise<void> => {
    await page.setViewportSize({ width, height });
    await page.goto('about:blank');
    await page.goto(`${service.url}/#${place}`);
    await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
    await page.waitForFunction(() => !document.querySelector('.hg-spinner, .hg-skeleton'));
  };

  test(
    'is chosen in the header, kept after a reload, and the language of the document',
    async () => {
      await open('/nodes');
      expect(await page.locator('html').getAttribute('lang')).toBe('en');
      const requested = page.waitForRequest((request) => request.url().endsWith(TEXTS));
      await page.getByRole('button', { name: /^Language: English/ }).click();
      await page.getByRole('menuitem', { name: 'Deutsch' }).click();
      await requested;
      await page.getByRole('heading', { name: 'Knoten', level: 1 }).waitFor();
      expect(await page.locator('html').getAttribute('lang')).toBe('de');
      await page.reload();
      await page.getByRole('heading', { name: 'Knoten', level: 1 }).waitFor();
      expect(browser.errors).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test.each([400, 1024, 1280])(
    'has room for the words of German in a window of %i px',
    async (width) => {
      const problems: string[] = [];
      for (const place of places()) {
        await open(place, width, 800);
        expect(await page.locator('html').getAttribute('lang')).toBe('de');
        if (width === 400) problems.push(...(await cutOff(page)).map((problem) => `${place}: ${problem}`));
        const scrolls = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
        if (scrolls) problems.push(`${place} scrolls sideways`);
      }
      expect(problems).toEqual([]);
    },
    TIMEOUT_MS,
  );

  /** A page with all its data: lists show their first rows before they have all. */
  const openBracketed = async (place: string): Promise<void> => {
    await open(place);
    await page.locator('.hg-caller-letter').waitFor({ state: 'attached' });
    await page.locator('.hg-tree-item').first().waitFor({ state: 'attached' });
  };

  describe('with each text of the catalog in brackets', () => {
    beforeAll(async () => {
      const { body } = await api.send<Record<string, unknown[]>>('GET', TEXTS);
      await bracketTexts(page, body);
    }, TIMEOUT_MS);

    test(
      'takes every text of the pages from the catalog',
      async () => {
        const sentences = await serviceSentences(api);
        const raw: string[] = [];
        for (const place of places()) {
          await openBracketed(place);
          expect(await page.locator('body').innerText()).toContain('⟦');
          for (const { text, element } of await unbracketed(page))
            if (!SAME_EVERYWHERE.test(text) && !sentences.has(text)) raw.push(`${place}: ${text} (${element})`);
        }
        expect(raw).toEqual([]);
      },
      TIMEOUT_MS,
    );

    test(
      'finds a text after the header that bypasses the catalog, wherever it is',
      async () => {
        await openBracketed('/nodes');
        const before = await unbracketed(page);
        await page.evaluate(() => {
          const planted =
            '<p title="Planted title"><i>⟦</i>Planted text</p><p>⟦Delete⟧ planted rest</p>' +
            '<p translate="no">worker-01 ⟦Delete⟧</p><p lang="en">The node is full.</p>';
          document.querySelector('main')!.insertAdjacentHTML('beforeend', planted);
        });
        const found = (await unbracketed(page)).slice(before.length).map(({ text }) => text);
        const unmarked = ['Planted title', 'open bracket: ⟦', 'Planted text', 'planted rest'];
        expect(found).toEqual([...unmarked, 'marked as data: worker-01 ⟦Delete⟧']);
      },
      TIMEOUT_MS,
    );
  });
});
