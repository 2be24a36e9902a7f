import { onHomeservers, type RunningHomeserver } from './testing/homeservers.js';
import { call, type CallOptions } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';

const VICTIM = 'victim.example';
const FEDERATION = '/_matrix/federation/v1';
const RULE = `[[rules]]\nname = "origins"\non = ["federation"]\nby = "origin"\nlimit = 5\nwindow = "1h"\n`;

/** A signature that no server has created. */
const CLAIM = `X-Matrix origin="${VICTIM}",destination="b.example",key="ed25519:1",sig="aaaa"`;

onHomeservers('an origin that a stranger only claims, in front of', (homeserver) => {
  let upstream: RunningHomeserver;
  let limits: LimitsProcess;
  beforeAll(async () => {
    upstream = await homeserver.start();
    limits = await LimitsProcess.start(
      `[server]\nname = "b.example"\n[gateway]\nupstream = "${upstream.url}"\n[operator]\nlisten = "127.0.0.1:0"\n${RULE}`,
    );
  });
  afterAll(async () => {
    await limits?.dispose();
    await upstream?.dispose();
  });

  const used = async () => {
    const { body } = await call(limits.operatorUrl, 'GET', `/rates/origins?key=${VICTIM}`);
    return [body.counted, body.inFlight];
  };
  const claim = (method: string, path: string, options: CallOptions = {}, type = 'application/json') =>
    call(limits.url, method, `${FEDERATION}/${path}`, {
      ...options,
      headers: { Authorization: CLAIM, ...(options.body !== undefined && { 'Content-Type': type }) },
    });

  type Claim = [what: string, method: string, path: string, options?: CallOptions, type?: string];
  const CLAIMS: Claim[] = [
    ['an endpoint without a signature', 'GET', 'version'],
    ['one for tokens', 'GET', 'openid/userinfo?access_token=x'],
    ['an endpoint that does not exist', 'GET', 'nothing'],
    ['a method that does not exist', 'DELETE', 'send/t1'],
    ['a body that is not JSON', 'PUT', 'send_join/!r:b.example/$e', { body: '{' }],
    ['a transaction that is not JSON', 'PUT', 'send/t2', { body: '{' }],
    ['a path with an escaped letter', 'GET', '%76ersion'],
  ];
  // Synapse asks the origin for its key first, for minutes.
  const BEFORE_THE_SIGNATURE_ON_DENDRITE: Claim[] = [
    ['a list that others show with a signature only', 'GET', 'publicRooms'],
    ['a body of another type', 'PUT', 'send_join/!r:b.example/$e', { body: {} }, 'text/plain'],
  ];

  test.each([...CLAIMS, ...(homeserver.name === 'Dendrite' ? BEFORE_THE_SIGNATURE_ON_DENDRITE : [])])(
    'loses nothing to %s',
    // Jest would pass a callback for a parameter that a row does not have.
    async (...[, method, path, options, type]: Claim) => {
      for (let n = 0; n < 7; n++) expect((await claim(method, path, options, type)).status).not.toBe(429);
      expect(await used()).toEqual([0, 0]);
    },
  );
});
