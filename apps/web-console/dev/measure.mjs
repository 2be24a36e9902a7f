/**
 * Measures the list with made-up instances in Chromium: node dev/measure.mjs [--count 10000] [--changes 2] [--rounds 3] [PAGE …]
 * Each PAGE is a folder with a build; without one it is this one's. Several are taken in turns, so that a busy machine is
 * busy for all of them. Prints a line of JSON for each round.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openBrowser } from './browser.mjs';
import { traced } from './trace.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '10000' },
    changes: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '1' },
  },
});
const pages = positionals.length > 0 ? positionals : [fileURLToPath(new URL('../dist', import.meta.url))];
const FRAMES = 120;
/** Five rows a frame: a strong flick of the wheel. */
const STEP_PX = 180;

const browser = await openBrowser();
try {
  for (let round = 0; round < Number(values.rounds); round++)
    for (const page of pages) process.stdout.write(`${JSON.stringify(await measure(page))}\n`);
} finally {
  await browser.close();
}

async function measure(folder) {
  const script = fileURLToPath(new URL('fake-service.mjs', import.meta.url));
  const service = spawn(process.execPath, [
    script,
    ...['--port', '0', '--count', values.count, '--changes', values.changes, '--page', folder],
  ]);
  try {
    const [line] = await once(service.stdout, 'data');
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(/http:\S+/.exec(String(line))[0]);
    await page.locator('.hg-row').first().waitFor();
    const firstRowMs = await page.evaluate(() => Math.round(performance.now()));
    // Whatever the first look at the page costs is over.
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
    await page.close();
    return {
      folder,
      count: Number(values.count),
      firstRowMs,
      framesPerSecond,
      cpuMsPerFrame: perFrame,
      sortMs,
      searchMs,
    };
  } finally {
    service.kill();
  }
}

function scroll(page, frames) {
  return page.evaluate(
    async ([count, step]) => {
      const table = document.querySelector('.hg-table');
      const begun = performance.now();
      for (let frame = 0; frame < count; frame++) {
        table.scrollTop += step;
        await new Promise((next) => requestAnimationFrame(next));
      }
      return Math.round((count / (performance.now() - begun)) * 1000);
    },
    [frames, STEP_PX],
  );
}

/** From the event to the first row's next look, in milliseconds. */
function timed(page, act) {
  return page.evaluate(
    `(async () => {
      const first = () => document.querySelector('.hg-row')?.id;
      document.querySelector('.hg-table').scrollTop = 0;
      await new Promise((next) => setTimeout(next, 500));
      const was = first();
      const begun = performance.now();
      (${act})();
      while (first() === was) await new Promise((next) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = next; port2.postMessage(0); });
      return Math.round(performance.now() - begun);
    })()`,
  );
}
