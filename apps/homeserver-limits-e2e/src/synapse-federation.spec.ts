import { Certificate } from './testing/certificate.js';
import { call, type Reply } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { MatrixUser } from './testing/matrix-user.js';
import { describeWithSynapse, Synapse } from './testing/synapse.js';
import { TlsFront } from './testing/tls-front.js';

const CLIENT = '/_matrix/client/v3';

/** A homeserver as it is operated: TLS, the gateway, Synapse. */
class Site {
  private constructor(
    readonly front: TlsFront,
    readonly synapse: Synapse,
    readonly limits: LimitsProcess,
  ) {}

  static async open(certificate: Certificate): Promise<Site> {
    const front = await TlsFront.listen(certificate);
    const serverName = `localhost:${front.port}`;
    const synapse = await Synapse.start({ serverName, caPath: certificate.certPath });
    const limits = await LimitsProcess.start(
      `[server]\nname = "${serverName}"\ntrusted_proxies = ["127.0.0.1"]\n[gateway]\nupstream = "${synapse.url}"\n`,
    );
    front.target = limits.url;
    return new Site(front, synapse, limits);
  }

  get serverName(): string {
    return this.synapse.serverName;
  }

  register(): Promise<MatrixUser> {
    return MatrixUser.register(this.limits.url);
  }

  async dispose(): Promise<void> {
    await this.front.close();
    await this.limits.dispose();
    await this.synapse.dispose();
  }
}

