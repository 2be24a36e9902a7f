import { jest } from '@jest/globals';
import {
  ClientEvent,
  createClient,
  type EmittedEvents,
  type IAuthData,
  type MatrixClient,
  type MatrixEvent,
  MatrixEventEvent,
  RoomEvent,
  SyncState,
} from 'matrix-js-sdk';
import { LimitsProcess } from './testing/limits-process.js';
import { call } from './testing/http-client.js';
import { freshAddress, MatrixUser } from './testing/matrix-user.js';
import { failure, silent } from './testing/sdk.js';
import { describeWithSynapse, Synapse } from './testing/synapse.js';

describeWithSynapse('matrix-js-sdk with encryption, through the gateway, on Synapse', () => {
  let synapse: Synapse;
  let limits: LimitsProcess;
  const clients: MatrixClient[] = [];

  beforeAll(async () => {
    for (const method of ['debug', 'info', 'warn', 'log'] as const) {
      jest.spyOn(console, method).mockImplementation(() => undefined);
    }
    // Timers of the client outlive it by more than a minute. They must not delay the end of the tests.
    const { setTimeout: real } = globalThis;
    const unheld = (...args: Parameters<typeof real>) => real(...args).unref();
    jest.spyOn(globalThis, 'setTimeout').mockImplementation(unheld as typeof real);
    synapse = await Synapse.start();
    limits = await LimitsProcess.start(
      `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.1"]\n[gateway]\nupstream = "${synapse.url}"\n`,
    );
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.stopClient();
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await limits?.dispose();
    await synapse?.dispose();
  });

  async function logIn(name: string): Promise<MatrixClient> {
    const guest = createClient({ baseUrl: limits.url, logger: silent });
    const identifier = { type: 'm.id.user', user: name };
    const { user_id, access_token, device_id } = await guest.loginRequest({
      type: 'm.login.password',
      identifier,
      password: MatrixUser.password,
    });
    const credentials = { userId: user_id, accessToken: access_token, deviceId: device_id };
    const client = createClient({ baseUrl: limits.url, ...credentials, logger: silent });
    clients.push(client);
    await client.initRustCrypto({ useIndexedDB: false });
    const prepared = event(client, ClientEvent.Sync, (state) => state === SyncState.Prepared);
    await client.startClient({ initialSyncLimit: 10 });
    await prepared;
    return client;
  }

  /** Resolves with the arguments of the first such event that satisfies the condition. */
  // The arguments depend on the event, and the tests name their types.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  function event(client: MatrixClient, name: EmittedEvents, matches: (...args: any[]) => boolean): Promise<void> {
    return new Promise((resolve) => {
      client.on(name as never, ((...args: unknown[]) => void (matches(...args) && resolve())) as never);
    });
  }
  const arrives = (client: MatrixClient, body: string) =>
    new Promise<MatrixEvent>((resolve) => {
      const check = (received: MatrixEvent) => void (received.getContent().body === body && resolve(received));
      client.on(RoomEvent.Timeline, check);
      client.on(MatrixEventEvent.Decrypted, check);
    });
  const authenticated = (client: MatrixClient) => async (makeRequest: (auth: IAuthData | null) => Promise<unknown>) => {
    const refused = await failure(makeRequest(null)).catch(() => undefined);
    if (!refused) return;
    await makeRequest({
      type: 'm.login.password',
      identifier: { type: 'm.id.user', user: client.getSafeUserId() },
      password: MatrixUser.password,
      session: refused.data['session'],
    } as never);
  };

  test('two users talk in an encrypted room: device keys, one-time keys, messages to devices', async () => {
    const [anna, ben] = await Promise.all(
      [await MatrixUser.register(limits.url), await MatrixUser.register(limits.url)].map(({ name }) => logIn(name)),
    );
    const { room_id } = await anna!.createRoom({
      invite: [ben!.getSafeUserId()],
      initial_state: [{ type: 'm.room.encryption', state_key: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } }],
    });
    const joined = event(
      anna!,
      RoomEvent.Timeline,
      (received: MatrixEvent) => received.getSender() === ben!.getUserId(),
    );
    await ben!.joinRoom(room_id);
    await joined;
    const received = arrives(ben!, 'a secret');
    await anna!.sendTextMessage(room_id, 'a secret');
    const message = await received;
    expect([message.isEncrypted(), message.getWireType()]).toEqual([true, 'm.room.encrypted']);
    const stored = await call(synapse.url, 'GET', `/_matrix/client/v3/rooms/${room_id}/messages?dir=b&limit=5`, {
      token: anna!.getAccessToken()!,
    });
    expect(stored.bytes.toString()).not.toContain('a secret');
    const replied = arrives(anna!, 'another');
    await ben!.sendTextMessage(room_id, 'another');
    expect((await replied).isEncrypted()).toBe(true);
  });

  test('a user sets up cross-signing and a key backup, and a second device is verified by them', async () => {
    const { name } = await MatrixUser.register(limits.url);
    const first = await logIn(name);
    const crypto = first.getCrypto()!;
    await crypto.bootstrapCrossSigning({ authUploadDeviceSigningKeys: authenticated(first) as never });
    expect(await crypto.isCrossSigningReady()).toBe(true);
    await crypto.resetKeyBackup();
    expect(await crypto.getActiveSessionBackupVersion()).toBe('1');
    const second = await logIn(name);
    const [userId, deviceId] = [second.getSafeUserId(), second.getDeviceId()!];
    const signedByOwner = async () => {
      await crypto.getUserDeviceInfo([userId], true);
      return (await crypto.getDeviceVerificationStatus(userId, deviceId))?.signedByOwner;
    };
    // The second device uploads its keys after its login.
    await until(async () => (await signedByOwner()) === false);
    await crypto.crossSignDevice(deviceId);
    await until(async () => (await signedByOwner()) === true);
  });

  test('a wrong password of the client is refused after five attempts, with the wait', async () => {
    const { name } = await MatrixUser.register(limits.url);
    const wrong = () => {
      const from = freshAddress();
      const fetchFn: typeof fetch = (input, init) => {
        const headers = new Headers(init?.headers);
        headers.set('X-Forwarded-For', from);
        return fetch(input, { ...init, headers });
      };
      const guest = createClient({ baseUrl: limits.url, logger: silent, fetchFn });
      return failure(
        guest.loginRequest({ type: 'm.login.password', identifier: { type: 'm.id.user', user: name }, password: 'x' }),
      );
    };
    for (let i = 0; i < 5; i++) expect((await wrong()).errcode).toBe('M_FORBIDDEN');
    const refused = await wrong();
    expect([refused.errcode, refused.isRateLimitError()]).toEqual(['M_LIMIT_EXCEEDED', true]);
  });

  test('a delayed event of a call arrives when it is due, and a restart postpones it', async () => {
    const anna = await logIn((await MatrixUser.register(limits.url)).name);
    const { room_id } = await anna.createRoom({});
    const { delay_id } = await anna._unstable_sendDelayedEvent(
      room_id,
      { delay: 600_000 },
      null,
      'm.room.message' as never,
      { msgtype: 'm.text', body: 'left the call' } as never,
    );
    await anna._unstable_updateDelayedEvent(delay_id, 'restart' as never);
    const listed = (await anna._unstable_getDelayedEvents()) as { delayed_events?: unknown[] };
    expect(listed.delayed_events).toHaveLength(1);
    const due = arrives(anna, 'left the call');
    await anna._unstable_updateDelayedEvent(delay_id, 'send' as never);
    await due;
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 120_000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error('it did not come to hold');
    await new Promise((next) => setImmediate(next));
  }
}
