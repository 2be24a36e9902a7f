import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const CHROMIUM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);

/** Chromium without its own background traffic. */
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const TIMEOUT_MS = 120_000;

declare global {
  // Defined by the script that `violations` adds to the page.
  var axe: typeof import('axe-core');
}

/** A tab of its own, with everything that must not happen on the desk. */
export interface DeskTab {
  readonly page: Page;
  /** URLs of other origins that the page requested. */
  readonly foreign: string[];
  /** Errors of scripts, blocked parts and dialogs. */
  readonly errors: string[];
}

/** Chromium with tabs that share nothing. */
export class DeskBrowser {
  private constructor(
    private readonly browser: Browser,
    private readonly folder: string,
  ) {}

  static async launch(): Promise<DeskBrowser> {
    const folder = mkdtempSync(join(tmpdir(), 'limits-chromium-'));
    const env = { ...process.env, HOME: folder, TMPDIR: folder } as Record<string, string>;
    return new DeskBrowser(await chromium.launch({ executablePath: CHROMIUM!, args: ARGS, env }), folder);
  }

  /** @param origin what the page may request from */
  async open(
    url: string,
    { origin = url, ...options }: BrowserContextOptions & { origin?: string } = {},
  ): Promise<DeskTab> {
    const context = await this.browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    context.setDefaultTimeout(TIMEOUT_MS);
    const page = await context.newPage();
    const foreign: string[] = [];
    const errors: string[] = [];
    page.on('request', (request) => {
      const address = request.url();
      if (!address.startsWith(new URL(origin).origin) && !address.startsWith('data:')) foreign.push(address);
    });
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      // Refused sign-ins are a part of the tests.
      if (message.type() === 'error' && !message.text().includes('status of 401')) errors.push(message.text());
    });
    page.on('dialog', (dialog) => {
      errors.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(url);
    return { page, foreign, errors };
  }

  async close(): Promise<void> {
    await this.browser.close();
    // Processes of Chromium may write until they end, a little later.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/**
 * The violations of axe's rules on a page, including those that are off by default, each with the element and the
 * problem. The script comes from the debugger, which the page's policy does not restrict.
 */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    // A color on its way to another one has less contrast than both.
    const transitions = (): Animation[] =>
      document.getAnimations().filter((animation) => animation instanceof CSSTransition);
    while (transitions().length > 0) await Promise.allSettled(transitions().map(({ finished }) => finished));
    const rules = Object.fromEntries(
      ['target-size', 'label-content-name-mismatch', 'focus-order-semantics'].map((rule) => [rule, { enabled: true }]),
    );
    const results = await globalThis.axe.run(document, { resultTypes: ['violations'], rules });
    return results.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary ?? ''}`),
    );
  });
}
