import type { SavedViewView } from '@headgate/api-contracts';
import { act, screen, waitFor, within } from '@testing-library/react';
import { buildVm } from '../testing/build-vm.js';
import type { MockRequest, MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const VMS = [
  buildVm({ name: 'api', folder: 'prod/web', node: 'worker-1' }),
  buildVm({ name: 'db', folder: 'prod/data', node: 'worker-2' }),
  buildVm({ name: 'tmp', node: 'worker-2' }),
];
const matchMedia = globalThis.matchMedia;

let service: MockService;
beforeEach(() => (service = givenService()));
afterEach(() => {
  Object.defineProperty(globalThis, 'matchMedia', { configurable: true, value: matchMedia });
  closeConsole(service);
});

const tree = () => within(screen.getByRole('tree'));
const items = () =>
  tree()
    .getAllByRole('treeitem')
    .map((item) => item.textContent);
const query = () => new URLSearchParams(location.hash.split('?')[1]).get('q');
const table = () => within(screen.getByRole('grid'));
const names = () =>
  table()
    .getAllByRole('rowheader')
    .map((cell) => cell.textContent);

describe('the numbers next to the pages', () => {
  test('are those of the fleet, the nodes, the images, and the containers', async () => {
    service.on('GET /api/nodes', [{ name: 'worker-1', ready: true, context: 'prod' }]);
    const { receive } = await openConsole('/plugins', VMS, service.on('GET /api/plugins', []));
    const containers = Array.from({ length: 1234 }, (_none, index) => buildVm({ name: `shell-${index}` }));
    await receive(() => service.pageStream.emit('cts.snapshot', containers));
    expect(await screen.findByRole('link', { name: 'Containers 1,234' })).toBeTruthy();
    expect(await screen.findByRole('link', { name: 'Nodes 1' })).toBeTruthy();
    expect(screen.getByRole('link', { name: 'Machines 3' })).toBeTruthy();
    await receive(() => service.stream.emit('removed', { ref: VMS[0]?.ref }));
    expect(await screen.findByRole('link', { name: 'Machines 2' })).toBeTruthy();
    expect(screen.getByRole('link', { name: 'Health' })).toBeTruthy();
  });

  test('are the problems of the health', async () => {
    const { receive } = await openConsole('/vms', VMS, service);
    await receive(() => service.pageStream.emit('health.snapshot', { ok: 3, warning: 0, error: 1 }));
    expect(await screen.findByRole('link', { name: 'Health 1 problem' })).toBeTruthy();
    expect(service.asked('GET /api/doctor')).toEqual([]);
  });
});

describe('the sidebar', () => {
  const isFolded = () => screen.queryByRole('tree') === null;

  test('folds with its button and a key, and stays folded', async () => {
    const { user } = await openConsole('/vms', VMS, service);
    expect(isFolded()).toBe(false);
    await user.click(screen.getByRole('button', { name: 'Fold the sidebar' }));
    expect(isFolded()).toBe(true);
    expect(screen.getByRole('link', { name: /^Machines/ }).getAttribute('title')).toBe('Machines');
    expect(localStorage.getItem('headgate.sidebar-folded')).toBe('true');
    await user.keyboard('\\');
    expect(isFolded()).toBe(false);
    await user.click(screen.getByRole('textbox', { name: 'Search VMs' }));
    await user.keyboard('\\');
    expect(isFolded()).toBe(false);
  });

  test('starts folded in a narrow window, where a choice is not remembered', async () => {
    const value = (media: string) => ({ ...matchMedia(media), matches: media.includes('1023') });
    Object.defineProperty(globalThis, 'matchMedia', { configurable: true, value });
    const { user } = await openConsole('/vms', VMS, service);
    expect(isFolded()).toBe(true);
    await user.click(screen.getByRole('button', { name: 'Unfold the sidebar' }));
    expect(isFolded()).toBe(false);
    expect(localStorage.getItem('headgate.sidebar-folded')).toBeNull();
  });

  test('starts folded next to a console', async () => {
    await openConsole('/vms/prod/tailvm/api/serial', VMS, service);
    expect(screen.getByRole('button', { name: 'Unfold the sidebar' })).toBeTruthy();
  });
});

describe('the inventory', () => {
  test('filters the list by a folder, and marks it', async () => {
    const { user } = await openConsole('/vms', VMS, service);
    expect(items()).toEqual(['prod 2', 'In no folder 1']);
    await user.click(tree().getByRole('treeitem', { name: 'prod 2' }));
    await waitFor(() => expect(names()).toEqual(['api', 'db']));
    expect(query()).toBe('folder:prod/*');
    expect(tree().getByRole('treeitem', { selected: true }).textContent).toBe('prod 2');
    await user.click(tree().getByRole('treeitem', { name: 'In no folder 1' }));
    await waitFor(() => expect(names()).toEqual(['tmp']));
    expect(query()).toBe('folder:""');
  });

  test('can be used with the keys of a tree', async () => {
    const { user } = await openConsole('/vms', VMS, service);
    act(() => tree().getByRole('treeitem', { name: 'prod 2' }).focus());
    await user.keyboard('{ArrowRight}');
    expect(items()).toEqual(['prod 2', 'data 1', 'web 1', 'In no folder 1']);
    const focused = () => document.activeElement?.textContent;
    await user.keyboard('{ArrowRight}');
    expect(focused()).toBe('data 1');
    await user.keyboard('{End}');
    expect(focused()).toBe('In no folder 1');
    await user.keyboard('w');
    expect(focused()).toBe('web 1');
    // Letters are no shortcuts of the page here: "c" would open the create dialog.
    await user.keyboard('c');
    expect(screen.queryByRole('dialog')).toBeNull();
    await user.keyboard(' ');
    expect(query()).toBe('folder:prod/web/*');
    await user.keyboard('{ArrowLeft}');
    expect(focused()).toBe('prod 2');
    await user.keyboard('{ArrowLeft}');
    expect(items()).toEqual(['prod 2', 'In no folder 1']);
    expect(tree().getByRole('treeitem', { name: 'prod 2' }).tabIndex).toBe(0);
    expect(tree().getByRole('treeitem', { name: 'In no folder 1' }).tabIndex).toBe(-1);
  });

  test('arranges the VMs by their places, and follows them', async () => {
    const { user, receive } = await openConsole('/vms', VMS, service);
    await user.click(screen.getByRole('button', { name: 'Places' }));
    expect(items()).toEqual(['prod 3']);
    act(() => tree().getByRole('treeitem', { name: 'prod 3' }).focus());
    await user.keyboard('{ArrowRight}{ArrowRight}{ArrowRight}');
    expect(items()).toEqual(['prod 3', 'tailvm 3', 'worker-1 1', 'worker-2 2']);
    await user.click(tree().getByRole('treeitem', { name: 'worker-2 2' }));
    expect(query()).toBe('context:prod ns:tailvm node:worker-2');
    await receive(() => service.stream.emit('changed', { ...VMS[1], node: 'worker-1' }));
    expect(await tree().findByRole('treeitem', { name: 'worker-1 2' })).toBeTruthy();
  });
});

describe('saved views', () => {
  const views = () => within(screen.getByRole('navigation', { name: 'Views' }));
  const save = async (user: Awaited<ReturnType<typeof openConsole>>['user'], name: string) => {
    await user.click(views().getByRole('button', { name: 'Save this list as a view' }));
    await user.type(screen.getByRole('textbox', { name: 'Name' }), name);
    await user.keyboard('{Enter}');
  };

  /** The views of the user, as the service keeps them. */
  let stored: SavedViewView[];
  beforeEach(() => {
    stored = [];
    const pathOf = (id: string): string => `/api/ext/views/${id}`;
    const serve = (view: SavedViewView): void => {
      service.on(`PATCH ${pathOf(view.id)}`, ({ body }: MockRequest) => {
        const { position, ...update } = body as Partial<SavedViewView> & { position?: number };
        const at = stored.findIndex(({ id }) => id === view.id);
        const [old] = stored.splice(at, 1);
        stored.splice(position ?? at, 0, { ...old!, ...update });
        return { body: stored[position ?? at] };
      });
      service.on(`DELETE ${pathOf(view.id)}`, () => {
        stored = stored.filter(({ id }) => id !== view.id);
        return { body: { status: 'removed' } };
      });
    };
    service.on('GET /api/ext/views', () => ({ body: [...stored] }));
    service.on('POST /api/ext/views', ({ body }: MockRequest) => {
      const view = { id: `id-${stored.length}`, savedAt: '', ...(body as object) } as SavedViewView;
      stored.push(view);
      serve(view);
      return { status: 201, body: view };
    });
  });
  const link = (name: string) => views().findByRole('link', { name });

  test('keep the query, the order, and the columns of a list', async () => {
    localStorage.setItem('headgate.columns-vms', '["name","folder"]');
    const { user } = await openConsole('/vms?q=folder%3Aprod%2F*&sort=-name', VMS, service);
    await save(user, 'Prod');
    await user.click(screen.getByRole('button', { name: 'Columns' }));
    await user.click(screen.getByRole('checkbox', { name: 'Status' }));
    await user.click(screen.getByRole('link', { name: /^Machines/ }));
    await waitFor(() => expect(names()).toHaveLength(3));
    expect(screen.getByRole('columnheader', { name: 'Status' })).toBeTruthy();
    await user.click(await link('Prod'));
    await waitFor(() => expect(names()).toEqual(['db', 'api']));
    expect(screen.queryByRole('columnheader', { name: 'Status' })).toBeNull();
    expect(views().getByRole('link', { name: 'Prod' }).getAttribute('aria-current')).toBe('true');
  });

  test('can be renamed, replaced, and deleted', async () => {
    const { user } = await openConsole('/vms?q=web', VMS, service);
    await save(user, 'A');
    await link('A');
    await save(user, 'B');
    await link('B');
    const change = async (name: string, item: string) => {
      await user.click(views().getByRole('button', { name: `Change the view ${name}` }));
      await user.click(screen.getByRole('menuitem', { name: item }));
    };
    await change('A', 'Rename…');
    const input = screen.getByRole<HTMLInputElement>('textbox', { name: 'Name' });
    await user.clear(input);
    await user.type(input, 'B');
    expect(screen.getByText('Another view already has this name.')).toBeTruthy();
    await user.type(input, '2');
    await user.click(screen.getByRole('button', { name: 'Rename view' }));
    const links = () =>
      views()
        .getAllByRole('link')
        .map((link) => link.textContent);
    await waitFor(() => expect(links()).toEqual(['B2', 'B']));
    await change('B', 'Move up');
    await waitFor(() => expect(links()).toEqual(['B', 'B2']));
    await user.click(screen.getByRole('link', { name: /^Machines/ }));
    await user.click(views().getByRole('button', { name: 'Save this list as a view' }));
    await user.type(screen.getByRole('textbox', { name: 'Name' }), 'B');
    await user.click(screen.getByRole('button', { name: 'Replace B' }));
    await waitFor(() => expect(views().getByRole('link', { name: 'B' }).getAttribute('href')).toBe('#/vms'));
    await change('B2', 'Delete');
    await waitFor(() => expect(links()).toEqual(['B']));
  });

  test('are saved on lists only, and are in the menu of a phone', async () => {
    stored = [{ id: 'id-9', name: 'Mine', address: '/vms?q=tmp', columns: null, savedAt: '' }];
    service.on('GET /api/plugins', []);
    const value = (media: string) => ({ ...matchMedia(media), matches: media.includes('639') });
    const first = await openConsole('/plugins', VMS, service);
    const button = views().getByRole('button', { name: 'Save this list as a view' });
    expect(button.getAttribute('aria-disabled')).toBe('true');
    await first.user.click(button);
    expect(screen.queryByRole('dialog')).toBeNull();
    closeConsole(service);
    Object.defineProperty(globalThis, 'matchMedia', { configurable: true, value });
    const { user } = await openConsole('/vms', VMS, service);
    await user.click(screen.getByRole('button', { name: 'More' }));
    await user.click(await screen.findByRole('link', { name: 'Mine' }));
    await waitFor(() => expect(names()).toEqual(['tmp']));
  });

  test('of this browser are taken over once, without those that the service has', async () => {
    const own = ['Mine', 'Other', 'Refused'].map((name) => ({ name, address: `/vms?q=${name}`, columns: null }));
    localStorage.setItem('headgate.views', JSON.stringify(own));
    stored = [{ id: 'id-9', name: 'Mine', address: '/vms?q=tmp', columns: null, savedAt: '' }];
    service.on('POST /api/ext/views', ({ body }: MockRequest) => {
      const { name } = body as SavedViewView;
      if (name === 'Refused') return { status: 409, body: { error: 'You have 50 saved views.', code: 'CONFLICT' } };
      stored.push({ id: 'id-10', savedAt: '', ...(body as object) } as SavedViewView);
      return { status: 201, body: stored.at(-1) };
    });
    await openConsole('/vms', VMS, service);
    expect((await link('Other')).getAttribute('href')).toBe('#/vms?q=Other');
    expect((await link('Mine')).getAttribute('href')).toBe('#/vms?q=tmp');
    expect(JSON.parse(localStorage.getItem('headgate.views')!)).toEqual([own[2]]);
    expect(service.asked('POST /api/ext/views').map(({ body }) => (body as SavedViewView).name)).toEqual([
      'Other',
      'Refused',
    ]);
  });

  test('that can not be read are an error, and not an empty list', async () => {
    service.fails('GET /api/ext/views', 503, 'The store does not answer.');
    await openConsole('/vms', VMS, service);
    expect((await views().findByRole('alert')).textContent).toBe('The store does not answer.');
    expect(views().queryByText('Save a search to find it here.')).toBeNull();
  });
});
