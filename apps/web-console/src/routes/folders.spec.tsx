import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const LONG = 'x'.repeat(63);
const VMS = [
  buildVm({ name: 'api', folder: 'prod/web', cpu: 4, mem: '8Gi' }),
  buildVm({ name: 'broken', folder: 'prod/web', status: 'ErrorUnschedulable', running: false }),
  buildStoppedVm({ name: 'db', folder: 'prod' }),
  buildVm({ name: 'tmp' }),
];
const PATHS = ['lab', 'prod', 'prod/web', LONG];

const view = (path: string, missing = 0) => ({
  path,
  parent: path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : null,
  counts: { members: 0, running: 0, missing },
});
const folders = (paths: readonly string[] = PATHS) => ({ folders: paths.map((path) => view(path)), errors: {} });
const plan = (name: string, detail: string) => ({
  dryRun: true,
  ok: true,
  steps: [{ name, detail }],
  warnings: [],
  refusals: [],
});

let service: MockService;
beforeEach(() => {
  service = givenService();
  service.on('GET /api/folders', folders());
});
afterEach(() => closeConsole(service));

/** Answers the rehearsal with the plan, and the change with the body. */
const onChange = (request: string, rehearsal: object, body: object): MockService =>
  service.on(request, ({ query }: { query: URLSearchParams }) => ({
    body: query.get('dryRun') === 'true' ? rehearsal : body,
  }));
const sent = (request: string) => service.asked(request).filter(({ query }) => query.get('dryRun') === null);
const tree = () => within(screen.getByRole('tree', { name: 'Folders' }));
const rows = () =>
  tree()
    .getAllByRole('treeitem')
    .map((row) => row.textContent);
const row = (name: string) => tree().getByRole('treeitem', { name: new RegExp(`^${name} `) });
const peek = (name: string) => within(screen.getByRole('complementary', { name: `Details of ${name}` }));
const peeked = () => new URLSearchParams(location.hash.split('?')[1]).get('peek');
const open = async (path = '/folders') => {
  const opened = await openConsole(path, VMS, service);
  await screen.findByRole('tree', { name: 'Folders' });
  return opened;
};

describe('the tree', () => {
  test('has the sums of each folder with those of the folders in it, and the machines in none last', async () => {
    await open();
    expect(rows()).toEqual([
      'lab 0 members, 0 running,– failing, 0 promised CPUs, 0 B of promised memory',
      'prod 3 members, 1 running,1 failing, 4 promised CPUs, 8 GiB of promised memory',
      `${LONG} 0 members, 0 running,– failing, 0 promised CPUs, 0 B of promised memory`,
      'In no folder 1 member, 1 running,– failing, 2 promised CPUs, 4 GiB of promised memory',
    ]);
    expect(screen.getByText('3 of 4 machines and containers are in a folder, 1 failing')).toBeTruthy();
  });

  test('follows the fleet and the folders', async () => {
    const { receive } = await open();
    await receive(() => service.stream.emit('changed', { ...VMS[3], folder: 'lab' }));
    await waitFor(() => expect(rows()[0]).toMatch(/^lab 1 member, 1 running/));
    await receive(() => service.pageStream.emit('folders.snapshot', folders(['prod', 'prod/web', 'stage'])));
    await waitFor(() => expect(rows().map((text) => text?.split(' ')[0])).toEqual(['lab', 'prod', 'stage', 'In']));
  });

  test('is used with the keys of a tree, and the selected folder is a part of the address', async () => {
    const { user } = await open();
    act(() => row('lab').focus());
    await user.keyboard('{ArrowDown}{ArrowRight}{ArrowRight}');
    expect(document.activeElement).toBe(row('web'));
    await user.keyboard('{Enter}');
    expect(peeked()).toBe('prod/web');
    expect(row('web').getAttribute('aria-selected')).toBe('true');
    expect(peek('web').getByText('prod/web')).toBeTruthy();
  });

  test('opens the folders around the one in the address, and finds folders by their names', async () => {
    const { user } = await open('/folders?peek=prod%2Fweb');
    expect(await tree().findByRole('treeitem', { name: /^web / })).toBeTruthy();
    await user.type(screen.getByRole('textbox', { name: 'Find a folder' }), 'La');
    expect(rows().map((text) => text?.split(' ')[0])).toEqual(['lab']);
    expect(peek('web').getByText('prod/web')).toBeTruthy();
    await user.type(screen.getByRole('textbox', { name: 'Find a folder' }), 'zzz');
    expect(screen.getByText('No folder name contains this text.')).toBeTruthy();
  });
});

