import { screen, within } from '@testing-library/react';
import type { MessageChannelView, MessageRuleView, MessageView } from '@headgate/api-contracts';
import type { MockRequest, MockService } from '../testing/mock-service.js';
import { PANEL } from '../testing/panel.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const PATH = '/api/ext/messages';
const CHANNELS = `${PATH}/channels`;
const RULES = `${PATH}/rules`;
const PLAN = { steps: [{ name: 'step', detail: 'of the plan' }], warnings: [], refusals: [] };

const channel: MessageChannelView = {
  id: '3fa9c1e2-0000-4000-8000-000000000001',
  name: 'Night shift',
  kind: 'mail',
  shared: true,
  target: {
    host: 'mail.example.org',
    port: 587,
    security: 'starttls',
    user: 'headgate',
    from: 'headgate@example.org',
    recipients: ['ops@example.org'],
    server: null,
    topic: null,
    webhook: null,
    hasSecret: true,
  },
  createdAt: '2026-01-01T00:00:00.000Z',
};
const rule: MessageRuleView = {
  id: '3fa9c1e2-0000-4000-8000-000000000002',
  owner: 'ann',
  name: 'Production',
  enabled: true,
  channel: channel.id,
  kinds: ['instance.failed', 'context.lost'],
  minSeverity: 'error',
  folder: 'prod',
  delivery: 'immediately',
  digestAt: '07:00',
  timeZone: 'Europe/Berlin',
  quietHours: { from: '22:00', to: '06:00' },
  waitingEvents: 2,
  createdAt: '2026-01-01T00:00:00.000Z',
  changedAt: '2026-01-01T00:00:00.000Z',
};
const message: MessageView = {
  id: 'm1',
  rule: rule.id,
  ruleName: 'Production',
  channel: channel.id,
  status: 'failed',
  severity: 'error',
  subject: '[Headgate] web-1 failed',
  events: 1,
  isDigest: false,
  createdAt: '2026-01-01T00:00:00.000Z',
  endedAt: '2026-01-02T00:00:00.000Z',
  attempts: 9,
  nextAttemptAt: null,
  reason: '550 no such user',
};

const isPlanned = ({ query }: MockRequest): boolean => query.get('dryRun') === 'true';
const planned = (answer: object) => (request: MockRequest) => (isPlanned(request) ? { body: PLAN } : answer);

let service: MockService;
beforeEach(() => {
  service = givenService();
  service.on(`GET ${CHANNELS}`, [channel]);
  service.on(`GET ${RULES}`, [rule]);
  service.on(`GET ${PATH}`, [message]);
});
afterEach(() => closeConsole(service));

const open = () => openConsole('/messages', [], service);
const panel = async () => within(await screen.findByRole(...PANEL));
const formOf = async (name: string) => within(await screen.findByRole('form', { name }));
const bodies = (request: string) =>
  service
    .asked(request)
    .filter((one) => !isPlanned(one))
    .map(({ body }) => body);
const valueOf = (element: HTMLElement): string => (element as HTMLInputElement).value;

