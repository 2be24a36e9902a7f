import { act, cleanup, configure, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { App } from './app.js';
import { FakeListener } from './testing/fake-listener.js';

// A second, the default, may be too short for a page in jsdom on a busy machine.
configure({ asyncUtilTimeout: 20_000 });

const FULL = {
  rule: 'login_account',
  by: 'account',
  key: 'user:alice',
  shadow: false,
  limit: 5,
  windowMs: 60_000,
  counted: 5,
  inFlight: 0,
  closesInMs: 40_000,
  blockedForMs: 0,
  isFull: true,
  requests: [{ time: '2026-01-01T00:00:00Z', event: 'login', path: '/login', address: '<i>\u202e', counted: true }],
};
const OTHER = { ...FULL, rule: 'login_source', key: '203.0.113.7', requests: [] };

describe("the operator's desk", () => {
  let listener: FakeListener;
  beforeEach(() => {
    Object.defineProperty(globalThis, 'matchMedia', { configurable: true, value: () => ({ matches: false }) });
    sessionStorage.clear();
    listener = new FakeListener();
    listener.answer('GET /operator', { operator: 'alice' });
    listener.answer('GET /why', { subject: 'alice', rules: [FULL, OTHER], refusals: [] });
    listener.answer('GET /journal', { journal: [] });
    location.hash = '#/journal';
  });
  afterEach(cleanup);
  const signIn = async () => {
    await userEvent.type(await screen.findByLabelText('Token'), 'a token');
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    await screen.findByRole('navigation');
  };

  test('asks for a token where the listener needs one, and keeps it out of URLs', async () => {
    listener.answer('GET /operator', { error: 'Unknown.' }, 401);
    render(<App />);
    const field = await screen.findByLabelText('Token');
    await userEvent.type(field, 'a wrong one');
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    expect((await screen.findByRole('alert')).textContent).toBe('The listener does not accept this token.');
    expect(sessionStorage).toHaveLength(0);
    listener.answer('GET /operator', { operator: 'alice' });
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    await screen.findByText('alice');
    expect(listener.requests.at(-1)?.token).toBe('Bearer a wrong one');
    for (const { path } of listener.requests) expect(path).not.toContain('wrong');
    expect(location.href).not.toContain('wrong');
  });

  test('needs no token where the listener has none', async () => {
    render(<App />);
    await screen.findByRole('navigation');
    expect(listener.requests[0]?.token).toBeUndefined();
    expect(screen.queryByRole('button', { name: 'Sign out' })).toBeNull();
  });

  test('asks again when the token was replaced, and forgets the old one', async () => {
    listener.answer('GET /operator', {}, 401);
    render(<App />);
    await screen.findByLabelText('Token');
    listener.answer('GET /operator', { operator: 'alice' });
    await signIn();
    listener.answer('GET /why', {}, 401);
    listener.answer('GET /operator', {}, 401);
    act(() => void (location.hash = '#/why?subject=alice'));
    await screen.findByText('The token is no longer accepted: it was replaced.');
    expect(sessionStorage).toHaveLength(0);
  });

  test('says what a lift changes and what it leaves before one button does it, with a reason', async () => {
    location.hash = '#/why?subject=alice';
    listener.answer('POST /lifts', { lifted: true });
    render(<App />);
    const [button] = await screen.findAllByRole('button', { name: 'Lift…' });
    await userEvent.click(button!);
    const plan = screen.getByRole('complementary', { name: 'Plan' });
    expect(plan.textContent).toContain('Nothing has happened yet.');
    expect(plan.textContent).toContain('Forgets 5 counted requests of this window.');
    expect(plan.textContent).toContain('Leaves login_source for 203.0.113.7, which refuses for another 40 s.');
    const lift = screen.getByRole('button', { name: 'Lift login_account' });
    await userEvent.click(lift);
    expect(listener.requests.some(({ path }) => path === '/lifts')).toBe(false);
    await userEvent.type(screen.getByLabelText('Reason (for the journal)'), 'a call');
    await userEvent.click(lift);
    await screen.findByText('Lifted. The next request is counted from zero.');
    expect(listener.requests.find(({ path }) => path === '/lifts')?.body).toEqual({
      rule: 'login_account',
      key: 'user:alice',
      reason: 'a call',
    });
  });

  test('reports a lift that failed, and one that another operator was faster with', async () => {
    location.hash = '#/why?subject=alice';
    listener.answer('POST /lifts', { error: 'The journal cannot be written (ENOSPC); nothing was changed.' }, 503);
    render(<App />);
    await userEvent.click((await screen.findAllByRole('button', { name: 'Lift…' }))[0]!);
    await userEvent.type(screen.getByLabelText('Reason (for the journal)'), 'a call');
    await userEvent.click(screen.getByRole('button', { name: 'Lift login_account' }));
    expect((await screen.findByRole('alert')).textContent).toContain('nothing was changed');
    const previous = { operator: 'bob', time: new Date().toISOString() };
    listener.answer('POST /lifts', { lifted: false, previous });
    await userEvent.click(screen.getByRole('button', { name: 'Lift login_account' }));
    await screen.findByText(/^There was nothing left to lift: bob lifted it \d s ago\.$/);
  });

  test('shows names of strangers as isolated text', async () => {
    location.hash = '#/why?subject=alice';
    render(<App />);
    const name = await screen.findByText('<i>\\u{202e}');
    expect(name.tagName).toBe('BDI');
    await waitFor(() => expect(document.querySelector('i')).toBeNull());
  });
});
