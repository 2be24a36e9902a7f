import { jest } from '@jest/globals';
import {
  calculateRetryBackoff,
  createClient,
  type MatrixClient,
  type MatrixEvent,
  MatrixScheduler,
} from 'matrix-js-sdk';
import { inEveryMode } from './testing/modes.js';
import { expectCap, expectRate, failure, silent } from './testing/sdk.js';
import { freshAddress, MatrixUser } from './testing/matrix-user.js';

const MINUTE = 60_000;
const BOUNDS = `[limits]\nfilters_per_user = 3\naccount_data_per_user = 2\npushers_per_user = 1\none_time_keys_per_device = 5\n[delayed_events]\nmax_per_room = 1\nmax_delay_ms = 60000\n`;

inEveryMode('matrix-js-sdk', BOUNDS, (system) => {
  // A queue of the client logs to the console when it is empty, whatever its logger is.
  beforeAll(() => void jest.spyOn(console, 'info').mockImplementation(() => undefined));
  afterAll(() => jest.restoreAllMocks());

  let user: MatrixUser;
  let client: MatrixClient;
  let room: string;

  beforeEach(async () => {
    user = await MatrixUser.register(system().url);
    const { userId, token: accessToken, deviceId } = user;
    client = createClient({ baseUrl: system().url, userId, accessToken, deviceId, logger: silent });
    room = (await client.createRoom({})).room_id;
  });
  afterEach(() => client.stopClient());

  const ring = (txn: string, content = {}, by = client) =>
    by.sendEvent(
      room,
      'org.matrix.msc4075.rtc.notification' as never,
      { notification_type: 'ring', ...content } as never,
      txn,
    );
  /** A client without a login, with a source address of its own. */
  const guestFrom = (from: string) =>
    createClient({
      baseUrl: system().url,
      logger: silent,
      fetchFn: (input, init) => {
        const headers = new Headers(init?.headers);
        headers.set('X-Forwarded-For', from);
        return fetch(input, { ...init, headers });
      },
    });
  const pusher = (pushkey: string) =>
    client.setPusher({
      pushkey,
      app_id: 'app',
      kind: 'http',
      app_display_name: 'A',
      device_display_name: 'D',
      lang: 'en',
      data: { url: 'https://push.example/_matrix/push/v1/notify' },
    });
  const later = (delay: number, txn: string) =>
    client._unstable_sendDelayedEvent(
      room,
      { delay },
      null,
      'm.room.message' as never,
      { body: 'x', msgtype: 'm.text' } as never,
      txn,
    );

  test('registers through the interactive exchange and logs in', async () => {
    const guest = guestFrom(freshAddress());
    const username = `sdk${Date.now().toString(36)}`;
    const { password } = MatrixUser;
    const challenge = await failure(guest.registerRequest({ username, password }));
    expect(challenge.httpStatus).toBe(401);
    const auth = { type: 'm.login.dummy', session: challenge.data.session };
    const registered = await guest.registerRequest({ username, password, auth });
    expect(registered.user_id).toBe(`@${username}:b.example`);
    const identifier = { type: 'm.id.user', user: username };
    const session = await guest.loginRequest({ type: 'm.login.password', identifier, password });
    expect(session.user_id).toBe(registered.user_id);
    const again = await guest.loginWithPassword(`@${username}:b.example`, password);
    expect(again.user_id).toBe(registered.user_id);
  });

  test('receives the wait after too many registrations', async () => {
    const guest = guestFrom(freshAddress());
    const register = () => guest.registerRequest({ username: 'Bad Name', auth: { type: 'm.login.dummy' } });
    for (let i = 0; i < 5; i++) expect((await failure(register())).errcode).toBe('M_INVALID_USERNAME');
    expectRate(await failure(register()), 5 * MINUTE);
  });

  test('receives the wait after too many logins', async () => {
    const identifier = { type: 'm.id.user', user: user.name };
    const wrong = () =>
      guestFrom(freshAddress()).loginRequest({ type: 'm.login.password', identifier, password: 'wrong' });
    for (let i = 0; i < 5; i++) expect((await failure(wrong())).errcode).toBe('M_FORBIDDEN');
    expectRate(await failure(wrong()), MINUTE);
  });

  test('sends unlimited messages, and rings up to their rate', async () => {
    for (let i = 0; i < 30; i++) {
      const sent = await client.sendEvent(
        room,
        'm.room.message' as never,
        { body: 'x', msgtype: 'm.text' } as never,
        `m${i}`,
      );
      expect(sent.event_id).toMatch(/^\$/);
    }
    for (let i = 0; i < 10; i++) expect((await ring(`r${i}`)).event_id).toMatch(/^\$/);
    expectRate(await failure(ring('r10')), MINUTE);
    expectRate(await failure(client.sendEvent(room, 'm.rtc.notification' as never, {} as never, 'r11')), MINUTE);
  });

  test('retries a refused ring with the same transaction, after the wait it received', async () => {
    const waits: number[] = [];
    const transactions: (string | undefined)[] = [];
    const impatient = new MatrixScheduler((event: MatrixEvent | null, attempts, error) => {
      waits.push(MatrixScheduler.RETRY_BACKOFF_RATELIMIT(event, attempts, error));
      transactions.push(event?.getTxnId());
      return attempts < 2 ? 0 : -1;
    });
    const { userId, token: accessToken, deviceId } = user;
    const caller = createClient({
      baseUrl: system().url,
      userId,
      accessToken,
      deviceId,
      logger: silent,
      scheduler: impatient,
    });
    for (let i = 0; i < 10; i++) await ring(`r${i}`);
    // Only events with a relation, such as the rings of call clients, go through the queue that retries them.
    const related = { 'm.relates_to': { rel_type: 'm.reference', event_id: '$membership' } };
    expectRate(await failure(ring('related', related, caller)), MINUTE);
    expect(waits).toHaveLength(2);
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(1000);
    expect(new Set(transactions).size).toBe(1);
  });

  test('schedules delayed events, recognizes both of their caps, and cancels', async () => {
    if (system().homeserver?.hasDelayedEvents === false) {
      await expect(later(50_000, 'd1')).rejects.toThrow('does not support the delayed events API');
      return;
    }
    const scheduled = await later(50_000, 'd1');
    expect(scheduled.delay_id).toBeDefined();
    expectCap(await failure(later(50_000, 'd2')));
    const tooLong = await failure(later(60_001, 'd3'));
    expect(tooLong.data['org.matrix.msc4140.errcode']).toBe('M_MAX_DELAY_EXCEEDED');
    expect(tooLong.data['org.matrix.msc4140.max_delay']).toBe(60_000);
    await client._unstable_updateDelayedEvent(scheduled.delay_id, 'restart' as never);
    await client._unstable_updateDelayedEvent(scheduled.delay_id, 'cancel' as never);
    expect((await later(50_000, 'd4')).delay_id).toBeDefined();
  });

  test('gets OpenID tokens up to their rate', async () => {
    for (let i = 0; i < 20; i++) expect((await client.getOpenIdToken()).matrix_server_name).toBe('b.example');
    expectRate(await failure(client.getOpenIdToken()), MINUTE);
  });

  test('reads the upload cap, uploads below it and is refused above it', async () => {
    expect((await client.getMediaConfig(true))['m.upload.size']).toBe(52_428_800);
    expect((await client.uploadContent(Buffer.from('hello') as never, { type: 'text/plain' })).content_uri).toMatch(
      /^mxc:/,
    );
    const refused = await failure(client.uploadContent(Buffer.alloc(52_428_801) as never));
    expect([refused.httpStatus, refused.errcode]).toEqual([413, 'M_TOO_LARGE']);
    expect(calculateRetryBackoff(refused, 1, true)).toBe(-1);
  });

  test('creates filters, and repeats them for free', async () => {
    const filters = [1, 2, 3].map((limit) => ({ room: { timeline: { limit } } }));
    for (const filter of [...filters, ...filters]) expect((await client.createFilter(filter)).filterId).toBeDefined();
    expectCap(await failure(client.createFilter({ room: { timeline: { limit: 4 } } })));
  });

  test('writes account data up to the cap and rewrites it beyond', async () => {
    const write = (type: string) => client.setAccountDataRaw(type as never, { a: Math.random() } as never);
    await write('one');
    await write('two');
    await write('two');
    expect(await client.getAccountDataFromServer('two' as never)).toHaveProperty('a');
    expectCap(await failure(write('three')));
    expectCap(await failure(client.setRoomAccountData(room, 'two' as never, { a: 1 } as never)));
  });

  test('registers pushers up to the cap and replaces them', async () => {
    await pusher('one');
    await pusher('one');
    expectCap(await failure(pusher('two')));
    await client.removePusher('one', 'app');
    expect((await client.getPushers()).pushers).toEqual([]);
  });

  describe('with its sync', () => {
    let friend: MatrixClient;
    // The client also logs calls in rooms to the console.
    beforeEach(async () => {
      jest.spyOn(console, 'debug').mockImplementation(() => undefined);
      // Timers of the client outlive it by more than a minute. They must not delay the end of the tests.
      const { setTimeout: real } = globalThis;
      const unheld = (...args: Parameters<typeof real>) => real(...args).unref();
      jest.spyOn(globalThis, 'setTimeout').mockImplementation(unheld as typeof real);
      const { userId, token: accessToken, deviceId } = await MatrixUser.register(system().url);
      friend = createClient({ baseUrl: system().url, userId, accessToken, deviceId, logger: silent });
    });
    afterEach(() => friend.stopClient());

    const nextEvent = (event: string, matches: (...args: never[]) => boolean) =>
      new Promise<void>((resolve) => {
        friend.on(event as never, ((...args: never[]) => void (matches(...args) && resolve())) as never);
      });

    test('receives an invitation, messages, and account data and its deletion', async () => {
      const prepared = nextEvent('sync', (state: string) => state === 'PREPARED');
      await friend.startClient({ initialSyncLimit: 5 });
      await prepared;
      const invited = nextEvent('Room.myMembership', (_room: unknown, membership: string) => membership === 'invite');
      const { room_id } = await client.createRoom({ name: 'Hall', invite: [friend.getSafeUserId()] });
      await invited;
      const received = nextEvent(
        'Room.timeline',
        (event: { getType(): string }) => event.getType() === 'm.room.message',
      );
      await friend.joinRoom(room_id);
      await client.sendTextMessage(room_id, 'welcome');
      await received;
      expect([friend.getRoom(room_id)?.name, friend.getRoom(room_id)?.getJoinedMemberCount()]).toEqual(['Hall', 2]);
      // Both resolve when the sync has returned their effects.
      await friend.setAccountData('x.test' as never, { a: 1 } as never);
      await friend.deleteAccountData('x.test' as never);
      expect(friend.getAccountData('x.test' as never)?.getContent()).toEqual({});
    });
  });

  test('uploads one-time keys up to the cap', async () => {
    const signedKey = { key: 'k', signatures: { [user.userId]: { [`ed25519:${user.deviceId}`]: 's' } } };
    const keys = (n: number) =>
      Object.fromEntries(Array.from({ length: n }, (_, i) => [`signed_curve25519:${n}-${i}`, signedKey]));
    const upload = (n: number) => client.uploadKeysRequest({ one_time_keys: keys(n) } as never);
    expect((await upload(5)).one_time_key_counts.signed_curve25519).toBe(5);
    expectCap(await failure(upload(1)));
    expect((await client.uploadKeysRequest({})).one_time_key_counts.signed_curve25519).toBe(5);
  });
});