describe('the messages', () => {
  test('show their rules, channels and outcomes', async () => {
    await open();
    const rules = within(await screen.findByRole('table', { name: 'Rules' }));
    expect(rules.getByText('An instance failed, A context was lost')).toBeTruthy();
    expect(rules.getByText('Immediately, except from 22:00 to 06:00, Europe/Berlin')).toBeTruthy();
    expect(rules.getByText('Events that wait: 2')).toBeTruthy();
    expect(await rules.findByText('Night shift')).toBeTruthy();
    const channels = within(await screen.findByRole('table', { name: 'Channels' }));
    expect(channels.getByText('ops@example.org (mail.example.org:587)')).toBeTruthy();
    const sent = within(await screen.findByRole('table', { name: 'Sent messages' }));
    expect(sent.getByText('550 no such user').getAttribute('lang')).toBe('en');
    expect([sent.getByText('Failed'), sent.getByText('9 attempts')]).toHaveLength(2);
  });

  test('have rules that are created after their plan was shown, and keep their values when refused', async () => {
    let answer: object = { status: 409, body: { error: 'You have 20 rules already.', code: 'CONFLICT' } };
    service.on(`POST ${RULES}`, (request: MockRequest) => planned(answer)(request));
    const { user } = await open();
    const form = await formOf('New rule');
    await user.click(form.getByRole('button', { name: 'Show the plan' }));
    expect(service.asked(`POST ${RULES}`)).toEqual([]);
    await user.type(form.getByLabelText(/^Name/), 'Daily');
    await form.findByRole('option', { name: 'Night shift' });
    await user.selectOptions(form.getByLabelText(/^Channel/), 'Night shift');
    for (const kind of ['A context was lost', 'A health check found a problem', 'A run of a schedule failed'])
      await user.click(form.getByRole('checkbox', { name: kind }));
    await user.selectOptions(form.getByLabelText('Sends'), 'Once a day');
    await user.clear(form.getByLabelText(/^Time zone/));
    await user.type(form.getByLabelText(/^Time zone/), 'UTC');
    await user.click(form.getByRole('button', { name: 'Show the plan' }));
    const plan = await panel();
    await plan.findByText(/of the plan/);
    expect(bodies(`POST ${RULES}`)).toEqual([]);
    await user.click(plan.getByRole('button', { name: 'Create' }));
    expect(await plan.findByText('You have 20 rules already.')).toBeTruthy();
    expect(valueOf(form.getByLabelText(/^Name/))).toBe('Daily');
    answer = { status: 201, body: rule };
    await user.click(plan.getByRole('button', { name: 'Create' }));
    expect(await screen.findByText('Daily was created')).toBeTruthy();
    expect(bodies(`POST ${RULES}`).at(-1)).toEqual({
      name: 'Daily',
      channel: channel.id,
      enabled: true,
      kinds: ['instance.failed', 'task.failed'],
      minSeverity: 'warning',
      delivery: 'digest',
      digestAt: '07:00',
      timeZone: 'UTC',
    });
  });

  test('have rules whose quiet hours and folder are removed when their fields are empty', async () => {
    service.on(`PATCH ${RULES}/${rule.id}`, planned({ body: rule }));
    const { user } = await open();
    await user.click(await screen.findByRole('button', { name: 'Edit Production' }));
    const form = await formOf('Change Production');
    await user.clear(form.getByLabelText('Folder'));
    await user.clear(form.getByLabelText('Quiet hours from'));
    await user.click(form.getByRole('button', { name: 'Show the plan' }));
    expect(service.asked(`PATCH ${RULES}/${rule.id}`)).toEqual([]);
    await user.clear(form.getByLabelText('Quiet hours to'));
    await user.click(form.getByRole('button', { name: 'Show the plan' }));
    const plan = await panel();
    await plan.findByText(/of the plan/);
    await user.click(plan.getByRole('button', { name: 'Save changes' }));
    expect(await screen.findByText('Production was changed')).toBeTruthy();
    expect(bodies(`PATCH ${RULES}/${rule.id}`)).toEqual([
      expect.objectContaining({ folder: null, q: null, quietHours: null, kinds: rule.kinds, minSeverity: 'error' }),
    ]);
  });
});

