import { screen, waitFor, within } from '@testing-library/react';
import type { AccessView, RoleAssignmentView } from '@headgate/api-contracts';
import { buildCapabilities, buildContext } from '../testing/build-capabilities.js';
import { buildVm } from '../testing/build-vm.js';
import type { MockRequest, MockService } from '../testing/mock-service.js';
import { PANEL } from '../testing/panel.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const PATH = '/api/ext/roles';
const QUESTION = 'GET /api/ext/access';
const PLAN = { steps: [{ name: 'step', detail: 'of the plan' }], warnings: [], refusals: [] };

const role: RoleAssignmentView = {
  id: '0a1b2c3d4e5f6071',
  source: 'assigned',
  subject: { group: 'web-team' },
  role: 'operator',
  scope: { folder: 'prod/web' },
  void: false,
  createdAt: '2026-01-01T00:00:00.000Z',
  createdBy: 'ann',
  version: 3,
};
const configured: RoleAssignmentView = {
  ...role,
  id: 'configuration-1',
  source: 'configuration',
  subject: { user: 'carl' },
  role: 'admin',
  scope: {},
  createdAt: null,
  createdBy: '',
  version: 0,
};

const isPlanned = ({ query }: MockRequest): boolean => query.get('dryRun') === 'true';
const refusal = (error: string) => ({ status: 409, body: { error, code: 'CONFLICT' } });

let service: MockService;
beforeEach(() => {
  service = givenService();
  service.on(`GET ${PATH}`, [configured, role]);
  service.on('GET /api/capabilities', buildCapabilities([buildContext({ context: 'lab' })]));
  service.on('GET /api/folders', { folders: [{ path: 'prod/web' }], unfoldered: { running: 0, total: 0 } });
});
afterEach(() => closeConsole(service));

const open = () => openConsole('/access', [buildVm()], service);
const panel = async () => within(await screen.findByRole(...PANEL));
const newRole = async () => within(await screen.findByRole('form', { name: 'New role' }));
const sent = (request: string) => service.asked(request).filter((one) => !isPlanned(one));

