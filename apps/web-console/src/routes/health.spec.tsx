import type { FindingView } from '@headgate/api-contracts';
import { screen, waitFor, within } from '@testing-library/react';
import { buildCapabilities, buildContext } from '../testing/build-capabilities.js';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockRequest, MockService } from '../testing/mock-service.js';
import { PANEL } from '../testing/panel.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const FINDINGS = 'GET /api/ext/doctor';
const FIX = 'POST /api/ext/doctor/fix';

const finding = (overrides: Partial<FindingView> = {}): FindingView => ({
  name: 'namespace',
  context: 'prod',
  status: 'error',
  title: 'The namespace is missing',
  message: 'The namespace tailvm does not exist.',
  remedy: 'Create it.',
  fixable: true,
  affected: [],
  affectedCount: 0,
  ...overrides,
});
const passed = finding({ name: 'api', status: 'ok', title: 'The API server answers.', remedy: '', fixable: false });
const PLAN = { steps: [{ name: 'namespace', detail: 'Create the namespace tailvm.' }], warnings: [], refusals: [] };

let service: MockService;
beforeEach(() => {
  service = givenService();
});
afterEach(() => closeConsole(service));

const cards = (): string[] => screen.getAllByRole('heading', { level: 3 }).map(({ textContent }) => textContent ?? '');
const cardOf = async (title: string) =>
  within((await screen.findByRole('heading', { name: title })).closest('li') as HTMLElement);
/** Answers the plan of the fix, and the fix itself. */
const onFix = (run: (request: MockRequest) => object): void => {
  service.on(FIX, (request: MockRequest) => (request.query.get('dryRun') ? { body: PLAN } : run(request)));
};

