import { randomBytes } from 'node:crypto';
import type { MetricsSampleView, MetricsView, NodeView } from '@headgate/api-contracts';
import type { Page } from 'playwright-core';
import { Api } from './api.js';
import { openBrowser, type Browser } from './browser.js';
import { leftoversOf, removeLeftovers } from './leftovers.js';
import { hostAddresses, Listener } from './listener.js';
import { CHROMIUM, describeIf, noGuestsBecause } from './machine.js';
import { processesWith } from './processes.js';
import { RunningService } from './running-service.js';
import { PROMPT, Terminal } from './terminal.js';
import { untilRehearsed } from './until-rehearsed.js';
import { until } from './until.js';

/** The first start builds the service and the guest's image. */
const FIRST_START_TIMEOUT_MS = 600_000;

const ROOT_PASSWORD = 'r00t';
const CLOUD_INIT = `#cloud-config\nhostname: first-guest\nchpasswd:\n  list: |\n    root:${ROOT_PASSWORD}\n`;

describeIf(noGuestsBecause(), 'npm start -- --local', () => {
  let service: RunningService;
  let api: Api;
  const name = `hgtest-${randomBytes(4).toString('hex')}`;
  const inBrowser = `${name}-b`;

  beforeAll(async () => {
    service = await RunningService.start(['--local', '--metrics']);
    api = new Api(service.url);
  }, FIRST_START_TIMEOUT_MS);

  afterAll(async () => {
    for (const left of [name, inBrowser]) await removeLeftovers(left);
    await service?.stop();
  });

  const small = { image: 'tiny', cpu: 1, mem: '192Mi', disk: '64Mi' };

  test('shows this machine', async () => {
    const { body } = await api.send<{ name: string; ready: boolean; context: string }[]>('GET', '/api/nodes');
    // A machine with Incus or LXD has a context for them as well.
    expect(body.filter(({ context }) => context !== 'local-containers')).toMatchObject([
      { ready: true, context: 'local' },
    ]);
    const images = (await api.send<{ name: string }[]>('GET', '/api/images')).body.map((image) => image.name);
    expect([images[0], images]).toEqual(['tiny', expect.arrayContaining(['debian-13', 'arch'])]);
  });

  test('creates a VM from the tiny guest, which boots to its login prompt on a serial console', async () => {
    const created = await api.send('POST', '/api/vms', { name, ...small, cloudInit: CLOUD_INIT });
    expect([created.status, created.body]).toEqual([201, { name, namespace: 'local', ref: `vm/local/local/${name}` }]);
    await api.untilVm(name, 'is stopped', (vm) => vm?.status === 'Stopped');
    expect((await api.send('POST', `/api/vms/local/${name}/start`)).status).toBe(200);
    await api.untilVm(name, 'runs', (vm) => vm?.status === 'Running');
    const terminal = await Terminal.open(`${service.socketUrl}/api/tty/local/${name}`);
    await terminal.expect(/login: $/);
    await terminal.logIn('headgate', 'headgate');
    terminal.type('echo "on $(hostname)"\r');
    await terminal.expect(/on first-guest/);
    await terminal.close();
  });

  test('replays earlier output to the next viewer', async () => {
    const terminal = await Terminal.open(`${service.socketUrl}/api/tty/local/${name}`);
    await terminal.expect(/login: /);
    await terminal.close();
  });

  test('is not reached from inside the guest, nor is any other loopback port of the host', async () => {
    const loopback = await Listener.open('127.0.0.1');
    const terminal = await Terminal.open(`${service.socketUrl}/api/tty/local/${name}`);
    let onBridge: Listener | undefined;
    try {
      terminal.type('exit\r');
      await terminal.expect(/login: $/);
      await terminal.logIn('root', ROOT_PASSWORD);
      await terminal.run('until ip -4 addr show eth0 | grep -q inet; do usleep 50000; done');
      const gateway = await terminal.run("ip route | awk '/^default/ { print $3 }'");
      expect(gateway).toMatch(/^\d+\.\d+\.\d+\.\d+$/);

      // The headers are those of a browser on the host and of a trusted proxy.
      const servicePort = Number(new URL(service.url).port);
      const head = `GET /api/whoami HTTP/1.0\\r\\nHost: 127.0.0.1:${servicePort}\\r\\nTailscale-User-Login: root\\r\\n\\r\\n`;
      await terminal.run(`ask() { printf '${head}' | nc -w $3 $1 $2 2>/dev/null | tr -d '\\r\\n'; }`);
      const ports = [servicePort, loopback.port];
      const answers = (hosts: readonly string[]): Promise<string> =>
        terminal.run(`for h in ${hosts.join(' ')}; do for p in ${ports.join(' ')}; do ask $h $p 3; done; done`);

      expect(await answers(['10.0.2.2', gateway, ...hostAddresses().filter((one) => one !== gateway)])).toBe('');
      // The loopback address itself, sent over the network.
      await terminal.run('echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet');
      await terminal.run(`ip addr del 127.0.0.1/8 dev lo; ip route add 127.0.0.1 via ${gateway} dev eth0`);
      expect(await answers(['127.0.0.1'])).toBe('');
      expect(loopback.requests).toEqual([]);

      // The same request does reach a port that listens on the network of the guests.
      onBridge = await Listener.open(gateway);
      expect(await terminal.run(`ask ${gateway} ${onBridge.port} 60`)).toContain('reached');
      expect(onBridge.requests).toEqual(['/api/whoami']);
    } finally {
      await terminal.close();
      await loopback.close();
      await onBridge?.close();
    }
  });

  test('speaks RFB on the socket of the graphical console', async () => {
    const terminal = await Terminal.open(`${service.socketUrl}/api/vnc/local/${name}`);
    await terminal.expect(/^RFB 003\.00\d\n/);
    await terminal.close();
  });

  test('takes a picture of the screen, alone and while a viewer has it open', async () => {
    const widthOf = async (width: number): Promise<number> => {
      const answer = await fetch(`${service.url}/api/ext/vms/local/${name}/screen?width=${width}`);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png']);
      return Buffer.from(await answer.arrayBuffer()).readUInt32BE(16);
    };
    expect(await widthOf(320)).toBe(320);
    const viewer = await Terminal.open(`${service.socketUrl}/api/vnc/local/${name}`);
    await viewer.expect(/^RFB 003\.00\d\n/);
    expect(await widthOf(200)).toBe(200);
    await viewer.close();
  });

  test('reports the address and the agent of the guest', async () => {
    // The address can come first, from its DHCP lease.
    const vm = await api.untilVm(name, 'has an address and an agent', (one) => Boolean(one?.ip && one.agentConnected));
    expect(vm?.ip).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
  });

  test('measures the running guest and this machine', async () => {
    const read = async () => (await api.send<MetricsView>('GET', `/api/vms/local/${name}/metrics`)).body;
    // Rates need two samples, and libvirt does not measure the memory of a guest while it changes its devices.
    const live = await until('the guest is measured', read, (now) => ![now.cpu, now.disk, now.memory].includes(null));
    expect(live.memory?.totalBytes).toBe(192 * 1024 ** 2);
    expect(live.memory?.usedBytes).toBeGreaterThan(0);
    const { body: history } = await api.send<MetricsSampleView[]>('GET', `/api/vms/local/${name}/metrics/history`);
    const times = history.map(({ t }) => t);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(history.find(({ t }) => t === live.t)).toEqual(live);
    const { body: usages } = await api.send<{ ref: string }[]>('GET', '/api/vms?usage=only');
    expect(usages.map(({ ref }) => ref)).toContain(`vm/local/local/${name}`);
    const [node] = (await api.send<NodeView[]>('GET', '/api/nodes')).body;
    expect(node?.load.cpu).toBeGreaterThan(0);
    expect(node?.load.memoryBytes).toBeGreaterThan(0);
    expect(node?.load.memoryBytes).toBeLessThan(node?.capacity.memoryBytes ?? 0);
  });

  test('exposes the series of the instance from a snapshot', async () => {
    const read = async (): Promise<string> => (await fetch(`${service.url}/metrics`)).text();
    const text = await until('the instance is in the snapshot', read, (seen) =>
      seen.includes(`svc_instance_running{name="${name}"`),
    );
    expect(text).toMatch(/^svc_backend_up\{context="local",backend="libvirt"\} 1$/m);
    expect(text).toMatch(/^svc_collection_success 1$/m);
  });

  test('keeps tags in the domain itself', async () => {
    await api.send('POST', `/api/vms/local/${name}/tags`, { tag: 'e2e', on: true });
    await api.untilVm(name, 'has its tag', (vm) => vm?.tags.join() === 'e2e');
  });

  test('serves the same guest after a restart of the service', async () => {
    const { dataDir } = service;
    expect(await service.interrupt()).toBe(0);
    service = await RunningService.start(['--local', '--metrics'], { dataDir });
    api = new Api(service.url);
    expect(await api.untilVm(name, 'runs', (vm) => vm?.status === 'Running')).toMatchObject({ tags: ['e2e'] });
    const terminal = await Terminal.open(`${service.socketUrl}/api/tty/local/${name}`);
    terminal.type('\r');
    await terminal.expect(PROMPT);
    await terminal.close();
  });

  test('shuts the guest down gracefully, by its power button', async () => {
    expect((await api.send('POST', `/api/vms/local/${name}/stop`)).status).toBe(200);
    const vm = await api.untilVm(name, 'has stopped', (one) => one?.status === 'Stopped');
    expect(vm).not.toHaveProperty('ip');
    expect((await leftoversOf(name)).length).toBeGreaterThan(1);
  });

  test('deletes it with everything that belongs to it', async () => {
    expect((await api.send('DELETE', `/api/vms/local/${name}`)).body).toEqual({ status: 'deleted' });
    expect(await leftoversOf(name)).toEqual([]);
    await api.untilVm(name, 'is gone', (vm) => vm === undefined);
  });

  describeIf(CHROMIUM ? undefined : 'Chromium is not installed', 'in a browser', () => {
    let browser: Browser;
    let page: Page;

    beforeAll(async () => {
      browser = await openBrowser(service.url);
      page = browser.page;
    });
    afterAll(() => browser?.close());

    const frame = (): Promise<string> =>
      page
        .locator('canvas')
        .first()
        .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());

    test('creates a VM', async () => {
      await page
        .getByRole('button', { name: /^Create/ })
        .first()
        .click();
      const dialog = page.getByRole('form', { name: 'Create VM' });
      await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill(inBrowser);
      await dialog.getByRole('spinbutton', { name: 'CPUs' }).fill('1');
      await dialog.getByLabel('Memory', { exact: true }).fill('192Mi');
      await dialog.getByLabel('Disk', { exact: true }).fill('64Mi');
      await dialog.getByRole('switch', { name: 'Start when the disk is ready' }).check({ force: true });
      await untilRehearsed(page);
      await dialog.getByRole('button', { name: `Create ${inBrowser}` }).click();
      await api.untilVm(inBrowser, 'runs', (vm) => vm?.status === 'Running');
    });

    test('shows its screen, which reacts to the keyboard', async () => {
      await page.goto(`${service.url}/#/vms/local/local/${inBrowser}`);
      await page.getByRole('tab', { name: 'Console', exact: true }).click();
      await page.locator('canvas').first().waitFor();
      const first = await frame();
      const booted = await until('the screen changes while the guest boots', frame, (next) => next !== first);
      await api.untilVm(inBrowser, 'has its agent', (vm) => vm?.agentConnected === true);
      await page.locator('canvas').first().click();
      await page.keyboard.type('headgate');
      await until('the screen shows the input', frame, (next) => next !== booted);
    });

    test('logs in on the serial console', async () => {
      await page.getByRole('tab', { name: 'Serial console' }).click();
      const screen = page.locator('.xterm-rows');
      const text = async (): Promise<string> => (await screen.innerText()).replaceAll('\u00a0', ' ');
      await until('the prompt appears', text, (seen) => /login:\s*$/.test(seen.trimEnd()));
      await page.locator('.xterm').click();
      await page.keyboard.type('headgate\r');
      await until('the password prompt appears', text, (seen) => /assword:\s*$/.test(seen.trimEnd()));
      const shell = async (): Promise<boolean> => {
        // Input right after the prompt may get lost: see Terminal.logIn.
        await page.keyboard.type('headgate\r');
        return until('the shell appears', text, (seen) => /[$#]\s*$/.test(seen.trimEnd()), 5000).then(
          () => true,
          () => false,
        );
      };
      await until('the password is taken', shell, (taken) => taken);
    });

    test('shuts it down and deletes it with everything that belongs to it', async () => {
      await page.getByRole('button', { name: 'Shut down', exact: true }).click();
      const panel = page.locator('.hg-side-panel');
      await panel.getByRole('button', { name: `Shut down ${inBrowser}` }).click();
      await api.untilVm(inBrowser, 'has stopped', (vm) => vm?.status === 'Stopped');
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Delete…' }).click();
      await panel.getByRole('button', { name: `Delete ${inBrowser}` }).click();
      await api.untilVm(inBrowser, 'is gone', (vm) => vm === undefined);
      expect(
        await until(
          'everything of it is gone',
          () => leftoversOf(inBrowser),
          (left) => left.length === 0,
        ),
      ).toEqual([]);
    });

    test('requested no other origin and logged no error', () => {
      expect(browser.foreign).toEqual([]);
      expect(browser.errors).toEqual([]);
    });
  });

  test('leaves no process of its own behind', async () => {
    expect(await service.interrupt()).toBe(0);
    expect(processesWith(service.dataDir)).toEqual([]);
  });
});
