import type { Page } from 'playwright-core';
import { DIALOG, MENU, PANEL } from './stage.js';

const OPEN = [DIALOG, PANEL, MENU, '.hg-drawer', '.hg-palette'].join();
/** A menu inside of a dialog is the deepest nesting. */
const LAYERS = 4;
/** A page without data, layers and requests of its own. */
const QUIET = '/settings';

/**
 * Closes each open layer with Escape, and shows a page in the same document: a new one costs a second. What stays
 * open, such as a panel that doesn't have the focus, closes with its page.
 * @throws Error if a layer is still open on another page: it could be taken for the next one
 */
export async function showPath(page: Page, path: string): Promise<void> {
  const isOpen = (): Promise<boolean> =>
    page.evaluate((open) => [...document.querySelectorAll(open)].some((one) => one.checkVisibility()), OPEN);
  for (let pressed = 0; pressed < LAYERS && (await isOpen()); pressed++) await page.keyboard.press('Escape');
  await show(page, QUIET);
  if (await isOpen()) throw new Error('The layer before this one is still open.');
  await show(page, path);
}

async function show(page: Page, path: string): Promise<void> {
  await page.evaluate((hash) => {
    if (location.hash === hash) return;
    document.querySelector('h1')?.setAttribute('data-before', '');
    location.hash = hash;
  }, `#${path}`);
  // Another page has another title, even if it has the same words.
  await page.waitForFunction(
    () => document.querySelector('h1:not([data-before])') && !document.querySelector('.hg-spinner, .hg-skeleton'),
  );
}