describe('the roles', () => {
  test('show who may do what, where, and since when, and mark those whose place is gone', async () => {
    service.on(`GET ${PATH}`, [configured, { ...role, void: true, scope: { context: 'old' } }]);
    await open();
    const table = within(await screen.findByRole('table', { name: 'Roles' }));
    const rows = table.getAllByRole('row').slice(1);
    expect(rows.map((row) => [...row.children].slice(0, 4).map((cell) => cell.textContent))).toEqual([
      ['User carl', 'Administrator', 'Everywhere', 'Configuration file'],
      [
        'Group web-team',
        'Operator',
        'In the context oldVoid The place does not exist any more, so the role gives no rights.',
        'Assigned',
      ],
    ]);
    expect(within(rows[1]!).getByText('ann')).toBeTruthy();
  });

  test('of the configuration can not be changed, with the reason', async () => {
    const { user } = await open();
    for (const action of ['Change', 'Remove']) {
      const button = await screen.findByRole('button', { name: `${action} the role of User carl: Everywhere` });
      expect(button.getAttribute('aria-disabled')).toBe('true');
      expect(document.getElementById(button.getAttribute('aria-describedby')!)?.textContent).toContain(
        'in the configuration file',
      );
      await user.click(button);
    }
    expect(screen.queryByRole(...PANEL)).toBeNull();
  });

  test('are assigned after their plan was shown', async () => {
    service.on(`POST ${PATH}`, (request: MockRequest) =>
      isPlanned(request) ? { body: PLAN } : { status: 201, body: role },
    );
    const { user } = await open();
    const form = await newRole();
    await user.click(form.getByRole('button', { name: 'Show the plan' }));
    expect(service.asked(`POST ${PATH}`)).toEqual([]);
    await user.selectOptions(form.getByLabelText('Who'), 'A group');
    await user.type(form.getByLabelText(/^Group/), ' web-team ');
    await user.selectOptions(form.getByLabelText('Role'), 'Operator');
    await user.selectOptions(form.getByLabelText('Where'), 'In a folder and those in it');
    await user.type(form.getByLabelText(/^Folder/), 'prod/web');
    await user.click(form.getByRole('button', { name: 'Show the plan' }));
    const plan = await panel();
    expect(await plan.findByText(/of the plan/)).toBeTruthy();
    expect(sent(`POST ${PATH}`)).toEqual([]);
    const before = service.asked(`GET ${PATH}`).length;
    await user.click(plan.getByRole('button', { name: 'Assign' }));
    expect(await screen.findByText('Group web-team has the role now')).toBeTruthy();
    expect(sent(`POST ${PATH}`).map(({ body }) => body)).toEqual([
      { subject: { group: 'web-team' }, role: 'operator', scope: { folder: 'prod/web' } },
    ]);
    expect(service.asked(`GET ${PATH}`).length).toBeGreaterThan(before);
    expect((form.getByLabelText(/^Login/) as HTMLInputElement).value).toBe('');
  });

  test.each([
    ['the plan', () => true],
    ['the assignment', (request: MockRequest) => !isPlanned(request)],
  ])('keep the values of the form, and show the reason, when %s is refused', async (_what, isRefused) => {
    const reason = 'With the first role, roles are on, and you would lose all rights.';
    service.on(`POST ${PATH}`, (request: MockRequest) => (isRefused(request) ? refusal(reason) : { body: PLAN }));
    const { user } = await open();
    const form = await newRole();
    await user.type(form.getByLabelText(/^Login/), 'bob');
    await user.selectOptions(form.getByLabelText('Where'), 'In a context');
    await user.selectOptions(form.getByLabelText(/^Context/), 'lab');
    await user.click(form.getByRole('button', { name: 'Show the plan' }));
    const plan = await panel();
    const assign = plan.getByRole('button', { name: 'Assign' });
    if (!isRefused({ query: new URLSearchParams({ dryRun: 'true' }) } as MockRequest)) {
      await plan.findByText(/of the plan/);
      await user.click(assign);
    }
    expect(await plan.findByText(reason)).toBeTruthy();
    await user.click(plan.getByRole('button', { name: 'Cancel' }));
    expect((form.getByLabelText(/^Login/) as HTMLInputElement).value).toBe('bob');
    expect((form.getByLabelText(/^Context/) as HTMLSelectElement).value).toBe('lab');
  });

  test('are changed with the version that was read', async () => {
    service.on(`PATCH ${PATH}/${role.id}`, (request: MockRequest) => ({
      body: isPlanned(request) ? PLAN : { ...role, role: 'viewer', version: 4 },
    }));
    const { user } = await open();
    await user.click(
      await screen.findByRole('button', { name: 'Change the role of Group web-team: In the folder prod/web' }),
    );
    const plan = await panel();
    await user.selectOptions(plan.getByLabelText('Role'), 'Viewer');
    await waitFor(() =>
      expect(service.asked(`PATCH ${PATH}/${role.id}`).at(-1)?.body).toMatchObject({ role: 'viewer' }),
    );
    await plan.findByText(/of the plan/);
    expect(sent(`PATCH ${PATH}/${role.id}`)).toEqual([]);
    await user.click(plan.getByRole('button', { name: 'Change' }));
    expect(await screen.findByText('The role of Group web-team was changed')).toBeTruthy();
    expect(sent(`PATCH ${PATH}/${role.id}`).map(({ body }) => body)).toEqual([{ role: 'viewer', version: 3 }]);
  });

  test('that another user has changed meanwhile need a new plan, for the version that is there now', async () => {
    let stored = role;
    service.on(`GET ${PATH}`, () => ({ body: [stored] }));
    service.on(`PATCH ${PATH}/${role.id}`, (request: MockRequest) => {
      if ((request.body as { version: number }).version !== stored.version)
        return refusal('The role was changed by another request meanwhile; read it again.');
      return { body: isPlanned(request) ? PLAN : stored };
    });
    const { user } = await open();
    await user.click(await screen.findByRole('button', { name: /^Change the role of Group web-team/ }));
    const plan = await panel();
    await plan.findByText(/of the plan/);
    stored = { ...role, role: 'admin', version: 4 };
    await user.click(plan.getByRole('button', { name: 'Change' }));
    expect(await plan.findByText(/changed by another request meanwhile/)).toBeTruthy();
    expect(await plan.findByText('Group web-team changed since this plan was created')).toBeTruthy();
    expect((plan.getByRole('button', { name: 'Change' }) as HTMLButtonElement).disabled).toBe(true);
    await user.click(plan.getByRole('button', { name: /again/ }));
    await waitFor(() =>
      expect((plan.getByRole('button', { name: 'Change' }) as HTMLButtonElement).disabled).toBe(false),
    );
    await user.click(plan.getByRole('button', { name: 'Change' }));
    expect(await screen.findByText('The role of Group web-team was changed')).toBeTruthy();
    expect(sent(`PATCH ${PATH}/${role.id}`).map(({ body }) => body)).toEqual([
      { role: 'operator', version: 3 },
      { role: 'operator', version: 4 },
    ]);
  });

  test('are removed after their plan was shown, and the last administrator stays, with the reason', async () => {
    const reason = 'No user would be an administrator any more. Assign the role admin everywhere to a user first.';
    let answer: object = refusal(reason);
    service.on(`DELETE ${PATH}/${role.id}`, (request: MockRequest) =>
      isPlanned(request) ? answer : { body: { status: 'removed' } },
    );
    const { user } = await open();
    await user.click(await screen.findByRole('button', { name: /^Remove the role of Group web-team/ }));
    const plan = await panel();
    expect(await plan.findByText(reason)).toBeTruthy();
    expect((plan.getByRole('button', { name: 'Remove' }) as HTMLButtonElement).disabled).toBe(true);
    answer = { body: PLAN };
    await user.click(plan.getByRole('button', { name: 'Try again' }));
    await plan.findByText(/of the plan/);
    await user.click(plan.getByRole('button', { name: 'Remove' }));
    expect(await screen.findByText('The role of Group web-team was removed')).toBeTruthy();
    expect(sent(`DELETE ${PATH}/${role.id}`)).toHaveLength(1);
  });
});

