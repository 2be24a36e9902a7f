import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';
import { wholeText } from '../testing/whole-text.js';

const web = buildVm({ name: 'web-1' });
const db = buildStoppedVm({ name: 'db-1' });

const member = (ref: string, more: object = {}) => ({
  ok: true,
  source: ref,
  destination: ref.replace('/prod/', '/here/'),
  mode: 'cold',
  steps: [],
  warnings: [],
  dropped: [],
  losses: [],
  refusals: [],
  estimatedBytes: 1024 ** 3,
  estimatedDowntimeSeconds: null,
  minDowntimeSeconds: null,
  maxDowntimeSeconds: null,
  format: 'qcow2',
  deleteSource: false,
  ...more,
});
const PLAN = {
  ok: true,
  refusals: [],
  warnings: [],
  members: [member(db.ref, { dropped: ['The sound card.'] }), member(web.ref)],
  estimatedBytes: 2 * 1024 ** 3,
  estimatedSeconds: 40,
  perHost: 2,
  deleteSource: false,
};

describe('a move of several VMs', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  const openDialog = async (): Promise<HTMLElement> => {
    service.on('GET /api/move/destinations', {
      destinations: [{ backend: 'libvirt', context: 'here', can: true }],
    });
    const { user } = await openConsole('/vms', [web, db], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(within(screen.getByRole('toolbar', { name: /selected/ })).getByRole('button', { name: 'More' }));
    await user.click(await screen.findByRole('menuitem', { name: 'Move to another context' }));
    const dialog = await screen.findByRole('dialog');
    await within(dialog).findByRole('option', { name: 'here (libvirt)' });
    fireEvent.change(within(dialog).getByRole('combobox', { name: /Destination/ }), { target: { value: 'here' } });
    return dialog;
  };
  const moveButton = (dialog: HTMLElement) =>
    within(dialog).getByRole('button', { name: 'Move 2 VMs' }) as HTMLButtonElement;

  test('shows the losses of each VM, and starts one queue', async () => {
    service.on('POST /api/move/preflight', PLAN);
    service.on('POST /api/move', { task: 'bulk-move-1', plan: PLAN });
    const dialog = await openDialog();
    await within(dialog).findByText(wholeText('tailvm/db-1: The sound card.'));
    expect(dialog.textContent).toContain('2 GiB to copy');
    fireEvent.change(within(dialog).getByRole('combobox', { name: /each host/ }), { target: { value: '4' } });
    fireEvent.click(within(dialog).getByRole('switch', { name: /Delete each source/ }));
    await waitFor(() => expect(moveButton(dialog).disabled).toBe(false));
    fireEvent.click(moveButton(dialog));
    await screen.findByText('2 VMs in the queue');
    expect(service.asked('POST /api/move')[0]?.body).toEqual({
      refs: expect.arrayContaining([db.ref, web.ref]),
      toBackend: 'libvirt',
      toContext: 'here',
      deleteSource: true,
      perHost: 4,
    });
  });

  test('names the VMs that are refused, and moves the others only if the user wants that', async () => {
    const refusal = {
      code: 'BUSY',
      reason: 'It is busy.',
      remedy: 'Wait for it.',
      category: 'source',
      severity: 'critical',
    };
    const refused = {
      ...PLAN,
      ok: false,
      refusals: [{ ...refusal, ref: db.ref }],
      members: [member(db.ref, { ok: false, refusals: [refusal] }), member(web.ref)],
    };
    service.on('POST /api/move/preflight', refused);
    service.on('POST /api/move', { task: 'bulk-move-1', plan: refused });
    const dialog = await openDialog();
    await within(dialog).findByText(wholeText('tailvm/db-1: It is busy.'));
    expect(moveButton(dialog).disabled).toBe(true);
    fireEvent.click(within(dialog).getByRole('switch', { name: 'Move the others' }));
    fireEvent.click(moveButton(dialog));
    await screen.findByText('2 VMs in the queue');
    expect(service.asked('POST /api/move')[0]?.body).toMatchObject({ skipRefused: true });
  });

  test('can not be started when every VM is refused', async () => {
    service.on('POST /api/move/preflight', { ...PLAN, ok: false, members: [], warnings: ['2 VMs are left out.'] });
    const dialog = await openDialog();
    await within(dialog).findByText('2 VMs are left out.');
    expect([moveButton(dialog).disabled, within(dialog).queryByRole('switch', { name: 'Move the others' })]).toEqual([
      true,
      null,
    ]);
  });
});
