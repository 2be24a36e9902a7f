import { typeInPalette } from '../../../apps/web-console/dev/probes.mjs';

/** The parts of the benchmark of the console, each on one page of Chromium. */

export const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];

/** Times in milliseconds from the navigation until something was painted, and until the first row was in the page. */
export async function openList(page, url) {
  await page.goto('about:blank');
  await page.goto(`${url}/#/vms`, { waitUntil: 'commit' });
  await page.locator('.hg-row').first().waitFor();
  return page.evaluate(() => ({
    paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
    row: performance.now(),
  }));
}

/** Until all rows have been loaded. */
export const allRows = (page, count) => page.locator(`[aria-rowcount="${count + 1}"]`).waitFor();

export const domNodes = (page) => page.evaluate(() => document.querySelectorAll('*').length);

/**
 * The time from a click on a row until the panel has the answers to all its requests, in milliseconds. Shapes of parts
 * that load are no sign of it: they appear after a while only.
 */
export async function fillPeek(page, index) {
  const name = page.locator('.hg-row').nth(index).getByRole('rowheader');
  await name.waitFor();
  return name.evaluate(
    (cell) =>
      new Promise((resolve) => {
        const fetchOriginal = globalThis.fetch;
        let [begun, pending] = [0, 0];
        globalThis.fetch = async (...args) => {
          begun++;
          pending++;
          try {
            return await fetchOriginal(...args);
          } finally {
            pending--;
          }
        };
        const began = performance.now();
        const check = () => {
          const panel = document.querySelector('aside[aria-label^="Details of"]');
          const isFilled = panel?.querySelector('.hg-spinner, .hg-skeleton') === null && begun > 0 && pending === 0;
          if (!isFilled) return requestAnimationFrame(check);
          globalThis.fetch = fetchOriginal;
          // The answers are rendered before the next frame.
          requestAnimationFrame(() => resolve(performance.now() - began));
        };
        cell.click();
        requestAnimationFrame(check);
      }),
  );
}

/** The longest time between two frames while the list scrolls, in milliseconds. */
export const longestFrame = (page, frames, stepPx) =>
  page.evaluate(
    async ([count, step]) => {
      const table = document.querySelector('.hg-table');
      const frame = () => new Promise((next) => requestAnimationFrame(next));
      let longest = 0;
      let last = await frame();
      for (let index = 0; index < count; index++) {
        table.scrollTop += step;
        const now = await frame();
        longest = Math.max(longest, now - last);
        last = now;
      }
      table.scrollTop = 0;
      return longest;
    },
    [frames, stepPx],
  );

/**
 * The time from the answer to a request that gives a VM a tag until its row is in the list of that tag, in
 * milliseconds; 0 if it was there before.
 */
export async function seeTag(page, url, { path, tag }) {
  await page.evaluate((hash) => (location.hash = hash), `/vms?q=${encodeURIComponent(`tag:${tag}`)}`);
  await page.locator('.hg-row').first().waitFor({ state: 'detached' });
  return page.evaluate(
    async ([target, body]) => {
      const visible = new Promise((resolve) => {
        const observer = new MutationObserver(() => {
          if (document.querySelector('.hg-row') === null) return;
          observer.disconnect();
          resolve(performance.now());
        });
        observer.observe(document.body, { childList: true, subtree: true });
      });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(target, { method: 'POST', headers, body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`${target}: ${answer.status} ${await answer.text()}`);
      const acknowledged = performance.now();
      return Math.max(0, (await visible) - acknowledged);
    },
    [`${url}${path}`, { tag, on: true }],
  );
}

/** The time from a query in the address until the list has its matches, in milliseconds. */
export async function searchList(page, query, matches) {
  return page.evaluate(
    ([hash, rows]) =>
      new Promise((resolve, reject) => {
        const began = performance.now();
        const check = () => {
          const shown = document.querySelector('[aria-rowcount]')?.getAttribute('aria-rowcount');
          const ms = performance.now() - began;
          if (shown === String(rows)) return resolve(ms);
          if (ms > 30_000) return reject(new Error(`${hash} has ${shown} rows with the header, not ${rows}.`));
          requestAnimationFrame(check);
        };
        location.hash = hash;
        requestAnimationFrame(check);
      }),
    [`/vms?q=${encodeURIComponent(query)}`, matches + 1],
  );
}

/** The time until the palette has the results of a text, after an empty one, in milliseconds. */
export async function searchPalette(page, text) {
  await typeInPalette(page, '');
  return typeInPalette(page, text);
}

/** The part of the CPU that the page's thread uses while nothing happens, and the requests that it sends meanwhile. */
export async function idle(page, ms) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const taskSeconds = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration').value;
  };
  let requests = 0;
  const count = () => requests++;
  page.on('request', count);
  const began = await taskSeconds();
  await page.waitForTimeout(ms);
  const share = ((await taskSeconds()) - began) / (ms / 1000);
  page.off('request', count);
  await session.detach();
  return { share, requests };
}

/**
 * The part of the style sheet that a tour does not use: the pages in a wide and in a small window and on a
 * phone, the panels of a folder, a node and a machine, a dialog, a menu, a plan, the tasks, the palette and the keys.
 */
export async function unusedCss(page, url, places) {
  let text = '';
  let marks;
  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 800, height: 540 },
    { width: 390, height: 844 },
  ]) {
    await page.setViewportSize(viewport);
    await page.goto('about:blank');
    // A navigation drops the coverage before it.
    await page.coverage.startCSSCoverage({ resetOnNavigation: false });
    await page.goto(url);
    await tour(page, places);
    const sheet = (await page.coverage.stopCSSCoverage()).find(({ text: content }) => content);
    text = sheet.text;
    marks ??= new Uint8Array(text.length);
    for (const { start, end } of sheet.ranges) marks.fill(1, start, end);
  }
  let [total, used] = [0, 0];
  // The embedded font is no style.
  for (const match of text.matchAll(/url\(["']?data:[^)]*\)|[^]/g)) {
    if (match[0].length > 1) continue;
    total++;
    used += marks[match.index];
  }
  return 1 - used / total;
}

async function tour(page, places) {
  for (const place of places) await visit(page, place);
  await visit(page, '/images');
  await page.getByRole('button', { name: 'Import image…' }).click();
  await page.keyboard.press('Escape');
  await visit(page, '/folders');
  await page.locator('.hg-folder:not(.hg-folder-head)').first().click();
  await visit(page, '/nodes');
  await page.locator('.hg-node-name').first().click();
  await page.keyboard.press('Escape');
  await visit(page, '/vms');
  await page.locator('.hg-bar-button, .hg-tasks-button, button.hg-phone-link').first().click();
  await page.keyboard.press('Escape');
  const row = page.locator('.hg-row').first();
  const checkbox = row.getByRole('checkbox');
  if (await checkbox.isVisible()) await checkbox.click();
  await row.getByRole('rowheader').click();
  await page.keyboard.press('.');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('restart web');
  await page.waitForTimeout(500);
  await page.keyboard.press('Enter');
  await page.waitForTimeout(500);
}

async function visit(page, place) {
  await page.evaluate((path) => (location.hash = path), place);
  await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
  await page.waitForFunction(() => !document.querySelector('.hg-spinner, .hg-skeleton'));
}
