/**
 * Takes screenshots of the console with the real service over instances in memory: node dev/screenshots.mjs FOLDER
 * [NAME …] Each screenshot shows a state that operators meet.
 */
import { mkdir } from 'node:fs/promises';
import { openBrowser } from './browser.mjs';
import { startDevService } from './dev-service.mjs';

const [folder = 'screenshots', ...wanted] = process.argv.slice(2);
const wide = { width: 1440, height: 900 };
/** The answer of a service without any reachable context. */
const UNREACHABLE = {
  status: 503,
  json: { error: 'No configured context is reachable: prod: connect ECONNREFUSED 10.0.0.1:6443.', code: 'X' },
};
/** A proxy that blocks event streams: every stream fails as soon as it is opened. */
const WITHOUT_STREAMS = `
  window.EventSource = class extends EventTarget {
    constructor() {
      super();
      setTimeout(() => this.onerror?.());
    }
    close() {}
  };
`;
const typeInPalette = (text) => async (page) => {
  await page.keyboard.press('Control+k');
  await page.keyboard.type(text);
};
const SCREENSHOTS = {
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
      await page.getByRole('button', { name: 'Shut down', exact: true }).first().click();
    },
  },
  empty: { count: 0 },
  simulated: { state: 'simulated', dark: true },
  partial: { state: 'partial' },
  failing: { intercept: (page) => page.route('**/api/**', (route) => route.fulfill(UNREACHABLE)) },
  unreachable: { state: 'unreachable' },
  'no-stream': {
    intercept: (page) => page.addInitScript(WITHOUT_STREAMS),
    act: (page) => page.waitForTimeout(3000),
  },
  narrow: { size: { width: 900, height: 800 } },
  mobile: { size: { width: 390, height: 800 } },
  palette: { act: typeInPalette('web') },
  'palette-dark': { dark: true, act: typeInPalette('restart web') },
  'palette-mobile': { size: { width: 390, height: 800 }, act: typeInPalette('status:running') },
  create: { path: '/vms/create' },
  'create-dark': { path: '/vms/create', dark: true },
  'create-narrow': { path: '/vms/create', size: { width: 390, height: 800 } },
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
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Delete…' }).click();
      await page.waitForTimeout(800);
    },
  },
  containers: { path: '/containers' },
  nodes: { path: '/nodes' },
  images: { path: '/images' },
  doctor: { path: '/doctor', dark: true },
  tasks: {
    path: '/vms/create',
    act: async (page) => {
      await page.getByRole('textbox', { name: 'Name', exact: true }).fill('first-guest');
      await page.getByRole('button', { name: 'Create first-guest' }).click();
      await page.waitForTimeout(2500);
      await page.getByRole('button', { name: /^Tasks/ }).click();
      await page.waitForTimeout(600);
    },
  },
};

await mkdir(folder, { recursive: true });
const browser = await openBrowser();
try {
  for (const [name, screenshot] of Object.entries(SCREENSHOTS))
    if (wanted.length === 0 || wanted.includes(name)) await take(name, screenshot);
} finally {
  await browser.close();
}

async function take(name, options) {
  const { count = 40, state = 'ok', as = 'admin', path = '/vms', dark = false, size = wide, intercept, act } = options;
  const service = await startDevService(['--count', String(count), '--state', state, '--as', as]);
  try {
    const page = await browser.newPage({ viewport: size, colorScheme: dark ? 'dark' : 'light' });
    const report = (text) => process.stderr.write(`${name}: ${text}\n`);
    page.on('console', (message) => message.type() === 'error' && report(message.text()));
    page.on('pageerror', (error) => report(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(service.url) && !/^(data|blob):/.test(request.url()))
        report(`requests ${request.url()}`);
    });
    await intercept?.(page);
    await page.goto(`${service.url}/#${path}`);
    await page.locator('main').waitFor();
    await page.waitForFunction(() => !document.querySelector('.hg-spinner, .hg-skeleton'));
    await page.waitForTimeout(500);
    await act?.(page);
    await page.screenshot({ path: `${folder}/${name}.png` });
    await page.close();
  } finally {
    await service.stop();
  }
}