describe('the members of a folder', () => {
  test('are listed, failing ones first, with the number of missing ones and a link to the list', async () => {
    service.on('GET /api/folders', { folders: [view('prod', 1), view('prod/web', 2)], errors: {} });
    await open('/folders?peek=prod');
    const members = within(peek('prod').getByRole('region', { name: 'Members' }));
    expect(members.getAllByRole('listitem').map((item) => within(item).getByRole('link').textContent)).toEqual([
      'broken',
      'api',
      'db',
    ]);
    expect(peek('prod').getByText('3 (gone, or not listed yet)')).toBeTruthy();
    const list = members.getByRole('link', { name: 'List of machines' }).getAttribute('href');
    expect(new URLSearchParams(list?.split('?')[1]).get('q')).toBe('folder:prod/*');
  });

  test('are put into another folder from their menu, which can be undone', async () => {
    service.on('POST /api/folders/members', {}).on('DELETE /api/folders/members', {});
    const { user } = await open('/folders?peek=');
    await user.click(await screen.findByRole('button', { name: 'Move to…, tmp' }));
    await user.selectOptions(screen.getByRole('combobox', { name: 'Folder' }), 'prod/web');
    await user.click(screen.getByRole('button', { name: 'Put it there' }));
    expect(await screen.findByText('tmp is in prod/web now')).toBeTruthy();
    expect(screen.queryByRole('dialog')).toBeNull();
    const ref = VMS[3]?.ref;
    expect(sent('POST /api/folders/members').map(({ body }) => body)).toEqual([{ path: 'prod/web', ref }]);
    await user.click(screen.getByRole('button', { name: 'Undo' }));
    expect(await screen.findByText('tmp is in no folder now')).toBeTruthy();
    expect(sent('DELETE /api/folders/members').map(({ query }) => query.get('ref'))).toEqual([ref]);
  });

  test('stay where they are when the folder was deleted meanwhile, and the choice stays', async () => {
    service.fails('POST /api/folders/members', 404, 'There is no folder lab.', 'FOLDER_NOT_FOUND');
    const { user } = await open('/folders?peek=prod');
    await user.click(screen.getByRole('button', { name: 'Move to…, db' }));
    const choice = screen.getByRole<HTMLSelectElement>('combobox', { name: 'Folder' });
    await user.selectOptions(choice, 'lab');
    await user.click(screen.getByRole('button', { name: 'Put it there' }));
    expect(await screen.findByText(/There is no folder lab\./)).toBeTruthy();
    expect(choice.value).toBe('lab');
    expect(service.asked('POST /api/folders')).toEqual([]);
  });

  test('are all shut down by one operation, which shows its plan first', async () => {
    service.on('POST /api/ext/bulk', { ...plan('stop', 'api'), members: [] });
    const { user } = await open('/folders?peek=prod');
    await user.click(peek('prod').getByRole('button', { name: 'Act on 3' }));
    await user.click(screen.getByRole('menuitem', { name: 'Shut down…' }));
    const panel = within(await screen.findByRole('complementary', { name: 'Shut down: 2 members' }));
    expect(await panel.findByText('Type 2 to confirm')).toBeTruthy();
    expect(service.asked('POST /api/ext/bulk').map(({ body }) => body)).toEqual([
      { action: 'stop', refs: [VMS[1]?.ref, VMS[0]?.ref] },
    ]);
    expect(panel.getByText('Skipped: 1 member')).toBeTruthy();
  });
});

