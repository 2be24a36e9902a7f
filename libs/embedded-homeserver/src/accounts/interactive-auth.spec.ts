import type { MatrixResponse } from '@headgate/homeserver-contracts';
import { dummyStage, registrationTokenStage } from './auth-stages.js';
import { InteractiveAuth } from './interactive-auth.js';

const bodyOf = (response: MatrixResponse | undefined) => JSON.parse(String(response?.body));

describe('InteractiveAuth', () => {
  let auth: InteractiveAuth;
  beforeEach(() => {
    auth = new InteractiveAuth(registrationTokenStage(['open-sesame', 'second']));
  });

  const begin = (): string => bodyOf(auth.challenge({})).session;
  const attempt = (response: object) => auth.challenge({ auth: response });
  const type = 'm.login.registration_token';

  test('sends a challenge first, without an error', () => {
    const response = auth.challenge({ username: 'nora' });
    expect(response?.status).toBe(401);
    expect(bodyOf(response)).toEqual({ session: expect.any(String), flows: [{ stages: [type] }], params: {} });
    expect(begin()).not.toBe(begin());
  });

  test.each(['open-sesame', 'second'])('accepts the token %s, once per session', (token) => {
    const session = begin();
    expect(attempt({ type, token, session })).toBeUndefined();
    expect(bodyOf(attempt({ type, token, session })).errcode).toBe('M_UNKNOWN');
  });

  test.each([['open-sesam'], ['OPEN-SESAME'], [''], [5], [undefined], [['open-sesame']]])(
    'refuses the token %j, and accepts another attempt in the same session',
    (token) => {
      const session = begin();
      const response = attempt({ type, token, session });
      expect(response?.status).toBe(401);
      expect(bodyOf(response)).toMatchObject({ errcode: 'M_UNAUTHORIZED', session, flows: [{ stages: [type] }] });
      expect(attempt({ type, token: 'second', session })).toBeUndefined();
    },
  );

  test('accepts a response without a session, as some clients send it', () => {
    expect(attempt({ type, token: 'second' })).toBeUndefined();
    expect(new InteractiveAuth(dummyStage).challenge({ auth: { type: 'm.login.dummy' } })).toBeUndefined();
  });

  test.each([['unknown'], [5], [null]])('opens a new session for the session %j', (session) => {
    const body = bodyOf(attempt({ type, token: 'second', session }));
    expect(body).toMatchObject({ errcode: 'M_UNKNOWN', session: expect.any(String) });
    expect(body.session).not.toBe(session);
  });

  test.each([['m.login.dummy'], ['m.login.recaptcha'], [5]])('refuses the unknown stage %j', (other) => {
    const session = begin();
    expect(bodyOf(attempt({ type: other, session }))).toMatchObject({ errcode: 'M_UNRECOGNIZED', session });
  });

  test('responds to a session alone with the remaining stages', () => {
    const session = begin();
    expect(bodyOf(attempt({ session }))).toEqual({ session, flows: [{ stages: [type] }], params: {} });
  });

  test('drops the oldest of too many sessions', () => {
    const [first, second] = [begin(), begin()];
    for (let i = 0; i < 9_999; i++) begin();
    expect(bodyOf(attempt({ type, token: 'second', session: first })).errcode).toBe('M_UNKNOWN');
    expect(second).toBeDefined();
    const last = begin();
    expect(attempt({ type, token: 'second', session: last })).toBeUndefined();
  });
});
