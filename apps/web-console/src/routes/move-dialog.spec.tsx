import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const REF = 'vm/prod/tailvm/web-1';
const PLAN = {
  ok: true,
  source: REF,
  destination: 'vm/here/local/web-1',
  mode: 'cold',
  steps: [{ name: 'copy', detail: 'Copy 1Gi of disks.' }],
  warnings: [],
  dropped: ['The state of the TPM.'],
  refusals: [],
  estimatedBytes: 1024 ** 3,
  estimatedDowntimeSeconds: 30,
  format: 'qcow2',
  deleteSource: false,
};

describe('a move to another context', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  const openDialog = async (): Promise<HTMLElement> => {
    service.on('GET /api/move/destinations', {
      destinations: [
        { backend: 'libvirt', context: 'here', can: true },
        { backend: 'kubevirt', context: 'lab', can: false, reason: 'It has no storage.' },
      ],
    });
    await openConsole('/vms/prod/tailvm/web-1', [buildVm({ name: 'web-1', ref: REF })], service);
    fireEvent.click(await screen.findByRole('button', { name: 'Move…' }));
    const dialog = await screen.findByRole('dialog');
    await within(dialog).findByRole('option', { name: 'here (libvirt)' });
    return dialog;
  };
  const choose = (dialog: HTMLElement): void => {
    fireEvent.change(within(dialog).getByRole('combobox', { name: /Destination/ }), { target: { value: 'here' } });
  };

  test('shows the plan with the losses, and starts the task', async () => {
    service.on('POST /api/move/preflight', PLAN);
    service.on('POST /api/move', { task: 'move-web-1-1', plan: PLAN });
    const dialog = await openDialog();
    const closed = within(dialog).getByRole('option', { name: 'lab (It has no storage.)' }) as HTMLOptionElement;
    expect(closed.disabled).toBe(true);
    choose(dialog);
    await within(dialog).findByText('The state of the TPM.');
    expect(dialog.textContent).toContain('stopped for about 30 seconds');
    fireEvent.click(within(dialog).getByRole('switch', { name: /Delete the source/ }));
    await waitFor(() =>
      expect(service.asked('POST /api/move/preflight').at(-1)?.body).toMatchObject({ deleteSource: true }),
    );
    const move = within(dialog).getByRole('button', { name: 'Move' }) as HTMLButtonElement;
    await waitFor(() => expect(move.disabled).toBe(false));
    fireEvent.click(move);
    await screen.findByText('web-1 is being moved');
    expect(service.asked('POST /api/move')[0]?.body).toEqual({
      ref: REF,
      toBackend: 'libvirt',
      toContext: 'here',
      name: 'web-1',
      deleteSource: true,
    });
  });

  test('that is refused shows every reason with its remedy, and can not be started', async () => {
    const refusals = ['one', 'two'].map((word) => ({
      code: `CODE_${word}`,
      reason: `The reason ${word}.`,
      remedy: `The remedy ${word}.`,
      category: 'source',
      severity: 'critical',
    }));
    service.on('POST /api/move/preflight', { ...PLAN, ok: false, steps: [], dropped: [], refusals });
    const dialog = await openDialog();
    choose(dialog);
    await within(dialog).findByText('The reason one.');
    expect(dialog.textContent).toContain('The remedy two.');
    expect((within(dialog).getByRole('button', { name: 'Move' }) as HTMLButtonElement).disabled).toBe(true);
  });
});