describe('the health page', () => {
  test('shows errors, then warnings, and folds the checks that passed', async () => {
    service.on(FINDINGS, [
      passed,
      finding({ name: 'cdi', status: 'warning', title: 'No imports', fixable: false, remedy: 'Install CDI.' }),
      finding(),
    ]);
    const { user } = await openConsole('/doctor', [], service);
    expect(await screen.findByText('1 needs attention, 1 warning, 1 passed')).toBeTruthy();
    expect(cards()).toEqual(['The namespace is missing', 'No imports']);
    const warning = await cardOf('No imports');
    expect(warning.getByText('Install CDI.')).toBeTruthy();
    expect(warning.getByText('Warning:')).toBeTruthy();
    expect(warning.queryByRole('button')).toBeNull();
    expect(screen.queryByText(/The API server answers/)).toBeNull();
    await user.click(screen.getByRole('button', { name: '1 check passed' }));
    expect(screen.getByText(/The API server answers/)).toBeTruthy();
  });

  test('says since when and for which machines, or that the time is not known', async () => {
    const refs = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `vm/prod/tailvm/${name}`);
    service.on(FINDINGS, [
      finding({ since: '2026-11-27T16:00:03.000Z', affected: refs, affectedCount: 142 }),
      finding({ name: 'kvm', title: 'No KVM' }),
    ]);
    await openConsole('/doctor', [], service);
    const dated = await cardOf('The namespace is missing');
    expect(dated.getByTitle('2026-11-27 16:00:03 UTC')).toBeTruthy();
    expect(dated.getByRole('link', { name: 'a' }).getAttribute('href')).toBe('#/vms/prod/tailvm/a/overview');
    expect(dated.getAllByRole('link')).toHaveLength(5);
    expect(dated.getByText(/and 137 more/)).toBeTruthy();
    const undated = await cardOf('No KVM');
    expect(undated.getByText('since before the first check')).toBeTruthy();
  });

  test('fixes one finding after it showed the plan of this fix, and then the result', async () => {
    let isFixed = false;
    service.on(FINDINGS, () => ({
      body: [isFixed ? { ...finding(), status: 'ok', fixable: false } : finding(), passed],
    }));
    onFix(() => {
      isFixed = true;
      return { body: { fixed: ['namespace'] } };
    });
    const { user } = await openConsole('/doctor', [], service);
    await user.click(await screen.findByRole('button', { name: 'Fix The namespace is missing…' }));
    const panel = within(screen.getByRole(...PANEL));
    expect(await panel.findByText('Create the namespace tailvm.')).toBeTruthy();
    expect(panel.getByText('Nothing has happened yet.')).toBeTruthy();
    await user.click(panel.getByRole('button', { name: 'Fix it' }));
    expect(await screen.findByText('The namespace is missing: fixed')).toBeTruthy();
    expect(await screen.findByRole('heading', { name: 'Nothing needs attention' })).toBeTruthy();
    expect(service.asked(FIX).map(({ body }) => body)).toEqual(
      Array.from({ length: 2 }, () => ({ context: 'prod', name: 'namespace' })),
    );
  });

  test('keeps the finding when its fix fails half-way, with the reason', async () => {
    service.on(FINDINGS, [finding()]);
    onFix(() => ({ status: 502, body: { error: 'The fix did not solve the problem.', code: 'BACKEND_FAILED' } }));
    const { user } = await openConsole('/doctor', [], service);
    await user.click(await screen.findByRole('button', { name: /^Fix The/ }));
    const panel = within(screen.getByRole(...PANEL));
    await panel.findByText('Create the namespace tailvm.');
    await user.click(panel.getByRole('button', { name: 'Fix it' }));
    expect(await panel.findByText('The fix did not solve the problem.')).toBeTruthy();
    expect(cards()).toContain('The namespace is missing');
  });

  test('says that another user has begun or completed the fix', async () => {
    service.on(FINDINGS, [finding()]);
    service.on(FIX, () => ({ status: 409, body: { error: 'There is nothing to fix.', code: 'WRONG_STATE' } }));
    const { user } = await openConsole('/doctor', [], service);
    await user.click(await screen.findByRole('button', { name: /^Fix The/ }));
    expect(await screen.findByText('There is nothing to fix.')).toBeTruthy();
    const run = within(screen.getByRole(...PANEL)).getByRole('button', { name: 'Fix it' });
    expect((run as HTMLButtonElement).disabled).toBe(true);
  });

  test('does not run a plan when the finding is another one by then', async () => {
    let message = 'The namespace tailvm does not exist.';
    service.on(FINDINGS, () => ({ body: [finding({ message })] }));
    onFix(() => ({ body: { fixed: [] } }));
    const { user } = await openConsole('/doctor', [], service);
    await user.click(await screen.findByRole('button', { name: /^Fix The/ }));
    await screen.findByText('Create the namespace tailvm.');
    message = 'The namespace tailvm is being deleted.';
    await user.click(screen.getByRole('button', { name: 'Check again' }));
    expect(await screen.findByText('The namespace is missing changed since this plan was created')).toBeTruthy();
    const run = within(screen.getByRole(...PANEL)).getByRole('button', { name: 'Fix it' });
    expect((run as HTMLButtonElement).disabled).toBe(true);
  });

  test('groups machines that failed by their state, with a link to the list of them', async () => {
    service.on(FINDINGS, [passed]);
    const vm = (name: string, status: 'ErrImagePull' | 'ImagePullBackOff' | 'CrashLoopBackOff', reason?: string) =>
      buildStoppedVm({ name, status, ...(reason && { reason }) });
    const vms = [
      vm('web-1', 'ErrImagePull', 'There is no image tiny.'),
      vm('web-2', 'ImagePullBackOff', 'There is no image tiny.'),
      vm('db-1', 'CrashLoopBackOff'),
      { ...vm('old-1', 'CrashLoopBackOff'), stale: true },
      buildVm({ name: 'fine' }),
    ];
    await openConsole('/doctor', vms, service);
    const images = await cardOf('Image not found: 2 VMs');
    expect(cards()).toEqual(['Image not found: 2 VMs', 'Keeps crashing: 1 VM']);
    expect(images.getByText('There is no image tiny.')).toBeTruthy();
    expect(images.getByRole('link', { name: /^Show all 2/ }).getAttribute('href')).toBe(
      '#/vms?q=status%3AErrImagePull%2CImagePullBackOff',
    );
    expect(images.getByRole('link', { name: 'web-1' })).toBeTruthy();
    expect(screen.queryByText('old-1')).toBeNull();
  });

  test('shows an unreachable context once, with its failed checks, and refuses its fixes', async () => {
    service.on('GET /api/capabilities', buildCapabilities([buildContext({ up: false, reason: 'Timed out.' })]));
    service.on(FINDINGS, [
      finding({ name: 'api', title: 'The cluster does not answer', fixable: false }),
      finding({ name: 'pool', status: 'warning', title: 'No pool' }),
    ]);
    const { user } = await openConsole('/doctor', [{ ...buildVm(), stale: true }], service);
    const lost = await cardOf('prod does not answer');
    expect(lost.getByText('Timed out.')).toBeTruthy();
    expect(lost.getByText(/^Its 1 instance may still run/)).toBeTruthy();
    expect(lost.getByRole('link', { name: 'Show its VM' }).getAttribute('href')).toBe('#/vms?context=prod');
    expect(cards()).toEqual(['prod does not answer', 'No pool']);
    const fix = screen.getByRole('button', { name: 'Fix No pool…' });
    expect(fix.getAttribute('aria-disabled')).toBe('true');
    await user.click(fix);
    expect(service.asked(FIX)).toEqual([]);
  });

  test('explains to readers why they can not fix anything', async () => {
    service.on('GET /api/whoami', { login: 'bob', name: 'Bob', admin: false, enforced: true });
    service.on(FINDINGS, [finding()]);
    await openConsole('/doctor', [], service);
    const fix = await screen.findByRole('button', { name: /^Fix The/ });
    await waitFor(() => expect(fix.isConnected && screen.getByRole('tooltip').textContent).toContain('view-only'));
  });

  test('keeps the last results when the next checks fail, and does not say that all is well', async () => {
    service.on(FINDINGS, [passed]);
    const { user } = await openConsole('/doctor', [], service);
    expect(await screen.findByRole('heading', { name: 'Nothing needs attention' })).toBeTruthy();
    service.fails(FINDINGS, 503, 'No context is reachable.');
    await user.click(screen.getByRole('button', { name: 'Check again' }));
    expect(await screen.findByText('No context is reachable.')).toBeTruthy();
    expect(screen.queryByRole('heading', { name: 'Nothing needs attention' })).toBeNull();
    expect(screen.getByRole('button', { name: '1 check passed' })).toBeTruthy();
  });

  test('blames no context while the service itself does not respond', async () => {
    service.on(FINDINGS, [passed]);
    const { receive } = await openConsole('/doctor', [buildVm()], service);
    expect(await screen.findByRole('heading', { name: 'Nothing needs attention' })).toBeTruthy();
    for (const list of ['vms', 'cts']) service.fails(`GET /api/${list}`, 500, 'The service has an internal error.');
    await receive(() => service.pageStream.break());
    await waitFor(() => expect(screen.queryByRole('heading', { name: 'Nothing needs attention' })).toBeNull());
    expect(screen.queryByText(/does not answer/)).toBeNull();
  });

  test('shows that the checks are running', async () => {
    let answer = (_: object): void => undefined;
    service.on(FINDINGS, () => new Promise((resolve) => (answer = resolve)));
    const { receive } = await openConsole('/doctor', [], service);
    expect(await screen.findByText('Running the checks')).toBeTruthy();
    await receive(() => answer({ body: [passed] }));
    expect(await screen.findByRole('heading', { name: 'Nothing needs attention' })).toBeTruthy();
  });
});
