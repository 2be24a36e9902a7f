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

  const open = async (): Promise<void> => {
    service.on(`GET ${EXTENSION}/hardware`, hardware);
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
});
