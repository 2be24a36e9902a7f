import { boundedOperations } from './bounded-operations.js';
import { PathTable } from './path-table.js';

const table = new PathTable(boundedOperations);

function operationOf(method: string, target: string): string {
  const classified = table.classify(method, target);
  return classified.kind === 'matched' ? classified.match.operation : classified.kind;
}

function paramsOf(method: string, target: string): Readonly<Record<string, string>> | undefined {
  const classified = table.classify(method, target);
  return classified.kind === 'matched' ? classified.match.params : undefined;
}

describe('PathTable over the bounded operations', () => {
  test.each([
    ['PUT', '/_matrix/client/v3/rooms/!r:b.example/send/m.rtc.notification/1'],
    ['PUT', '/_matrix/client/r0/rooms/%21r%3Ab.example/send/org.matrix.msc4075.rtc.notification/2'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b.example/send/m%2Ertc%2Enotification/3'],
    ['POST', '/_matrix/client/v3/rooms/!r:b.example/send/m.rtc.notification'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b.example/send/m.rtc.notification/4?org.matrix.msc4140.delay=5000'],
    ['PUT', '/_matrix/client/api/v1/rooms/!r:b.example/send/m.rtc.notification/5'],
    ['PUT', '/_matrix/client/unstable/rooms/!r:b.example/send/m.rtc.notification/6'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b.example/%73end/m.rtc.notification/7'],
    ['PUT', '//_matrix//client/v3/rooms/!r:b.example/send/m.rtc.notification//8/'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b.example/send/m.rtc.notification/'],
  ])('classifies %s %s as sending a ring', (method, target) => {
    expect(operationOf(method, target)).toBe('send');
    expect(paramsOf(method, target)?.eventType).toMatch(/rtc\.notification$/);
    expect(paramsOf(method, target)?.roomId).toBe('!r:b.example');
  });

  test.each([
    ['/_matrix/client/unstable/org.matrix.msc4140/rooms/!r:b.example/delayed_event/m.rtc.notification/5'],
    ['/_matrix/client/v3/rooms/!r:b.example/delayed_event/m.rtc.notification/5'],
  ])('classifies PUT %s as scheduling', (target) => {
    expect(operationOf('PUT', target)).toBe('scheduleDelayed');
    expect(paramsOf('PUT', target)).toEqual({ roomId: '!r:b.example', eventType: 'm.rtc.notification', txnId: '5' });
  });

  test.each([
    ['POST', '/_matrix/client/v3/login', 'login'],
    ['POST', '/_matrix/client/api/v1/login', 'login'],
    ['POST', '/_matrix/client/v2_alpha/login', 'login'],
    ['POST', '/_matrix/client/v3/%6Cogin', 'login'],
    ['POST', '/_matrix/client/v3/login/', 'login'],
    ['POST', '/_matrix/client/v3/login?access_token=x', 'login'],
    ['POST', '/%5Fmatrix/client/v3/login', 'login'],
    ['POST', '/_matrix/client/unstable/register?kind=user', 'register'],
    ['POST', '/_matrix/client/r0/account/password', 'endTokens'],
    ['POST', '/_matrix/client/v3/account/3pid/add', 'authenticate'],
    ['POST', '/_matrix/client/unstable/keys/device_signing/upload', 'authenticate'],
    ['POST', '/_matrix/client/v1/login/get_token', 'authenticate'],
    ['POST', '/_matrix/client/unstable/org.matrix.msc3882/login/token', 'authenticate'],
    ['POST', '/_matrix/client/r0/user/@a:b/openid/request_token', 'openIdToken'],
    ['POST', '/_svc/rtc/media/sfu/get', 'sfuCredential'],
    ['POST', '/_matrix/media/r0/upload?filename=a', 'upload'],
    ['POST', '/_matrix/media/v1/upload', 'upload'],
    ['PUT', '/_matrix/media/v3/upload/b.example/abc', 'uploadTo'],
    ['POST', '/_matrix/media/v1/create', 'createMedia'],
    ['POST', '/_matrix/client/v3/rooms/!r:b.example/upgrade', 'upgradeRoom'],
    ['GET', '/_matrix/client/v1/media/config', 'mediaConfig'],
    ['GET', '/_matrix/media/r0/config', 'mediaConfig'],
    ['POST', '/_matrix/client/r0/user/%40a%3Ab/filter', 'createFilter'],
    ['PUT', '/_matrix/client/v3/user/@a:b/account_data/m.direct', 'setAccountData'],
    ['PUT', '/_matrix/client/v3/user/@a:b/rooms/!r:b/account_data/x%2Fy', 'setRoomAccountData'],
    ['DELETE', '/_matrix/client/unstable/org.matrix.msc3391/user/@a:b/account_data/x', 'deleteAccountData'],
    ['POST', '/_matrix/client/v3/keys/upload', 'uploadKeys'],
    ['POST', '/_matrix/client/r0/keys/upload/DEVICE', 'uploadKeys'],
    ['POST', '/_matrix/client/v3/pushers/set', 'setPusher'],
    ['PUT', '/_matrix/federation/v1/send/t%2D1', 'sendTransaction'],
    ['POST', '/_matrix/client/unstable/org.matrix.msc4140/delayed_events/syd_x/restart', 'manageDelayed'],
    ['POST', '/_matrix/client/v3/logout/all', 'logoutAll'],
    ['PUT', '/_matrix/media/unstable/fi.mau.msc2246/upload/b.example/abc', 'uploadTo'],
    ['GET', '/_matrix/client/unstable/org.matrix.msc3916/media/config', 'mediaConfig'],
    ['PUT', '/_matrix/client/unstable/org.example.msc1/rooms/!r:b/send/m.rtc.notification/1', 'send'],
    ['POST', '/_matrix/client/v3/user/@a:b/filter/', 'createFilter'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b/state/m.x/', 'setState'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b/state/m.x//', 'setState'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b////////send/m.x/1', 'send'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b/state/m.x/a%2Fb', 'setState'],
    ['PUT', '/_matrix/client/v3/user/@a:b/account_data/x%2Fy', 'setAccountData'],
  ])('%s %s is %s', (method, target, operation) => expect(operationOf(method, target)).toBe(operation));

  test.each([
    ['POST', '/_matrix/client/v3/createRoom', 'createRoom', {}],
    ['PUT', '/_matrix/client/r0/createRoom/t1', 'createRoom', { txnId: 't1' }],
    ['POST', '/_matrix/client/v3/rooms/!r:b/invite', 'invite', { roomId: '!r:b' }],
    ['PUT', '/_matrix/client/v3/rooms/!r:b/invite/t1', 'invite', { roomId: '!r:b' }],
    ['POST', '/_matrix/client/v3/rooms/!r:b/join', 'joinRoom', { roomId: '!r:b' }],
    ['POST', '/_matrix/client/v3/join/%23a%2Fb:c', 'joinByName', { roomIdOrAlias: '#a/b:c' }],
    ['PUT', '/_matrix/client/v3/join/%23a:c/t1', 'joinByName', { roomIdOrAlias: '#a:c', txnId: 't1' }],
    ['POST', '/_matrix/client/unstable/xyz.amorgan.knock/knock/%23a:c', 'knock', { roomIdOrAlias: '#a:c' }],
    ['PUT', '/_matrix/client/v3/rooms/!r:b/redact/%24a%2Fb/t1', 'redact', { eventId: '$a/b', txnId: 't1' }],
    ['POST', '/_matrix/client/v3/rooms/!r:b/redact/%24a%2Fb', 'redact', { eventId: '$a/b' }],
  ])('classifies %s %s, which rules may count', (method, target, operation, params) => {
    expect(operationOf(method, target)).toBe(operation);
    expect(paramsOf(method, target)).toMatchObject(params);
  });

  test.each([
    ['GET', '/_matrix/client/v3/login'],
    ['POST', '/_matrix/client/v3/rooms/!r:b/leave'],
    ['POST', '/_matrix/client/v3/rooms/!r:b/kick'],
    ['PUT', '/_matrix/client/v3/directory/room/%23a%2Fb:b.example'],
    ['PUT', '/_matrix/client/v3/user/@a:b/rooms/!r:b/tags/u.work%2Fhome'],
    ['POST', '/_matrix/media/v1/created'],
    ['GET', '/_matrix/client/v3/sync'],
    ['POST', '/_MATRIX/client/v3/login'],
    ['GET', '/.well-known/matrix/client'],
  ])('leaves %s %s alone', (method, target) => expect(operationOf(method, target)).toBe('unknown'));

  test.each([
    ['/_matrix/client/v3%2Flogin'],
    ['/_matrix/client/v3/rooms/!r:b/send/m.rtc.notification%2F1'],
    ['/_matrix/client/v3/../v3/login'],
    ['/_matrix/client/v3/..;a/v3/login'],
    ['/_matrix/client/v3/login/.;a'],
    ['/_matrix/client/v3/login/.%3b'],
    ['/_matrix/client/v3/%2e%2E/v3/login'],
    ['/_matrix/client/v3/./login'],
    ['/_matrix/client/v3\\login'],
    ['/_matrix/client/v3/login#x'],
    ['/_matrix/client/v3/%zzlogin'],
    ['/_matrix/client/v3/%ff'],
    ['/_matrix/client/v3/%c0%af'],
    ['http://b.example/_matrix/client/v3/login'],
    ['//b.example/_matrix/client/v3/login'],
    ['///b.example/_matrix/client/v3/login'],
    ['/_matrix/client/v3/user/@a:b/openid/request_tokens'],
    ['/_matrix/client/v3/user/@a:b//openid/request_token%C3%A9'],
    ['/_matrix/client/v3/user/@a:b/openid/request_token/more'],
    ['/_matrix/client/v3/user/@a:b/openid/request_token/more/of%2Fit/'],
  ])('classifies %s as ambiguous, because another server could read it differently', (target) => {
    expect(operationOf('POST', target)).toBe('ambiguous');
  });

  // Proxies such as nginx and Envoy decode a path and then resolve its dot segments.
  test.each([
    ['/_matrix/client/v3/x/..%2flogin'],
    ['/_matrix/client/v3/x%2f..%2flogin'],
    ['/_matrix/client/v3/x%2F%2e%2E%2flogin'],
    ['/_matrix/client/v3/.%2flogin'],
    ['/_matrix/client/v3/%2e%2flogin'],
    ['/_matrix/client/v3/x%2f%2f..%2flogin'],
    ['/_matrix/client/v3/x%2fy%2f..%2f..%2flogin'],
    ['/_matrix/client/v3/login%2f.'],
    ['/_matrix/client/v3/login%2fx%2f..'],
    ['/x%2f..%2f_matrix/client/v3/login'],
    ['/..%2f_matrix/client/v3/login'],
    ['/_matrix%2fx%2f..%2fclient/v3/login'],
    ['/_matrix/client/v3/x%5c..%5clogin'],
    ['/_matrix/client/v3%5clogin'],
  ])('classifies POST %s as ambiguous', (target) => expect(operationOf('POST', target)).toBe('ambiguous'));

  test.each([
    ['PUT', '/_matrix/client/v3/rooms/!r:b/send/m.x%2f..%2fm.rtc.notification/1'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b/x/..%2fsend/m.rtc.notification/1'],
    ['PUT', '/_matrix/client/v3/user/@a:b/account_data/a%2f..%2fb'],
    ['PUT', '/_matrix/federation/v1/x%2f..%2fsend/1'],
  ])('classifies %s %s as ambiguous', (method, target) => expect(operationOf(method, target)).toBe('ambiguous'));

  test.each([
    ['GET', '/_matrix/client/v3/rooms/!r:b/state/m.x/a%2f..%2fb'],
    ['GET', '/_matrix/media/v3/download/b/..%2flogin'],
    ['PUT', '/_matrix/client/v3/user/@a:b/rooms/!r:b/tags/u.a%2f.b'],
    ['POST', '/_matrix/client/v3/x%2f..%2fsync'],
  ])('leaves the escaped dot segments of %s %s to the homeserver', (method, target) =>
    expect(operationOf(method, target)).toBe('unknown'),
  );

  // A proxy that forwards the decoded path, such as nginx with `proxy_pass http://hs$uri`, has it decoded twice.
  test.each([
    ['POST', '/_matrix/client/v3/%256cogin'],
    ['POST', '/_matrix/client/v3/%25256cogin'],
    ['POST', '/_matrix/client/v3/x%252f..%252flogin'],
    ['POST', '/_matrix/client%252fv3/login'],
    ['POST', '/_matrix/client/v3%252Flogin%252F'],
    ['POST', '/_matrix/client/v3/%252e%252e/v3/login'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b/send/m%252ertc.notification/1'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b/%2573end/m.rtc.notification/1'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b/delayed_event/m%2525252ertc.notification/1'],
    ['PUT', '/_matrix/client/v3/user/@a:b/account_data%252ftype'],
    ['POST', '/_matrix/client/v3/%2525252525256cogin'],
  ])('does not forward %s %s, which is something bounded when it is decoded again', (method, target) => {
    expect(operationOf(method, target)).toBe('ambiguous');
  });

  // A proxy that forwards the decoded path ends it at what it takes for a query, a fragment, or the end of a line.
  test.each([
    ['POST', '/_matrix/client/v3/login%0a'],
    ['POST', '/_matrix/client/v3/login%0A%0d'],
    ['POST', '/_matrix/client/v3/login%3f'],
    ['POST', '/_matrix/client/v3/login%3Fx%2f..%2fy'],
    ['POST', '/_matrix/client/v3/login%23x'],
    ['POST', '/_matrix/client/v3/login%20HTTP%2f1.1'],
    ['POST', '/_matrix/client/v3/login%253f'],
    ['POST', '/_matrix/client/v3/login%25250a'],
    ['POST', '/_matrix/client/v3/lo%0agin'],
    ['POST', '/_matrix/client/v3/x/%2e.%0a/login'],
    ['POST', '/_matrix/client/v3/login/x%2f..%0a'],
    ['POST', '/_matrix/client/v3/lo%257%0acgin'],
    ['POST', '/_matrix/media/v3/upload%0a'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b/send/m.rtc.notification%0a/1'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b%0a/send/m.x/1'],
    ['POST', '/_matrix/client/v3/rooms/!r:b/send/m.rtc.notification%3fx'],
    ['POST', `/_matrix/client/v3/${'%3f'.repeat(65)}`],
    ['POST', `/_matrix/client/v3/${'%252f%252e%252e%2500'.repeat(40)}login`],
  ])('does not forward %s %s, which is something bounded when it ends early', (method, target) => {
    expect(operationOf(method, target)).toBe('ambiguous');
  });

  test.each([
    ['POST', '/_matrix/client/v3/join/%23a:c', 'joinByName'],
    ['PUT', '/_matrix/client/v3/join/%23a%3Fb:c/t1', 'joinByName'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b/state/m.x/some%20key%3F', 'setState'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b/state/m.x/%23key', 'setState'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b/send/m.room.message/a%20.%20b', 'send'],
    ['PUT', '/_matrix/client/v3/user/@a:b/account_data/u.a%20b', 'setAccountData'],
    ['GET', '/_matrix/client/v3/directory/room/%23a:c', 'unknown'],
    ['GET', '/_matrix/media/v3/download/b/id/a%20long%20name%20of%20a%20file%3F.png', 'unknown'],
    ['GET', '/_matrix/client/v3/login%3f', 'unknown'],
  ])('accepts %s %s, whose parameter has such a character', (method, target, operation) => {
    expect(operationOf(method, target)).toBe(operation);
  });

  test.each([
    ['PUT', '/_matrix/client/v3/rooms/!r:b/state/im.vector.modular.widgets/jitsi_%2540a%253Ab', 'setState'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b/state/m.x/a%252Fb', 'setState'],
    ['PUT', '/_matrix/client/v3/rooms/!r:b/send/m.room.message/txn%2541', 'send'],
    ['PUT', '/_matrix/client/v3/user/@a:b/account_data/u.100%25', 'setAccountData'],
    ['PUT', '/_matrix/client/v3/user/@a:b/account_data/u.%2541', 'setAccountData'],
    ['POST', '/_matrix/client/v3/join/%23a%2525b:c', 'joinByName'],
    ['GET', '/_matrix/media/v3/download/b/id/a%2520file.png', 'unknown'],
    ['PUT', '/_matrix/client/v3/user/@a:b/rooms/!r:b/tags/u.%252F', 'unknown'],
  ])('accepts %s %s, whose parameters contain an escape', (method, target, operation) => {
    expect(operationOf(method, target)).toBe(operation);
  });

  test('accepts an escaped backslash in a parameter', () => {
    expect(paramsOf('PUT', '/_matrix/client/v3/rooms/!r:b/state/m.x/a%5Cb')).toMatchObject({ stateKey: 'a\\b' });
  });

  // Some servers accept empty parameters, and match only the beginning of some paths.
  test.each([
    ['/_matrix/client/v3/user/@a:b/account_data/'],
    ['/_matrix/client/v3/user/@a:b/account_data/type/more'],
    ['/_matrix/client/v3/user/@a:b/rooms/!r:b/account_data/'],
    ['/_matrix/client/v3/user/@a:b/rooms/!r:b/account_data/type/more/'],
    ['/_matrix/client/v3/user//rooms/!r:b/account_data/type'],
    ['/_matrix/client/v3/rooms//send/m.rtc.notification/1'],
    ['/_matrix/client/v3/rooms/!r:b/send//'],
    ['/_matrix/client/v3/rooms/!r:b/send/%2Fm.rtc.notification/1'],
    ['/_matrix/client/v3/rooms/!r:b/send//m.rtc.notification'],
    ['/_matrix/client/unstable//org.matrix.msc4140/%2Frooms/!r:b/delayed_event/m.x/1'],
    ['/_matrix/client/v3/user//rooms//account_data/type'],
    ['/_matrix/client/v3/user/@a:b/rooms/!r:b////////account_data/'],
    ['/_matrix/federation/v1/send/'],
    ['/_matrix/federation/v1/send//'],
    ['/_matrix/federation/v1%2Fsend/'],
  ])('classifies PUT %s as ambiguous', (target) => expect(operationOf('PUT', target)).toBe('ambiguous'));

  test.each([
    ['POST', '/_matrix/client/v3/login/sso/redirect'],
    ['POST', '/_matrix/client/v3/register/email/requestToken'],
    ['GET', '/_matrix/client/v3/user/@a:b/account_data/type'],
    ['PUT', '/_matrix/client/v3/user/@a:b/rooms/!r:b/tags/m.favourite'],
    ['PUT', '//_matrix//client//v3/directory/room/%23a%2Fb:b.example/'],
  ])('does not confuse %s %s with an operation of a similar path', (method, target) =>
    expect(operationOf(method, target)).toBe('unknown'),
  );

  test.each([['OPTIONS'], ['GET'], ['PUT']])(
    'classifies %s of an open-ended path as unknown, with its method',
    (method) => {
      const classified = table.classify(method, '/_matrix/client/v3/user/@a:b/openid/request_token');
      expect(classified.kind === 'unknown' && table.methodsOf(classified.target)).toEqual(['POST']);
    },
  );

  test('leaves other methods of paths that begin like an open-ended one to the homeserver', () => {
    expect(operationOf('GET', '/_matrix/client/v3/user/@a:b/openid/request_tokens')).toBe('unknown');
  });

  test('lists the methods of a path when only the method is wrong', () => {
    const classified = table.classify('PATCH', '/_matrix/client/v3/login');
    expect(classified.kind === 'unknown' && table.methodsOf(classified.target)).toEqual(['POST']);
  });

  test('refuses a table in which two operations match one request', () => {
    const twice = { methods: ['GET'], paths: ['/a/:b'] };
    expect(
      () =>
        new PathTable([
          { operation: 'x', ...twice },
          { operation: 'y', ...twice },
        ]),
    ).toThrow('two operations');
  });
});
