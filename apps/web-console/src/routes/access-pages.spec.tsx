import { jest } from '@jest/globals';
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import type { JournalEntryView, JournalSummaryView, TokenView, WebhookView } from '@headgate/api-contracts';
import type { MockService, MockStream } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';
import { PANEL } from '../testing/panel.js';

let service: MockService;
beforeEach(() => (service = givenService()));
afterEach(() => closeConsole(service));

const entry = (number: number, overrides: Partial<JournalEntryView> = {}): JournalEntryView => ({
  number,
  time: '2026-01-01T10:00:00.000Z',
  caller: 'ann',
  token: '',
  address: '192.0.2.7',
  kind: 'action',
  action: 'stop',
  route: 'POST /api/vms/:ns/:name/:action',
  ref: 'vm/prod/tailvm/web-1',
  outcome: 'ok',
  status: null,
  code: '',
  message: '',
  ...overrides,
});

const token: TokenView = {
  id: 'abcdefghij',
  name: 'ci',
  creator: 'ann',
  actions: ['read', 'power'],
  scope: { folder: 'prod/web', q: 'web' },
  addresses: [],
  device: false,
  createdAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-04-01T00:00:00.000Z',
  expired: false,
  lastUsedAt: null,
};

describe('the journal', () => {
  const summary: JournalSummaryView = {
    entries: 3,
    failed: 1,
    denied: 1,
    objects: 1,
    callers: [
      { caller: 'ann', token: '', entries: 2 },
      { caller: 'ann', token: 'abcdefghij', entries: 1 },
    ],
  };
  beforeEach(() => service.on('GET /api/ext/journal/summary', summary));

  test('counts the entries of each caller, shows theirs only, and keeps its filters in the address', async () => {
    const queries: string[] = [];
    service.on('GET /api/ext/journal', ({ query }: { query: URLSearchParams }) => {
      query.delete('limit');
      queries.push(query.toString());
      return { body: [entry(1)] };
    });
    const { user } = await openConsole(
      '/journal?action=stop&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z',
      [],
      service,
    );
    const callers = within(await screen.findByRole('group', { name: 'Callers' }));
    expect(screen.getByText('3 entries about 1 object, 1 failed, 1 denied')).toBeTruthy();
    await user.click(callers.getByRole('button', { name: 'ann, token abcdefghij 1' }));
    await waitFor(() =>
      expect(queries.at(-1)).toBe(
        'caller=ann&token=abcdefghij&action=stop&since=2026-01-01T00%3A00%3A00.000Z&until=2026-01-02T00%3A00%3A00.000Z',
      ),
    );
    expect(location.hash).toContain('user=ann&token=abcdefghij');
    await user.click(callers.getByRole('button', { name: 'All 3' }));
    expect(location.hash).not.toContain('user');
    await user.clear(screen.getByLabelText('From'));
    await waitFor(() => expect(queries.at(-1)).toBe('action=stop'));
    fireEvent.change(screen.getByLabelText('To'), { target: { value: '2026-01-03T00:00' } });
    const to = new Date('2026-01-03T00:00');
    await waitFor(() => expect(new URLSearchParams(queries.at(-1)).get('until')).toBe(to.toISOString()));
    expect(new URLSearchParams(queries.at(-1)).get('since')).toBe(new Date(to.getTime() - 86_400_000).toISOString());
  });

  test('lists who did what, loads older entries, and filters', async () => {
    service.on('GET /api/ext/journal', ({ query }: { query: URLSearchParams }) => {
      if (query.get('outcome') === 'denied')
        return { body: [entry(1, { caller: 'eve', outcome: 'denied', status: 403, code: 'NOT_PERMITTED' })] };
      return query.get('cursor') === '2'
        ? { body: [entry(1, { action: 'create token', ref: 'token/ci', token: 'abcdefghij' })] }
        : { body: [entry(2)], headers: { 'svc-cursor': '2' } };
    });
    const { user } = await openConsole('/journal', [], service);
    const table = await screen.findByRole('table', { name: 'Journal' });
    expect(within(table).getByRole('link', { name: 'vm/prod/tailvm/web-1' }).getAttribute('href')).toContain(
      '/vms/prod/tailvm/web-1',
    );
    await user.click(screen.getByRole('button', { name: 'Load older entries' }));
    expect(await screen.findByText('token/ci')).toBeTruthy();
    expect(screen.getByText(/API token abcdefghij/)).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Load older entries' })).toBeNull();
    await user.selectOptions(screen.getByRole('combobox', { name: 'Outcome' }), 'Denied');
    const code = await screen.findByText('403 NOT_PERMITTED');
    expect(code.closest('tr')?.textContent).toContain('Denied');
  });

  describe('follows the journal', () => {
    const journalStreams = (): MockStream[] => service.streams.filter(({ url }) => url.startsWith('/api/ext/journal/'));
    let count: number;

    beforeEach(() => {
      jest.useFakeTimers({ advanceTimers: true });
      count = 1;
      service.on('GET /api/ext/journal', () => ({ body: [entry(count)] }));
    });
    afterEach(() => jest.useRealTimers());

    const pass = (ms: number): Promise<void> => act(async () => void jest.advanceTimersByTime(ms));
    const asked = (): number => service.asked('GET /api/ext/journal').length;

    test('and reads entries that match, many at once, and continues after a loss', async () => {
      await openConsole('/journal?action=STO', [], service);
      await screen.findByRole('table', { name: 'Journal' });
      const before = asked();
      const [stream] = journalStreams();
      stream?.emit('ready', {}, '1');
      for (count = 2; count < 50; count++) stream?.emit('entry', entry(count, { action: 'stop' }), String(count));
      await pass(1_100);
      expect(asked()).toBe(before + 1);
      stream?.emit('entry', entry(50, { action: 'start' }), '50');
      await pass(1_100);
      expect(asked()).toBe(before + 1);
      stream?.break();
      await pass(11_100);
      expect(asked()).toBe(before + 2);
      const [, second] = journalStreams();
      expect([stream?.closed, second?.url]).toEqual([true, '/api/ext/journal/stream?lastEventId=50']);
      await act(async () => void (location.hash = '#/tokens'));
      await waitFor(() => expect(second?.closed).toBe(true));
    });

    test('but not a span that ends', async () => {
      await openConsole('/journal?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z', [], service);
      await screen.findByRole('table', { name: 'Journal' });
      expect(journalStreams()).toEqual([]);
    });
  });

  test('shows why it could not be loaded', async () => {
    service.fails('GET /api/ext/journal', 403, 'Reading the journal is for administrators.');
    service.fails('GET /api/ext/journal/summary', 403, 'Reading the journal is for administrators.');
    await openConsole('/journal', [], service);
    expect(await screen.findByText(/is for administrators/)).toBeTruthy();
  });
});

