/**
 * Takes pictures of the console in front of the fake service: node dev/screenshots.mjs FOLDER [NAME …]
 * Each picture is a state an operator meets.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { openBrowser } from './browser.mjs';

const [folder = 'screenshots', ...wanted] = process.argv.slice(2);
const wide = { width: 1440, height: 900 };
const PICTURES = {
  fleet: {},
  'fleet-dark': { dark: true },
  'fleet-10000': {
    count: 10000,
    act: async (page) => {
      await page.locator('.hg-table').evaluate((table) => {
        table.scrollTop = 123_456;
      });
      await page.waitForTimeout(400);
    },
  },
  selected: {
    act: async (page) => {
      for (const index of [1, 2, 3, 5]) await page.getByRole('checkbox').nth(index).click();
    },
  },
  bulk: {
    act: async (page) => {
      await page.getByRole('checkbox').first().click();
      await page.getByRole('button', { name: 'Shut down', exact: true }).click();
    },
  },
  empty: { count: 0 },
  simulated: { state: 'simulated', dark: true },
  partial: { state: 'partial' },
  failing: { state: 'failing' },
  unreachable: { state: 'unreachable' },
  'no-stream': { state: 'no-stream', act: (page) => page.waitForTimeout(3000) },
  narrow: { size: { width: 900, height: 800 } },
  mobile: { size: { width: 390, height: 800 } },
  create: { path: '/vms?create=1' },
  'create-dark': { path: '/vms?create=1', dark: true },
  'create-narrow': { path: '/vms?create=1', size: { width: 390, height: 800 } },
  overview: { path: '/vms/prod/data/web-8/overview' },
  'overview-dark': { path: '/vms/prod/data/web-8/overview', dark: true },
  'overview-mobile': { path: '/vms/prod/data/web-8/overview', size: { width: 390, height: 800 } },
  console: { path: '/vms/prod/data/web-8/console', act: (page) => page.waitForTimeout(1500) },
  'console-viewer': {
    path: '/vms/prod/data/web-8/console',
    as: 'viewer',
    dark: true,
    act: (page) => page.waitForTimeout(1500),
  },
  serial: {
    path: '/vms/prod/data/web-8/serial',
    act: async (page) => {
      await page.waitForTimeout(1000);
      await page.keyboard.type('root\r');
      await page.waitForTimeout(500);
    },
  },
  manifest: { path: '/vms/prod/data/web-8/manifest' },
  delete: {
    path: '/vms/prod/data/web-8/overview',
    act: async (page) => {
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.waitForTimeout(800);
    },
  },
  containers: { path: '/containers' },
  nodes: { path: '/nodes' },
  doctor: { path: '/doctor', dark: true },
  tasks: {
    act: async (page) => {
      await page.keyboard.press('c');
      await page.getByRole('dialog').waitFor();
      await page.getByLabel('Name', { exact: false }).first().fill('first-guest');
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.waitForTimeout(2500);
      await page.getByRole('button', { name: /^Tasks/ }).click();
      await page.waitForTimeout(600);
    },
  },
};

await mkdir(folder, { recursive: true });
const browser = await openBrowser();
try {
  for (const [name, picture] of Object.entries(PICTURES))
    if (wanted.length === 0 || wanted.includes(name)) await take(name, picture);
} finally {
  await browser.close();
}

async function take(name, { count = 40, state = 'ok', as = 'admin', path = '/vms', dark = false, size = wide, act }) {
  const service = spawn(process.execPath, [
    new URL('fake-service.mjs', import.meta.url).pathname,
    '--port',
    '0',
    '--count',
    String(count),
    '--state',
    state,
    '--as',
    as,
  ]);
  service.stderr.pipe(process.stderr);
  try {
    const [line] = await once(service.stdout, 'data');
    const origin = /http:\S+/.exec(String(line))[0];
    const page = await browser.newPage({ viewport: size, colorScheme: dark ? 'dark' : 'light' });
    const complain = (text) => process.stderr.write(`${name}: ${text}\n`);
    page.on('console', (message) => message.type() === 'error' && complain(message.text()));
    page.on('pageerror', (error) => complain(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(origin) && !/^(data|blob):/.test(request.url())) complain(`asks ${request.url()}`);
    });
    await page.goto(`${origin}/#${path}`);
    await page.waitForTimeout(900);
    await act?.(page);
    await page.screenshot({ path: `${folder}/${name}.png` });
    await page.close();
  } finally {
    service.kill();
    await once(service, 'exit');
  }
}
