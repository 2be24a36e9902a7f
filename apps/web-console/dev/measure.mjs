/**
 * Measures the list in Chromium: node dev/measure.mjs [--count 10000] [--changes 2] [--rounds 3] [--mbits 10] [PAGE …]
 * Each PAGE is a folder with a build, by default the one of this project. Several builds take turns, so that the load
 * of the machine affects all of them. --mbits limits the speed of the network, with a latency of 20 ms. Prints a line
 * of JSON per round.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openBrowser } from './browser.mjs';
import { startDevService } from './dev-service.mjs';
import { limitNetwork, typeInPalette } from './probes.mjs';
import { traced } from './trace.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '10000' },
    changes: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '1' },
    mbits: { type: 'string' },
  },
});
const pages = positionals.length > 0 ? positionals : [fileURLToPath(new URL('../dist', import.meta.url))];
const FRAMES = 120;
/** Five rows per frame: fast scrolling with the wheel. */
const STEP_PX = 180;
const LATENCY_MS = 20;
const REPEATS = 5;
/** The time between opening the palette and the first letter. */
const USER_PAUSE_MS = 250;
/** Names, a verb with a name, words, a query, and a text whose letters alone match. */
const TEXTS = ['w', 'web', 'web-99', 'restart web-1', 'web prod', 'status:running tag:prod', 'w9b'];
/** A busy machine is slow. */
const PATIENCE_MS = 120_000;

const browser = await openBrowser();
try {
  for (let round = 0; round < Number(values.rounds); round++)
    for (const page of pages) process.stdout.write(`${JSON.stringify(await measure(page))}\n`);
} finally {
  await browser.close();
}

async function measure(folder) {
  const service = await startDevService(['--count', values.count, '--changes', values.changes, '--page', folder]);
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(PATIENCE_MS);
    if (values.mbits !== undefined) await limitNetwork(page, Number(values.mbits), LATENCY_MS);
    await page.goto(service.url);
    await page.locator('.hg-row').first().waitFor();
    const firstRowMs = await page.evaluate(() => Math.round(performance.now()));
    await page.locator(`[aria-rowcount="${Number(values.count) + 1}"]`).waitFor();
    const allRowsMs = await page.evaluate(() => Math.round(performance.now()));
    // Excludes the costs of the first frames.
    await scroll(page, 30);
    const { result: framesPerSecond, perFrame } = await traced(page, FRAMES, () => scroll(page, FRAMES));
    const sortMs = await timed(page, () =>
      [...document.querySelectorAll('.hg-sort')].find((button) => button.textContent.startsWith('Memory')).click(),
    );
    const searchMs = await timed(page, () => {
      const input = document.querySelector('.hg-search input');
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, 'web-99 prod');
      input.dispatchEvent(new Event('input', { bubbles: true }));
    });
    const paletteMs = await palette(page);
    await page.close();
    return {
      folder,
      count: Number(values.count),
      firstRowMs,
      allRowsMs,
      framesPerSecond,
      cpuMsPerFrame: perFrame,
      sortMs,
      searchMs,
      paletteMs,
    };
  } finally {
    await service.stop();
  }
}

function scroll(page, frames) {
  return page.evaluate(
    async ([count, step]) => {
      const table = document.querySelector('.hg-table');
      const startedAt = performance.now();
      for (let frame = 0; frame < count; frame++) {
        table.scrollTop += step;
        await new Promise((next) => requestAnimationFrame(next));
      }
      return Math.round((count / (performance.now() - startedAt)) * 1000);
    },
    [frames, STEP_PX],
  );
}

/**
 * The times from the event until the palette has rendered the results of a text, in milliseconds: `cold` of the first
 * one after the palette was opened, and of the others the slowest text, each by its median. Undefined in a build
 * without a palette.
 */
async function palette(page) {
  if ((await page.locator('.hg-palette-button').count()) === 0) return undefined;
  await page.keyboard.press('Control+k');
  await page.locator('.hg-palette-input').waitFor();
  const type = (text) => typeInPalette(page, text);
  await page.waitForTimeout(USER_PAUSE_MS);
  const cold = Math.round(await type(TEXTS[0]));
  const medians = {};
  for (const text of TEXTS) {
    const times = [];
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      await type('');
      times.push(await type(text));
    }
    medians[text] = Math.round(times.sort((a, b) => a - b)[Math.floor(REPEATS / 2)]);
  }
  return { cold, slowest: Math.max(...Object.values(medians)), medians };
}

/** The time from the event until the first row changes, in milliseconds. */
function timed(page, act) {
  return page.evaluate(
    `(async () => {
      const first = () => document.querySelector('.hg-row')?.id;
      document.querySelector('.hg-table').scrollTop = 0;
      await new Promise((next) => setTimeout(next, 500));
      const was = first();
      const startedAt = performance.now();
      (${act})();
      while (first() === was) await new Promise((next) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = next; port2.postMessage(0); });
      return Math.round(performance.now() - startedAt);
    })()`,
  );
}
