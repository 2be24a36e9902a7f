import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { Api } from './api.js';
import { violations } from './axe.js';
import { openBrowser, type Browser } from './browser.js';
import { allDialogs } from './console-dialogs/all.js';
import { answerBackups } from './console-dialogs/answer-backups.js';
import { showPath } from './console-dialogs/close-layers.js';
import { createDialogData, type Send } from './console-dialogs/data.js';
import { bracketTexts, sayGerman, TEXTS } from './console-dialogs/german.js';
import { layerProblems } from './console-dialogs/layer-problems.js';
import { MENU, openDialog, type ConsoleDialog, type Stage } from './console-dialogs/stage.js';
import { SAME_EVERYWHERE, serviceSentences } from './console-dialogs/same-everywhere.js';
import { CHROMIUM, describeIf } from './machine.js';
import { PluginIndex } from './plugin-index.js';
import { RunningService } from './running-service.js';
import { tooSmall } from './too-small.js';
import { unbracketed } from './unbracketed.js';
import { until } from './until.js';

const TIMEOUT_MS = 600_000;
/** So that one dialog that does not open fails alone. */
const STEP_MS = 60_000;
const PHONE = { width: 320, height: 640 };
/** 1280 by 900 px with a zoom of 200 %. */
const ZOOMED = { width: 640, height: 450 };
const WIDE = { width: 1280, height: 900 };
/** One of each kind: in a wide window, those of a kind differ in their words only. */
const WIDE_SAMPLE = [
  'Restart of a VM',
  'Delete of a VM',
  'the form: Move',
  'the plan of hardware',
  'the values of the metrics as a table',
  'the menu of a VM',
  'the tasks',
  'Delete, of many',
  'the peek of a VM',
  'the palette',
  'the keys',
  'the peek of a folder',
  'the drain of a node',
  'the import of an image',
  'the form of a schedule',
  'Rotate {0} on /integrations',
  'the leash of an agent',
];
/** Layers that are placed when they open, and not again when the window gets another size. */
const isPlaced = ({ layer }: ConsoleDialog): boolean => layer === MENU || layer === '.hg-drawer';

/**
 * Every dialog, panel with a plan and menu, in German, whose words are the longest, with each text of the catalog in
 * brackets and with names that are as long as possible.
 */
describeIf(CHROMIUM ? undefined : 'Chromium is not installed', 'the dialogs of the web console', () => {
  let folder: string;
  let index: PluginIndex;
  let service: RunningService;
  let browser: Browser;
  let page: Page;
  let stage: Stage;
  let dialogs: readonly ConsoleDialog[];
  let sentences: ReadonlySet<string>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-dialogs-'));
    const [config, backupFolder] = [join(folder, 'headgate.yaml'), join(folder, 'backups')];
    mkdirSync(backupFolder);
    index = await PluginIndex.open();
    // JSON is YAML, too.
    writeFileSync(
      config,
      JSON.stringify({
        contexts: ['prod', 'lab'].map((name) => ({ name, kind: 'sandbox', instances: 40 })),
        importAllow: ['127.0.0.1'],
        webhookAllow: ['127.0.0.1'],
        backups: { folders: [backupFolder] },
        plugins: { indexes: [index.url], publishers: [{ name: 'acme', key: index.key }] },
      }),
    );
    service = await RunningService.start(['--config', config]);
    const api = new Api(service.url);
    const send: Send = async (method, path, body) => {
      const answer = await api.send(method, path, body);
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
      return answer.body as never;
    };
    const order = { webhookUrl: `${service.url}/hook`, backupFolder, plugin: 'load-check' };
    const data = await createDialogData(send, until, order);
    dialogs = allDialogs(data);
    sentences = await serviceSentences(api);
    browser = await openBrowser(service.url);
    page = browser.page;
    page.setDefaultTimeout(STEP_MS);
    await answerBackups(page, data.running.ref);
    await bracketTexts(page, await send('GET', TEXTS));
    await page.evaluate(() => localStorage.setItem('headgate.language', '"de"'));
    stage = { page, say: sayGerman() };
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    index?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const load = async (): Promise<void> => {
    await page.goto('about:blank');
    await page.goto(`${service.url}/#/settings`);
    await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
  };
  const open = async (dialog: ConsoleDialog): Promise<void> => {
    await showPath(page, dialog.path);
    await openDialog(dialog, stage);
  };
  const resize = async (size: typeof WIDE): Promise<void> => {
    await page.setViewportSize(size);
    // The page knows its new size before it has the new layout.
    await page.waitForFunction(
      ({ width, height }) =>
        innerWidth === width &&
        innerHeight === height &&
        document.documentElement.getBoundingClientRect().width <= width,
      size,
    );
    // React has rendered for the new size after two frames.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  };
  const rawTexts = async ({ layer }: ConsoleDialog): Promise<string[]> =>
    (await unbracketed(page, layer))
      .filter(({ text }) => !SAME_EVERYWHERE.test(text) && !sentences.has(text))
      .map(({ text, element }) => `${text} (${element})`);

  /** All problems at once, because most of the time is spent on opening the dialogs. */
  const problemsOf = async (
    parts: readonly ConsoleDialog[],
    check: (dialog: ConsoleDialog, note: (found: readonly string[]) => void) => Promise<void>,
  ) => {
    const problems: Record<string, string[]> = {};
    await load();
    for (const dialog of parts) {
      const found: string[] = [];
      try {
        await open(dialog);
        await check(dialog, (more) => found.push(...more));
      } catch (error) {
        found.push(String(error).slice(0, 400));
        // Whatever is open would be in the way of the next one.
        await load();
      }
      if (found.length > 0) problems[dialog.name] = [...new Set(found)];
    }
    return problems;
  };

  test(
    'have room on phones, for fingers, with all their texts from the catalog, and follow the rules',
    async () => {
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
      await page.setViewportSize(PHONE);
      const onPhones = dialogs.filter(({ isWide }) => !isWide);
      const problems = await problemsOf(onPhones, async (dialog, note) => {
        note(await rawTexts(dialog));
        note(await violations(page, dialog.layer));
        note(await tooSmall(page));
        note(await layerProblems(page, dialog.layer));
      });
      expect(problems).toEqual({});
    },
    TIMEOUT_MS,
  );

  test(
    'have room in wide windows and with a zoom of 200 %, and follow the rules in dark colors',
    async () => {
      await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
      const inWideWindows = dialogs.filter(
        ({ isPhone, isWide, name }) => !isPhone && (isWide || WIDE_SAMPLE.includes(name)),
      );
      await page.setViewportSize(WIDE);
      const problems = await problemsOf(inWideWindows, async (dialog, note) => {
        if (dialog.isWide) note(await rawTexts(dialog));
        note(await violations(page, dialog.layer));
        note(await layerProblems(page, dialog.layer));
        if (isPlaced(dialog) || dialog.isWide) return;
        await resize(ZOOMED);
        note((await layerProblems(page, dialog.layer)).map((problem) => `zoomed: ${problem}`));
        await resize(WIDE);
      });
      expect(problems).toEqual({});
    },
    TIMEOUT_MS,
  );

  test('requested no other origin and logged no error', () => {
    expect(browser.foreign).toEqual([]);
    expect(browser.errors).toEqual([]);
  });
});
