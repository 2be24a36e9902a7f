import { call, type CallOptions, type Reply } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { freshAddress } from './testing/matrix-user.js';
import { describeWithSynapse, Synapse } from './testing/synapse.js';
import { type Recorded, Trace } from './testing/trace.js';

const CLIENT = '/_matrix/client/v3';
const DELAYED = '/_matrix/client/unstable/org.matrix.msc4140/delayed_events';
const MIB = 1024 * 1024;
/** Small caps, which the scenario exceeds once each. */
const CAPS =
  '[limits]\nfilters_per_user = 2\naccount_data_per_user = 4\npushers_per_user = 1\none_time_keys_per_device = 4\n' +
  '[delayed_events]\nmax_per_room = 1\nmax_delay_ms = 100000\n';

/**
 * What clients of every kind ask of a homeserver, once within each bound and once beyond it. Steps beyond one begin
 * with "beyond".
 */
async function play(url: string): Promise<Recorded[]> {
  const trace = new Trace();
  async function step(name: string, method: string, target: string, options: CallOptions = {}): Promise<Reply> {
    const reply = await call(url, method, target, { from: '10.9.9.9', ...options });
    trace.record(name, reply);
    return reply;
  }
  const register = async (name: string) => {
    const body = { username: name, password: 'a password', device_id: `D${name}`.toUpperCase() };
    const challenge = await step('challenge', 'POST', `${CLIENT}/register`, { body });
    const auth = { type: 'm.login.dummy', session: challenge.body.session };
    return (await step('register', 'POST', `${CLIENT}/register`, { body: { ...body, auth } })).body.access_token;
  };

  await step('versions', 'GET', '/_matrix/client/versions');
  await step('preflight', 'OPTIONS', `${CLIENT}/login`, { headers: { Origin: 'https://app.example' } });
  await step('ways to log in', 'GET', `${CLIENT}/login`);
  await step('unknown path', 'GET', '/_matrix/client/v3/nothing');
  await step('wrong method', 'PATCH', `${CLIENT}/login`);
  await step('invalid body', 'POST', `${CLIENT}/login`, { body: '{' });
  await step('no token', 'GET', `${CLIENT}/account/whoami`);
  const anna = await register('anna');
  const ben = await register('ben');
  await step('taken name', 'GET', `${CLIENT}/register/available?username=anna`);
  const user = encodeURIComponent('@anna:b.example');

  const as = (token: string, name: string, method: string, target: string, body?: CallOptions['body']) =>
    step(name, method, target, { token, ...(body !== undefined && { body }) });
  const login = (password: string) => ({
    body: { type: 'm.login.password', identifier: { type: 'm.id.user', user: 'anna' }, password, device_id: 'SECOND' },
  });
  await step('log in', 'POST', `${CLIENT}/login`, login('a password'));
  for (let i = 0; i < 5; i++) await step('wrong password', 'POST', `${CLIENT}/login`, login('wrong'));
  await step('beyond login_account', 'POST', `${CLIENT}/login`, login('wrong'));
  await as(anna, 'whoami', 'GET', `${CLIENT}/account/whoami`);
  await as(anna, 'capabilities', 'GET', `${CLIENT}/capabilities`);
  await as(anna, 'devices', 'GET', `${CLIENT}/devices/DANNA`);
  await as(anna, 'name', 'PUT', `${CLIENT}/profile/${user}/displayname`, { displayname: 'Anna' });
  await as(ben, 'profile', 'GET', `${CLIENT}/profile/${user}`);

  const created = await as(anna, 'room', 'POST', `${CLIENT}/createRoom`, {
    name: 'Hall',
    room_version: '11',
    preset: 'public_chat',
  });
  const id = encodeURIComponent(created.body.room_id);
  const room = `${CLIENT}/rooms/${id}`;
  await as(anna, 'invite', 'POST', `${room}/invite`, { user_id: '@ben:b.example' });
  await as(ben, 'join', 'POST', `${CLIENT}/join/${id}`, {});
  const sent = await as(anna, 'send', 'PUT', `${room}/send/m.room.message/1`, { msgtype: 'm.text', body: 'ünï 😀' });
  await as(anna, 'send again', 'PUT', `${room}/send/m.room.message/1`, { msgtype: 'm.text', body: 'ünï 😀' });
  const event = encodeURIComponent(sent.body.event_id);
  await as(ben, 'receipt', 'POST', `${room}/receipt/m.read/${event}`, {});
  await as(ben, 'typing', 'PUT', `${room}/typing/${encodeURIComponent('@ben:b.example')}`, {
    typing: true,
    timeout: 9000,
  });
  await as(ben, 'redaction not allowed', 'PUT', `${room}/redact/${event}/2`, {});
  await as(anna, 'redact', 'PUT', `${room}/redact/${event}/3`, { reason: 'no' });
  await as(anna, 'state', 'PUT', `${room}/state/m.room.topic/`, { topic: 'a' });
  await as(anna, 'state event', 'GET', `${room}/state/m.room.topic/`);
  await as(anna, 'not a member', 'GET', `${CLIENT}/rooms/${encodeURIComponent('!other:b.example')}/state`);
  await as(anna, 'members', 'GET', `${room}/joined_members`);
  await as(anna, 'messages', 'GET', `${room}/messages?dir=b&limit=3`);
  await as(anna, 'alias', 'PUT', `${CLIENT}/directory/room/${encodeURIComponent('#hall:b.example')}`, {
    room_id: created.body.room_id,
  });
  await as(anna, 'tag', 'PUT', `${CLIENT}/user/${user}/rooms/${id}/tags/u.friends`, { order: 0.5 });
  await as(anna, 'invalid parameter', 'GET', `${CLIENT}/sync?since=nothing`);
  const first = await as(ben, 'sync', 'GET', `${CLIENT}/sync?timeout=0`);
  const { next_batch } = first.body;
  await as(ben, 'long poll', 'GET', `${CLIENT}/sync?timeout=300&since=${next_batch}`);

  const otherDevice = { messages: { '@ben:b.example': { DBEN: { secret: 1 } } } };
  await as(anna, 'to device', 'PUT', `${CLIENT}/sendToDevice/x.test/1`, otherDevice);
  await as(ben, 'sync with a message to the device', 'GET', `${CLIENT}/sync?timeout=5000&since=${next_batch}`);
  const signatures = { '@anna:b.example': { 'ed25519:DANNA': 's' } };
  const keys = (from: number, count: number) => ({
    one_time_keys: Object.fromEntries(
      Array.from({ length: count }, (_, i) => [`signed_curve25519:${from + i}`, { key: 'k', signatures }]),
    ),
  });
  await as(anna, 'keys', 'POST', `${CLIENT}/keys/upload`, keys(0, 4));
  await as(anna, 'beyond one_time_keys', 'POST', `${CLIENT}/keys/upload`, keys(10, 1));
  await as(ben, 'keys of others', 'POST', `${CLIENT}/keys/query`, { device_keys: { '@anna:b.example': [] } });
  await as(anna, 'backup', 'POST', `${CLIENT}/room_keys/version`, { algorithm: 'm.megolm_backup.v1', auth_data: {} });

  const filter = (limit: number) => ({ room: { timeline: { limit } } });
  const filtered = await as(anna, 'filter', 'POST', `${CLIENT}/user/${user}/filter`, filter(1));
  await as(anna, 'filter', 'POST', `${CLIENT}/user/${user}/filter`, filter(2));
  await as(anna, 'filter that exists', 'POST', `${CLIENT}/user/${user}/filter`, filter(1));
  await as(anna, 'read the filter', 'GET', `${CLIENT}/user/${user}/filter/${filtered.body.filter_id}`);
  await as(anna, 'beyond filters', 'POST', `${CLIENT}/user/${user}/filter`, filter(3));

  const data = `${CLIENT}/user/${user}/account_data`;
  for (const type of ['x.1', 'x.2', 'x.3']) await as(anna, 'account data', 'PUT', `${data}/${type}`, { a: 1 });
  await as(anna, 'in the room', 'PUT', `${CLIENT}/user/${user}/rooms/${id}/account_data/x.1`, { a: 1 });
  await as(anna, 'beyond account_data', 'PUT', `${data}/x.5`, { a: 1 });
  await as(anna, 'rewrite', 'PUT', `${data}/x.2`, { a: 2 });
  await as(anna, 'invalid account data', 'PUT', `${data}/m.push_rules`, {});
  await as(anna, 'read account data', 'GET', `${data}/x.2`);

  const pusher = (pushkey: string, kind: string | null = 'http') => ({
    app_id: 'app',
    pushkey,
    kind,
    app_display_name: 'A',
    device_display_name: 'D',
    lang: 'en',
    data: { url: 'https://push.example/_matrix/push/v1/notify' },
  });
  await as(anna, 'pusher', 'POST', `${CLIENT}/pushers/set`, pusher('one'));
  await as(anna, 'beyond pushers', 'POST', `${CLIENT}/pushers/set`, pusher('two'));
  await as(anna, 'delete a pusher', 'POST', `${CLIENT}/pushers/set`, pusher('one', null));
  await as(anna, 'push rules', 'GET', `${CLIENT}/pushrules/global/override/.m.rule.master`);

  const later = (txn: string, delay: number) => `${room}/send/m.room.message/${txn}?org.matrix.msc4140.delay=${delay}`;
  const text = { msgtype: 'm.text', body: 'later' };
  const scheduled = await as(anna, 'delayed event', 'PUT', later('d1', 50_000), text);
  await as(anna, 'beyond delayed_events', 'PUT', later('d2', 50_000), text);
  await as(anna, 'beyond longest_delay', 'PUT', later('d3', 100_001), text);
  await step('restart', 'POST', `${DELAYED}/${scheduled.body.delay_id}`, { body: { action: 'restart' } });
  await step('send now', 'POST', `${DELAYED}/${scheduled.body.delay_id}`, { body: { action: 'send' } });
  for (let i = 0; i < 10; i++) await as(anna, 'ring', 'PUT', `${room}/send/m.rtc.notification/r${i}`, { sender_ts: 1 });
  await as(anna, 'beyond ring', 'PUT', `${room}/send/m.rtc.notification/r10`, { sender_ts: 1 });
  for (let i = 0; i < 20; i++)
    await as(anna, 'OpenID token', 'POST', `${CLIENT}/user/${user}/openid/request_token`, {});
  await as(anna, 'beyond openid_token', 'POST', `${CLIENT}/user/${user}/openid/request_token`, {});

  await as(anna, 'upload cap', 'GET', '/_matrix/client/v1/media/config');
  const uploaded = await as(
    anna,
    'upload',
    'POST',
    '/_matrix/media/v3/upload?filename=a.txt',
    Buffer.from('some bytes'),
  );
  const media = uploaded.body.content_uri.slice('mxc://'.length);
  await as(ben, 'download', 'GET', `/_matrix/client/v1/media/download/${media}`);
  await as(ben, 'thumbnail of a text', 'GET', `/_matrix/client/v1/media/thumbnail/${media}?width=9&height=9`);
  await as(anna, 'beyond media_upload', 'POST', '/_matrix/media/v3/upload', Buffer.alloc(50 * MIB + 1));
  await step('key of the server', 'GET', '/_matrix/key/v2/server/nothing/more');
  await step('unsigned transaction', 'PUT', '/_matrix/federation/v1/send/t1', { body: { pdus: [], edus: [] } });
  const many = { origin: 'c.example', pdus: Array(51).fill({}) };
  await step('beyond federation_pdus', 'PUT', '/_matrix/federation/v1/send/t2', { body: many });

  for (let i = 0; i < 3; i++) await register(`other${i}`);
  const body = { username: 'sixth', password: 'p', auth: { type: 'm.login.dummy' }, device_id: 'S' };
  await step('beyond register', 'POST', `${CLIENT}/register`, { body });
  await step('registration from elsewhere', 'POST', `${CLIENT}/register`, {
    body: { ...body, username: 'seventh' },
    from: freshAddress(),
  });
  await as(ben, 'log out', 'POST', `${CLIENT}/logout`, {});
  await as(ben, 'revoked token', 'GET', `${CLIENT}/account/whoami`);
  return trace.recorded;
}

