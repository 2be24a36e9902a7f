import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import type { ContextsView, ContextView } from '@headgate/api-contracts';
import { deleteDraft } from '../shared/creation/drafts.js';
import type { MockRequest, MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';
import { PANEL } from '../testing/panel.js';

const CONTEXTS = 'GET /api/ext/contexts';
const KUBECONFIG = 'apiVersion: v1\nusers: [{ name: ann, user: { token: hush } }]';

const configured: ContextView = {
  name: 'prod',
  kind: 'kubevirt',
  origin: 'configuration',
  state: 'up',
  settings: { kubeconfig: '/etc/headgate/kubeconfig' },
};
const added: ContextView = {
  name: 'lab',
  kind: 'libvirt',
  origin: 'added',
  state: 'lost',
  reason: 'lab does not answer.',
  settings: { uri: 'qemu+ssh://vms@lab/system' },
  creator: 'ann',
  addedAt: '2026-01-01T00:00:00.000Z',
};
const check = (status: 'ok' | 'warning' | 'error', message: string, remedy = '') => ({
  name: 'api',
  status,
  message,
  remedy,
});

describe('the settings', () => {
  let service: MockService;
  let view: ContextsView;

  beforeEach(() => {
    service = givenService();
    view = { contexts: [configured, added], kinds: ['kubevirt', 'libvirt', 'incus', 'other'] };
    service.on(CONTEXTS, () => ({ body: view }));
    deleteDraft('contexts');
  });
  afterEach(() => closeConsole(service));

  const form = async () => within(await screen.findByRole('form', { name: 'New context' }));

  test('list the contexts with their state, and remove only those that were added', async () => {
    service.on('DELETE /api/ext/contexts/lab', ({ query }: MockRequest) => {
      if (query.get('dryRun') !== 'true') return { body: { status: 'removed' } };
      return { body: { steps: [{ name: 'remove from the lists', detail: '3 VMs' }], warnings: [], refusals: [] } };
    });
    const { user } = await openConsole('/settings', [], service);
    const rows = within(await screen.findByRole('table', { name: 'Contexts' })).getAllByRole('row');
    expect(rows.slice(1).map(({ textContent }) => textContent)).toEqual([
      'prodCluster with KubeVirtReachablekubeconfig: /etc/headgate/kubeconfigFrom the configuration',
      'labMachine with libvirtUnreachablelab does not answer.uri: qemu+ssh://vms@lab/systemChangeRemove',
    ]);
    await user.click(screen.getByRole('button', { name: 'Remove lab' }));
    const panel = within(await screen.findByRole(...PANEL));
    expect(await panel.findByText(/3 VMs/)).toBeTruthy();
    expect(service.asked('DELETE /api/ext/contexts/lab')).toHaveLength(1);
    view = { ...view, contexts: [configured] };
    await user.click(panel.getByRole('button', { name: 'Remove' }));
    expect(await screen.findByText('lab was removed')).toBeTruthy();
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Remove lab' })).toBeNull());
  });

  test('test a context, and add it', async () => {
    service.on('POST /api/ext/contexts/test', {
      ok: true,
      checks: [check('ok', 'The API server answers.'), check('warning', 'CDI is not installed.', 'Install CDI.')],
    });
    service.on('POST /api/ext/contexts', () => {
      view = { ...view, contexts: [configured, { ...added, name: 'far', kind: 'kubevirt', state: 'up' }] };
      return { status: 201, body: { context: view.contexts[1], checks: [] } };
    });
    const { user } = await openConsole('/settings', [], service);
    const fields = await form();
    expect(within(fields.getByLabelText('Kind')).getAllByRole('option')).toHaveLength(3);
    await user.type(fields.getByLabelText(/^Name/), 'far');
    fireEvent.change(fields.getByLabelText(/^Kubeconfig/), { target: { value: KUBECONFIG } });
    await user.click(fields.getByRole('button', { name: 'Test' }));
    expect(await fields.findByText('The test succeeded.')).toBeTruthy();
    expect(fields.getByText('Install CDI.')).toBeTruthy();
    expect(fields.queryByRole('button', { name: 'Add despite the errors' })).toBeNull();
    await user.click(fields.getByRole('button', { name: 'Add' }));
    expect(await screen.findByText('far was added')).toBeTruthy();
    const request = { name: 'far', kind: 'kubevirt', settings: { kubeconfig: KUBECONFIG } };
    expect(service.asked('POST /api/ext/contexts/test')[0]?.body).toEqual(request);
    expect(service.asked('POST /api/ext/contexts')[0]?.body).toEqual(request);
    expect(await screen.findByRole('button', { name: 'Remove far' })).toBeTruthy();
    expect((fields.getByLabelText(/^Kubeconfig/) as HTMLTextAreaElement).value).toBe('');
  });

  test('show why a context was not added, and add it all the same', async () => {
    service.on('POST /api/ext/contexts', ({ body }: MockRequest) => {
      if ((body as { despiteErrors?: boolean }).despiteErrors)
        return { status: 201, body: { context: added, checks: [] } };
      const checks = [check('error', 'lab:16514 does not accept a connection.', 'Start the server.')];
      return { status: 409, body: { error: 'The test failed.', code: 'CONFLICT', details: { checks } } };
    });
    const { user } = await openConsole('/settings', [], service);
    const fields = await form();
    await user.selectOptions(fields.getByLabelText('Kind'), 'libvirt');
    await user.type(fields.getByLabelText(/^Name/), 'lab-2');
    await user.type(fields.getByLabelText(/^URI/), 'qemu+tls://lab/system');
    await user.click(fields.getByRole('button', { name: 'Add' }));
    expect(await fields.findByText('The test failed.')).toBeTruthy();
    expect(fields.getByText('Start the server.')).toBeTruthy();
    await user.click(fields.getByRole('button', { name: 'Add despite the errors' }));
    expect(await screen.findByText('lab-2 was added')).toBeTruthy();
    expect(service.asked('POST /api/ext/contexts').at(-1)?.body).toEqual({
      name: 'lab-2',
      kind: 'libvirt',
      settings: { uri: 'qemu+tls://lab/system' },
      despiteErrors: true,
    });
  });

  describe('of a context', () => {
    const PATCH = 'PATCH /api/ext/contexts/lab';
    const incus: ContextView = {
      ...added,
      kind: 'incus',
      settings: { address: 'https://lab:8443', fingerprint: 'ab'.repeat(32), project: 'web' },
    };
    const plan = {
      steps: [{ name: 'test context', detail: 'lab' }],
      warnings: ['It leads to another place.'],
      refusals: [],
    };
    const sent = () =>
      service
        .asked(PATCH)
        .filter(({ query }) => query.get('dryRun') !== 'true')
        .map(({ body }) => body);
    const openPanel = async (context: ContextView) => {
      view = { ...view, contexts: [configured, context] };
      const { user } = await openConsole('/settings', [], service);
      await user.click(await screen.findByRole('button', { name: 'Change lab' }));
      return { user, panel: within(await screen.findByRole(...PANEL)) };
    };

    test('change after their plan, and only those that were typed', async () => {
      service.on(PATCH, ({ query }: MockRequest) => ({
        body: query.get('dryRun') === 'true' ? plan : { context: incus, checks: [] },
      }));
      const { user, panel } = await openPanel(incus);
      expect((panel.getByLabelText(/^Address/) as HTMLInputElement).value).toBe('https://lab:8443');
      const button = panel.getByRole('button', { name: 'Change' });
      expect([button.hasAttribute('disabled'), panel.queryByText('Nothing has changed yet.') !== null]).toEqual([
        true,
        true,
      ]);
      await user.clear(panel.getByLabelText(/^Address/));
      await user.type(panel.getByLabelText(/^Address/), 'https://new:8443');
      await user.clear(panel.getByLabelText(/^Project/));
      expect(await panel.findByText('It leads to another place.')).toBeTruthy();
      expect(sent()).toEqual([]);
      await user.click(button);
      expect(await screen.findByText('lab was changed')).toBeTruthy();
      expect(sent()).toEqual([{ settings: { address: 'https://new:8443', project: null } }]);
      expect(screen.queryByRole(...PANEL)).toBeNull();
    });

    test('show no secret, keep it while its field is empty, and send a new one', async () => {
      service.on(PATCH, ({ query }: MockRequest) => ({
        body: query.get('dryRun') === 'true' ? plan : { context: added, checks: [] },
      }));
      const cluster = { ...added, kind: 'kubevirt', settings: { server: 'https://lab:6443', user: 'ann' } };
      const { user, panel } = await openPanel(cluster);
      const field = panel.getByLabelText(/^Kubeconfig/) as HTMLTextAreaElement;
      expect(field.value).toBe('');
      expect(panel.getByText('The present one is never shown. It is kept if this is empty.')).toBeTruthy();
      fireEvent.change(field, { target: { value: KUBECONFIG } });
      await user.click(panel.getByRole('button', { name: 'Change' }));
      expect(await screen.findByText('lab was changed')).toBeTruthy();
      expect(sent()).toEqual([{ settings: { kubeconfig: KUBECONFIG } }]);
      expect(JSON.stringify({ ...sessionStorage, ...localStorage })).not.toContain('hush');
    });

    test('say at the field that a secret must be given again, and why a test has failed', async () => {
      service.on(PATCH, ({ body, query }: MockRequest) => {
        const { settings, despiteErrors } = body as { settings: Record<string, string>; despiteErrors?: boolean };
        if (settings['trustToken'] === undefined)
          return { status: 400, body: { error: 'trustToken must be given again.', code: 'INVALID_INPUT' } };
        if (query.get('dryRun') === 'true') return { body: plan };
        if (despiteErrors) return { body: { context: incus, checks: [] } };
        const checks = [check('error', 'new:8443 does not accept a connection.', 'Start the server.')];
        return { status: 409, body: { error: 'The test failed.', code: 'CONFLICT', details: { checks } } };
      });
      const { user, panel } = await openPanel(incus);
      await user.type(panel.getByLabelText(/^Address/), '0');
      expect(await panel.findByText('trustToken must be given again.')).toBeTruthy();
      expect(panel.getByLabelText(/^Trust token/).getAttribute('aria-invalid')).toBe('true');
      await user.type(panel.getByLabelText(/^Trust token/), 'abc');
      expect(panel.queryByRole('button', { name: 'Change despite the errors' })).toBeNull();
      await user.click(panel.getByRole('button', { name: 'Change' }));
      expect(await panel.findByText('Start the server.')).toBeTruthy();
      await user.click(panel.getByRole('button', { name: 'Change despite the errors' }));
      expect(await screen.findByText('lab was changed')).toBeTruthy();
      expect(sent().at(-1)).toEqual({
        settings: { address: 'https://lab:84430', trustToken: 'abc' },
        despiteErrors: true,
      });
    });

    test('are not sent without a required one', async () => {
      const { user, panel } = await openPanel(added);
      await user.clear(panel.getByLabelText(/^URI/));
      expect(panel.getByText('Enter a value for URI.')).toBeTruthy();
      expect(panel.getByRole('button', { name: 'Change' }).hasAttribute('disabled')).toBe(true);
      await user.keyboard('{Enter}');
      expect(service.asked(PATCH)).toEqual([]);
    });
  });

  test('send nothing while a field has a problem, and show refusals of the service at their field', async () => {
    service.on('POST /api/ext/contexts/test', () => ({
      status: 400,
      body: { error: 'kubeconfig has the key exec, which is refused.', code: 'INVALID_INPUT' },
    }));
    const { user } = await openConsole('/settings', [], service);
    const fields = await form();
    await user.click(fields.getByRole('button', { name: 'Test' }));
    expect(fields.getByText('Enter a name.')).toBeTruthy();
    expect(fields.getByText('Enter a value for Kubeconfig.')).toBeTruthy();
    expect(service.asked('POST /api/ext/contexts/test')).toEqual([]);
    await user.type(fields.getByLabelText(/^Name/), 'far');
    fireEvent.change(fields.getByLabelText(/^Kubeconfig/), { target: { value: 'a' } });
    await user.click(fields.getByRole('button', { name: 'Test' }));
    expect(await fields.findByText(/which is refused/)).toBeTruthy();
    expect(fields.getByLabelText(/^Kubeconfig/).getAttribute('aria-invalid')).toBe('true');
    await user.selectOptions(fields.getByLabelText('Kind'), 'incus');
    await user.click(fields.getByRole('button', { name: 'Test' }));
    expect(fields.getByText('Enter an address or a socket.')).toBeTruthy();
    expect(service.asked('POST /api/ext/contexts/test')).toHaveLength(1);
  });

  test('keep their draft on another page, and no secret in the storage of the browser', async () => {
    const { user } = await openConsole('/settings', [], service);
    const fields = await form();
    await user.type(fields.getByLabelText(/^Name/), 'far');
    fireEvent.change(fields.getByLabelText(/^Kubeconfig/), { target: { value: KUBECONFIG } });
    await user.click(screen.getByRole('link', { name: /^Machines/ }));
    await user.click(screen.getByRole('link', { name: 'Settings' }));
    const again = await form();
    expect((again.getByLabelText(/^Name/) as HTMLInputElement).value).toBe('far');
    expect((again.getByLabelText(/^Kubeconfig/) as HTMLTextAreaElement).value).toBe(KUBECONFIG);
    expect(JSON.stringify({ ...sessionStorage, ...localStorage })).toContain('far');
    expect(JSON.stringify({ ...sessionStorage, ...localStorage })).not.toContain('hush');
  });

  test('have no form where contexts are not added', async () => {
    view = { ...view, refusal: 'Contexts are added here only from the machine of the service.' };
    await openConsole('/settings', [], service);
    expect(await screen.findByText(/only from the machine of the service/)).toBeTruthy();
    expect(screen.queryByRole('form', { name: 'New context' })).toBeNull();
    expect(screen.getByRole('button', { name: 'Remove lab' })).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Change lab' })).toBeNull();
  });
});
