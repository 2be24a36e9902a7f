import { screen, waitFor, within } from '@testing-library/react';
import type { MockService } from '../testing/mock-service.js';
import { PANEL } from '../testing/panel.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';

const VMS = [buildVm({ name: 'web-1' }), buildVm({ name: 'web-2' }), buildStoppedVm({ name: 'db-1' })];

describe('the command palette', () => {
  let service: MockService;
  beforeEach(() => {
    service = givenService();
    service.on('GET /api/ext/nodes', []);
  });
  afterEach(() => closeConsole(service));

  const input = (): HTMLInputElement => screen.getByRole('combobox', { name: 'Search or run a command' });
  const options = (): (string | null)[] => screen.queryAllByRole('option').map(({ textContent }) => textContent);
  const labels = (): (string | null | undefined)[] =>
    screen.queryAllByRole('option').map((option) => option.querySelector('.hg-palette-label')?.textContent);
  /** The option that screen readers read, which is the marked one. */
  const active = (): string | null | undefined => {
    const id = input().getAttribute('aria-activedescendant');
    const marked = screen.queryAllByRole('option', { selected: true });
    expect(marked.map((option) => option.id)).toEqual(id === null ? [] : [id]);
    return marked[0]?.querySelector('.hg-palette-label')?.textContent;
  };
  const optionWith = (start: string): Promise<HTMLElement> =>
    waitFor(() => {
      const found = screen.queryAllByRole('option').find(({ textContent }) => textContent?.startsWith(start));
      if (!found) throw new Error(`There is no option ${start}: ${options().join(', ')}`);
      return found;
    });
  const open = async (path = '/vms') => {
    const opened = await openConsole(path, VMS, service);
    await opened.user.keyboard('{Control>}k{/Control}');
    return opened;
  };

  test.each(['Control', 'Meta'])('opens with %s+K while the user types, and returns the focus', async (modifier) => {
    const { user } = await openConsole('/vms', VMS, service);
    const search = screen.getByRole('textbox', { name: 'Search VMs' });
    await user.click(search);
    await user.keyboard(`{${modifier}>}k{/${modifier}}`);
    expect(document.activeElement).toBe(input());
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('combobox', { name: 'Search or run a command' })).toBeNull();
    expect(document.activeElement).toBe(search);
  });

  test('opens from the header, and closes with its key', async () => {
    const { user } = await openConsole('/vms', VMS, service);
    const button = screen.getByRole('button', { name: /^Search or run a command/ });
    await user.click(button);
    await user.keyboard('{Control>}k{/Control}');
    expect(document.activeElement).toBe(button);
  });

  test('leaves its key to the guest in a console', async () => {
    const { user } = await openConsole('/vms', VMS, service);
    const terminal = document.body.appendChild(document.createElement('div'));
    terminal.className = 'xterm';
    const keys = terminal.appendChild(document.createElement('textarea'));
    await user.click(keys);
    await user.keyboard('{Control>}k{/Control}');
    expect(screen.queryByRole('dialog')).toBeNull();
    terminal.remove();
  });

  test('finds a container that the stream of the page has', async () => {
    const { user, receive } = await open();
    const container = { name: 'shell-1', namespace: 'lab', context: 'prod', phase: 'Running', tags: [] };
    await receive(() =>
      service.listInStream('cts').emit('snapshot', [{ ...container, ref: 'ct/prod/lab/shell-1', backend: 'kubevirt' }]),
    );
    await user.keyboard('shell-1');
    expect(active()).toBe('shell-1');
    expect(options()[0]).toContain('Container, lab in prod');
  });

  test('does not open over a dialog', async () => {
    const { user } = await openConsole('/vms', VMS, service);
    await user.keyboard('?');
    expect(screen.getByRole('dialog').textContent).toContain('Ctrl+K');
    await user.keyboard('{Control>}k{/Control}');
    expect(screen.getAllByRole('dialog')).toHaveLength(1);
  });

  test('begins with the pages, of which the latest come first', async () => {
    const { user } = await open();
    expect(labels()).toContain('Nodes');
    await user.keyboard('nodes{Enter}');
    await screen.findByRole('heading', { name: 'Nodes', level: 1 });
    await user.keyboard('{Control>}k{/Control}');
    expect(active()).toBe('Machines');
  });

  test('walks with the arrows, Home and End, around the ends', async () => {
    const { user } = await open();
    await user.keyboard('web');
    expect(active()).toBe('web-1');
    await user.keyboard('{ArrowDown}');
    expect(active()).toBe('web-2');
    await user.keyboard('{End}');
    expect(active()).toBe(labels().at(-1));
    await user.keyboard('{ArrowDown}');
    expect(active()).toBe('web-1');
    await user.keyboard('{ArrowUp}{Home}');
    expect(active()).toBe('web-1');
    expect(input().value).toBe('web');
  });

  test('opens the plan of an action as the menu does, and gives it the focus', async () => {
    service.on('POST /api/vms/tailvm/web-1/restart', { dryRun: true, steps: [], warnings: [], refusals: [] });
    const { user } = await open();
    await user.keyboard('restart web-1{Enter}');
    const panel = await screen.findByRole(...PANEL);
    expect(within(panel).getByRole('heading', { name: 'Restart web-1' })).toBeTruthy();
    await waitFor(() => expect(panel.contains(document.activeElement)).toBe(true));
    const sent = service.asked('POST /api/vms/tailvm/web-1/restart');
    expect(sent.map(({ query }) => query.get('dryRun'))).toEqual(['true']);
  });

  test('runs nothing that is refused, and says why', async () => {
    const { user } = await open();
    await user.keyboard('start web-1{Enter}');
    expect(options()[0]).toContain('Only a stopped VM can be started.');
    expect(screen.getAllByRole('option')[0]?.getAttribute('aria-disabled')).toBe('true');
    expect(input().value).toBe('start web-1');
    expect(service.asked('POST /api/vms/tailvm/web-1/start')).toEqual([]);
  });

  test('keeps the text and the chosen result when the fleet changes', async () => {
    const { user, receive } = await open();
    await user.keyboard('web{ArrowDown}');
    await receive(() => service.stream.snapshot([...VMS, buildVm({ name: 'web' })]));
    expect(labels().slice(0, 3)).toEqual(['web', 'web-1', 'web-2']);
    expect(active()).toBe('web-2');
    expect(input().value).toBe('web');
  });

  test('drops a deleted machine, says so, and chooses no other one instead', async () => {
    const { user, receive } = await open();
    await user.keyboard('web');
    await receive(() => service.stream.snapshot(VMS.slice(1)));
    expect(labels()[0]).toBe('web-2');
    expect(active()).toBeUndefined();
    expect(screen.getByText(/web-1 is no longer listed\./).getAttribute('role')).toBe('status');
    await user.keyboard('{Enter}');
    expect(input().value).toBe('web');
    await user.keyboard('{ArrowDown}');
    expect(active()).toBe('web-2');
  });

  test('opens the list with a query, also on the page of the list', async () => {
    const { user } = await open('/vms?q=web');
    await user.keyboard('status:stopped');
    expect(active()).toBe('Show 1 machine');
    await user.keyboard('{Enter}');
    await waitFor(() => expect(location.hash).toBe('#/vms?q=status%3Astopped'));
    expect(screen.getByRole('textbox', { name: 'Search VMs' })).toHaveProperty('value', 'status:stopped');
  });

  describe('past events', () => {
    const entry = (number: number, action: string, ref: string) => ({
      number,
      action,
      ref,
      time: '2026-01-02T03:04:05.000Z',
      caller: 'ann',
      token: '',
      address: '',
      kind: 'action',
      route: '',
      outcome: 'ok',
      status: 200,
      code: '',
      message: '',
    });
    const gone = 'vm/prod/tailvm/gone-1';

    test('are searched once the user has typed, and open the machine', async () => {
      service.on('GET /api/ext/journal', [entry(7, 'stop', 'vm/prod/tailvm/web-1')]);
      const { user } = await open();
      await user.keyboard('stop web-1');
      expect(active()).toBe('Shut down web-1…');
      const event = await optionWith('stop tailvm/web-1 ann');
      expect(active()).toBe('Shut down web-1…');
      expect(service.asked('GET /api/ext/journal').map(({ query }) => Object.fromEntries(query))).toEqual([
        { action: 'stop', ref: 'vm/prod/tailvm/web-1', limit: '8' },
      ]);
      await user.click(event);
      await waitFor(() => expect(location.hash).toBe('#/vms/prod/tailvm/web-1/overview'));
    });

    test('of a deleted machine open its journal', async () => {
      service.on('GET /api/ext/journal', [entry(8, 'delete', gone)]);
      service.on('GET /api/ext/journal/summary', { entries: 1, failed: 0, denied: 0, objects: 1, callers: [] });
      const { user } = await open();
      await user.keyboard('delete');
      await user.click(await optionWith('delete tailvm/gone-1'));
      await waitFor(() =>
        expect(location.hash).toBe(`#/journal?${new URLSearchParams({ object: gone, action: 'delete' })}`),
      );
    });

    test('of an earlier text are not listed', async () => {
      service.on('GET /api/ext/journal', [entry(9, 'delete', gone)]);
      const { user } = await open();
      await user.keyboard('delete');
      await optionWith('delete tailvm/gone-1');
      await user.keyboard('x');
      expect(options().join()).not.toContain('gone-1');
    });

    test('that can not be read leave the other results', async () => {
      service.fails('GET /api/ext/journal', 503, 'The service is starting.');
      const { user } = await open();
      await user.keyboard('web-1');
      await waitFor(() => expect(service.asked('GET /api/ext/journal')).toHaveLength(1));
      expect(active()).toBe('web-1');
    });
  });

  test('opens a folder in the tree', async () => {
    const folder = { path: 'prod/web', counts: { members: 0, missing: 0 } };
    service.on('GET /api/folders', { folders: [folder], unfoldered: { running: 0, total: 0 } });
    const { user } = await open();
    await screen.findByText(/^Pages$/);
    await user.keyboard('prod/w');
    await user.click(await optionWith('prod/web'));
    await waitFor(() => expect(location.hash).toBe('#/folders?peek=prod%2Fweb'));
  });

  test('says that nothing matches', async () => {
    const { user } = await open();
    await user.keyboard('no such thing');
    expect(options()).toEqual([]);
    expect(input().getAttribute('aria-expanded')).toBe('false');
    expect(screen.getByText('Nothing matches this text.')).toBeTruthy();
  });

  test('changes the theme', async () => {
    const { user } = await open();
    await user.keyboard('theme dark{Enter}');
    expect(document.documentElement.dataset['theme']).toBe('dark');
    delete document.documentElement.dataset['theme'];
  });
});
