import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VmView, WebhookView } from '@headgate/api-contracts';
import type { Locator, Page } from 'playwright-core';
import { unnamedControls } from './accessible-names.js';
import { Api } from './api.js';
import { openBrowser, type Browser } from './browser.js';
import { Listener } from './listener.js';
import { CHROMIUM, describeIf } from './machine.js';
import { PluginIndex } from './plugin-index.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

const TIMEOUT_MS = 400_000;

/**
 * The pages of the console that the service fills from its own stores, and the tabs of a VM, over two simulated
 * clusters.
 */
describeIf(CHROMIUM ? undefined : 'Chromium is not installed', 'the pages of the web console', () => {
  let folder: string;
  let index: PluginIndex;
  let receiver: Listener;
  let service: RunningService;
  let api: Api;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-pages-'));
    index = await PluginIndex.open();
    receiver = await Listener.open('127.0.0.1');
    const config = join(folder, 'headgate.yaml');
    const contexts = ['prod', 'lab'].map((name) => ({ name, kind: 'sandbox', instances: 40 }));
    // JSON is YAML, too.
    writeFileSync(
      config,
      JSON.stringify({
        contexts,
        importAllow: ['127.0.0.1'],
        webhookAllow: ['127.0.0.1'],
        plugins: { indexes: [index.url], publishers: [{ name: 'acme', key: index.key }] },
      }),
    );
    service = await RunningService.start(['--config', config]);
    api = new Api(service.url);
    browser = await openBrowser(service.url);
    page = browser.page;
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await receiver?.close();
    index?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const dialog = (): Locator => page.getByRole('dialog');
  /** The panel with a plan. */
  const panel = (): Locator => page.locator('.hg-side-panel');
  const open = async (place: string): Promise<void> => {
    await page.goto('about:blank');
    await page.goto(`${service.url}/#${place}`);
  };
  const oneOf = async (context: string, status: VmView['status']): Promise<VmView> => {
    const { body } = await api.send<VmView[]>('GET', '/api/vms');
    const found = body.find((vm) => vm.context === context && vm.status === status);
    if (!found) throw new Error(`${context} has no ${status} VM.`);
    return found;
  };
  const pageOf = ({ context, namespace, name }: VmView, tab = 'overview'): string =>
    `/vms/${context}/${namespace}/${name}/${tab}`;

  test(
    'install a signed plugin from an index after its plan was shown, use it, and remove it',
    async () => {
      await open('/plugins');
      await page.getByRole('row', { name: /^load-check/ }).waitFor();
      await page.getByRole('button', { name: 'Install load-check' }).click();
      await panel().getByText(/acme/).first().waitFor();
      expect((await api.send('GET', '/api/doctor')).body).not.toEqual(
        expect.arrayContaining([expect.objectContaining({ name: 'load' })]),
      );
      await panel().getByRole('button', { name: 'Install', exact: true }).click();
      await page.getByText('load-check was installed').waitFor();
      await until(
        'the doctor has the check of the plugin',
        async () => JSON.stringify((await api.send('GET', '/api/doctor')).body),
        (checks) => /"load(-check)?"/.test(checks),
      );
      await page.getByRole('button', { name: 'Remove load-check' }).click();
      await panel().getByRole('button', { name: 'Remove', exact: true }).click();
      await page.getByText('load-check was removed').waitFor();
      await page.getByRole('button', { name: 'Install load-check' }).waitFor();
    },
    TIMEOUT_MS,
  );

  test(
    'create a token that is shown once, and a webhook whose delivery is shown',
    async () => {
      await open('/integrations');
      const tokens = page.getByRole('form', { name: 'New API token' });
      await tokens.getByRole('textbox', { name: 'Name' }).fill('deploy');
      await tokens.getByRole('button', { name: 'Create token' }).click();
      const secret = page.getByText(/^hgt_\S+$/);
      await secret.waitFor();
      const token = await secret.innerText();
      const read = await new Api(service.url, { authorization: `Bearer ${token}` }).send('GET', '/api/vms');
      expect(read.status).toBe(200);
      await page.reload();
      await page.getByRole('button', { name: 'Revoke deploy' }).waitFor();
      expect(await page.locator('body').innerText()).not.toContain(token);

      const webhooks = page.getByRole('form', { name: 'New webhook' });
      await webhooks.getByRole('textbox', { name: 'Name of the new webhook' }).fill('chat');
      await webhooks.getByRole('textbox', { name: 'URL' }).fill(`http://127.0.0.1:${receiver.port}/hook`);
      await webhooks.getByRole('checkbox', { name: 'An instance changed' }).check();
      await webhooks.getByRole('button', { name: 'Create webhook' }).click();
      await page.getByText(/^whsec_\S+$/).waitFor();
      const vm = await oneOf('prod', 'Stopped');
      await api.send('POST', `/api/vms/${vm.namespace}/${vm.name}/tags?context=prod`, { tag: 'seen', on: true });
      await until(
        'the webhook is delivered',
        () => Promise.resolve(receiver.requests.length),
        (count) => count > 0,
      );
      await until(
        'the service knows that it was delivered',
        async () => (await api.send<WebhookView[]>('GET', '/api/ext/webhooks')).body[0]?.lastDeliveredAt,
        (time) => typeof time === 'string',
      );
      await page.reload();
      const row = page.getByRole('row', { name: /^chat/ });
      await row.waitFor();
      expect(await row.innerText()).not.toContain('Never');
    },
    TIMEOUT_MS,
  );

  test(
    'explain the rights, and refuse a first role with which no administrator would be left',
    async () => {
      await open('/access');
      const form = page.getByRole('form', { name: 'New role' });
      await form.getByRole('textbox', { name: 'Login' }).fill('bob');
      await form.getByRole('button', { name: 'Show the plan' }).click();
      await panel()
        .getByText(/No user would be an administrator any more/)
        .waitFor();
      expect(await panel().getByRole('button', { name: 'Assign' }).isEnabled()).toBe(false);
      await panel().getByRole('button', { name: 'Cancel' }).click();
      expect(await form.getByRole('textbox', { name: 'Login' }).inputValue()).toBe('bob');
      expect((await api.send('GET', '/api/ext/roles')).body).toEqual([]);

      const vm = await oneOf('prod', 'Running');
      const question = page.getByRole('form', { name: 'Who may do this, and why?' });
      await question.getByLabel('With what').selectOption('instance');
      await question.getByRole('combobox', { name: 'Instance' }).fill(vm.ref);
      await question.getByRole('button', { name: 'Show the answer' }).click();
      await page.getByText(`with ${vm.ref}:`).waitFor();
      const answers = page.getByRole('table', { name: 'Rights' }).getByRole('row');
      await answers.filter({ hasText: 'Start and stop' }).getByText('Yes', { exact: true }).waitFor();
    },
    TIMEOUT_MS,
  );

  test(
    'show in the journal who did what, and the instance of an action',
    async () => {
      const vm = await oneOf('prod', 'Running');
      await api.send('POST', `/api/vms/${vm.namespace}/${vm.name}/pause?context=prod`);
      await open('/journal');
      const table = page.getByRole('table', { name: 'Journal' });
      const row = table.getByRole('row', { name: /pause/ }).filter({ hasText: vm.ref }).first();
      await row.waitFor();
      await row.getByRole('link', { name: vm.ref }).click();
      await page.getByRole('heading', { name: vm.name, level: 1 }).waitFor();
    },
    TIMEOUT_MS,
  );

  test(
    'create a snapshot, which becomes ready',
    async () => {
      const vm = await oneOf('lab', 'Stopped');
      await open(pageOf(vm, 'snapshots'));
      await page.getByRole('textbox', { name: 'Name of the snapshot' }).fill('before');
      await page.getByRole('button', { name: 'Create snapshot' }).click();
      await page
        .getByRole('table', { name: 'Snapshots' })
        .getByRole('row', { name: /^before/ })
        .waitFor();
      const restore = page.getByRole('button', { name: 'Restore before' });
      await until(
        'the snapshot can be restored',
        () => restore.getAttribute('aria-disabled'),
        (disabled) => disabled !== 'true',
      );
    },
    TIMEOUT_MS,
  );

  test(
    'show the preflight of a move to the other cluster before anything moves',
    async () => {
      const vm = await oneOf('prod', 'Stopped');
      const before = (await api.send<VmView[]>('GET', '/api/vms')).body.map(({ ref }) => ref);
      await open(pageOf(vm));
      await page.getByRole('button', { name: 'Move…' }).click();
      const destination = dialog().getByRole('combobox', { name: /Destination/ });
      await dialog().getByRole('option', { name: /^lab/ }).waitFor({ state: 'attached' });
      const preflight = page.waitForResponse((response) => {
        const asked = response.request().postData() ?? '';
        return response.url().endsWith('/api/move/preflight') && asked.includes('"toContext":"lab"');
      });
      await destination.selectOption('lab');
      const { ok, refusals } = (await (await preflight).json()) as { ok: boolean; refusals: { reason: string }[] };
      if (ok)
        await dialog()
          .getByText(/stopped for about/)
          .waitFor();
      else
        await dialog()
          .getByText(refusals[0]?.reason ?? '')
          .waitFor();
      expect(await dialog().getByRole('button', { name: 'Move', exact: true }).isEnabled()).toBe(ok);
      expect((await api.send<VmView[]>('GET', '/api/vms')).body.map(({ ref }) => ref)).toEqual(before);
    },
    TIMEOUT_MS,
  );

  test.each(['/plugins', '/integrations', '/journal', '/access', '/messages'])(
    'have a name for every control of %s',
    async (place) => {
      await open(place);
      await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
      expect(await unnamedControls(page)).toEqual([]);
    },
  );

  test('can be installed as an application, with the icon of the manifest', async () => {
    await open('/vms');
    const session = await page.context().newCDPSession(page);
    const { errors, data = '{}' } = await session.send('Page.getAppManifest');
    expect(errors).toEqual([]);
    expect(await session.send('Page.getInstallabilityErrors')).toEqual({ installabilityErrors: [] });
    const { icons } = JSON.parse(data) as { icons: { src: string; sizes: string }[] };
    const sizes = await page.evaluate(
      (sources) =>
        Promise.all(
          sources.map(async (src) => {
            const image = new Image();
            image.src = `/api/ext/page/${src}`;
            await image.decode();
            return `${image.naturalWidth}x${image.naturalHeight}`;
          }),
        ),
      icons.filter((icon) => icon.sizes !== 'any').map(({ src }) => src),
    );
    expect(sizes).toEqual(icons.flatMap((icon) => (icon.sizes === 'any' ? [] : [icon.sizes])));
    expect(sizes.length).toBeGreaterThan(0);
    await session.detach();
  });

  test('requested no other origin and logged no error', () => {
    expect(browser.foreign).toEqual([]);
    expect(browser.errors).toEqual([]);
  });
});
