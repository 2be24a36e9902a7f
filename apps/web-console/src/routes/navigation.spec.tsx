import { screen, waitFor, within } from '@testing-library/react';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const PAGES = ['Machines', 'Containers', 'Nodes', 'Images', 'Plugins', 'Activity', 'Health', 'Integrations'];
const matchMedia = globalThis.matchMedia;

const setMatchMedia = (value: typeof matchMedia): void =>
  void Object.defineProperty(globalThis, 'matchMedia', { configurable: true, value });

/** A window in which only the queries of the narrow layout match. */
const setNarrow = (): void =>
  setMatchMedia((query) => ({ ...matchMedia(query), matches: query.includes('max-width') }));

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

  test('are in a menu when the window is narrow, and its button names the current page', async () => {
    setNarrow();
    const { user } = await openConsole('/vms', [], service);
    expect(navigation().queryAllByRole('link')).toEqual([]);
    await user.click(navigation().getByRole('button', { name: 'Machines' }));
    await waitFor(() => expect(labels()).toEqual(PAGES));
    expect(document.activeElement?.textContent).toBe('Machines');
    await user.keyboard('{ArrowUp}');
    expect(document.activeElement?.textContent).toBe('Integrations');
    await user.click(navigation().getByRole('link', { name: 'Health' }));
    expect(await screen.findByRole('heading', { name: 'Health', level: 1 })).toBeTruthy();
    expect(navigation().queryAllByRole('link')).toEqual([]);
    expect(navigation().getByRole('button', { name: 'Health' })).toBeTruthy();
  });
});
