import { FixedClock } from '@headgate/testing';
import { OpenIdProvider, type OpenIdSettings, type ProviderUser } from './openid-provider.js';
import { FakeProvider } from './testing/fake-provider.js';

const REDIRECT = 'http://127.0.0.1:8006/api/ext/login/providers/corp/callback';

describe('OpenIdProvider', () => {
  let peer: FakeProvider;
  let provider: OpenIdProvider;

  beforeEach(async () => {
    peer = await FakeProvider.listen();
    peer.claims = { preferred_username: 'ann', groups: ['ops', 'dev'], name: 'Ann' };
    provider = build();
  });
  afterEach(() => peer.close());

  const build = (settings: Partial<OpenIdSettings> = {}): OpenIdProvider =>
    new OpenIdProvider(
      {
        id: 'corp',
        name: 'Corp',
        issuer: peer.issuer,
        clientId: 'headgate',
        clientSecret: 'secret',
        scopes: ['profile'],
        loginClaim: 'preferred_username',
        groupsClaim: 'groups',
        ...settings,
      },
      new FixedClock(0),
    );

  const logIn = async (change: (callback: URL) => void = () => undefined): Promise<ProviderUser> => {
    const { url, progress } = await provider.begin(REDIRECT, '/vms');
    const callback = peer.approve(url);
    change(callback);
    return provider.finish(callback, progress);
  };
  const failure = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'no failure',
      (error: { failure: unknown }) => error.failure,
    );

  test('asks for a code with PKCE, a state and a nonce', async () => {
    const { url } = await provider.begin(REDIRECT, '/vms');
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'headgate',
      redirect_uri: REDIRECT,
      scope: 'openid profile',
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^[\w-]{43}$/) as unknown,
      nonce: expect.stringMatching(/^[\w-]{43}$/) as unknown,
    });
  });

  test('returns the user with the ID of the provider before the login', async () => {
    expect(await logIn()).toMatchObject({ login: 'corp:ann', name: 'Ann', groups: ['ops', 'dev'] });
  });

  test('asks for claims that the ID token does not have', async () => {
    peer.claims = {};
    peer.userinfo = { preferred_username: 'bob', groups: 'ops' };
    expect(await logIn()).toMatchObject({ login: 'corp:bob', name: '', groups: ['ops'] });
  });

  test('has no groups without a claim for them', async () => {
    provider = build({ groupsClaim: undefined });
    expect(await logIn()).toMatchObject({ groups: [] });
  });

  test.each([
    ['no login', {}],
    ['a login that is no text', { preferred_username: 7 }],
    ['a login with the mark of another provider', { preferred_username: ':root' }],
    ['a login with spaces', { preferred_username: 'ann eve' }],
    ['a login with a control character', { preferred_username: 'ann\u001b[2J' }],
  ])('refuses %s', async (_title, claims) => {
    peer.claims = claims;
    expect(await failure(logIn())).toBe('claims');
  });

  test('refuses an email address that the provider has not verified', async () => {
    provider = build({ loginClaim: 'email' });
    peer.claims = { email: 'ann@example.org' };
    expect(await failure(logIn())).toBe('claims');
    peer.claims = { email: 'ann@example.org', email_verified: true };
    expect(await logIn()).toMatchObject({ login: 'corp:ann@example.org' });
  });

  const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;
  test.each([
    ['the nonce of another login', { nonce: 'another' }],
    ['no nonce', { nonce: undefined }],
    ['another issuer', { iss: 'https://evil.example' }],
    ['another audience', { aud: 'another-client' }],
    ['a time that is over', { exp: inSeconds(-120) }],
  ])('refuses an ID token with %s', async (_title, claims) => {
    peer.claims = { ...peer.claims, ...claims };
    expect(await failure(logIn())).toBe('refused');
  });

  test('accepts the clock of a provider that differs by seconds', async () => {
    peer.claims = { ...peer.claims, exp: inSeconds(-2), iat: inSeconds(15) };
    expect(await logIn()).toMatchObject({ login: 'corp:ann' });
  });

  test('refuses a signature with a key that the provider does not publish', async () => {
    peer.usesForeignKey = true;
    expect(await failure(logIn())).toBe('refused');
  });

  test('reads the keys of the provider again when it has changed them', async () => {
    await logIn();
    peer.rotateKey();
    // As after an hour; the library itself reads keys again when one is unknown for a minute.
    provider = build();
    expect(await logIn()).toMatchObject({ login: 'corp:ann' });
  });

  test('refuses a code that was used, another state, and the answer of another provider', async () => {
    const { url, progress } = await provider.begin(REDIRECT, '/vms');
    const callback = peer.approve(url);
    await provider.finish(callback, progress);
    expect(await failure(provider.finish(callback, progress))).toBe('refused');
    expect(await failure(logIn((one) => one.searchParams.set('state', 'another')))).toBe('refused');
    peer.extra = { iss: 'https://evil.example' };
    provider = build();
    expect(await failure(logIn())).toBe('refused');
    peer.extra = { iss: peer.issuer };
    expect(await logIn()).toMatchObject({ login: 'corp:ann' });
    expect(await failure(logIn((one) => one.searchParams.delete('iss')))).toBe('refused');
  });

  test('reports a login that the user has canceled', async () => {
    const canceled = logIn(({ searchParams }) => {
      searchParams.delete('code');
      searchParams.set('error', 'access_denied');
    });
    expect(await failure(canceled)).toBe('canceled');
  });

  test('reports a provider that is down, and works again when it is up', async () => {
    peer.broken = 503;
    expect(await failure(provider.begin(REDIRECT, '/vms'))).toBe('unreachable');
    peer.broken = undefined;
    expect(await logIn()).toMatchObject({ login: 'corp:ann' });
    const gone = await FakeProvider.listen();
    const { issuer } = gone;
    await gone.close();
    expect(await failure(build({ issuer }).begin(REDIRECT, '/vms'))).toBe('unreachable');
  });

  test('refuses a provider that calls itself otherwise', async () => {
    const other = build({ issuer: peer.issuer.replace('127.0.0.1', 'localhost') });
    expect(await failure(other.begin(REDIRECT, '/vms'))).not.toBe('no failure');
  });

  test('leads to the logout of the provider', async () => {
    const { idToken } = await logIn();
    const url = await provider.logoutUrl(idToken, 'http://127.0.0.1:8006/');
    expect(url?.origin).toBe(peer.issuer);
    expect(Object.fromEntries(url?.searchParams ?? [])).toMatchObject({
      id_token_hint: idToken,
      post_logout_redirect_uri: 'http://127.0.0.1:8006/',
    });
  });
});