describeWithSynapse('two Synapses that federate through two gateways', () => {
  let certificate: Certificate;
  let [here, there]: Site[] = [];
  let [alice, bob]: MatrixUser[] = [];
  let room: string;

  beforeAll(async () => {
    certificate = await Certificate.create();
    [here, there] = await Promise.all([Site.open(certificate), Site.open(certificate)]);
    [alice, bob] = await Promise.all([here!.register(), there!.register()]);
    room = await alice!.createRoom({ name: 'Hall', invite: [bob!.userId], preset: 'private_chat' });
  });
  afterAll(async () => {
    await here?.dispose();
    await there?.dispose();
    await certificate?.dispose();
  });

  /** Long-polls the user's sync until a response satisfies the condition. */
  async function synced<T>(user: MatrixUser, find: (sync: Reply['body']) => T | undefined): Promise<T> {
    const end = Date.now() + 120_000;
    for (let since = ''; Date.now() < end;) {
      const { body } = await user.call('GET', `${CLIENT}/sync?timeout=1000${since && `&since=${since}`}`);
      since = body.next_batch;
      const found = find(body);
      if (found !== undefined) return found;
    }
    throw new Error('the sync did not show it');
  }
  async function eventually(holds: () => Promise<boolean>, failure: string): Promise<void> {
    const end = Date.now() + 120_000;
    while (!(await holds())) if (Date.now() > end) throw new Error(failure);
  }
  const eventIn = (sync: Reply['body'], id: string) =>
    sync.rooms?.join?.[room]?.timeline.events.find(({ event_id }: { event_id: string }) => event_id === id);

  test('invite and join', async () => {
    await synced(bob!, ({ rooms }) => rooms?.invite?.[room]);
    expect((await bob!.call('POST', `${CLIENT}/rooms/${room}/join`, {})).body).toEqual({ room_id: room });
    const members = await alice!.call('GET', `${CLIENT}/rooms/${room}/joined_members`);
    expect(Object.keys(members.body.joined).sort()).toEqual([alice!.userId, bob!.userId].sort());
  });

  test('exchange messages in both directions, more than 50 of them at the same time', async () => {
    const send = async (by: MatrixUser, txn: string): Promise<string> =>
      (await by.call('PUT', `${CLIENT}/rooms/${room}/send/m.room.message/${txn}`, { msgtype: 'm.text', body: txn }))
        .body.event_id;
    const sent = await Promise.all(Array.from({ length: 120 }, (_, i) => send(alice!, `a${i}`)));
    // Not by a sync, which leaves out events when many arrive at the same time. Nor do they arrive as they were sent.
    for (const id of sent) {
      const target = `${CLIENT}/rooms/${room}/event/${encodeURIComponent(id)}`;
      await eventually(async () => (await bob!.call('GET', target)).status === 200, `${id} did not arrive`);
    }
    const reply = await send(bob!, 'b1');
    expect((await synced(alice!, (sync) => eventIn(sync, reply))).content.body).toBe('b1');
  });

  test('exchange typing notifications and messages to devices', async () => {
    await bob!.call('PUT', `${CLIENT}/rooms/${room}/typing/${encodeURIComponent(bob!.userId)}`, {
      typing: true,
      timeout: 30_000,
    });
    await synced(alice!, ({ rooms }) =>
      rooms?.join?.[room]?.ephemeral.events.find(
        (event: { type: string; content: { user_ids: string[] } }) =>
          event.type === 'm.typing' && event.content.user_ids.includes(bob!.userId),
      ),
    );
    const messages = { [bob!.userId]: { '*': { hello: 1 } } };
    expect((await alice!.call('PUT', `${CLIENT}/sendToDevice/x.test/1`, { messages })).status).toBe(200);
    const received = await synced(bob!, ({ to_device }) => to_device?.events?.[0]);
    expect(received).toMatchObject({ type: 'x.test', sender: alice!.userId, content: { hello: 1 } });
  });

  test('find keys of devices, profiles, aliases and media of each other', async () => {
    const keys = await bob!.call('POST', `${CLIENT}/keys/query`, { device_keys: { [alice!.userId]: [] } });
    expect([keys.status, keys.body.failures]).toEqual([200, {}]);
    const profile = await bob!.call('GET', `${CLIENT}/profile/${encodeURIComponent(alice!.userId)}`);
    expect(profile.body.displayname).toBe(alice!.name);
    const alias = encodeURIComponent(`#hall:${here!.serverName}`);
    expect((await alice!.call('PUT', `${CLIENT}/directory/room/${alias}`, { room_id: room })).status).toBe(200);
    expect((await bob!.call('GET', `${CLIENT}/directory/room/${alias}`)).body.room_id).toBe(room);
    const content = Buffer.alloc(5 * 1024 * 1024, 7);
    const { content_uri } = (await alice!.call('POST', '/_matrix/media/v3/upload', content)).body;
    const download = `/_matrix/client/v1/media/download/${content_uri.slice('mxc://'.length)}`;
    expect((await bob!.call('GET', download)).bytes.equals(content)).toBe(true);
  });

  test('join public rooms of each other by alias, without a rate', async () => {
    for (let i = 0; i < 5; i++) {
      const open = await bob!.createRoom({ preset: 'public_chat', room_alias_name: `open${i}` });
      const alias = encodeURIComponent(`#open${i}:${there!.serverName}`);
      const via = `server_name=${there!.serverName}`;
      expect((await alice!.call('POST', `${CLIENT}/join/${alias}?${via}`, {})).body).toEqual({ room_id: open });
    }
  });

  test('confirm the OpenID tokens of their users to each other', async () => {
    const { body } = await alice!.call('POST', alice!.path('openid/request_token'), {});
    expect(body.matrix_server_name).toBe(here!.serverName);
    const info = `/_matrix/federation/v1/openid/userinfo?access_token=${body.access_token}`;
    expect((await call(here!.limits.url, 'GET', info)).body).toEqual({ sub: alice!.userId });
  });

  test('leave nothing refused in either gateway', async () => {
    for (const { limits } of [here!, there!]) {
      const metrics = (await call(limits.url, 'GET', '/metrics')).bytes.toString();
      const refused = metrics.split('\n').filter((line) => /^limits_decisions_total\{.*refused"\} [1-9]/.test(line));
      expect(refused).toEqual([]);
      expect(metrics).toMatch(/limits_decisions_total\{rule="federation_pdus",outcome="granted"\} [1-9]/);
    }
  });
});