describe('a folder', () => {
  test('is created in another one after its plan, and then selected', async () => {
    onChange('POST /api/folders', plan('create folder', 'prod/Büro 2'), { path: 'prod/Büro 2' });
    const { user } = await open('/folders?peek=prod');
    await user.click(peek('prod').getByRole('button', { name: 'More' }));
    await user.click(screen.getByRole('menuitem', { name: 'New folder inside…' }));
    const name = screen.getByRole('textbox', { name: /Name/ });
    await user.type(name, 'a:b');
    expect(screen.getByText(/Not allowed: :/)).toBeTruthy();
    await user.clear(name);
    await user.type(name, ' Büro 2 ');
    await user.click(screen.getByRole('button', { name: 'Show the plan' }));
    await user.click(await screen.findByRole('button', { name: 'Create' }));
    expect(await screen.findByText('Created the folder prod/Büro 2')).toBeTruthy();
    expect(sent('POST /api/folders').map(({ body }) => body)).toEqual([{ path: 'prod/Büro 2' }]);
    expect(peeked()).toBe('prod/Büro 2');
  });

  test('that another user has created meanwhile is refused, and the typed name stays', async () => {
    service.fails('POST /api/folders', 409, 'The folder stage already exists.', 'ALREADY_EXISTS');
    const { user } = await open();
    await user.click(screen.getByRole('button', { name: 'New folder' }));
    await user.type(screen.getByRole('textbox', { name: /Name/ }), 'lab');
    expect(screen.getByText('The folder lab already exists.')).toBeTruthy();
    await user.clear(screen.getByRole('textbox', { name: /Name/ }));
    await user.type(screen.getByRole('textbox', { name: /Name/ }), 'stage');
    await user.click(screen.getByRole('button', { name: 'Show the plan' }));
    expect(await screen.findByText(/The folder stage already exists\./)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(screen.getByRole<HTMLInputElement>('textbox', { name: /Name/ }).value).toBe('stage');
  });

  test('is renamed, and stays selected under its new name', async () => {
    onChange('POST /api/folders/move', plan('move folder', 'prod to live'), { path: 'live' });
    const { user } = await open('/folders?peek=prod');
    await user.click(peek('prod').getByRole('button', { name: 'Rename…' }));
    const name = screen.getByRole<HTMLInputElement>('textbox', { name: /Name/ });
    expect(name.value).toBe('prod');
    await user.clear(name);
    await user.type(name, 'live');
    await user.click(screen.getByRole('button', { name: 'Show the plan' }));
    await user.click(await screen.findByRole('button', { name: 'Rename' }));
    await waitFor(() => expect(peeked()).toBe('live'));
    expect(sent('POST /api/folders/move').map(({ body }) => body)).toEqual([{ from: 'prod', to: 'live' }]);
  });

  test('can be moved from its menu, but not into itself', async () => {
    onChange('POST /api/folders/move', plan('move folder', 'prod to lab/prod'), { path: 'lab/prod' });
    const { user } = await open();
    fireEvent.contextMenu(row('prod'));
    await user.click(screen.getByRole('menuitem', { name: 'Move to…' }));
    const choice = screen.getByRole('combobox', { name: 'In the folder' });
    await user.selectOptions(choice, 'prod/web');
    expect(screen.getByText("A folder can't be moved into itself.")).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Show the plan' }).disabled).toBe(true);
    await user.selectOptions(choice, 'lab');
    await user.click(screen.getByRole('button', { name: 'Show the plan' }));
    await user.click(await screen.findByRole('button', { name: 'Move' }));
    expect(await screen.findByText('prod is lab/prod now')).toBeTruthy();
    expect(sent('POST /api/folders/move').map(({ body }) => body)).toEqual([{ from: 'prod', to: 'lab/prod' }]);
  });

  test('is deleted after its plan', async () => {
    onChange('DELETE /api/folders', plan('remove folder', 'lab, with 0 members'), { status: 'removed' });
    const { user } = await open('/folders?peek=lab');
    await user.click(peek('lab').getByRole('button', { name: 'More' }));
    await user.click(screen.getByRole('menuitem', { name: 'Delete…' }));
    const panel = within(await screen.findByRole('complementary', { name: 'Delete the folder lab?' }));
    expect(panel.getByText('Its machines keep running, but are no longer in a folder.')).toBeTruthy();
    expect(await panel.findByText('lab, with 0 members')).toBeTruthy();
    expect(sent('DELETE /api/folders')).toEqual([]);
    await user.click(panel.getByRole('button', { name: 'Delete' }));
    expect(await screen.findByText('Deleted the folder lab')).toBeTruthy();
    expect(sent('DELETE /api/folders').map(({ query }) => query.get('path'))).toEqual(['lab']);
    expect(peeked()).toBeNull();
  });

  test('that another user deletes is gone from the panel', async () => {
    const { receive } = await open('/folders?peek=lab');
    await receive(() => service.pageStream.emit('folders.snapshot', folders(['prod', 'prod/web'])));
    expect(await screen.findByText('lab no longer exists.')).toBeTruthy();
  });
});

describe('dragging', () => {
  const dataTransfer = { setData: () => undefined };
  const drag = (from: HTMLElement, to: HTMLElement) => {
    fireEvent.dragStart(from, { dataTransfer });
    fireEvent.dragOver(to, { dataTransfer });
  };

  test('a folder into another one opens the plan', async () => {
    onChange('POST /api/folders/move', plan('move folder', 'lab to prod/lab'), { path: 'prod/lab' });
    await open();
    drag(row('lab'), row('prod'));
    expect(screen.getByText('Move lab to prod/lab')).toBeTruthy();
    fireEvent.drop(row('prod'), { dataTransfer });
    expect(await screen.findByText('lab to prod/lab')).toBeTruthy();
    expect(sent('POST /api/folders/move')).toEqual([]);
  });

  test('a folder into one in itself is refused', async () => {
    await open('/folders?peek=prod%2Fweb');
    drag(row('prod'), row('web'));
    expect(screen.getByText("A folder can't be moved into itself.")).toBeTruthy();
    fireEvent.drop(row('web'), { dataTransfer });
    fireEvent.dragEnd(row('prod'));
    expect(service.asked('POST /api/folders/move')).toEqual([]);
    expect(screen.queryByText("A folder can't be moved into itself.")).toBeNull();
  });

  test('a machine puts it into the folder, or takes it out', async () => {
    service.on('POST /api/folders/members', {}).on('DELETE /api/folders/members', {});
    await open('/folders?peek=prod');
    const db = () => screen.getByRole('link', { name: 'db' }).closest('li') as HTMLElement;
    drag(db(), row('lab'));
    expect(screen.getByText('Put db into lab')).toBeTruthy();
    fireEvent.drop(row('lab'), { dataTransfer });
    expect(await screen.findByText('db is in lab now')).toBeTruthy();
    drag(db(), row('In no folder'));
    fireEvent.drop(row('In no folder'), { dataTransfer });
    expect(await screen.findByText('db is in no folder now')).toBeTruthy();
    const ref = VMS[2]?.ref;
    expect(sent('POST /api/folders/members').map(({ body }) => body)).toEqual([{ path: 'lab', ref }]);
  });

  test('a machine into a folder that is gone shows why it failed', async () => {
    service.fails('POST /api/folders/members', 404, 'There is no folder lab.', 'FOLDER_NOT_FOUND');
    await open('/folders?peek=prod');
    drag(screen.getByRole('link', { name: 'db' }).closest('li') as HTMLElement, row('lab'));
    fireEvent.drop(row('lab'), { dataTransfer });
    expect(await screen.findByText("Couldn't change the folder of db")).toBeTruthy();
    expect(screen.getByText('There is no folder lab.')).toBeTruthy();
  });
});

describe('the states of the page', () => {
  test('no folders: the first one can be created', async () => {
    service.on('GET /api/folders', folders([]));
    onChange('POST /api/folders', plan('create folder', 'lab'), { path: 'lab' });
    const { user } = await openConsole('/folders', [], service);
    expect(await screen.findByRole('heading', { name: 'No folders' })).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'New folder' }));
    expect(screen.getByRole('dialog', { name: 'New folder' })).toBeTruthy();
  });

  test('while the machines are loading, no sums are shown', async () => {
    await openConsole('/folders', undefined, service);
    expect(await screen.findByText('Loading folders')).toBeTruthy();
    expect(screen.queryByRole('tree', { name: 'Folders' })).toBeNull();
  });

  test('folders that could not be read have the reason', async () => {
    service.fails('GET /api/folders', 503, 'The store is unreachable.', 'NOT_READY');
    await openConsole('/folders', VMS, service);
    expect(await screen.findByText("Couldn't load the folders")).toBeTruthy();
    expect(screen.getByText(/The store is unreachable\./)).toBeTruthy();
  });

  test('a user who may only view sees why nothing can be changed', async () => {
    service.on('GET /api/whoami', { login: 'eve@example.org', name: 'Eve', admin: false, enforced: true });
    const { user } = await open('/folders?peek=prod');
    const reason = 'Only administrators can do this. You have view-only access.';
    await waitFor(() =>
      expect(screen.getByRole('button', { name: 'New folder' }).getAttribute('aria-disabled')).toBe('true'),
    );
    expect(screen.getAllByText(reason).length).toBeGreaterThan(1);
    await user.click(peek('prod').getByRole('button', { name: 'More' }));
    await user.click(screen.getByRole('menuitem', { name: 'Delete…' }));
    expect(screen.queryByRole('complementary', { name: 'Delete the folder prod?' })).toBeNull();
    expect(row('lab').draggable).toBe(false);
  });
});