describe('API tokens', () => {
  test('are listed, created, shown once, and revoked after a look at the plan', async () => {
    service.on('GET /api/ext/tokens', [token]).on('GET /api/ext/webhooks', []);
    service.on('POST /api/ext/tokens', () => ({
      status: 201,
      body: { ...token, id: 'klmnopqrst', name: 'deploy', token: 'hgt_example' },
    }));
    service.on('DELETE /api/ext/tokens/abcdefghij', ({ query }: { query: URLSearchParams }) =>
      query.get('dryRun') === 'true'
        ? { body: { steps: [{ name: 'revoke token', detail: 'ci' }], warnings: [], refusals: [] } }
        : { body: { status: 'revoked' } },
    );
    const { user } = await openConsole('/integrations', [], service);
    expect(await screen.findByText('in prod/web matching "web"')).toBeTruthy();
    const form = within(screen.getByRole('form', { name: 'New API token' }));
    await user.type(form.getByRole('textbox', { name: 'Name' }), 'deploy');
    await user.type(form.getByRole('textbox', { name: 'Folder' }), 'prod');
    await user.click(form.getByRole('checkbox', { name: 'Start and stop' }));
    await user.click(form.getByRole('button', { name: 'Create token' }));
    expect(await screen.findByText('hgt_example')).toBeTruthy();
    expect(service.asked('POST /api/ext/tokens')[0]?.body).toEqual({
      name: 'deploy',
      actions: ['read', 'power'],
      scope: { folder: 'prod' },
      days: 90,
    });
    await user.click(screen.getByRole('button', { name: /Dismiss/ }));
    expect(screen.queryByText('hgt_example')).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Revoke ci' }));
    const dialog = within(await screen.findByRole(...PANEL));
    await user.click(await dialog.findByRole('button', { name: 'Revoke' }));
    expect(await screen.findByText('ci was revoked')).toBeTruthy();
  });

  test('for agents show their leash, and are created with one, for some addresses only', async () => {
    const agent = { changesPerHour: 10, maxPercentOfFolder: 50, approval: 'all' } as const;
    const leashed: TokenView = { ...token, name: 'helper', agent, stopped: false, addresses: ['10.0.0.0/8', '::1'] };
    service.on('GET /api/ext/tokens', [leashed]).on('GET /api/ext/webhooks', []);
    service.on('POST /api/ext/tokens', () => ({ status: 201, body: { ...leashed, id: 'k', token: 'hgt_example' } }));
    const { user } = await openConsole('/integrations', [], service);
    const row = (await screen.findByText('helper')).closest('tr')?.textContent;
    expect(row).toContain('Agent: 10 changes an hour, 50% of a folder. Approval by a user: All commits');
    expect(row).toContain('Only from 10.0.0.0/8, ::1');
    const form = within(screen.getByRole('form', { name: 'New API token' }));
    await user.type(form.getByRole('textbox', { name: 'Name' }), 'agent');
    await user.type(form.getByRole('textbox', { name: 'Addresses' }), '192.0.2.7, 10.0.0.0/8');
    await user.click(form.getByRole('checkbox', { name: /^For an agent/ }));
    const percent = form.getByRole('textbox', { name: 'Most of a folder (%)' });
    await user.clear(percent);
    await user.type(percent, '101');
    const create = () => form.getByRole('button', { name: 'Create token' });
    expect(create().getAttribute('aria-disabled')).toBe('true');
    await user.clear(percent);
    await user.type(percent, '10');
    await user.selectOptions(form.getByRole('combobox', { name: 'Approval by a user' }), 'All commits');
    await user.click(create());
    expect(await screen.findByText('hgt_example')).toBeTruthy();
    expect(service.asked('POST /api/ext/tokens')[0]?.body).toEqual({
      name: 'agent',
      actions: ['read'],
      scope: {},
      addresses: ['192.0.2.7', '10.0.0.0/8'],
      days: 90,
      agent: { changesPerHour: 20, maxPercentOfFolder: 10, approval: 'all' },
    });
  });

  test.each([
    [false, 'Stop helper', 'Stop', 'stop', 'helper was stopped'],
    [true, 'Let helper continue', 'Continue', 'resume', 'helper continues'],
  ] as const)(
    'of an agent (stopped: %p) have a button that asks first: %s',
    async (stopped, name, label, action, done) => {
      const agent = { changesPerHour: 10, maxPercentOfFolder: 50, approval: 'all' } as const;
      service.on('GET /api/ext/tokens', [{ ...token, name: 'helper', agent, stopped }]).on('GET /api/ext/webhooks', []);
      service.on(`POST /api/ext/agents/${action}`, ({ query }: { query: URLSearchParams }) => ({
        body:
          query.get('dryRun') === 'true'
            ? { steps: [{ name: 'switch', detail: 'helper' }], warnings: [], refusals: [] }
            : { tokens: [token.id], canceled: 0 },
      }));
      const { user } = await openConsole('/integrations', [], service);
      await user.click(await screen.findByRole('button', { name }));
      const panel = within(await screen.findByRole(...PANEL));
      await user.click(await panel.findByRole('button', { name: label }));
      expect(await screen.findByText(done)).toBeTruthy();
      const [preview, request] = service.asked(`POST /api/ext/agents/${action}`);
      expect([preview?.body, request?.body]).toEqual([{ token: token.id }, { token: token.id }]);
    },
  );

  test('are rotated after a look at the plan, and the new secret is shown once', async () => {
    service.on('GET /api/ext/tokens', [token, { ...token, id: 'klmnopqrst', name: 'old', expired: true }]);
    service.on('GET /api/ext/webhooks', []);
    service.on('POST /api/ext/tokens/abcdefghij/rotate', ({ query }: { query: URLSearchParams }) =>
      query.get('dryRun') === 'true'
        ? { body: { steps: [{ name: 'rotate token', detail: 'ci gets a new secret' }], warnings: [], refusals: [] } }
        : { body: { ...token, token: 'hgt_rotated' } },
    );
    const { user } = await openConsole('/integrations', [], service);
    expect((await screen.findByRole('button', { name: 'Rotate old' })).getAttribute('aria-disabled')).toBe('true');
    await user.click(screen.getByRole('button', { name: 'Rotate ci' }));
    const panel = within(await screen.findByRole(...PANEL));
    expect(await panel.findByText('ci gets a new secret')).toBeTruthy();
    expect(screen.queryByText('hgt_rotated')).toBeNull();
    await user.click(panel.getByRole('button', { name: 'Rotate' }));
    expect(await screen.findByText('hgt_rotated')).toBeTruthy();
    expect(screen.getByText('Copy the token of ci now: it is not shown again.')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: /Dismiss/ }));
    expect(screen.queryByText('hgt_rotated')).toBeNull();
  });

  test('have pages in the navigation of administrators only', async () => {
    const { user } = await openConsole('/vms', [], service);
    expect(await screen.findByRole('link', { name: 'Integrations' })).toBeTruthy();
    await user.click(screen.getByRole('link', { name: 'Activity' }));
    expect(await screen.findByRole('link', { name: /^Journal/ })).toBeTruthy();
  });

  test('have none for a user with roles in folders', async () => {
    service.on('GET /api/whoami', {
      login: 'olga',
      name: '',
      admin: true,
      enforced: true,
      trust: 'users',
      roles: [{ folder: 'prod', role: 'admin' }],
    });
    const { user } = await openConsole('/activity', [], service);
    expect(await screen.findByText('prod up')).toBeTruthy();
    expect(await screen.findByRole('heading', { name: 'Activity', level: 1 })).toBeTruthy();
    expect(screen.queryByRole('link', { name: /^Journal/ })).toBeNull();
    // Their webhooks are there, but no tokens.
    service.on('GET /api/ext/webhooks', []);
    await user.click(screen.getByRole('link', { name: 'Integrations' }));
    expect(await screen.findByText('No webhooks yet')).toBeTruthy();
    expect(screen.queryByRole('region', { name: 'API tokens' })).toBeNull();
    expect(service.asked('GET /api/ext/tokens')).toEqual([]);
  });
});

