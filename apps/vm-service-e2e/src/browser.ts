import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { CHROMIUM } from './machine.js';

/** How long a step of a page may take on a busy machine. */
const ACTION_TIMEOUT_MS = 120_000;

/** Chromium without its own background traffic. */
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface Browser {
  readonly page: Page;
  /** URLs of other origins that the page requested. */
  readonly foreign: string[];
  /** Errors that the page logged or threw. */
  readonly errors: string[];
  close(): Promise<void>;
}

/** @param trustsAll accepts certificates that no authority has signed */
export async function openBrowser(url: string, { trustsAll = false } = {}): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-chromium-'));
  const context: BrowserContext = await chromium.launchPersistentContext(folder, {
    executablePath: CHROMIUM,
    headless: true,
    args: ARGS,
    ignoreHTTPSErrors: trustsAll,
    viewport: { width: 1280, height: 900 },
    timeout: ACTION_TIMEOUT_MS,
  });
  // Of all pages of the context, also of those that a test opens later.
  context.setDefaultTimeout(ACTION_TIMEOUT_MS);
  const page = await context.newPage();
  const foreign: string[] = [];
  const errors: string[] = [];
  page.on('request', (request) => {
    const own = request.url().startsWith(url) || request.url().startsWith('data:') || request.url().startsWith('blob:');
    if (!own) foreign.push(request.url());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(url);
  return {
    page,
    foreign,
    errors,
    close: async () => {
      await context.close();
      // Processes of Chromium may write until they end, a little later.
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
