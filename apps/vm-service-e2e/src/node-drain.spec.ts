import type { NodeDetailsView, TaskView, VmView } from '@headgate/api-contracts';
import type { Locator, Page } from 'playwright-core';
import { Api } from './api.js';
import { violations } from './axe.js';
import { openBrowser, type Browser } from './browser.js';
import { CHROMIUM, describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

const TIMEOUT_MS = 400_000;
/** A simulated migration takes as long as a real one. */
const DRAIN_MS = 600_000;

/** A node is drained from its page, over a simulated cluster of several nodes. */
describeIf(CHROMIUM ? undefined : 'Chromium is not installed', 'the drain of a node in the web console', () => {
  let service: RunningService;
  let api: Api;
  let browser: Browser;
  let page: Page;
  let node: NodeDetailsView;

  const nodes = async (): Promise<NodeDetailsView[]> =>
    (await api.send<NodeDetailsView[]>('GET', '/api/ext/nodes')).body;
  const running = async (): Promise<VmView[]> =>
    (await api.send<VmView[]>('GET', '/api/vms')).body.filter(
      (vm) => vm.status === 'Running' && vm.node === node.name && vm.context === node.context,
    );
  const panel = (): Locator => page.locator('.hg-side-panel');
  const open = async (width = 1280, colorScheme: 'light' | 'dark' = 'light'): Promise<void> => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    await page.goto('about:blank');
    await page.goto(`${service.url}/#/nodes?peek=${encodeURIComponent(`${node.context}/${node.name}`)}`);
    await page.getByRole('button', { name: `Drain ${node.name}` }).waitFor();
  };
  const openPlan = async (): Promise<void> => {
    await page.getByRole('button', { name: `Drain ${node.name}` }).click();
    await panel().getByText('Nothing has happened yet.').waitFor();
    await page.waitForFunction(() => !document.querySelector('.hg-spinner, .hg-skeleton'));
  };

  beforeAll(async () => {
    service = await RunningService.start(['--sandbox=60']);
    api = new Api(service.url);
    // The least occupied one is drained within the time of a test.
    const [first] = (await nodes())
      .filter(({ schedulable, instances }) => schedulable && instances > 0)
      .sort((a, b) => a.instances - b.instances);
    node = first as NodeDetailsView;
    browser = await openBrowser(service.url);
    page = browser.page;
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
    test.each([400, 800, 1280])(
      'has a plan that follows the rules of axe at a width of %i px',
      async (width) => {
        await open(width, colorScheme);
        expect(await violations(page)).toEqual([]);
        await openPlan();
        expect(await violations(page)).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
      },
      TIMEOUT_MS,
    );
  });

  test(
    'gets the instances off the node, shows it as cordoned, and lets it be uncordoned',
    async () => {
      const before = await running();
      expect(before.length).toBeGreaterThan(0);
      await open();
      await openPlan();
      await panel().getByRole('combobox', { name: 'At the same time' }).selectOption('8');
      await panel().getByRole('switch', { name: 'Leave instances that are refused on the node' }).click();
      const run = panel().getByRole('button', { name: `Drain ${node.name}` });
      await page.waitForFunction(
        (name) =>
          [...document.querySelectorAll<HTMLButtonElement>('.hg-plan-foot button')].some(
            ({ textContent, disabled }) => textContent === name && !disabled,
          ),
        `Drain ${node.name}`,
      );
      const staying = await panel().getByRole('list', { name: "Can't leave" }).locator('li').count();
      await run.click();
      await panel().getByText(`${node.name} is being drained`).waitFor();
      const drain = await until(
        'the drain has ended',
        async () => (await api.send<TaskView[]>('GET', '/api/tasks')).body.find(({ bulk }) => bulk?.action === 'drain'),
        (task) => task !== undefined && task.status !== 'running',
      );
      expect([drain?.status, drain?.error]).toEqual(['done', '']);
      await until('no other instance is listed there', running, (left) => left.length <= staying);
      await panel().getByRole('button', { name: 'Close', exact: true }).last().click();
      await page.getByRole('button', { name: `Uncordon ${node.name}` }).click();
      await panel()
        .getByRole('button', { name: `Uncordon ${node.name}` })
        .click();
      await panel().getByText(`${node.name} takes new instances`).last().waitFor();
      await until('the node takes instances', nodes, (all) =>
        all.some(({ name, schedulable }) => name === node.name && schedulable),
      );
    },
    DRAIN_MS,
  );
});
