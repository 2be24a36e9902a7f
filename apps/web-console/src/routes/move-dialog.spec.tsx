import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { buildCapabilities, buildContext, buildSingleMachine } from '../testing/build-capabilities.js';
import { buildVm } from '../testing/build-vm.js';
import type { MockRequest, MockService } from '../testing/mock-service.js';
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
  minDowntimeSeconds: 25,
  maxDowntimeSeconds: 36,
  format: 'qcow2',
  deleteSource: false,
};

describe('a move to another context', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  const openDialog = async (vm: Parameters<typeof buildVm>[0] = {}): Promise<HTMLElement> => {
    service.on('GET /api/move/destinations', {
      destinations: [
        { backend: 'libvirt', context: 'here', can: true },
        { backend: 'kubevirt', context: 'lab', can: false, reason: 'It has no storage.' },
      ],
    });
    await openConsole('/vms/prod/tailvm/web-1', [buildVm({ name: 'web-1', ref: REF, ...vm })], service);
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

  test('that would lose the keys in a TPM needs the consent of the user', async () => {
    const refusal = {
      code: 'TPM_STATE_LOST',
      reason: 'The keys are lost.',
      remedy: 'Save the recovery keys.',
      category: 'source',
      severity: 'critical',
    };
    service.on('POST /api/move/preflight', ({ body }: { body: { acceptLoss?: string[] } }) => ({
      status: 200,
      body: body.acceptLoss ? PLAN : { ...PLAN, ok: false, refusals: [refusal] },
    }));
    service.on('POST /api/move', { task: 'move-web-1-1', plan: PLAN });
    const dialog = await openDialog();
    choose(dialog);
    await within(dialog).findByText('The keys are lost.');
    const move = within(dialog).getByRole('button', { name: 'Move' }) as HTMLButtonElement;
    expect(move.disabled).toBe(true);
    fireEvent.click(within(dialog).getByRole('switch', { name: /Accept the loss of the keys/ }));
    await waitFor(() => expect(move.disabled).toBe(false));
    expect(within(dialog).getByRole('switch', { name: /Accept the loss of the keys/ })).toBeDefined();
    fireEvent.click(move);
    await screen.findByText('web-1 is being moved');
    expect(service.asked('POST /api/move')[0]?.body).toMatchObject({ acceptLoss: ['tpm'] });
  });

  test('offers the modes that the preflight allows, with their downtime, and the reasons of the others', async () => {
    const live = { ...PLAN, mode: 'live', estimatedDowntimeSeconds: 1, dropped: [] };
    const refusal = { code: 'MODE_NOT_SUPPORTED', reason: 'It has a raw disk.', remedy: 'Use cold.' };
    const warm = {
      ...PLAN,
      ok: false,
      mode: 'warm',
      refusals: [{ ...refusal, category: 'source', severity: 'critical' }],
    };
    const plans: Record<string, object> = { live, warm };
    service.on('POST /api/move/preflight', ({ body }: MockRequest) => ({
      body: plans[(body as { mode?: string }).mode ?? ''] ?? PLAN,
    }));
    service.on('POST /api/move', { task: 'move-web-1-1', plan: live });
    const dialog = await openDialog();
    choose(dialog);
    const mode = await within(dialog).findByRole('combobox', { name: /Mode/ });
    await within(mode).findByRole('option', { name: 'Cold: stopped for about 30 seconds' });
    const refused = await within(mode).findByRole('option', { name: 'Warm (It has a raw disk.)' });
    expect((refused as HTMLOptionElement).disabled).toBe(true);
    await within(mode).findByRole('option', { name: 'Live: paused for about 1 second' });
    fireEvent.change(mode, { target: { value: 'live' } });
    await within(dialog).findByText(/pauses for about 1 second, and continues there/);
    const move = within(dialog).getByRole('button', { name: 'Move' }) as HTMLButtonElement;
    await waitFor(() => expect(move.disabled).toBe(false));
    fireEvent.click(move);
    await screen.findByText('web-1 is being moved');
    expect(service.asked('POST /api/move')[0]?.body).toMatchObject({ mode: 'live' });
  });

  test.each([
    [36, 'The guest is stopped for about 30 seconds, and stays stopped.'],
    [81, 'The guest is stopped for about 30 seconds, and up to 81 seconds if it shuts down slowly, and stays stopped.'],
  ])('with a downtime of at most %d seconds is previewed with it if that is far away', async (seconds, text) => {
    service.on('POST /api/move/preflight', { ...PLAN, maxDowntimeSeconds: seconds });
    const dialog = await openDialog();
    choose(dialog);
    await within(dialog).findByText((shown) => shown.includes(text));
  });

  describe('to a context with several namespaces', () => {
    beforeEach(() => {
      service.on('POST /api/move/preflight', PLAN);
      service.on('POST /api/move', { task: 'move-web-1-1', plan: PLAN });
      const here = buildContext({ context: 'here', backend: 'libvirt' });
      service.on('GET /api/capabilities', buildCapabilities([buildContext(), here]));
    });
    const field = (dialog: HTMLElement) =>
      within(dialog).findByRole<HTMLInputElement>('combobox', { name: 'Namespace' });

    test('moves into the chosen namespace, which the plan is about', async () => {
      const dialog = await openDialog();
      choose(dialog);
      const namespace = await field(dialog);
      expect(namespace.placeholder).toBe('tailvm');
      fireEvent.change(namespace, { target: { value: 'shop' } });
      await waitFor(() =>
        expect(service.asked('POST /api/move/preflight').at(-1)?.body).toMatchObject({ toNamespace: 'shop' }),
      );
      const move = within(dialog).getByRole('button', { name: 'Move' }) as HTMLButtonElement;
      await waitFor(() => expect(move.disabled).toBe(false));
      fireEvent.click(move);
      await screen.findByText('web-1 is being moved');
      expect(service.asked('POST /api/move')[0]?.body).toMatchObject({ toNamespace: 'shop' });
    });

    test('refuses a namespace that can not exist, at its field', async () => {
      const dialog = await openDialog();
      choose(dialog);
      fireEvent.change(await field(dialog), { target: { value: 'Shop' } });
      await within(dialog).findByText('Start with a lowercase letter or a digit.');
      const move = within(dialog).getByRole('button', { name: 'Move' }) as HTMLButtonElement;
      await waitFor(() => expect(move.disabled).toBe(true));
    });
  });

  test('to a context with only one namespace has no field for it', async () => {
    service.on('POST /api/move/preflight', PLAN);
    const here = buildSingleMachine({ context: 'here' });
    service.on('GET /api/capabilities', buildCapabilities([buildContext(), here]));
    const dialog = await openDialog();
    choose(dialog);
    await within(dialog).findByText('The state of the TPM.');
    expect(within(dialog).queryByRole('combobox', { name: 'Namespace' })).toBeNull();
    expect(service.asked('POST /api/move/preflight').every(({ body }) => !('toNamespace' in (body as object)))).toBe(
      true,
    );
  });

  test('shows the sizes in its plan as everywhere else', async () => {
    service.on('POST /api/move/preflight', { ...PLAN, warnings: ['The disk web-1Gi needs 1.5Gi more.'] });
    const dialog = await openDialog();
    choose(dialog);
    expect(await within(dialog).findByText('Copy 1 GiB of disks.')).toBeTruthy();
    expect(within(dialog).getByText('The disk web-1Gi needs 1.5 GiB more.')).toBeTruthy();
  });

  test('of a VM that is stopped has no choice of modes', async () => {
    service.on('POST /api/move/preflight', {
      ...PLAN,
      estimatedDowntimeSeconds: null,
      minDowntimeSeconds: null,
      maxDowntimeSeconds: null,
    });
    const dialog = await openDialog({ status: 'Stopped', ready: false, running: false });
    choose(dialog);
    await within(dialog).findByText('The state of the TPM.');
    expect(within(dialog).queryByRole('combobox', { name: /Mode/ })).toBeNull();
    expect(service.asked('POST /api/move/preflight').every(({ body }) => !('mode' in (body as object)))).toBe(true);
  });
});
