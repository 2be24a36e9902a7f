import { screen, waitFor, within } from '@testing-library/react';
import { buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const PAGES = [
  'Machines',
  'Containers',
  'Folders',
  'Nodes',
  'Storage',
  'Networks',
  'Images',
  'Plugins',
  'Backups',
  'Schedules',
  'Approvals',
  'Activity',
  'Health',
  'Messages',
  'Access',
  'Integrations',
  'Settings',
];
const matchMedia = globalThis.matchMedia;

const setMatchMedia = (value: typeof matchMedia): void =>
  void Object.defineProperty(globalThis, 'matchMedia', { configurable: true, value });

/** A window in which only the queries with the text match. */
const setWindow = (text: string): void =>
  setMatchMedia((query) => ({ ...matchMedia(query), matches: query.includes(text) }));
const setLow = (): void => setWindow('max-height');
const setPhone = (): void => setWindow('639.98');

describe('the pages of the navigation', () => {
  let service: MockService;
  beforeEach(() => {
    service = givenService();
    service.on('GET /api/doctor', []);
  });
  afterEach(() => {
    setMatchMedia(matchMedia);
    closeConsole(service);
  });

  const navigation = () => within(screen.getByRole('navigation', { name: 'Pages' }));
  const labels = () =>
    navigation()
      .getAllByRole('link')
      .map((link) => (link.querySelector('.hg-side-label') ?? link).textContent);

  test('are links, of which the current one is marked', async () => {
    await openConsole('/vms', [], service);
    await waitFor(() => expect(labels()).toEqual(PAGES));
    expect(navigation().queryByRole('button')).toBeNull();
    expect(navigation().getByRole('link', { current: 'page' }).textContent).toMatch(/^Machines/);
  });

  test('are in a menu when the window is low, and its button names the current page', async () => {
    setLow();
    const { user } = await openConsole('/vms', [], service);
    expect(navigation().queryAllByRole('link')).toEqual([]);
    await user.click(navigation().getByRole('button', { name: 'Machines' }));
    await waitFor(() => expect(labels()).toEqual(PAGES));
    expect(document.activeElement?.textContent).toBe('Machines');
    await user.keyboard('{ArrowUp}');
    expect(document.activeElement?.textContent).toBe('Settings');
    await user.click(navigation().getByRole('link', { name: 'Health' }));
    expect(await screen.findByRole('heading', { name: 'Health', level: 1 })).toBeTruthy();
    expect(navigation().queryAllByRole('link')).toEqual([]);
    expect(navigation().getByRole('button', { name: 'Health' })).toBeTruthy();
  });

  test('are in a bar at the bottom of a phone, with the tasks and a menu of the others', async () => {
    service.on('GET /api/plugins', []);
    setPhone();
    const { user, receive } = await openConsole('/vms', [], service);
    await receive(() => service.pageStream.emit('health.snapshot', { ok: 3, warning: 0, error: 1 }));
    await waitFor(() => expect(labels()).toEqual(['Machines', 'Health1 problem']));
    expect(navigation().getByRole('link', { current: 'page' }).textContent).toBe('Machines');
    expect(navigation().getByRole('button', { name: 'Tasks' })).toBeTruthy();
    await user.click(navigation().getByRole('button', { name: 'More' }));
    const others = PAGES.filter((page) => page !== 'Machines' && page !== 'Health');
    await waitFor(() => expect(labels().slice(2)).toEqual(others));
    await user.click(navigation().getByRole('link', { name: 'Plugins' }));
    expect(await screen.findByRole('heading', { name: 'Plugins', level: 1 })).toBeTruthy();
    expect(labels()).toHaveLength(2);
    await user.click(navigation().getByRole('button', { name: 'More' }));
    expect(navigation().getByRole('link', { current: 'page' }).textContent).toBe('Plugins');
  });

  test('leave room on a phone: the theme is in the menu, and the filters are folded', async () => {
    setPhone();
    const vms = ['red', 'blue'].map((namespace) => buildVm({ name: `in-${namespace}`, namespace }));
    const { user } = await openConsole('/vms', vms, service);
    expect(within(screen.getByRole('banner')).queryByRole('button', { name: /^Theme/ })).toBeNull();
    expect(screen.queryByRole('button', { name: 'Namespace' })).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Filters' }));
    await user.click(screen.getByRole('button', { name: 'Namespace' }));
    await user.click(screen.getByRole('checkbox', { name: /^red/ }));
    await user.keyboard('{Escape}');
    await user.click(screen.getByRole('button', { name: 'Filters: 1 chosen' }));
    expect(screen.queryByRole('button', { name: /^Namespace/ })).toBeNull();
    expect(screen.queryByText('in-blue')).toBeNull();
    await user.click(navigation().getByRole('button', { name: 'More' }));
    await user.click(navigation().getByRole('button', { name: /^Theme: system/ }));
    expect(navigation().getByRole('button', { name: /^Theme: light/ })).toBeTruthy();
  });
});
