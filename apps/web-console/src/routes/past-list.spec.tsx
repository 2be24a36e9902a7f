import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const web = buildVm({ name: 'web-1', status: 'Running' });
const AT = '2026-01-31T12:30:00.000Z';
const GONE = buildVm({ name: 'gone-1', status: 'Stopped' });

describe('the list as it was', () => {
  let service: MockService;
  let headers: Record<string, string>;
  const asked = (): (string | null)[] =>
    service
      .asked('GET /api/vms')
      .map(({ query }) => query.get('at'))
      .filter((at) => at !== null);

  beforeEach(() => {
    service = givenService();
    headers = {};
    service.on('GET /api/vms', ({ query }: { query: URLSearchParams }) =>
      query.has('at') ? { body: [GONE, { ...web, status: 'Paused' }], headers } : { body: [web] },
    );
  });

  afterEach(() => closeConsole(service));

  test('shows the entries of the moment in the address, and that nothing can be changed', async () => {
    await openConsole(`/vms?at=${AT}`, [web], service);
    expect(await screen.findByRole('rowheader', { name: /gone-1/ })).toBeTruthy();
    expect(screen.getByText('You are viewing the past: nothing can be changed')).toBeTruthy();
    expect(asked()).toEqual([AT]);
    expect(screen.queryByRole('button', { name: 'Create VM' })).toBeNull();
    const rows = screen.getAllByRole('row').slice(1);
    expect(rows.flatMap((row) => within(row).queryAllByRole('button'))).toEqual([]);
    // Keys and the menu of a row do nothing, and later changes of the fleet are not shown.
    fireEvent.contextMenu(rows[0]!);
    expect(screen.queryByRole('menu')).toBeNull();
  });

  test('is opened from the list, filtered with its search, and left again', async () => {
    const { user } = await openConsole('/vms', [web], service);
    await user.click(await screen.findByRole('button', { name: 'Show the list as it was' }));
    expect(await screen.findByRole('rowheader', { name: /gone-1/ })).toBeTruthy();
    await user.type(screen.getByRole('textbox', { name: /Search/ }), 'web');
    await waitFor(() => expect(screen.queryByRole('rowheader', { name: /gone-1/ })).toBeNull());
    expect(location.hash).toMatch(/at=/);
    await user.click(screen.getByRole('button', { name: 'Back to now' }));
    expect(location.hash).not.toMatch(/at=/);
    expect(screen.queryByText('You are viewing the past: nothing can be changed')).toBeNull();
    expect(await screen.findByRole('rowheader', { name: /web-1/ })).toBeTruthy();
  });

  test('moves with the slider, and requests only the last moment', async () => {
    await openConsole(`/vms?at=${AT}`, [web], service);
    await screen.findByRole('rowheader', { name: /gone-1/ });
    const slider = screen.getByRole('slider', { name: 'Time of day' });
    for (const minute of [100, 101, 102]) fireEvent.change(slider, { target: { value: String(minute) } });
    expect(slider.getAttribute('aria-valuetext')).toBe('01:42');
    await waitFor(() => expect(asked()).toHaveLength(2));
    expect(new Date(asked()[1]!).getMinutes()).toBe(42);
    fireEvent.change(screen.getByLabelText('Day'), { target: { value: '2026-01-30' } });
    await waitFor(() => expect(asked()).toHaveLength(3));
    expect(new Date(asked()[2]!).getDate()).toBe(30);
  });

  test('says that a context was lost then', async () => {
    headers = { 'svc-partial': 'true' };
    await openConsole(`/vms?at=${AT}`, [web], service);
    expect(await screen.findByText('A context was lost then, and its entries are the last known ones')).toBeTruthy();
    expect(screen.queryByText('Nothing was recorded then')).toBeNull();
  });

  test('says that nothing was recorded then', async () => {
    headers = { 'svc-partial': 'true', 'svc-gap': `2026-01-31T12:00:00.000Z/..` };
    await openConsole(`/vms?at=${AT}`, [web], service);
    expect(await screen.findByText('Nothing was recorded then')).toBeTruthy();
  });

  test('shows the sentence of the service for a moment that it does not have', async () => {
    const error = 'at: the history of the fleet begins at 2026-01-01T00:00:00.000Z; use a later time.';
    service.on('GET /api/vms', ({ query }: { query: URLSearchParams }) =>
      query.has('at') ? { status: 400, body: { error, code: 'INVALID_INPUT' } } : { body: [web] },
    );
    await openConsole('/vms?at=2025-01-01T00:00:00Z', [web], service);
    expect(await screen.findByText(error)).toBeTruthy();
    expect(screen.getByLabelText('Day')).toBeTruthy();
  });
});
