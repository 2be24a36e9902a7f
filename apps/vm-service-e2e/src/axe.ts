import axe from 'axe-core';
import type { Page } from 'playwright-core';

declare global {
  // Defined by the script that `violations` adds to the page.
  var axe: typeof import('axe-core');
}

/**
 * The violations of axe's rules on a page, including those of WCAG 2.2 and those that are off by default, each with the
 * element and the problem; empty without any.
 * @param part the selector of the part to check; by default the whole page
 */
export async function violations(page: Page, part?: string): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  return page.evaluate(async (selector) => {
    // A color on its way to another one has less contrast than both.
    const transitions = (): Animation[] =>
      document.getAnimations().filter((animation) => animation instanceof CSSTransition);
    while (transitions().length > 0) await Promise.allSettled(transitions().map(({ finished }) => finished));
    const rules = Object.fromEntries(
      ['target-size', 'label-content-name-mismatch', 'css-orientation-lock', 'focus-order-semantics'].map((rule) => [
        rule,
        { enabled: true },
      ]),
    );
    const results = await globalThis.axe.run(selector ?? document, { resultTypes: ['violations'], rules });
    // A separator that takes the focus and has a value is a widget in ARIA 1.2, which axe does not know.
    const isSplitter = ({ target }: { target: unknown[] }): boolean =>
      document.querySelector(String(target[0]))?.matches('[role="separator"][aria-valuenow]') === true;
    return results.violations.flatMap(({ id, nodes }) =>
      nodes
        .filter((node) => id !== 'focus-order-semantics' || !isSplitter(node))
        .map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary ?? ''}`),
    );
  }, part);
}
