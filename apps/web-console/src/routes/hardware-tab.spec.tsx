import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { discardDrafts } from '../features/instance/hardware-drafts.js';
import { buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';
import { PANEL } from '../testing/panel.js';

const PATH = '/api/vms/tailvm/web-1';
const EXTENSION = '/api/ext/vms/tailvm/web-1';
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
const plan = { steps: [{ name: 'step', detail: 'What will happen.' }], warnings: [], refusals: [] };

describe('the hardware of a VM', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => {
    closeConsole(service);
    discardDrafts(buildVm({ name: 'web-1' }));
  });

  const open = async (overrides: object = {}): Promise<void> => {
    service.on(`GET ${EXTENSION}/hardware`, { ...hardware, ...overrides });
    await openConsole('/vms/prod/tailvm/web-1/hardware', [buildVm({ name: 'web-1' })], service);
    await screen.findByRole('table', { name: 'Disks' });
  };
  const type = (name: string, value: string): void =>
    void fireEvent.change(screen.getByRole('textbox', { name }), { target: { value } });
  /** Opens the preview of a change, and runs it. */
  const confirm = async (button: string, label: string): Promise<void> => {
    fireEvent.click(screen.getByRole('button', { name: button }));
    const dialog = await screen.findByRole(...PANEL);
    await within(dialog).findByText('What will happen.');
    fireEvent.click(within(dialog).getByRole('button', { name: label }));
    await waitFor(() => expect(screen.queryByRole(...PANEL)).toBeNull());
  };

  test('is listed, with what waits for a restart', async () => {
    await open();
    expect(screen.getByRole('list', { name: 'Changes that take effect after a restart' }).textContent).toBe(
      'memory: 4 GiB now, 2 GiB after a restart',
    );
    expect(within(screen.getByRole('table', { name: 'NICs' })).getByText('52:54:00:00:00:01')).toBeTruthy();
  });

  test('is changed after a preview of exactly the same request', async () => {
    service.on(`POST ${PATH}/scale`, plan);
    await open();
    type('CPUs', '4');
    await confirm('Scale…', 'Scale');
    const asked = service.asked(`POST ${PATH}/scale`);
    expect(asked.map(({ body }) => body)).toEqual([{ cpu: 4 }, { cpu: 4 }]);
  });

  test('a disk is moved to another storage, which a task continues', async () => {
    const path = `POST ${EXTENSION}/volumes/data/move`;
    service.on(path, { ...plan, task: 'disk-web-1-1', status: 'ok' });
    service.fails('GET /api/tasks/disk-web-1-1', 404, 'The task does not exist.');
    await open();
    const section = within(screen.getByRole('region', { name: 'Move a disk' }));
    expect(section.getByText('Enter a storage pool or class first.')).toBeTruthy();
    type('Disk to move', 'data');
    type('Target storage pool or class', 'fast');
    await confirm('Move disk…', 'Move');
    expect(service.asked(path).map(({ body }) => body)).toEqual([{ storage: 'fast' }, { storage: 'fast' }]);
  });

  test('disks are added, expanded, detached and deleted', async () => {
    service.on(`POST ${PATH}/volumes`, plan);
    service.on(`POST ${PATH}/expand`, plan);
    service.on(`DELETE ${PATH}/volumes/data`, plan);
    await open();
    type('Size of the new disk', '5Gi');
    await confirm('Add disk…', 'Add disk');
    expect(service.asked(`POST ${PATH}/volumes`)[1]?.body).toEqual({ size: '5Gi' });
    type('New size of data', '2Gi');
    await confirm('Expand data', 'Expand');
    expect(service.asked(`POST ${PATH}/expand`)[1]?.body).toEqual({ pvc: 'data', size: '2Gi' });
    await confirm('Detach data', 'Detach');
    await confirm('Delete data', 'Delete');
    expect(service.asked(`DELETE ${PATH}/volumes/data`)).toHaveLength(4);
  });

  describe('that a migration applies to the running guest', () => {
    const applying = [{ field: 'cpu', running: '2', configured: '4' }];
    const scale = async (): Promise<void> => {
      const hardwareNow = { ...hardware, pending: [] };
      service.on(`POST ${PATH}/scale`, ({ query }: { query: URLSearchParams }) => {
        if (query.get('dryRun') === 'true') return { body: plan };
        service.on(`GET ${EXTENSION}/hardware`, { ...hardwareNow, applying });
        return { body: { status: 'ok', effect: 'now', pending: [], applying } };
      });
      await open({ pending: [] });
      type('CPUs', '4');
      await confirm('Scale…', 'Scale');
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
      const polled = service.asked(`GET ${EXTENSION}/hardware`).length;
      await waitFor(() => expect(service.asked(`GET ${EXTENSION}/hardware`).length).toBeGreaterThan(polled), {
        timeout: 20_000,
      });
      expect(screen.queryByText(DONE)).toBeNull();
      service.on(`GET ${EXTENSION}/hardware`, { ...hardware, cpu: 4, pending: [] });
      expect(await screen.findByText(DONE, {}, { timeout: 20_000 })).toBeTruthy();
      expect(screen.queryByRole('list', { name: 'Changes that are being applied' })).toBeNull();
    });

    test('is not done when it needs a restart after all', async () => {
      await scale();
      await changes();
      service.on(`GET ${EXTENSION}/hardware`, { ...hardware, pending: applying });
      fireEvent.click(screen.getByRole('button', { name: 'Reload' }));
      const waiting = await screen.findByRole('list', { name: 'Changes that take effect after a restart' });
      expect(waiting.textContent).toBe('cpu: 2 now, 4 after a restart');
      expect(screen.queryByText(DONE)).toBeNull();
    });
  });

  describe('that is typed and not applied yet', () => {
    const valueOf = (name: string): string => screen.getByRole<HTMLInputElement>('textbox', { name }).value;
    const showTab = async (name: string): Promise<void> => {
      fireEvent.click(screen.getByRole('tab', { name }));
      await screen.findByRole('tabpanel', { name });
    };

    test('survives a change of the tab, until it is discarded', async () => {
      await open();
      expect(screen.queryByRole('button', { name: 'Discard changes' })).toBeNull();
      type('Memory', '6Gi');
      type('New size of data', '2Gi');
      fireEvent.click(screen.getByRole('button', { name: 'Boot from lan' }));
      await showTab('Overview');
      await showTab('Hardware');
      expect(await screen.findByText('Some changes are not applied yet')).toBeTruthy();
      expect([valueOf('Memory'), valueOf('CPUs'), valueOf('New size of data')]).toEqual(['6Gi', '2', '2Gi']);
      expect(screen.getByRole('list', { name: 'Boot order' }).textContent).toContain('2. lan');
      fireEvent.click(screen.getByRole('button', { name: 'Discard changes' }));
      expect([valueOf('Memory'), valueOf('New size of data')]).toEqual(['4Gi', '']);
      expect(screen.getByRole('list', { name: 'Boot order' }).textContent).not.toContain('lan');
      expect(screen.queryByRole('button', { name: 'Discard changes' })).toBeNull();
    });

    test('ends when it is applied, and leaves the others', async () => {
      service.on(`POST ${PATH}/volumes`, plan);
      await open();
      type('Memory', '6Gi');
      type('Size of the new disk', '5Gi');
      await confirm('Add disk…', 'Add disk');
      expect([valueOf('Size of the new disk'), valueOf('Memory')]).toEqual(['', '6Gi']);
      expect(screen.getByRole('button', { name: 'Add disk…' }).getAttribute('aria-disabled')).toBe('true');
    });

    test('stays when its change is canceled or fails', async () => {
      service.on(`POST ${PATH}/volumes`, ({ query }: { query: URLSearchParams }) =>
        query.get('dryRun') === 'true' ? { body: plan } : { status: 409, body: { error: 'It is full.', code: 'X' } },
      );
      await open();
      type('Size of the new disk', '5Gi');
      fireEvent.click(screen.getByRole('button', { name: 'Add disk…' }));
      const dialog = within(await screen.findByRole(...PANEL));
      await dialog.findByText('What will happen.');
      fireEvent.click(dialog.getByRole('button', { name: 'Add disk' }));
      expect(await dialog.findByText('It is full.')).toBeTruthy();
      fireEvent.click(dialog.getByRole('button', { name: 'Cancel' }));
      expect(valueOf('Size of the new disk')).toBe('5Gi');
    });

    test('is back to nothing when the user types the present value again', async () => {
      await open();
      type('Memory', '6Gi');
      type('Memory', '4Gi');
      expect(screen.queryByRole('button', { name: 'Discard changes' })).toBeNull();
    });
  });

  test('the disk that the VM boots from can not be detached', async () => {
    await open();
    for (const name of ['Detach root', 'Delete root']) {
      expect(screen.getByRole('button', { name }).getAttribute('aria-disabled')).toBe('true');
    }
  });

  test('NICs are added, disconnected and removed', async () => {
    service.on(`POST ${PATH}/nics`, plan);
    service.on(`POST ${EXTENSION}/nics/lan`, plan);
    service.on(`DELETE ${EXTENSION}/nics/lan`, plan);
    await open();
    type('Name of the new NIC', 'eth1');
    type('Network of the new NIC', 'lan-2');
    await confirm('Add NIC…', 'Add NIC');
    expect(service.asked(`POST ${PATH}/nics`)[1]?.body).toEqual({ nad: 'lan-2', iface: 'eth1' });
    await confirm('Disconnect lan', 'Disconnect');
    expect(service.asked(`POST ${EXTENSION}/nics/lan`)[1]?.body).toEqual({ link: 'down' });
    await confirm('Remove lan', 'Remove');
    expect(service.asked(`DELETE ${EXTENSION}/nics/lan`)).toHaveLength(2);
  });

  describe('on its host', () => {
    const placement = `POST ${EXTENSION}/placement`;
    const reasonOf = (name: string): string | null | undefined =>
      document.getElementById(screen.getByRole('button', { name }).getAttribute('aria-describedby') ?? '')?.textContent;
    const sent = (route: string) => service.asked(route).map(({ body }) => body);

    test('is pinned to CPUs and NUMA nodes', async () => {
      service.on(placement, plan);
      await open();
      expect(reasonOf('Pin CPUs…')).toBe('Change the CPUs or the NUMA nodes first.');
      type('CPU pins', '0 to 2');
      expect(reasonOf('Pin CPUs…')).toBe('Write pins such as 0:2-3 1:4.');
      type('CPU pins', '0:2-3 1:4');
      type('CPUs of the emulator', '0');
      type('NUMA nodes of the memory', '1');
      await confirm('Pin CPUs…', 'Pin');
      const vcpus = [
        { vcpu: 0, cpus: '2-3' },
        { vcpu: 1, cpus: '4' },
      ];
      const body = { pinning: { vcpus, emulatorCpus: '0', memory: { mode: 'strict', nodes: '1' } } };
      expect(sent(placement)).toEqual([body, body]);
      expect(screen.queryByRole('button', { name: 'Reserve CPUs…' })).toBeNull();
    });

    test('is freed again', async () => {
      service.on(placement, plan);
      await open();
      type('CPU pins', '');
      await confirm('Pin CPUs…', 'Pin');
      expect(sent(placement)[1]).toEqual({ pinning: { vcpus: [] } });
    });

    test('has reserved CPUs where the context reserves them', async () => {
      service.on(placement, plan);
      const dedicated = { on: false, isolateEmulator: false, numa: false };
      await open({ placement: { dedicated, pinning: null, hugepages: null } });
      expect(reasonOf('Give the emulator its own CPU…')).toBe('Reserve CPUs first.');
      await confirm('Reserve CPUs…', 'Reserve');
      expect(sent(placement)[1]).toEqual({ dedicated: { on: true } });
      expect(screen.queryByRole('textbox', { name: 'CPU pins' })).toBeNull();
    });

    test('has hugepages', async () => {
      service.on(placement, plan);
      await open();
      type('Size of hugepages', '1Gi');
      await confirm('Change pages…', 'Change');
      expect(sent(placement)[1]).toEqual({ hugepages: '1Gi' });
    });

    test('gets devices of the host, except those that the host needs', async () => {
      const device = { context: 'prod', node: 'host-1', kind: 'pci', gpu: true, driver: '', iommuGroup: 1, total: 1 };
      const card = { ...device, name: 'pci_0000_02_00_0', label: 'Example card', usedBy: [], refusal: null };
      const why = 'host-1 uses it: it has the disk /dev/sda.';
      const disk = { ...card, name: 'pci_0000_03_00_0', label: 'Example disk', refusal: why };
      service.on('GET /api/ext/host-resources', { hosts: [], devices: [card, disk] });
      service.on(`POST ${EXTENSION}/devices`, plan);
      service.on(`DELETE ${EXTENSION}/devices/pci_0000_01_00_0`, plan);
      await open();
      expect(service.asked('GET /api/ext/host-resources')).toEqual([]);
      fireEvent.click(screen.getByRole('button', { name: 'List devices' }));
      await screen.findByRole('table', { name: 'Devices of the host' });
      expect(reasonOf('Attach pci_0000_03_00_0')).toBe(why);
      await confirm('Attach pci_0000_02_00_0', 'Attach');
      type('Device to attach', 'pci_0000_04_00_0');
      await confirm('Attach device…', 'Attach');
      expect(sent(`POST ${EXTENSION}/devices`).map((body) => (body as { device: string }).device)).toEqual([
        ...['pci_0000_02_00_0', 'pci_0000_02_00_0', 'pci_0000_04_00_0', 'pci_0000_04_00_0'],
      ]);
      await confirm('Detach pci_0000_01_00_0', 'Detach');
      expect(service.asked(`DELETE ${EXTENSION}/devices/pci_0000_01_00_0`)).toHaveLength(2);
    });
  });

  describe('to boot from', () => {
    const drive = { ...disk, pvc: 'debian.iso', device: 'sda', type: 'cdrom', size: null, isRoot: false };
    const drives = `POST ${EXTENSION}/drives/sda`;
    const disks = (medium: string | null) => ({ disks: [disk, { ...drive, pvc: medium }] });
    const isUnavailable = (name: string): boolean =>
      screen.getByRole('button', { name }).getAttribute('aria-disabled') === 'true';
    const reasonOf = (name: string): string | null | undefined =>
      document.getElementById(screen.getByRole('button', { name }).getAttribute('aria-describedby') ?? '')?.textContent;
    const click = (name: string): void => void fireEvent.click(screen.getByRole('button', { name }));
    const order = (): (string | undefined)[] =>
      within(screen.getByRole('list', { name: 'Boot order' }))
        .queryAllByRole('listitem')
        .map(({ firstElementChild }) => firstElementChild?.textContent ?? undefined);

    test('media are inserted and ejected', async () => {
      service.on(drives, plan);
      await open(disks('debian.iso'));
      type('Volume for sda', ' other.iso ');
      await confirm('Insert into sda', 'Insert');
      await confirm('Eject from sda', 'Eject');
      expect(service.asked(drives).map(({ body, query }) => [query.get('dryRun'), body])).toEqual([
        ['true', { pvc: 'other.iso' }],
        [null, { pvc: 'other.iso' }],
        ['true', { pvc: null }],
        [null, { pvc: null }],
      ]);
    });

    test('nothing is ejected from an empty drive, or inserted without a name', async () => {
      await open(disks(null));
      expect(reasonOf('Eject from sda')).toBe('The drive is empty.');
      expect(reasonOf('Insert into sda')).toBe('Enter the name of a volume first.');
    });

    test('a medium that is not a volume is ejected', async () => {
      service.on(drives, plan);
      await open({ disks: [disk, { ...drive, pvc: null, size: '600Mi' }] });
      await confirm('Eject from sda', 'Eject');
      expect(service.asked(drives)[1]?.body).toEqual({ pvc: null });
    });

    test('a drive is neither expanded nor detached like a disk', async () => {
      await open(disks('debian.iso'));
      for (const verb of ['Expand', 'Detach', 'Delete'])
        expect(screen.queryByRole('button', { name: `${verb} debian.iso` })).toBeNull();
    });

    test('the order of disks, drives and NICs is changed', async () => {
      const request = `POST ${EXTENSION}/boot-order`;
      service.on(request, plan);
      await open(disks('debian.iso'));
      expect(order()).toEqual(['1. vda']);
      expect(reasonOf('Change boot order…')).toBe('Change the order first.');
      click('Boot from sda');
      click('Boot from lan');
      click('Move lan up');
      click('Move vda down');
      expect(order()).toEqual(['1. lan', '2. vda', '3. sda']);
      expect([isUnavailable('Move lan up'), isUnavailable('Move sda down')]).toEqual([true, true]);
      click('Remove vda from the boot order');
      await confirm('Change boot order…', 'Change');
      const body = { devices: ['lan', 'sda'] };
      expect(service.asked(request).map(({ body: sent }) => sent)).toEqual([body, body]);
    });

    test('at least one device remains', async () => {
      await open();
      click('Remove vda from the boot order');
      expect(reasonOf('Change boot order…')).toBe('Choose at least one device.');
    });

    test.each([
      [false, 'Turn on'],
      [true, 'Turn off'],
    ])('autostart that is %p is changed with %s', async (autostart, verb) => {
      const request = `POST ${EXTENSION}/autostart`;
      service.on(request, plan);
      await open({ autostart });
      await confirm(`${verb} autostart…`, verb);
      expect(service.asked(request)[1]?.body).toEqual({ on: !autostart });
    });

    test('autostart that the context does not have is unavailable', async () => {
      await open();
      expect(reasonOf('Turn on autostart…')).toBe('Autostart is not available in this context.');
    });

    test('nothing is changed by users without rights', async () => {
      service.on('GET /api/whoami', { login: 'bob', name: 'Bob', admin: false, enforced: true });
      await open({ ...disks('debian.iso'), autostart: false });
      type('Volume for sda', 'other.iso');
      await waitFor(() => expect(isUnavailable('Eject from sda')).toBe(true));
      for (const name of ['Insert into sda', 'Boot from sda', 'Remove vda from the boot order', 'Turn on autostart…'])
        expect(isUnavailable(name)).toBe(true);
    });
  });
});
