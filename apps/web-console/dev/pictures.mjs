/**
 * Takes the pictures of the documentation, of every page in both themes, over the sandbox: npm run docs:pictures [--
 * NAME …]. They change with the page and with the time of day, so nothing compares them.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { openBrowser } from './browser.mjs';
import { startSandboxService } from './sandbox-service.mjs';

const FOLDER = fileURLToPath(new URL('../../../docs/images', import.meta.url));
const INSTANCES = 200;
/** Until the first samples, the incidents of the sandbox, and the health checks are there. */
const SETTLE_MS = 45_000;
const RENDER_MS = 1_200;
const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
const QUALITY = 88;
const wanted = process.argv.slice(2);

const dismissNotice = (page) => page.getByRole('button', { name: 'Dismiss' }).first().click();
const press = (keys) => (page) => page.keyboard.press(keys);

const PICTURES = {
  fleet: { path: '/vms', act: (page) => page.locator('.hg-row').nth(4).getByRole('rowheader').click() },
  bulk: {
    path: '/vms?q=tag%3Adev+status%3Arunning',
    act: async (page) => {
      await page.getByRole('checkbox', { name: 'Select all shown' }).check();
      await page
        .getByRole('button', { name: /^Restart/ })
        .first()
        .click();
    },
  },
  palette: {
    path: '/vms',
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type('restart web');
    },
  },
  instance: { instance: 'overview' },
  console: { instance: 'console' },
  hardware: { instance: 'hardware' },
  snapshots: { instance: 'snapshots' },
  containers: { path: '/containers' },
  nodes: { path: '/nodes' },
  storage: { path: '/storage' },
  networks: { path: '/networks' },
  images: { path: '/images' },
  create: { path: '/vms/create' },
  activity: { path: '/journal' },
  health: { path: '/doctor' },
  folders: { path: '/folders' },
  keys: { path: '/vms', act: press('?') },
  'phone-list': { path: '/vms', size: PHONE },
  'phone-instance': { instance: 'overview', size: PHONE },
};

const names = Object.keys(PICTURES).filter((name) => wanted.length === 0 || wanted.includes(name));
await mkdir(FOLDER, { recursive: true });
const service = await startSandboxService(INSTANCES);
const browser = await openBrowser();
try {
  const instance = await findInstance();
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  for (const name of names) for (const theme of ['light', 'dark']) await take(name, theme, instance);
} finally {
  await browser.close();
  await service.stop();
}

/** The path of a machine that runs. */
async function findInstance() {
  const vms = await (await fetch(`${service.url}/api/vms`)).json();
  const { context, namespace, name } = vms.find((vm) => vm.name === 'clickhouse-1');
  return `/vms/${context}/${namespace}/${name}`;
}

async function take(name, theme, instance) {
  const { path, instance: tab, size = DESKTOP, act } = PICTURES[name];
  const isPhone = size === PHONE;
  const page = await browser.newPage({
    viewport: size,
    colorScheme: theme,
    ...(isPhone && { deviceScaleFactor: 2, isMobile: true, hasTouch: true }),
  });
  page.on('pageerror', (error) => process.stderr.write(`${name}: ${error.message}\n`));
  await page.goto(`${service.url}/#${path ?? `${instance}/${tab}`}`);
  await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
  await page.waitForFunction(() => !document.querySelector('.hg-spinner, .hg-skeleton'));
  await dismissNotice(page);
  await act?.(page);
  await page.waitForTimeout(RENDER_MS);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  await writeFile(`${FOLDER}/${name}-${theme}.webp`, Buffer.from(data, 'base64'));
  await page.close();
}
