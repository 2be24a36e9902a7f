import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

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
  pending: [{ field: 'memory', running: '4Gi', configured: '2Gi' }],
};
const plan = { steps: [{ name: 'step', detail: 'What will happen.' }], warnings: [], refusals: [] };

describe('the hardware of a VM', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

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
    const dialog = await screen.findByRole('dialog');
    await within(dialog).findByText('What will happen.');
    fireEvent.click(within(dialog).getByRole('button', { name: label }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  };

  test('is listed, with what waits for a restart', async () => {
    await open();
    expect(screen.getByRole('list', { name: 'Changes that wait for a restart' }).textContent).toBe(
      'memory: 4Gi now, 2Gi after a restart',
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
    expect(section.getByText('Enter a storage first.')).toBeTruthy();
    type('Disk to move', 'data');
    type('Target storage', 'fast');
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
      click('Do not boot from vda');
      await confirm('Change boot order…', 'Change');
      const body = { devices: ['lan', 'sda'] };
      expect(service.asked(request).map(({ body: sent }) => sent)).toEqual([body, body]);
    });

    test('at least one device remains', async () => {
      await open();
      click('Do not boot from vda');
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
      for (const name of ['Insert into sda', 'Boot from sda', 'Do not boot from vda', 'Turn on autostart…'])
        expect(isUnavailable(name)).toBe(true);
    });
  });
});
