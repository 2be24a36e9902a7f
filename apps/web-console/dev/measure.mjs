/** Measures the list with made-up instances in Chromium: node dev/measure.mjs [COUNT]. Prints JSON. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chromium } from 'playwright-core';

const count = process.argv[2] ?? '10000';
const service = spawn(process.execPath, [
  new URL('fake-service.mjs', import.meta.url).pathname,
  '--port',
  '0',
  '--count',
  count,
]);
const [line] = await once(service.stdout, 'data');
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(/http:\S+/.exec(String(line))[0]);
  await page.locator('.hg-row').first().waitFor();
  const firstRowMs = await page.evaluate(() => Math.round(performance.now()));
  const scroll = await page.evaluate(async () => {
    const table = document.querySelector('.hg-table');
    const frames = [];
    let last = performance.now();
    for (let frame = 0; frame < 240; frame++) {
      table.scrollTop += 180;
      await new Promise((next) => requestAnimationFrame(next));
      frames.push(performance.now() - last);
      last = performance.now();
    }
    frames.sort((a, b) => a - b);
    const total = frames.reduce((sum, ms) => sum + ms, 0);
    return {
      framesPerSecond: Math.round((frames.length / total) * 1000),
      p50Ms: Math.round(frames[120]),
      worstMs: Math.round(frames.at(-1)),
    };
  });
  const search = await page.evaluate(async () => {
    const input = document.querySelector('.hg-search input');
    const before = performance.now();
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, 'web-99 prod');
    input.dispatchEvent(new Event('input', { bubbles: true }));
    while (!/ of /.test(document.querySelector('.hg-chips-total').textContent))
      await new Promise((next) => setTimeout(next));
    return Math.round(performance.now() - before);
  });
  process.stdout.write(`${JSON.stringify({ count: Number(count), firstRowMs, scroll, searchMs: search })}\n`);
} finally {
  await browser.close();
  service.kill();
}
