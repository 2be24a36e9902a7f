import { screen, waitFor, within } from '@testing-library/react';
import { buildContext, buildCapabilities } from '../testing/build-capabilities.js';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockAnswer, MockRequest, MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';
import { PANEL } from '../testing/panel.js';

describe('the list of VMs', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  const web = buildVm({ name: 'web-1', tags: ['shop'] });
  const db = buildStoppedVm({ name: 'db-1' });
  const table = () => screen.getByRole('grid', { name: 'Virtual machines' });
  const names = () =>
    within(table())
      .getAllByRole('link')
      .map(({ textContent }) => textContent);

  test('shows each VM with its status, and follows the stream', async () => {
    const { receive } = await openConsole('/vms', [web, db], service);
    expect(names()).toEqual(['db-1', 'web-1']);
    const row = within(table()).getByRole('row', { name: /web-1/ });
    expect(row.textContent).toContain('Running');
    expect(row.textContent).toContain('10.0.0.7');
    await receive(() => service.stream.emit('changed', { ...web, status: 'Paused' }));
    await waitFor(() => expect(within(table()).getByRole('row', { name: /web-1/ }).textContent).toContain('Paused'));
    await receive(() => service.stream.emit('removed', { ref: db.ref }));
    await waitFor(() => expect(names()).toEqual(['web-1']));
  });

  test('renders only the visible rows of 10,000 VMs, and shows the total', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => buildVm({ name: `vm-${index}` }));
    await openConsole('/vms', many, service);
    expect(table().getAttribute('aria-rowcount')).toBe('10001');
    expect(names().length).toBeLessThan(100);
    expect(screen.getByText('10,000 VMs')).toBeTruthy();
  });

  describe('while it is loading', () => {
    const givenFirstRows = (): MockService =>
      service.on('GET /api/vms', ({ query }: MockRequest) => ({
        body: query.get('sort') === 'name' && query.get('limit') === '60' ? [db] : [],
      }));

    test('shows its first rows without a total, and then everything', async () => {
      givenFirstRows();
      const { receive } = await openConsole('/vms', undefined, service);
      await waitFor(() => expect(names()).toEqual(['db-1']));
      expect(screen.getByText('Loading all VMs')).toBeTruthy();
      expect(screen.queryByText('1 VM')).toBeNull();
      expect(screen.queryByRole('button', { name: /Export/ })).toBeNull();
      await receive(() => service.stream.snapshot([web, db]));
      await waitFor(() => expect(names()).toEqual(['db-1', 'web-1']));
      expect(screen.getByText('2 VMs')).toBeTruthy();
      expect(screen.queryByText('Loading all VMs')).toBeNull();
    });

    test.each(['q=web', 'status=Running', 'sort=-name', 'sort=cpu'])(
      'shows no rows of another search or order: %s',
      async (query) => {
        givenFirstRows();
        await openConsole(`/vms?${query}`, undefined, service);
        await waitFor(() => expect(service.asked('GET /api/vms')).toHaveLength(1));
        expect(screen.queryByRole('grid')).toBeNull();
        expect(screen.getByRole('progressbar')).toBeTruthy();
      },
    );

    test('keeps what the user types in the search', async () => {
      givenFirstRows();
      const { receive, user } = await openConsole('/vms', undefined, service);
      await waitFor(() => expect(names()).toEqual(['db-1']));
      await user.keyboard('/');
      await user.keyboard('web');
      expect(screen.queryByRole('grid')).toBeNull();
      expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Search VMs' }));
      await receive(() => service.stream.snapshot([web, db]));
      await waitFor(() => expect(names()).toEqual(['web-1']));
      expect(location.hash).toBe('#/vms?q=web');
    });

    test('leaves errors to the stream, and first rows that arrive late change nothing', async () => {
      let answer = (_rows: MockAnswer): void => undefined;
      service.on('GET /api/vms', () => new Promise<MockAnswer>((resolve) => (answer = resolve)));
      const { receive } = await openConsole('/vms', [web], service);
      await receive(() => answer({ body: [db] }));
      expect(names()).toEqual(['web-1']);
    });
  });

  test('searches all words, and keeps the search in the address', async () => {
    const { user } = await openConsole('/vms', [web, db], service);
    await user.keyboard('/');
    expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Search VMs' }));
    await user.keyboard('shop run');
    await waitFor(() => expect(names()).toEqual(['web-1']));
    expect(location.hash).toBe('#/vms?q=shop+run');
    await user.click(screen.getByRole('button', { name: 'Clear filters' }));
    await waitFor(() => expect(names()).toHaveLength(2));
  });

  test('reads filters and order from the address', async () => {
    const more = [web, db, buildVm({ name: 'big', cpu: 64 })];
    await openConsole('/vms?status=Running&sort=-cpu', more, service);
    expect(names()).toEqual(['big', 'web-1']);
    expect(screen.getByRole('columnheader', { name: 'CPU' }).getAttribute('aria-sort')).toBe('descending');
  });

  test('sorts by a click on a column heading', async () => {
    const { user } = await openConsole('/vms', [web, db], service);
    await user.click(within(screen.getByRole('columnheader', { name: 'Name' })).getByRole('button'));
    await waitFor(() => expect(names()).toEqual(['web-1', 'db-1']));
  });

  test('filters by status', async () => {
    const { user } = await openConsole('/vms', [web, db], service);
    await user.click(screen.getByRole('button', { name: 'Stopped 1' }));
    await waitFor(() => expect(names()).toEqual(['db-1']));
    expect(screen.getByText('1 of 2 VMs')).toBeTruthy();
  });

  describe('the status chips', () => {
    const off = buildStoppedVm({ name: 'web-2' });
    const chips = () =>
      within(screen.getByRole('group', { name: 'Filter by status' }))
        .getAllByRole('button')
        .map((chip) => `${chip.textContent}${chip.getAttribute('aria-pressed') === 'true' ? ' pressed' : ''}`);
    const search = () => screen.getByRole<HTMLInputElement>('textbox', { name: 'Search VMs' });

    test('count what the search and the other filters find, without those that would find nothing', async () => {
      const { user } = await openConsole('/vms', [web, off, db, buildVm({ name: 'p', status: 'Paused' })], service);
      expect(chips()).toEqual(['Stopped 2', 'Paused 1', 'Running 1']);
      await user.type(search(), 'web');
      await waitFor(() => expect(chips()).toEqual(['Running 1', 'Stopped 1']));
      await user.type(search(), ' tag:shop');
      await waitFor(() => expect(chips()).toEqual(['Running 1']));
    });

    test('edit the term of the query that is in the address', async () => {
      const { user } = await openConsole('/vms?q=web', [web, off, db], service);
      await user.click(screen.getByRole('button', { name: 'Stopped 1' }));
      await waitFor(() => expect(names()).toEqual(['web-2']));
      expect(location.hash).toBe('#/vms?q=web+status%3Astopped');
      expect(chips()).toEqual(['Running 1', 'Stopped 1 pressed']);
      await user.click(screen.getByRole('button', { name: 'Running 1' }));
      await waitFor(() => expect(names()).toEqual(['web-1', 'web-2']));
      expect(search().value).toBe('web status:stopped,running');
      await user.click(screen.getByRole('button', { name: 'Stopped 1' }));
      await user.click(screen.getByRole('button', { name: 'Running 1' }));
      await waitFor(() => expect(location.hash).toBe('#/vms?q=web'));
    });

    test('take over the status of an older link', async () => {
      const { user } = await openConsole('/vms?status=Stopped&q=web', [web, off, db], service);
      expect(names()).toEqual(['web-2']);
      expect(chips()).toEqual(['Running 1', 'Stopped 1 pressed']);
      await user.click(screen.getByRole('button', { name: 'Running 1' }));
      await waitFor(() => expect(location.hash).toBe('#/vms?q=web+status%3Astopped%2Crunning'));
      expect(names()).toEqual(['web-1', 'web-2']);
    });

    test('keep a chosen status that finds nothing, so that it can be taken back', async () => {
      const { user } = await openConsole('/vms?q=status:paused', [web, db], service);
      expect(chips()).toEqual(['Running 1', 'Stopped 1', 'Paused 0 pressed']);
      await user.click(screen.getByRole('button', { name: 'Paused 0' }));
      await waitFor(() => expect(location.hash).toBe('#/vms'));
    });
  });

  describe('a query', () => {
    const search = () => screen.getByRole<HTMLInputElement>('textbox', { name: 'Search VMs' });

    test('filters by fields, and shows a mistake under the box while the list keeps the last valid query', async () => {
      const { user } = await openConsole('/vms', [web, db], service);
      await user.type(search(), 'name:web*');
      await waitFor(() => expect(names()).toEqual(['web-1']));
      await user.click(search());
      await user.paste(' shade:red');
      const message = await screen.findByText(
        /^Character 11: There is no field "shade"; the fields are is, not, name,/,
      );
      expect(search().getAttribute('aria-invalid')).toBe('true');
      expect(search().getAttribute('aria-describedby')).toBe(message.id);
      expect(names()).toEqual(['web-1']);
      await user.clear(search());
      await waitFor(() => expect(names()).toEqual(['db-1', 'web-1']));
      expect(screen.queryByText(/There is no field/)).toBeNull();
      expect(search().getAttribute('aria-invalid')).toBeNull();
    });

    test('with a mistake in a link shows the whole list and the mistake', async () => {
      const { user } = await openConsole('/vms?q=mem%3Elots', [web, db], service);
      expect(names()).toEqual(['db-1', 'web-1']);
      expect(screen.getByText(/^Character 5: "lots" can't be compared with mem/)).toBeTruthy();
      await user.click(screen.getByRole('button', { name: 'Stopped 1' }));
      await waitFor(() => expect(search().value).toBe('status:stopped'));
    });
  });

  test('remembers the chosen columns', async () => {
    const { user } = await openConsole('/vms', [web], service);
    await user.click(screen.getByRole('button', { name: 'Columns' }));
    await user.click(await screen.findByRole('checkbox', { name: 'IP address' }));
    await waitFor(() => expect(screen.queryByRole('columnheader', { name: 'IP address' })).toBeNull());
    expect(JSON.parse(localStorage.getItem('headgate.columns-vms') ?? '[]')).not.toContain('ip');
    await user.click(await screen.findByRole('button', { name: 'Reset columns' }));
    expect(await screen.findByRole('columnheader', { name: 'IP address' })).toBeTruthy();
  });

  test('keeps its filters and order on the way back from a VM', async () => {
    const { user } = await openConsole('/vms?status=Running&sort=-cpu', [web, db], service);
    screen.getByRole('link', { name: 'web-1' }).focus();
    await user.keyboard('{Enter}');
    await user.click(await screen.findByRole('link', { name: 'Back to virtual machines' }));
    await waitFor(() => expect(location.hash).toBe('#/vms?status=Running&sort=-cpu'));
  });

  test('exports the table as CSV', async () => {
    const saved: Blob[] = [];
    Object.assign(URL, {
      createObjectURL: (blob: Blob) => (saved.push(blob), 'blob:x'),
      revokeObjectURL: () => undefined,
    });
    Object.assign(HTMLAnchorElement.prototype, { click: () => undefined });
    const { user } = await openConsole('/vms?q=db', [web, db], service);
    await user.click(screen.getByRole('button', { name: 'Export 1 VM as CSV' }));
    expect(saved[0]?.type).toBe('text/csv');
    expect(saved[0]?.size).toBeGreaterThan(50);
  });

  test('interrupts a guest only after a confirmation, which Escape cancels', async () => {
    const plan = { steps: [{ name: 'stop', detail: 'web-1' }], warnings: [], refusals: [] };
    service.on('POST /api/vms/tailvm/web-1/stop', ({ query }: MockRequest) => ({
      body: query.get('dryRun') ? plan : { status: 'ok' },
    }));
    const real = () => service.asked('POST /api/vms/tailvm/web-1/stop').filter(({ query }) => !query.has('dryRun'));
    const { user } = await openConsole('/vms', [web], service);
    const stop = screen.getByRole('button', { name: 'Shut down web-1' });
    await user.click(stop);
    await screen.findByRole('region', { name: 'Planned changes' });
    expect(screen.getByText('Nothing has happened yet.')).toBeTruthy();
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole(...PANEL)).toBeNull());
    expect(real()).toEqual([]);
    await user.click(stop);
    await screen.findByRole('region', { name: 'Planned changes' });
    await user.keyboard('{Enter}');
    expect(await screen.findByText('web-1 is shutting down')).toBeTruthy();
    expect(real()).toHaveLength(1);
  });

  test('starts a VM from its row', async () => {
    service.on('POST /api/vms/tailvm/db-1/start', { status: 'ok' });
    const { user } = await openConsole('/vms', [db], service);
    await user.click(screen.getByRole('button', { name: 'Start db-1' }));
    expect(await screen.findByText('db-1 is starting')).toBeTruthy();
    expect(service.asked('POST /api/vms/tailvm/db-1/start')[0]?.query.get('context')).toBe('prod');
  });

  test('selects a range with Shift', async () => {
    const row = ['a', 'b', 'c', 'd'].map((name) => buildVm({ name }));
    const { user } = await openConsole('/vms', row, service);
    await user.click(screen.getByRole('checkbox', { name: 'Select a' }));
    await user.keyboard('{Shift>}');
    await user.click(screen.getByRole('checkbox', { name: 'Select c' }));
    await user.keyboard('{/Shift}');
    expect(screen.getByText('3 selected')).toBeTruthy();
  });

  test('offers to create the first VM when there is none', async () => {
    service.on('GET /api/images', [
      { name: 'debian', description: '', containerDisk: 'x', kind: 'containerDisk', defaultUser: '' },
      { name: 'tiny', description: '', containerDisk: 'y', kind: 'containerDisk', defaultUser: 'root' },
    ]);
    service.on('GET /api/instancetypes', { instancetypes: [], preferences: [] });
    service.on('GET /api/nodes', []);
    const { user } = await openConsole('/vms', [], service);
    await user.click(screen.getByRole('button', { name: 'Create VM' }));
    expect(await screen.findByRole<HTMLInputElement>('radio', { name: /^tiny/ })).toHaveProperty('checked', true);
    expect(location.hash).toBe('#/vms/create');
  });

  test('warns that guests are simulated, until the user dismisses it', async () => {
    service.on('GET /api/capabilities', buildCapabilities([buildContext({ simulated: true })]));
    const { user } = await openConsole('/vms', [web], service);
    expect(await screen.findByText('The guests of prod are simulated')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(screen.queryByText('The guests of prod are simulated')).toBeNull();
    expect(screen.getByText('simulated')).toBeTruthy();
  });

  test('shows why a context is unreachable, and disables the actions of its VMs', async () => {
    const { receive } = await openConsole('/vms', [web], service);
    await receive(() => {
      service.pageStream.emit('contexts.status', { context: 'prod', up: false, reason: 'connect ECONNREFUSED.' });
      service.stream.emit('changed', { ...web, stale: true });
    });
    expect(await screen.findByText('prod: connect ECONNREFUSED. The last known state of 1 VM is shown.')).toBeTruthy();
    await waitFor(() =>
      expect(screen.getByRole('button', { name: 'Shut down web-1' }).title).toContain('is unreachable'),
    );
  });

  test('shows the error of the service when there is no list, and retries on request', async () => {
    service.fails('GET /api/vms', 503, 'No configured context is reachable.');
    const { user, receive } = await openConsole('/vms', undefined, service);
    await receive(() => service.stream.break());
    expect(await screen.findByText('No configured context is reachable.')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    await receive(() => service.stream.snapshot([web]));
    expect(names()).toEqual(['web-1']);
  });

  test('is read-only for users without rights', async () => {
    service.on('GET /api/whoami', { login: 'bob@example.org', name: 'Bob', admin: false, enforced: true });
    const { user } = await openConsole('/vms', [web], service);
    expect(await screen.findByText('view only')).toBeTruthy();
    expect(screen.getByRole('button', { name: /^Create VM/ }).getAttribute('aria-disabled')).toBe('true');
    await user.click(screen.getByRole('button', { name: 'Shut down web-1' }));
    await user.keyboard('n');
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(screen.queryByRole(...PANEL)).toBeNull();
  });

  test('marks a VM whose changes are lost at power-off, also on its page', async () => {
    const { user } = await openConsole(
      '/vms',
      [buildVm({ name: 'web-1', volatile: true }), buildVm({ name: 'kept' })],
      service,
    );
    expect(screen.getAllByText('volatile')).toHaveLength(1);
    await user.dblClick(screen.getByRole('link', { name: 'web-1' }));
    expect(await screen.findByText(/Changes to its boot disk are lost at power-off/)).toBeTruthy();
  });
});
