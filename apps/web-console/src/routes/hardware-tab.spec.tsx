import type { HardwareChangeDto } from '@headgate/api-contracts';
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { discardDrafts } from '../features/instance/hardware-drafts.js';
import { buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';
import { PANEL } from '../testing/panel.js';

const EXTENSION = '/api/ext/vms/tailvm/web-1';
const CHANGES = `POST ${EXTENSION}/hardware`;
const disk = { pvc: 'root', device: 'vda', type: 'disk', bus: 'virtio', size: '20Gi', isRoot: true };
const hardware = {
  cpu: 2,
  maxCpu: 8,
  mem: '4Gi',
  maxMem: null,
  disks: [disk, { ...disk, pvc: 'data', device: 'vdb', size: '1Gi', isRoot: false }],
  nics: [{ iface: 'lan', nad: 'lan-1', mac: '52:54:00:00:00:01', model: 'virtio', link: 'up' }],
  bootOrder: ['vda'],
  autostart: null,
  placement: {
    dedicated: null,
    pinning: { vcpus: [{ vcpu: 0, cpus: '2' }], emulatorCpus: null, memory: null, cells: [] },
    hugepages: null,
  },
  hostDevices: [{ name: 'pci_0000_01_00_0', device: 'pci_0000_01_00_0', kind: 'pci' }],
  pending: [{ field: 'memory', running: '4Gi', configured: '2Gi' }],
};
const step = { name: 'step', detail: 'What will happen.' };

interface Asked {
  readonly query: URLSearchParams;
  readonly body: { changes: HardwareChangeDto[] };
}

/** The plan of a request, in which a memory waits for the next start. */
const planOf = ({ changes }: Asked['body'], refusal?: { kind: string; reason: string }) => {
  const planned = changes.map((change, index) => ({
    index,
    action: change.kind,
    before: change.mem === undefined ? '' : '4Gi',
    after: change.mem ?? '',
    effect: change.mem === undefined ? 'now' : 'next-start',
    steps: [step],
    warnings: [],
    refusals: change.kind === refusal?.kind ? [{ code: 'WRONG_STATE', reason: refusal.reason, remedy: 'Wait.' }] : [],
  }));
  return {
    steps: [step],
    warnings: [],
    refusals: planned.flatMap(({ refusals }) => refusals),
    effect: 'now',
    changes: planned,
  };
};

describe('the hardware of a VM', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => {
    closeConsole(service);
    discardDrafts(buildVm({ name: 'web-1' }));
  });

  const answer = (
    done: object = { body: { status: 'ok', effect: 'now', pending: [], changes: [] } },
    refused?: never,
  ) =>
    service.on(CHANGES, ({ query, body }: Asked) =>
      query.get('dryRun') === 'true' ? { body: planOf(body, refused) } : done,
    );
  const open = async (overrides: object = {}): Promise<void> => {
    service.on(`GET ${EXTENSION}/hardware`, { ...hardware, ...overrides });
    await openConsole('/vms/prod/tailvm/web-1/hardware', [buildVm({ name: 'web-1' })], service);
    await screen.findByRole('table', { name: 'Hardware' });
  };
  const box = (name: string): HTMLInputElement => screen.getByRole('textbox', { name });
  const type = (name: string, value: string): void => void fireEvent.change(box(name), { target: { value } });
  const click = (name: string | RegExp): void => void fireEvent.click(screen.getByRole('button', { name }));
  const review = async () => {
    click(/^Review /);
    const panel = within(await screen.findByRole(...PANEL));
    await panel.findAllByText('What will happen.');
    return panel;
  };
  /** Reviews the changes, and applies them. */
  const apply = async (): Promise<void> => {
    const panel = await review();
    fireEvent.click(panel.getByRole('button', { name: /^Apply / }));
    await waitFor(() => expect(screen.queryByRole(...PANEL)).toBeNull());
  };
  const sent = (): unknown[] =>
    service.asked(CHANGES).flatMap(({ query, body }) => (query.get('dryRun') === 'true' ? [] : [body]));
  const reasonOf = (name: string | RegExp): string | null | undefined =>
    document.getElementById(screen.getByRole('button', { name }).getAttribute('aria-describedby') ?? '')?.textContent;
  const rowOf = (name: RegExp): HTMLElement => screen.getByRole('row', { name });

  test('is one table, with the changes that wait for a restart', async () => {
    await open();
    expect(screen.getByRole('list', { name: 'Changes that take effect after a restart' }).textContent).toBe(
      'memory: 4 GiB now, 2 GiB after a restart',
    );
    const table = within(screen.getByRole('table', { name: 'Hardware' }));
    for (const group of ['Processor and memory', 'Disks and drives', 'Network cards', 'Start'])
      expect(table.getByRole('columnheader', { name: group })).toBeTruthy();
    expect(table.getByText('virtio, 52:54:00:00:00:01')).toBeTruthy();
    expect(screen.queryByRole('button', { name: /^Review/ })).toBeNull();
  });

  test.each([
    [2, 'Hardware 2', '2 changes wait for a restart'],
    [1, 'Hardware 1', '1 change waits for a restart'],
  ])('has %i changes that wait at its tab and in the list', async (pendingCount, tab, mark) => {
    service.on(`GET ${EXTENSION}/hardware`, hardware);
    const vm = buildVm({ name: 'web-1', restartRequired: true, pendingCount });
    await openConsole('/vms/prod/tailvm/web-1/hardware', [vm], service);
    expect(await screen.findByRole('tab', { name: tab })).toBeTruthy();
    act(() => void (location.hash = '#/vms'));
    expect(await screen.findByRole('img', { name: mark })).toBeTruthy();
  });

  test('is changed in many places by one request, after a plan of exactly the same', async () => {
    answer();
    await open();
    type('CPUs', '4');
    type('Memory', '6 GiB');
    type('Size of the new disk', '5Gi');
    type('Name of the new NIC', 'eth1');
    type('Network of the new NIC', 'lan-2');
    click('Disconnect lan');
    await apply();
    const body = {
      changes: [
        { kind: 'scale', cpu: 4, mem: '6Gi' },
        { kind: 'attach-volume', size: '5Gi' },
        { kind: 'change-nic', iface: 'lan', link: 'down' },
        { kind: 'add-nic', iface: 'eth1', nad: 'lan-2' },
      ],
    };
    expect(sent()).toEqual([body]);
    expect(service.asked(CHANGES).map((asked) => asked.body)).toContainEqual(body);
    expect(await screen.findByText('Changed the hardware of web-1')).toBeTruthy();
    expect(screen.queryByRole('button', { name: /^Review/ })).toBeNull();
  });

  test('shows each change with both values, and when it takes effect', async () => {
    answer();
    await open();
    type('Memory', '6Gi');
    type('Size of data', '2Gi');
    const memory = rowOf(/^Memory/);
    expect([memory.dataset['change'], within(memory).getByText('4 GiB').tagName]).toEqual(['changed', 'DEL']);
    expect(await within(memory).findByText('at the next start')).toBeTruthy();
    expect(within(rowOf(/^data/)).getByText('now')).toBeTruthy();
    const panel = await review();
    expect(panel.getByRole('region', { name: 'At the next start' }).textContent).toMatch(/4 GiB.*6 GiB/);
    expect(panel.getByRole('region', { name: 'Now' }).textContent).toContain('expand-volume');
    expect(panel.getByText('Nothing has happened yet.')).toBeTruthy();
  });

  test('restarts the machine only when the user chooses it', async () => {
    answer();
    await open();
    type('Memory', '6Gi');
    const panel = await review();
    fireEvent.click(panel.getByRole('switch'));
    await waitFor(() => expect(service.asked(CHANGES).some(({ query }) => query.get('restart') === 'true')).toBe(true));
    const button = await panel.findByRole('button', { name: 'Apply 1 change and restart' });
    await waitFor(() => expect(button.hasAttribute('disabled')).toBe(false));
    fireEvent.click(button);
    await waitFor(() => expect(sent()).toHaveLength(1));
    expect(service.asked(CHANGES).at(-1)?.query.get('restart')).toBe('true');
  });

  test('marks added and removed devices, until it is undone', async () => {
    await open();
    click('Delete data');
    expect([rowOf(/^data/).dataset['change'], within(rowOf(/^data/)).getByText('1 GiB').tagName]).toEqual([
      'removed',
      'DEL',
    ]);
    type('Size of the new disk', '5Gi');
    expect(rowOf(/^New disk added/).dataset['change']).toBe('added');
    type('Size of the new disk 2', '6Gi');
    expect(screen.getByRole('button', { name: 'Review 3 changes…' })).toBeTruthy();
    click('Undo the change of data');
    expect(rowOf(/^data/).dataset['change']).toBeUndefined();
    click('Discard changes');
    expect(screen.queryByRole('button', { name: /^Review/ })).toBeNull();
  });

  test('has disks that are detached and attached, and one that can not be', async () => {
    answer();
    await open();
    for (const name of ['Detach root', 'Delete root']) expect(reasonOf(name)).toBe('web-1 boots from it.');
    click('Detach data');
    type('Volume to attach', 'old');
    type('Size of root', '30Gi');
    await apply();
    expect(sent()).toEqual([
      {
        changes: [
          { kind: 'expand-volume', pvc: 'root', size: '30Gi' },
          { kind: 'detach-volume', pvc: 'data' },
          { kind: 'attach-volume', pvc: 'old' },
        ],
      },
    ]);
  });

  test.each([
    ['CPUs', '0', 'Enter a whole number from 1 to 512.'],
    ['Memory', 'much', 'Enter a number with a unit, such as 4Gi or 512Mi.'],
    ['Size of data', '', 'Enter a number with a unit, such as 4Gi or 512Mi.'],
    ['Name of the new NIC', 'eth1', 'Enter a name and a network.'],
    ['CPU pins', '0 to 2', 'Write pins such as 0:2-3 1:4.'],
    ['Network of lan', ' ', 'Enter a network.'],
  ])('says in the row why %s is not accepted', async (name, value, problem) => {
    await open();
    type(name, value);
    expect(screen.getByText(problem)).toBeTruthy();
    expect(reasonOf('Review 1 change…')).toBe('Correct the marked rows first.');
    expect(service.asked(CHANGES)).toEqual([]);
  });

  test('shows in the row why the service refuses a change', async () => {
    service.on(CHANGES, ({ body }: Asked) => ({
      body: planOf(body, { kind: 'expand-volume', reason: 'It is full.' }),
    }));
    await open();
    type('Size of data', '2Gi');
    expect(await within(rowOf(/^data/)).findByText('It is full.')).toBeTruthy();
    const panel = await review();
    expect(panel.getByRole('button', { name: /^Apply/ }).hasAttribute('disabled')).toBe(true);
  });

  test('keeps the changes that were not carried out when one fails', async () => {
    const details = { applied: ['expand volume data to 2Gi'], indexes: [1] };
    answer({ status: 504, body: { error: 'It did not answer.', code: 'BACKEND_TIMEOUT', details } });
    await open();
    type('Memory', '6Gi');
    type('Size of data', '2Gi');
    const panel = await review();
    fireEvent.click(panel.getByRole('button', { name: /^Apply / }));
    expect(await screen.findByText('It did not answer.')).toBeTruthy();
    expect([box('Memory').value, box('Size of data').value]).toEqual(['6Gi', '1Gi']);
  });

  test('opens the plan with Ctrl Enter, from any box', async () => {
    answer();
    await open();
    type('CPUs', '4');
    fireEvent.keyDown(box('CPUs'), { key: 'Enter', ctrlKey: true });
    expect(await screen.findByRole(...PANEL)).toBeTruthy();
  });

  describe('that another user changes meanwhile', () => {
    test('is read again, marked, and needs another plan', async () => {
      answer();
      await open();
      type('Memory', '6Gi');
      const panel = await review();
      service.on(`GET ${EXTENSION}/hardware`, { ...hardware, mem: '5Gi' });
      const [stream] = service.streams;
      act(() => stream?.emit('vms.changed', buildVm({ name: 'web-1', mem: '5Gi' })));
      expect(await screen.findByText('Changed by someone else meanwhile: it is 5 GiB now.')).toBeTruthy();
      expect(panel.getByText('web-1 changed since this plan was created')).toBeTruthy();
      expect(panel.getByRole('button', { name: /^Apply/ }).hasAttribute('disabled')).toBe(true);
      fireEvent.click(panel.getByRole('button', { name: 'Rehearse again' }));
      await waitFor(() => expect(panel.getByRole('button', { name: /^Apply/ }).hasAttribute('disabled')).toBe(false));
    });

    test('to the same value has nothing to change any more', async () => {
      await open();
      type('Memory', '6Gi');
      service.on(`GET ${EXTENSION}/hardware`, { ...hardware, mem: '6Gi' });
      click('Reload');
      await waitFor(() => expect(screen.queryByRole('button', { name: /^Review/ })).toBeNull());
    });

    test('and no longer has the device of a change', async () => {
      await open();
      type('Size of data', '2Gi');
      service.on(`GET ${EXTENSION}/hardware`, { ...hardware, disks: [disk] });
      click('Reload');
      expect(await screen.findByText('web-1 no longer has the device of one change')).toBeTruthy();
      expect(reasonOf('Review 0 changes…')).toBe('There is nothing to change.');
      click('Drop');
      expect(screen.queryByRole('button', { name: /^Review/ })).toBeNull();
    });
  });

  describe('that a migration applies to the running guest', () => {
    const applying = [{ field: 'cpu', running: '2', configured: '4' }];
    const scale = async (): Promise<void> => {
      const hardwareNow = { ...hardware, pending: [] };
      service.on(CHANGES, ({ query, body }: Asked) => {
        if (query.get('dryRun') === 'true') return { body: planOf(body) };
        service.on(`GET ${EXTENSION}/hardware`, { ...hardwareNow, applying });
        return { body: { status: 'ok', effect: 'now', pending: [], applying, changes: [] } };
      });
      await open({ pending: [] });
      type('CPUs', '4');
      await apply();
    };
    const changes = (): Promise<HTMLElement> => screen.findByRole('list', { name: 'Changes that are being applied' });
    const DONE = 'Changed the hardware of web-1';

    test('is not done before the guest has it', async () => {
      await scale();
      expect(await screen.findByText('web-1 is being changed')).toBeTruthy();
      expect((await changes()).textContent).toBe('cpu: 2 now, 4 is being applied by a live migration');
      expect(screen.queryByText(DONE)).toBeNull();
      type('CPUs', '6');
      expect(screen.getByText('Wait until the previous change is applied.')).toBeTruthy();
      service.on(`GET ${EXTENSION}/hardware`, { ...hardware, cpu: 4, pending: [] });
      expect(await screen.findByText(DONE)).toBeTruthy();
      expect(screen.queryByRole('list', { name: 'Changes that are being applied' })).toBeNull();
    });

    test('is not done when it needs a restart after all', async () => {
      await scale();
      await changes();
      service.on(`GET ${EXTENSION}/hardware`, { ...hardware, pending: applying });
      click('Reload');
      const waiting = await screen.findByRole('list', { name: 'Changes that take effect after a restart' });
      expect(waiting.textContent).toBe('cpu: 2 now, 4 after a restart');
      expect(screen.queryByText(DONE)).toBeNull();
    });
  });

  describe('that is typed and not applied yet', () => {
    const showTab = async (name: string): Promise<void> => {
      fireEvent.click(screen.getByRole('tab', { name }));
      await screen.findByRole('tabpanel', { name });
    };

    test('survives a change of the tab, and is in the storage that a reload keeps', async () => {
      await open();
      type('Memory', '6Gi');
      click('Boot from lan');
      await showTab('Overview');
      await showTab('Hardware');
      expect(await screen.findByRole('button', { name: 'Review 2 changes…' })).toBeTruthy();
      expect([box('Memory').value, box('CPUs').value]).toEqual(['6Gi', '2']);
      expect(screen.getByRole('list', { name: 'Boot order' }).textContent).toContain('2. lan');
      const { ref } = buildVm({ name: 'web-1' });
      const stored = JSON.parse(sessionStorage.getItem('headgate.hardware-drafts') ?? '{}') as Record<string, object>;
      expect(stored[ref]).toEqual({
        'memory: size': { text: '6Gi', saved: '4Gi' },
        'boot order: devices': { text: 'vda,lan', saved: 'vda' },
      });
      click('Discard changes');
      expect(sessionStorage.getItem('headgate.hardware-drafts')).toBe('{}');
    });

    test('stays when its plan is canceled', async () => {
      answer();
      await open();
      type('Size of the new disk', '5Gi');
      const panel = await review();
      fireEvent.click(panel.getByRole('button', { name: 'Cancel' }));
      expect(box('Size of the new disk').value).toBe('5Gi');
    });

    test('is back to nothing when the user types the present value again', async () => {
      await open();
      type('Memory', '6Gi');
      type('Memory', '4Gi');
      expect(screen.queryByRole('button', { name: 'Discard changes' })).toBeNull();
    });
  });

  test('a disk is moved to another storage, which a task continues', async () => {
    const path = `POST ${EXTENSION}/volumes/data/move`;
    service.on(path, { steps: [step], warnings: [], refusals: [], task: 'disk-web-1-1', status: 'ok' });
    service.fails('GET /api/tasks/disk-web-1-1', 404, 'The task does not exist.');
    await open();
    expect(reasonOf('Move disk…')).toBe('Enter a storage pool or class first.');
    type('Disk to move', 'data');
    type('Target storage pool or class', 'fast');
    click('Move disk…');
    const panel = within(await screen.findByRole(...PANEL));
    await panel.findByText('What will happen.');
    fireEvent.click(panel.getByRole('button', { name: 'Move' }));
    await waitFor(() => expect(screen.queryByRole(...PANEL)).toBeNull());
    expect(service.asked(path).map(({ body }) => body)).toEqual([{ storage: 'fast' }, { storage: 'fast' }]);
  });

  describe('on its host', () => {
    test('is pinned to CPUs and NUMA nodes, with other pages', async () => {
      answer();
      await open();
      type('CPU pins', '0:2-3 1:4');
      type('CPUs of the emulator', '0');
      type('NUMA nodes of the memory', '1');
      type('Size of hugepages', '1Gi');
      await apply();
      const vcpus = [
        { vcpu: 0, cpus: '2-3' },
        { vcpu: 1, cpus: '4' },
      ];
      const pinning = { vcpus, emulatorCpus: '0', memory: { mode: 'strict', nodes: '1' } };
      expect(sent()).toEqual([{ changes: [{ kind: 'set-placement', placement: { pinning, hugepages: '1Gi' } }] }]);
      expect(screen.queryByRole('button', { name: 'Reserve CPUs' })).toBeNull();
    });

    test('is freed again', async () => {
      answer();
      await open();
      type('CPU pins', '');
      await apply();
      expect(sent()).toEqual([{ changes: [{ kind: 'set-placement', placement: { pinning: { vcpus: [] } } }] }]);
    });

    test('has reserved CPUs where the context reserves them', async () => {
      answer();
      const dedicated = { on: false, isolateEmulator: false, numa: false };
      await open({ placement: { dedicated, pinning: null, hugepages: null } });
      expect(reasonOf('Isolate the emulator')).toBe('Reserve CPUs first.');
      click('Reserve CPUs');
      click('Isolate the emulator');
      await apply();
      const placement = { dedicated: { on: true, isolateEmulator: true } };
      expect(sent()).toEqual([{ changes: [{ kind: 'set-placement', placement }] }]);
    });

    test('gets devices of the host, except those that the host needs', async () => {
      answer();
      const device = { context: 'prod', node: 'host-1', kind: 'pci', gpu: true, driver: '', iommuGroup: 1, total: 1 };
      const card = { ...device, name: 'pci_0000_02_00_0', label: 'Example card', usedBy: [], refusal: null };
      const why = 'host-1 uses it: it has the disk /dev/sda.';
      const other = { ...card, name: 'pci_0000_03_00_0', label: 'Example disk', refusal: why };
      service.on('GET /api/ext/host-resources', { hosts: [], devices: [card, other] });
      await open();
      expect(service.asked('GET /api/ext/host-resources')).toEqual([]);
      click('List host devices');
      await screen.findByRole('table', { name: 'Devices of the host' });
      expect(reasonOf('Attach pci_0000_03_00_0')).toBe(why);
      click('Attach pci_0000_02_00_0');
      click('Detach pci_0000_01_00_0');
      await apply();
      expect(sent()).toEqual([
        {
          changes: [
            { kind: 'detach-host-device', device: 'pci_0000_01_00_0' },
            { kind: 'attach-host-device', device: 'pci_0000_02_00_0' },
          ],
        },
      ]);
    });
  });

  describe('to boot from', () => {
    const drive = { ...disk, pvc: 'debian.iso', device: 'sda', type: 'cdrom', size: null, isRoot: false };
    const disks = (medium: string | null, size: string | null = null) => ({
      disks: [disk, { ...drive, pvc: medium, size }],
    });

    test.each([
      ['another one', 'debian.iso', () => type('Volume in sda', ' other.iso '), 'other.iso'],
      ['none', 'debian.iso', () => click('Eject from sda'), null],
      ['one of an empty drive', null, () => type('Volume in sda', 'other.iso'), 'other.iso'],
    ])('gets as its medium %s', async (_what, before, edit, pvc) => {
      answer();
      await open(disks(before));
      edit();
      await apply();
      expect(sent()).toEqual([{ changes: [{ kind: 'change-medium', drive: 'sda', pvc }] }]);
    });

    test('loses a medium that is not a volume', async () => {
      answer();
      await open(disks(null, '600Mi'));
      click('Eject from sda');
      await apply();
      expect(sent()).toEqual([{ changes: [{ kind: 'change-medium', drive: 'sda', pvc: null }] }]);
    });

    test('has nothing to eject from an empty drive, which is no disk either', async () => {
      await open(disks(null));
      expect(reasonOf('Eject from sda')).toBe('The drive is empty.');
      expect(screen.queryByRole('textbox', { name: 'Size of sda' })).toBeNull();
    });

    test('has its devices in another order', async () => {
      answer();
      await open(disks('debian.iso'));
      click('Boot from sda');
      click('Boot from lan');
      click('Move lan up');
      click('Move vda down');
      expect(reasonOf('Move lan up')).toBe('It is the first device.');
      click('Remove vda from the boot order');
      await apply();
      expect(sent()).toEqual([{ changes: [{ kind: 'set-boot-order', devices: ['lan', 'sda'] }] }]);
    });

    test('keeps at least one device', async () => {
      await open();
      click('Remove vda from the boot order');
      expect(screen.getByText('Choose at least one device.')).toBeTruthy();
    });

    test.each([
      [false, 'on'],
      [true, 'off'],
    ])('has an autostart that is %p and is turned %s', async (autostart, verb) => {
      answer();
      await open({ autostart });
      click(`Turn ${verb} autostart`);
      await apply();
      expect(sent()).toEqual([{ changes: [{ kind: 'set-autostart', on: !autostart }] }]);
    });

    test('has no autostart where the context has none', async () => {
      await open();
      expect(reasonOf('Turn on autostart')).toBe('Autostart is not available in this context.');
    });
  });

  test('is read with the reason by users who may not change it', async () => {
    service.on('GET /api/whoami', { login: 'bob', name: 'Bob', admin: false, enforced: true });
    await open();
    await waitFor(() => expect(box('Memory').readOnly).toBe(true));
    const note = document.getElementById(box('Memory').getAttribute('aria-describedby') ?? '');
    expect(note?.textContent).not.toBe('');
    expect(screen.queryByRole('textbox', { name: 'Size of the new disk' })).toBeNull();
    expect(screen.queryByRole('button', { name: 'Detach data' })).toBeNull();
  });

  test('without disks and NICs has the rows to add them', async () => {
    await open({ disks: [], nics: [], hostDevices: [], pending: [] });
    expect(box('Size of the new disk').value).toBe('');
    expect(box('Name of the new NIC').value).toBe('');
  });
});
