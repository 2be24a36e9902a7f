import axe from 'axe-core';
import type { Page } from 'playwright-core';

declare global {
  // Defined by the script that `violations` adds to the page.
  var axe: typeof import('axe-core');
}

/**
 * The violations of axe's rules on a page, including those of WCAG 2.2 and those that are off by default, each with the
 * element and the problem; empty without any.
 */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const rules = Object.fromEntries(
      ['target-size', 'label-content-name-mismatch', 'css-orientation-lock', 'focus-order-semantics'].map((rule) => [
        rule,
        { enabled: true },
      ]),
    );
    const results = await globalThis.axe.run(document, { resultTypes: ['violations'], rules });
    return results.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary ?? ''}`),
    );
  });
}
