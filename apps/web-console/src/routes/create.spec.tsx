import { jest } from '@jest/globals';
import { screen, waitFor, within } from '@testing-library/react';
import { buildCapabilities, buildSingleMachine } from '../testing/build-capabilities.js';
import { buildTask } from '../testing/build-task.js';
import { buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const IMAGES = [
  { name: 'debian-12', description: 'Debian', containerDisk: 'x', kind: 'containerDisk', defaultUser: 'debian' },
  { name: 'tiny', description: 'Small', containerDisk: 'y', kind: 'containerDisk', defaultUser: 'root' },
];

const isRehearsal = ({ query }: { readonly query: URLSearchParams }): boolean => query.get('dryRun') === 'true';
const PLAN = { steps: [{ name: 'create', detail: 'VirtualMachine' }], warnings: [], refusals: [] };

describe('the page that creates a VM', () => {
  const scrollIntoView = jest.spyOn(Element.prototype, 'scrollIntoView');
  let service: MockService;
  beforeEach(() => {
    service = givenService();
    service.on('GET /api/images', IMAGES);
    service.on('GET /api/instancetypes', { instancetypes: ['u1.small'], preferences: ['debian'] });
    service.on('GET /api/nodes', [
      { name: 'node-1', ready: true, roles: 'worker', kubelet: 'v1', arch: 'amd64', context: 'prod' },
    ]);
  });
  afterEach(() => closeConsole(service));

  /** The answer of a creation. Rehearsals get a plan. */
  const creates = (body: object) =>
    service.on('POST /api/vms', (request: { query: URLSearchParams }) =>
      isRehearsal(request) ? { body: PLAN } : { status: 201, body },
    );
  /** The creations that the page has sent, without rehearsals. */
  const sent = () => service.asked('POST /api/vms').filter((request) => !isRehearsal(request));
  const page = () => within(screen.getByRole('form', { name: 'Create VM' }));
  const createButton = () => page().getByRole('button', { name: /^Create / });

  const open = async (path = '/vms/create') => {
    const opened = await openConsole(path, [buildVm({ name: 'taken' })], service);
    await screen.findByRole('radio', { name: /^tiny/ });
    return { ...opened, dialog: page() };
  };

  test('requires only a name, sends the request, and follows the task', async () => {
    creates({ name: 'first', namespace: 'tailvm', ref: 'vm/prod/tailvm/first', task: 'create-first-1' });
    const task = buildTask();
    service.on('GET /api/tasks', () => ({ body: sent().length > 0 ? [task] : [] }));
    const { user, dialog, receive } = await open();
    await user.type(dialog.getByRole('textbox', { name: 'Name' }), 'first');
    await user.click(createButton());
    await waitFor(() => expect(sent()).toHaveLength(1));
    expect(sent()[0]?.body).toEqual({
      name: 'first',
      context: 'prod',
      image: 'tiny',
      cpu: 1,
      mem: '256Mi',
      disk: '1Gi',
      start: true,
    });
    await receive(() =>
      service.stream.emit('changed', buildVm({ name: 'first', status: 'Provisioning', running: false })),
    );
    expect(await screen.findByRole('heading', { name: 'first' })).toBeTruthy();
    expect(await screen.findByText('Write the disk')).toBeTruthy();
    expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('40');
    expect(screen.getByRole('button', { name: 'Tasks: 1 running' })).toBeTruthy();
    const failed = buildTask({ status: 'error', error: 'The disk is full.', finishedAt: '2026-01-01T00:01:00Z' });
    await receive(() => service.pageStream.emit('tasks.changed', failed));
    expect(await screen.findByText('Create first: failed')).toBeTruthy();
  });

  test('shows the problem with a name when it is left, and sends nothing invalid', async () => {
    const { user, dialog } = await open();
    const name = dialog.getByRole('textbox', { name: 'Name' });
    await user.type(name, 'My_VM');
    expect(dialog.queryByText('Start with a lowercase letter or a digit.')).toBeNull();
    await user.tab();
    expect(dialog.getByText('Start with a lowercase letter or a digit.')).toBeTruthy();
    await user.clear(name);
    await user.type(name, 'taken');
    expect(dialog.getByText('This name is already in use.')).toBeTruthy();
    await user.click(createButton());
    expect(service.asked('POST /api/vms')).toEqual([]);
  });

  test('shows an error at the field that it names', async () => {
    service.fails('POST /api/vms', 400, 'disk must fit into the storage class fast.');
    const { user, dialog } = await open();
    await user.type(dialog.getByRole('textbox', { name: 'Name' }), 'big');
    await user.click(createButton());
    const problem = await dialog.findByText('disk must fit into the storage class fast.');
    expect(dialog.getByRole('textbox', { name: 'Disk' }).getAttribute('aria-describedby')).toBe(
      problem.closest('[id]')?.id,
    );
    expect(dialog.queryByText('The service refused the request')).toBeNull();
  });

  test('shows several errors, each at its field, and focuses the first', async () => {
    service.on('POST /api/vms', () => ({
      status: 400,
      body: {
        error: 'name is reserved. mem is more than a node has.',
        code: 'INVALID_INPUT',
        details: {
          fields: [
            { field: 'name', message: 'name is reserved.' },
            { field: 'mem', message: 'mem is more than a node has.' },
          ],
        },
      },
    }));
    const { user, dialog } = await open();
    await user.type(dialog.getByRole('textbox', { name: 'Name' }), 'big');
    await user.click(createButton());
    expect(await dialog.findByText('name is reserved.')).toBeTruthy();
    expect(dialog.getByText('mem is more than a node has.')).toBeTruthy();
    await waitFor(() => expect(document.activeElement).toBe(dialog.getByRole('textbox', { name: 'Memory' })));
  });

  test('restores the form after it was closed by mistake, until the user starts over', async () => {
    const { user, dialog } = await open();
    await user.type(dialog.getByRole('textbox', { name: 'Name' }), 'half-done');
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('form', { name: 'Create VM' })).toBeNull());
    await user.click(screen.getByRole('button', { name: 'Create VM' }));
    const again = page();
    expect(again.getByRole<HTMLInputElement>('textbox', { name: 'Name' }).value).toBe('half-done');
    await user.click(again.getByRole('button', { name: 'Start over' }));
    expect(again.getByRole<HTMLInputElement>('textbox', { name: 'Name' }).value).toBe('');
  });

  test('shows an error that names no field', async () => {
    service.fails('POST /api/vms', 503, 'The context prod is unreachable.');
    const { user, dialog } = await open();
    await user.type(dialog.getByRole('textbox', { name: 'Name' }), 'web');
    await user.click(createButton());
    const alert = await dialog.findByRole('alert');
    expect(alert.textContent).toContain('The context prod is unreachable.');
    await waitFor(() => expect(scrollIntoView.mock.contexts.at(-1)).toBe(alert));
  });

  test('offers only available sources, and explains the others', async () => {
    const { dialog } = await open();
    expect(dialog.getByRole<HTMLInputElement>('radio', { name: /^bootc/ }).disabled).toBe(true);
    expect(dialog.getByText('The bootc plugin is not installed.')).toBeTruthy();
    expect(dialog.getByRole<HTMLInputElement>('radio', { name: /^Import/ }).disabled).toBe(false);
  });

  test('creates with Enter, also from the preview', async () => {
    service.on('POST /api/vms', ({ query }: { query: URLSearchParams }) =>
      query.get('dryRun')
        ? { body: { steps: [], warnings: [], refusals: [] } }
        : { status: 201, body: { name: 'web', namespace: 'tailvm', ref: 'vm/prod/tailvm/web' } },
    );
    const { user, dialog } = await open();
    await user.type(dialog.getByRole('textbox', { name: 'Name' }), 'web');
    await user.click(dialog.getByRole('button', { name: 'Rehearse again' }));
    await dialog.findByRole('region', { name: 'What will happen' });
    await user.keyboard('{Enter}');
    expect(await screen.findByText('web was created')).toBeTruthy();
  });

  test('previews the plan and changes nothing', async () => {
    service.on('POST /api/vms', {
      steps: [{ name: 'Create the disk', detail: '1Gi from tiny' }],
      warnings: ['No user can log in.'],
      refusals: [],
    });
    const { user, dialog } = await open();
    await user.type(dialog.getByRole('textbox', { name: 'Name' }), 'web');
    await user.click(dialog.getByRole('button', { name: 'Rehearse again' }));
    const plan = await dialog.findByRole('region', { name: 'What will happen' });
    await waitFor(() => expect(plan.textContent).toContain('Create the disk 1 GiB from tiny'));
    expect(document.activeElement).toBe(plan);
    expect(scrollIntoView.mock.contexts.at(-1)).toBe(plan);
    expect(plan.textContent).toContain('No user can log in.');
    expect([sent(), service.asked('POST /api/vms').length > 0]).toEqual([[], true]);
  });

  test('rehearses the request on its own once the form is valid, and shows refusals also at their fields', async () => {
    service.on('POST /api/vms', {
      steps: [],
      warnings: [],
      refusals: [{ code: 'INVALID_INPUT', reason: 'network: there is no network lan.', remedy: 'Name another.' }],
    });
    const { user, dialog } = await open();
    const review = within(dialog.getByRole('region', { name: 'What will happen' }));
    expect(review.getByRole('status').textContent).toContain('Complete the form');
    await user.type(dialog.getByRole('textbox', { name: 'Name' }), 'web');
    await waitFor(() => expect(review.getByRole('status').textContent).toContain('would refuse it'));
    expect(dialog.getAllByText('network: there is no network lan.')).toHaveLength(3);
    expect(dialog.getByRole('combobox', { name: 'Network' }).getAttribute('aria-invalid')).toBe('true');
    expect(createButton().getAttribute('aria-disabled')).toBe('true');
    expect(sent()).toEqual([]);
  });

  test('sends the network, the storage class, the folder and the tags', async () => {
    service.on('GET /api/nads', [
      { context: 'prod', namespace: 'tailvm', name: 'lan' },
      { context: 'prod', namespace: 'net', name: 'dmz' },
      { context: 'other', namespace: 'tailvm', name: 'far' },
    ]);
    creates({ name: 'web', namespace: 'tailvm', ref: 'vm/prod/tailvm/web', warnings: ['web is in no folder.'] });
    const { user, dialog } = await open();
    await user.type(dialog.getByRole('textbox', { name: 'Name' }), 'web');
    const network = dialog.getByRole<HTMLSelectElement>('combobox', { name: 'Network' });
    await waitFor(() =>
      expect([...network.options].map(({ text }) => text)).toEqual(['Pod network', 'lan', 'net/dmz']),
    );
    await user.selectOptions(network, 'net/dmz');
    await user.type(dialog.getByRole('textbox', { name: 'Storage class' }), 'fast');
    await user.type(dialog.getByRole('textbox', { name: 'Folder' }), 'prod/web');
    const tags = dialog.getByRole('textbox', { name: 'Tags' });
    await user.type(tags, 'a, b_');
    await user.tab();
    expect(dialog.getByText(/^"b_" is not a tag/)).toBeTruthy();
    await user.type(tags, '1');
    await user.click(createButton());
    await waitFor(() => expect(sent()).toHaveLength(1));
    const belongings = { network: 'net/dmz', storageClass: 'fast', folder: 'prod/web', tags: ['a', 'b_1'] };
    expect(sent()[0]?.body).toMatchObject(belongings);
    expect(await screen.findByText('web is in no folder.')).toBeTruthy();
  });

  test('has usual sizes, and the instance types of the context', async () => {
    service.on('GET /api/instancetypes', {
      instancetypes: ['u1.small'],
      preferences: [],
      sizes: [{ name: 'u1.small', cpu: 1, mem: '2Gi' }],
    });
    const { user, dialog } = await open();
    await user.click(dialog.getByRole('radio', { name: /^XL/ }));
    expect(dialog.getByRole('spinbutton', { name: 'CPUs' })).toHaveProperty('value', '8');
    await user.click(await dialog.findByRole('radio', { name: /^u1\.small/ }));
    expect(dialog.getByRole('spinbutton', { name: 'CPUs' })).toHaveProperty('disabled', true);
  });

  test('shows the request for other programs, without the password', async () => {
    const { user, dialog } = await open();
    await user.type(dialog.getByRole('textbox', { name: 'Name' }), 'web');
    await user.type(dialog.getByLabelText('Password'), 'pa"ss');
    const text = () => dialog.getByRole('tabpanel').textContent;
    for (const [format, expected] of [
      ['curl', 'curl -X POST'],
      ['YAML', 'name: "web"'],
      ['Terraform', 'resource "restapi_object" "web"'],
    ] as const) {
      await user.click(dialog.getByRole('tab', { name: format }));
      expect(text()).toContain(expected);
      expect(text()).toContain('••••');
      expect(text()).not.toMatch(/pa.{1,7}ss"/);
    }
  });

  test('shows the problems of user data at their lines, and selects them', async () => {
    service.on('POST /api/ext/cloud-init/check', {
      problems: [
        { part: 'userData', severity: 'error', message: 'runcmd must be a list.', line: 2, column: 9 },
        { part: 'userData', severity: 'warning', message: 'x is no key.', line: 3, column: 1 },
      ],
    });
    const { user, dialog } = await open();
    await user.click(dialog.getByRole('button', { name: 'Edit user data as text' }));
    const area = dialog.getByRole<HTMLTextAreaElement>('textbox', { name: 'User data' });
    await user.type(area, 'runcmd: reboot{Enter}x: 1');
    await user.click(await dialog.findByRole('button', { name: 'Line 2, column 9' }));
    expect(dialog.getByText('runcmd must be a list.')).toBeTruthy();
    expect(area.getAttribute('aria-invalid')).toBe('true');
    expect(document.activeElement).toBe(area);
    expect(area.value.slice(area.selectionStart, area.selectionEnd)).toBe('reboot');
    expect(service.asked('POST /api/ext/cloud-init/check').at(-1)?.body).toEqual({
      userData: '#cloud-config\nruncmd: reboot\nx: 1',
    });
  });

  test('adds a key that the service remembers, and remembers others', async () => {
    const key = {
      id: 'a',
      name: 'laptop',
      type: 'ssh-ed25519',
      fingerprint: 'SHA256:x',
      addedAt: '2026-01-01T00:00:00Z',
    };
    service.on('GET /api/ext/ssh-keys', [{ ...key, key: 'ssh-ed25519 AAAA' }]);
    service.fails('POST /api/ext/ssh-keys', 400, 'key is a private key.');
    const { user, dialog } = await open();
    await user.click(await dialog.findByRole('button', { name: 'Add laptop' }));
    const keys = dialog.getByRole<HTMLTextAreaElement>('textbox', { name: 'SSH keys' });
    expect(keys.value).toBe('ssh-ed25519 AAAA laptop');
    expect(dialog.queryByRole('button', { name: 'Add laptop' })).toBeNull();
    await user.type(keys, '{Enter}ssh-ed25519 BBBB');
    await user.click(dialog.getByRole('button', { name: 'Remember for the next VMs' }));
    expect(await dialog.findByText('key is a private key.')).toBeTruthy();
    expect(service.asked('POST /api/ext/ssh-keys').map(({ body }) => body)).toEqual([{ key: 'ssh-ed25519 BBBB' }]);
  });

  test('survives a reload without its secrets', async () => {
    const { user, dialog } = await open();
    await user.type(dialog.getByRole('textbox', { name: 'Name' }), 'half-done');
    await user.type(dialog.getByLabelText('Password'), 'secret');
    const stored = sessionStorage.getItem('headgate.draft.vms') ?? '';
    expect(stored).toContain('half-done');
    expect(stored).not.toContain('secret');
  });

  test('is where the address of the former dialog leads', async () => {
    await open('/vms?create=1');
    expect(location.hash).toBe('#/vms/create');
  });

  test('builds user data from hostname, password, and keys', async () => {
    creates({ name: 'web', namespace: 'tailvm', ref: 'vm/prod/tailvm/web' });
    const { user, dialog } = await open();
    await user.type(dialog.getByRole('textbox', { name: 'Name' }), 'web');
    await user.type(dialog.getByRole('textbox', { name: 'Hostname' }), 'web');
    await user.type(dialog.getByLabelText('Password'), 'secret');
    await user.click(createButton());
    await waitFor(() => expect(sent()).toHaveLength(1));
    expect(sent()[0]?.body).toMatchObject({
      cloudInit: expect.stringContaining('password: "secret"'),
    });
  });

  test('sends the chosen firmware and TPM, and offers no operating system where there are preferences', async () => {
    creates({ name: 'first', namespace: 'tailvm', ref: 'r' });
    const { user, dialog } = await open();
    await user.type(dialog.getByRole('textbox', { name: 'Name' }), 'first');
    await user.click(dialog.getByText('Firmware, TPM and autostart'));
    await user.selectOptions(dialog.getByRole('combobox', { name: 'Firmware' }), 'UEFI with Secure Boot');
    await user.selectOptions(dialog.getByRole('combobox', { name: 'TPM' }), 'TPM 2.0');
    await user.click(dialog.getByRole('switch', { name: 'Start with the host' }));
    expect(dialog.queryByRole('textbox', { name: 'Operating system' })).toBeNull();
    await user.click(createButton());
    await waitFor(() => expect(sent()).toHaveLength(1));
    expect(sent()[0]?.body).toMatchObject({
      firmware: 'uefi-secure',
      tpm: true,
      autostart: true,
    });
  });

  test('sends the operating system to a single machine', async () => {
    service.on('GET /api/capabilities', buildCapabilities([buildSingleMachine()]));
    creates({ name: 'first', namespace: 'local', ref: 'r' });
    const { user, dialog } = await open();
    await user.type(dialog.getByRole('textbox', { name: 'Name' }), 'first');
    await user.click(dialog.getByText('Firmware, TPM and autostart'));
    await user.type(dialog.getByRole('textbox', { name: 'Operating system' }), 'win11');
    await user.click(createButton());
    await waitFor(() => expect(sent()).toHaveLength(1));
    expect(sent()[0]?.body).toMatchObject({ os: 'win11' });
  });

  test('offers the imported images that are ready in the namespace of the VM', async () => {
    const image = {
      name: 'golden',
      namespace: 'local',
      context: 'local',
      phase: 'Succeeded',
      source: 'https://images.example/disk.qcow2',
    };
    service.on('GET /api/capabilities', buildCapabilities([buildSingleMachine({ abilities: { images: true } })]));
    service.on('GET /api/datavolumes', [
      image,
      { ...image, name: 'coming', phase: 'ImportInProgress' },
      { ...image, name: 'elsewhere', namespace: 'other' },
      { ...image, name: 'far', context: 'prod' },
      { ...image, name: 'tiny' },
    ]);
    creates({ name: 'first', namespace: 'local', ref: 'r' });
    const { user, dialog } = await open();
    await user.click(await dialog.findByRole('radio', { name: /^golden imported/ }));
    const names = within(dialog.getByRole('radiogroup', { name: 'Image' })).getAllByRole('radio');
    expect(names).toHaveLength(IMAGES.length + 1);
    await user.type(dialog.getByRole('textbox', { name: 'Name' }), 'first');
    await user.click(createButton());
    await waitFor(() => expect(sent()).toHaveLength(1));
    expect(sent()[0]?.body).toMatchObject({ image: 'golden' });
  });

  test('offers only the images of the catalog that the context can use', async () => {
    service.on('GET /api/images', [
      ...IMAGES,
      { name: 'arch', description: 'Arch Linux', containerDisk: '', kind: 'cloudImage', defaultUser: 'arch' },
    ]);
    const { dialog } = await open();
    expect(dialog.queryByRole('radio', { name: /^arch/ })).toBeNull();
  });

  describe('where the catalog has no image for the context', () => {
    const reason = 'The catalog has no image for this context.';
    const golden = {
      name: 'golden',
      namespace: 'local',
      context: 'local',
      backend: 'libvirt',
      size: '1Gi',
      phase: 'Succeeded',
      progress: '100.0%',
      source: 'upload',
    };
    const openWith = async (imported: object[]) => {
      const sources = { image: reason, containerDisk: true, import: true } as const;
      const context = buildSingleMachine({ abilities: { provisioning: true, images: true }, sources });
      service.on('GET /api/images', []);
      service.on('GET /api/capabilities', buildCapabilities([context]));
      service.on('GET /api/datavolumes', imported);
      creates({ name: 'first', namespace: 'local', ref: 'r' });
      return openConsole('/vms/create', [], service);
    };

    test('offers the images that were imported', async () => {
      const { user } = await openWith([golden]);
      await waitFor(() =>
        expect(screen.getByRole<HTMLInputElement>('radio', { name: /^Catalog/ }).disabled).toBe(false),
      );
      await user.click(screen.getByRole('radio', { name: /^Catalog/ }));
      await waitFor(() => expect(screen.getByRole<HTMLInputElement>('radio', { name: /^golden/ }).checked).toBe(true));
      await user.type(screen.getByRole('textbox', { name: 'Name' }), 'first');
      await user.click(createButton());
      await waitFor(() => expect(sent()).toHaveLength(1));
      expect(sent()[0]?.body).toMatchObject({ image: 'golden' });
    });

    test('explains why the catalog is unavailable when no image was imported either', async () => {
      await openWith([{ ...golden, phase: 'ImportInProgress' }]);
      const catalog = await screen.findByRole<HTMLInputElement>('radio', { name: new RegExp(`^Catalog.*${reason}`) });
      expect(catalog.disabled).toBe(true);
    });
  });

  test('does not request instance types from a single machine', async () => {
    service.on('GET /api/capabilities', buildCapabilities([buildSingleMachine()]));
    const { dialog } = await open();
    expect(dialog.queryByRole('button', { name: /^Instance type/ })).toBeNull();
    expect(dialog.queryByLabelText('Namespace')).toBeNull();
    expect(service.asked('GET /api/instancetypes')).toEqual([]);
  });

  test('closes with Escape, without a change to the list', async () => {
    const { user } = await open();
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('form', { name: 'Create VM' })).toBeNull());
    expect(location.hash).toBe('#/vms');
  });

  test('says before the choice that a container disk keeps no changes on a cluster', async () => {
    const { user, dialog } = await open();
    await user.click(dialog.getByText('Container disk'));
    expect(dialog.getByText('On a cluster, changes to this disk are lost at power-off')).toBeTruthy();
  });
});
