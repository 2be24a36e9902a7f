import type { Page } from 'playwright-core';

declare global {
  var clicksAndKeys: number;
}

/**
 * Counts the clicks and the keys of a user on a page, until it is loaded again. Characters that are typed into a field
 * are not counted.
 * @returns reads the number
 */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    globalThis.clicksAndKeys = 0;
    const isField = (target: EventTarget | null): boolean =>
      target instanceof HTMLInputElement && /^(text|search|datetime-local)$/.test(target.type);
    addEventListener('pointerdown', ({ isTrusted }) => (globalThis.clicksAndKeys += isTrusted ? 1 : 0), true);
    addEventListener(
      'keydown',
      ({ isTrusted, target }) => (globalThis.clicksAndKeys += isTrusted && !isField(target) ? 1 : 0),
      true,
    );
  });
  return () => page.evaluate(() => globalThis.clicksAndKeys);
}