describe('the channels of messages', () => {
  const refusal = 'mail.password: give it again, because host is another one; it is not sent to other servers.';

  test('keep a stored password, which another server needs again', async () => {
    service.on(`PATCH ${CHANNELS}/${channel.id}`, (request: MockRequest) => {
      const { host, password } = (request.body as { mail: { host: string; password?: string } }).mail;
      return host !== 'mail.example.org' && password === undefined
        ? { status: 400, body: { error: refusal, code: 'INVALID_INPUT' } }
        : planned({ body: channel })(request);
    });
    const { user } = await open();
    await user.click(await screen.findByRole('button', { name: 'Edit Night shift' }));
    const form = await formOf('Change Night shift');
    expect(valueOf(form.getByLabelText('Password'))).toBe('');
    await user.clear(form.getByLabelText(/^Mail server/));
    await user.type(form.getByLabelText(/^Mail server/), 'smtp.example.org');
    await user.click(form.getByRole('button', { name: 'Show the plan' }));
    const refused = await panel();
    expect(await refused.findByText(refusal)).toBeTruthy();
    await user.click(refused.getByRole('button', { name: 'Cancel' }));
    expect(valueOf(form.getByLabelText(/^Mail server/))).toBe('smtp.example.org');
    await user.type(form.getByLabelText('Password'), 'p4ssw0rd');
    await user.click(form.getByRole('button', { name: 'Show the plan' }));
    const plan = await panel();
    await plan.findByText(/of the plan/);
    await user.click(plan.getByRole('button', { name: 'Save changes' }));
    expect(await screen.findByText('Night shift was changed')).toBeTruthy();
    expect(bodies(`PATCH ${CHANNELS}/${channel.id}`)).toEqual([
      {
        name: 'Night shift',
        shared: true,
        mail: {
          host: 'smtp.example.org',
          port: 587,
          security: 'starttls',
          user: 'headgate',
          password: 'p4ssw0rd',
          from: 'headgate@example.org',
          recipients: ['ops@example.org'],
        },
      },
    ]);
    expect(document.body.innerHTML).not.toContain('p4ssw0rd');
  });

  test('of ntfy are created without a token, if none is typed', async () => {
    service.on(`POST ${CHANNELS}`, planned({ status: 201, body: channel }));
    const { user } = await open();
    const form = await formOf('New channel');
    await user.type(form.getByLabelText(/^Name/), 'Phones');
    await user.selectOptions(form.getByLabelText('Kind'), 'ntfy');
    await user.type(form.getByLabelText(/^Server/), 'https://ntfy.example.org');
    await user.type(form.getByLabelText(/^Topic/), 'ops');
    await user.click(form.getByRole('button', { name: 'Show the plan' }));
    const plan = await panel();
    await plan.findByText(/of the plan/);
    await user.click(plan.getByRole('button', { name: 'Create' }));
    expect(await screen.findByText('Phones was created')).toBeTruthy();
    expect(bodies(`POST ${CHANNELS}`)).toEqual([
      { name: 'Phones', shared: false, ntfy: { server: 'https://ntfy.example.org', topic: 'ops' } },
    ]);
  });

  test.each([
    [{ sent: true, reason: '' }, 'Night shift has accepted the test message'],
    [{ sent: false, reason: '535 wrong password' }, 'Night shift has not accepted the test'],
  ])('are tested, and the answer %j is shown', async (answer, title) => {
    service.on(`POST ${CHANNELS}/${channel.id}/test`, answer);
    const { user } = await open();
    await user.click(await screen.findByRole('button', { name: 'Test Night shift' }));
    expect(await screen.findByText(title)).toBeTruthy();
    if (answer.reason !== '') expect(screen.getByText(answer.reason)).toBeTruthy();
  });

  test('that a rule uses are not deleted, with the reason', async () => {
    const error = 'The channel Night shift is used by 1 rules; delete them first.';
    service.fails(`DELETE ${CHANNELS}/${channel.id}`, 409, error, 'CONFLICT');
    const { user } = await open();
    await user.click(await screen.findByRole('button', { name: 'Delete Night shift' }));
    expect(await (await panel()).findByText(error)).toBeTruthy();
    expect(bodies(`DELETE ${CHANNELS}/${channel.id}`)).toEqual([]);
  });

  test('are names only for a user who is no administrator, without a form', async () => {
    service.on('GET /api/whoami', { login: 'eve', name: 'Eve', admin: false, enforced: true });
    service.on(`GET ${CHANNELS}`, [{ ...channel, target: null }]);
    await open();
    const table = within(await screen.findByRole('table', { name: 'Channels' }));
    expect(table.getByText('Night shift')).toBeTruthy();
    expect(screen.queryByRole('form', { name: 'New channel' })).toBeNull();
    expect(table.queryByRole('button')).toBeNull();
    expect(screen.getByRole('form', { name: 'New rule' })).toBeTruthy();
  });
});
