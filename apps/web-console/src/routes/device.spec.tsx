import { screen, waitFor, within } from '@testing-library/react';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const FIND = 'POST /api/ext/login/device/request';
const APPROVE = 'POST /api/ext/login/device/approve';
const DENY = 'POST /api/ext/login/device/deny';
const request = {
  machine: 'laptop',
  address: '192.0.2.7',
  ownAddress: '192.0.2.7',
  actions: ['read', 'power'],
  days: 30,
  createdAt: '2026-01-01T10:00:00.000Z',
  expiresAt: '2026-01-01T10:10:00.000Z',
};

describe('the page that lets a program in', () => {
  let service: MockService;
  beforeEach(() => {
    service = givenService();
    service.on(FIND, request).on(APPROVE, { status: 'approved' }).on(DENY, { status: 'denied' });
  });
  afterEach(() => closeConsole(service));

  const open = async () => {
    const { user } = await openConsole('/device', [], service);
    const type = async (code: string): Promise<void> => {
      await user.type(await screen.findByLabelText('Code'), code);
      await user.click(screen.getByRole('button', { name: 'Continue' }));
    };
    return { user, type };
  };

  test('shows the program with its address, its rights and its time before it is approved', async () => {
    const { user, type } = await open();
    await type('wdjb-mjht');
    const program = within(await screen.findByRole('region', { name: 'Program' }));
    for (const text of ['laptop', '192.0.2.7', 'Read, Start and stop', '30 days', /act for you \(ada@example.org\)/])
      expect(program.getByText(text)).toBeTruthy();
    expect(program.queryByText(/another address/)).toBeNull();
    expect(service.asked(APPROVE)).toEqual([]);
    await user.click(program.getByRole('button', { name: 'Approve' }));
    expect(await screen.findByText('The program was approved')).toBeTruthy();
    expect([service.asked(FIND), service.asked(APPROVE)].flat().map(({ body }) => body)).toEqual([
      { userCode: 'wdjb-mjht' },
      { userCode: 'wdjb-mjht' },
    ]);
  });

  test('warns of a program at another address, and denies it', async () => {
    service.on(FIND, { ...request, address: '203.0.113.9' });
    const { user, type } = await open();
    await type('WDJBMJHT');
    expect(await screen.findByText(/asks from 203.0.113.9, and you from 192.0.2.7/)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Deny' }));
    expect(await screen.findByText('The program was denied')).toBeTruthy();
    expect(service.asked(APPROVE)).toEqual([]);
  });

  test('takes no code from the address, so that a link is not enough', async () => {
    await openConsole('/device?userCode=WDJB-MJHT&code=WDJB-MJHT', [], service);
    expect((await screen.findByLabelText<HTMLInputElement>('Code')).value).toBe('');
    expect(service.asked(FIND)).toEqual([]);
  });

  test('asks for no program before the code is complete, and explains a wrong one', async () => {
    service.fails(FIND, 403, 'No program waits with this code.', 'LOGIN_FAILED');
    const { user, type } = await open();
    await type('WDJB');
    expect(service.asked(FIND)).toEqual([]);
    await type('-MJHX');
    expect(await screen.findByText('No program waits with this code.')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Approve' })).toBeNull();
    await user.clear(screen.getByLabelText('Code'));
  });

  test('lets no program in for a caller whom the service does not know', async () => {
    service.on('GET /api/whoami', { login: '', name: '', admin: true, enforced: false });
    await openConsole('/device', [], service);
    expect(await screen.findByText('No program can log in here')).toBeTruthy();
    expect(screen.queryByLabelText('Code')).toBeNull();
  });

  test('lists the programs on the page of the account, and revokes one', async () => {
    const devices = [
      {
        id: 'a1b2c3d4e5',
        name: 'laptop',
        actions: ['read'],
        createdAt: '2026-01-01T10:00:00.000Z',
        expiresAt: '2026-02-01T10:00:00.000Z',
        lastUsedAt: null,
        expired: false,
      },
    ];
    service.on('GET /api/ext/login/devices', () => ({ body: devices }));
    service.on('GET /api/ext/login', { enabled: false, local: false, first: false, providers: [], passkeys: false });
    service.on('DELETE /api/ext/login/devices/a1b2c3d4e5', () => {
      devices.pop();
      return { body: { status: 'revoked' } };
    });
    const { user } = await openConsole('/account', [], service);
    await user.click(await screen.findByRole('button', { name: 'Revoke laptop' }));
    await waitFor(() => expect(screen.getByText('No programs yet')).toBeTruthy());
  });
});