describe('webhooks', () => {
  const webhook: WebhookView = {
    id: '0123456789ab',
    name: 'chat',
    url: 'https://chat.example.org/hook',
    events: ['task.ended'],
    scope: { folder: 'prod', kind: 'vm' },
    creator: 'ann',
    createdAt: '2026-01-01T00:00:00.000Z',
    disabled: true,
    attempts: 9,
    nextAttemptAt: null,
    lastError: 'The receiver answered with status 500.',
    lastDeliveredAt: null,
    missed: 3,
  };
  const plan = (name: string) => ({ steps: [{ name, detail: 'chat' }], warnings: [], refusals: [] });

  test('are listed with their problem, retried, created with the secret shown once, and deleted', async () => {
    service.on('GET /api/ext/tokens', []).on('GET /api/ext/webhooks', [webhook]);
    service.on('POST /api/ext/webhooks/0123456789ab/replay', ({ query }: { query: URLSearchParams }) => ({
      body: query.get('dryRun') === 'true' ? plan('replay events') : { status: 'ok' },
    }));
    service.on('DELETE /api/ext/webhooks/0123456789ab', ({ query }: { query: URLSearchParams }) => ({
      body: query.get('dryRun') === 'true' ? plan('delete webhook') : { status: 'deleted' },
    }));
    service.on('POST /api/ext/webhooks', () => ({
      status: 201,
      body: { ...webhook, id: 'ba9876543210', name: 'mail', secret: 'whsec_example' },
    }));
    const { user } = await openConsole('/integrations', [], service);
    expect(
      await screen.findByText('Disabled: The receiver answered with status 500. 3 events were dropped.'),
    ).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Retry chat' }));
    await user.click(await within(await screen.findByRole(...PANEL)).findByRole('button', { name: 'Retry' }));
    expect(await screen.findByText('chat is being retried')).toBeTruthy();
    const form = within(screen.getByRole('form', { name: 'New webhook' }));
    await user.type(form.getByRole('textbox', { name: 'Name of the new webhook' }), 'mail');
    await user.type(form.getByRole('textbox', { name: 'URL' }), 'https://mail.example.org/');
    await user.click(form.getByRole('checkbox', { name: 'An instance changed' }));
    await user.click(form.getByRole('button', { name: 'Create webhook' }));
    expect(await screen.findByText('whsec_example')).toBeTruthy();
    expect(service.asked('POST /api/ext/webhooks')[0]?.body).toEqual({
      name: 'mail',
      url: 'https://mail.example.org/',
      events: ['task.ended', 'instance.changed'],
    });
    await user.click(screen.getByRole('button', { name: 'Delete chat' }));
    await user.click(await within(await screen.findByRole(...PANEL)).findByRole('button', { name: 'Delete' }));
    expect(await screen.findByText('chat was deleted')).toBeTruthy();
  });

  test('show their owner and scope, are rotated with the secret shown once, tested, and get another scope', async () => {
    const paused = 'ann has no right to read any instance.';
    const active = { ...webhook, disabled: false, lastError: '', missed: 0, paused };
    service.on('GET /api/ext/tokens', []).on('GET /api/ext/webhooks', [active]);
    service.on('POST /api/ext/webhooks/0123456789ab/rotate', ({ query }: { query: URLSearchParams }) => ({
      body: query.get('dryRun') === 'true' ? plan('rotate webhook') : { ...active, secret: 'whsec_another' },
    }));
    service.on('POST /api/ext/webhooks/0123456789ab/test', () => ({
      body: { result: 'failed', reason: 'The receiver answered with status 404.' },
    }));
    service.on('PATCH /api/ext/webhooks/0123456789ab', () => ({ body: active }));
    const { user } = await openConsole('/integrations', [], service);
    const row = within(await screen.findByRole('row', { name: /chat/ }));
    for (const text of [`Paused: ${paused}`, 'virtual machines in prod', 'ann'])
      expect(row.getByText(text)).toBeTruthy();
    await user.click(row.getByRole('button', { name: 'Rotate the secret of chat' }));
    await user.click(await within(await screen.findByRole(...PANEL)).findByRole('button', { name: 'Rotate' }));
    expect(await screen.findByText('whsec_another')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Test chat' }));
    expect(await screen.findByText('The receiver answered with status 404.')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Change the scope of chat' }));
    const form = within(screen.getByRole('form', { name: 'Scope of chat' }));
    await user.clear(form.getByRole('textbox', { name: 'Folder' }));
    await user.type(form.getByRole('textbox', { name: 'Search words' }), 'web');
    await user.click(form.getByRole('button', { name: 'Save' }));
    expect(service.asked('PATCH /api/ext/webhooks/0123456789ab')[0]?.body).toEqual({ scope: { kind: 'vm', q: 'web' } });
  });
});