const answered: AccessView = {
  group: 'web-team',
  object: 'vm/prod/tailvm/web-1',
  answers: [
    { action: 'power', allowed: true, by: 'role', role },
    { action: 'delete', allowed: false, by: 'role', refusal: 'This needs the role admin.' },
    { action: 'manage', allowed: false, by: 'default' },
  ],
};

describe('the question who may do what', () => {
  test('is answered with the role that decides', async () => {
    service.on(QUESTION, answered);
    const { user } = await open();
    const form = within(await screen.findByRole('form', { name: 'Who may do this, and why?' }));
    expect(service.asked(QUESTION)).toEqual([]);
    await user.selectOptions(form.getByLabelText('Who'), 'A group');
    await user.type(form.getByLabelText(/^Group/), 'web-team');
    await user.selectOptions(form.getByLabelText('With what'), 'An instance');
    await user.type(form.getByLabelText(/^Instance/), 'vm/prod/tailvm');
    await user.click(form.getByRole('button', { name: 'Show the answer' }));
    expect(service.asked(QUESTION)).toEqual([]);
    await user.type(form.getByLabelText(/^Instance/), '/web-1');
    await user.click(form.getByRole('button', { name: 'Show the answer' }));
    const table = within(await screen.findByRole('table', { name: 'Rights' }));
    expect(screen.getByText('Group web-team, with vm/prod/tailvm/web-1:')).toBeTruthy();
    const rows = table.getAllByRole('row').slice(1);
    expect(rows.map((row) => [...row.children].map((cell) => cell.textContent))).toEqual([
      ['Start and stop', 'Yes', 'Operator · Group web-team · In the folder prod/web'],
      ['Delete', 'No', 'No role permits thisThis needs the role admin.'],
      ['Manage the service', 'No', 'The rights of everyone'],
    ]);
    expect(service.asked(QUESTION).map(({ query }) => Object.fromEntries(query))).toEqual([
      { group: 'web-team', kind: 'vm', context: 'prod', ns: 'tailvm', name: 'web-1' },
    ]);
  });

  test('keeps the values of the form when it is refused', async () => {
    service.fails(QUESTION, 404, 'There is no folder lost.', 'FOLDER_NOT_FOUND');
    const { user } = await open();
    const form = within(await screen.findByRole('form', { name: 'Who may do this, and why?' }));
    await user.type(form.getByLabelText(/^Login/), 'bob');
    await user.selectOptions(form.getByLabelText('With what'), 'A folder');
    await user.type(form.getByLabelText(/^Folder/), 'lost');
    await user.click(form.getByRole('button', { name: 'Show the answer' }));
    expect(await screen.findByText('There is no folder lost.')).toBeTruthy();
    expect((form.getByLabelText(/^Login/) as HTMLInputElement).value).toBe('bob');
    expect((form.getByLabelText(/^Folder/) as HTMLInputElement).value).toBe('lost');
    expect(service.asked(QUESTION).map(({ query }) => query.toString())).toContain('user=bob&folder=lost');
  });

  test.each([
    ['a viewer', { login: 'eve', name: 'Eve', admin: false, enforced: true }],
    [
      'an administrator of a folder',
      { login: 'eve', name: 'Eve', admin: true, enforced: true, roles: [{ folder: 'prod', role: 'admin' }] },
    ],
  ])('is about %s themselves, who see no roles and no form to assign one', async (_who, whoami) => {
    service.on('GET /api/whoami', whoami);
    service.on(QUESTION, { user: 'eve', object: '', answers: answered.answers });
    await open();
    expect(await screen.findByText('User eve, with everything:')).toBeTruthy();
    expect(screen.queryByRole('form', { name: 'New role' })).toBeNull();
    expect(screen.queryByLabelText('Who')).toBeNull();
    expect(screen.queryByRole('table', { name: 'Roles' })).toBeNull();
    expect(service.asked(`GET ${PATH}`)).toEqual([]);
    expect(service.asked(QUESTION).map(({ query }) => query.toString())).toEqual(['']);
  });
});