describeWithSynapse('a scenario on Synapse', () => {
  test('differs through the gateway in the refusals only', async () => {
    const [direct, behind] = await Promise.all([Synapse.start(), Synapse.start()]);
    const limits = await LimitsProcess.start(
      `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.1"]\n[gateway]\nupstream = "${behind.url}"\n${CAPS}`,
    );
    try {
      const [without, through] = [await play(direct.url), await play(limits.url)];
      expect(through.map(({ step }) => step)).toEqual(without.map(({ step }) => step));
      const isRefused = ({ step }: Recorded) => step.startsWith('beyond');
      const isInvalid = ({ step }: Recorded) => step.startsWith('invalid');
      // The gateway advertises the smaller of both caps.
      const caps = [without, through].map((run) => run.find(({ step }) => step === 'upload cap')!);
      expect(caps.map(({ body }) => body)).toEqual([100, 50].map((cap) => ({ 'm.upload.size': String(cap * MIB) })));
      for (const cap of caps) cap.body = undefined;
      const isPassed = (recorded: Recorded) => !isRefused(recorded) && !isInvalid(recorded);
      expect(through.filter(isPassed)).toEqual(without.filter(isPassed));
      // The gateway reads some bodies itself. What it refuses, the homeserver would refuse with the same code.
      const [invalid, refusedBySynapse] = [through, without].map((run) =>
        run.filter(isInvalid).map(({ step, status, body }) => [step, status, (body as { errcode: string }).errcode]),
      );
      expect(invalid).toEqual(refusedBySynapse);
      expect(Object.fromEntries(through.filter(isRefused).map(({ step, status }) => [step, status]))).toEqual({
        'beyond login_account': 429,
        'beyond one_time_keys': 400,
        'beyond filters': 400,
        'beyond account_data': 400,
        'beyond pushers': 400,
        'beyond delayed_events': 400,
        'beyond longest_delay': 400,
        'beyond ring': 429,
        'beyond openid_token': 429,
        'beyond media_upload': 413,
        'beyond federation_pdus': 400,
        'beyond register': 429,
      });
      const granted = without.filter(isRefused).filter(({ status }) => status === 200);
      expect(granted).toHaveLength(10);
    } finally {
      await limits.dispose();
      await direct.dispose();
      await behind.dispose();
    }
  });
});
