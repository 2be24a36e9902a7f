import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { violations } from './axe.js';
import { openBrowser, type Browser } from './browser.js';
import { CHROMIUM, describeIf } from './machine.js';

interface Server {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

const CONSOLE = join(import.meta.dirname, '../../web-console');
const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [400, 1280].map((width) => ({ colorScheme, width })),
);

describeIf(CHROMIUM ? undefined : 'Chromium is not installed', 'the page with all components', () => {
  let server: Server;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    const { startServer } = (await import(join(CONSOLE, 'dev/start-server.mjs'))) as {
      startServer: (args: string[]) => Promise<Server>;
    };
    server = await startServer([join(CONSOLE, 'dev/components.mjs')]);
    browser = await openBrowser(server.url);
    page = browser.page;
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  const open = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();

  test.each(LOOKS)('follows the rules in the $colorScheme theme at a width of $width px', async (look) => {
    await page.emulateMedia({ colorScheme: look.colorScheme });
    await page.setViewportSize({ width: look.width, height: 900 });
    await page.goto('about:blank');
    await page.goto(server.url);
    await page.getByRole('heading', { name: 'Dialogs' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await open('Open the details');
    const details = page.getByRole('complementary', { name: 'Details of web-1' });
    await details.waitFor();
    expect(await violations(page)).toEqual([]);
    await details.getByRole('button', { name: 'Close (Esc)' }).click();
    await open('Open the plan');
    const plan = page.getByRole('complementary', { name: 'Restart web-1' });
    await plan.getByRole('heading', { name: 'Planned changes' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await plan.getByRole('button', { name: 'Close', exact: true }).click();
    await open('Show a failure');
    await page.getByRole('region', { name: 'Notifications' }).getByText('web-2 was not moved').waitFor();
    await open('Open a warning');
    await page.getByRole('dialog', { name: 'Delete web-1?' }).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test('sends no request to a service, and reports no error', () => {
    expect([browser.foreign, browser.errors]).toEqual([[], []]);
  });
});
