import { jsonResponse } from '@headgate/homeserver-contracts';
import { authIn, outcomeOfGuess, passwordGuess } from './password-guess.js';

const STAGE = 'm.login.password';

describe('outcomeOfGuess', () => {
  test.each([
    [200, {}, 'success'],
    [401, { flows: [], session: 's', errcode: 'M_FORBIDDEN', completed: [] }, 'forbidden'],
    [401, { flows: [], session: 's' }, 'forbidden'],
    // The session has passed the stage before, with another password.
    [401, { errcode: 'M_FORBIDDEN', completed: [STAGE] }, 'forbidden'],
    [401, { flows: [], completed: [STAGE] }, 'other'],
    [401, { errcode: 'M_UNKNOWN_TOKEN' }, 'unauthenticated'],
    [401, { errcode: 'M_MISSING_TOKEN' }, 'unauthenticated'],
    [403, { errcode: 'M_FORBIDDEN' }, 'forbidden'],
    [404, {}, 'other'],
    [502, {}, 'other'],
  ] as const)('reads %i %j as %s', (status, body, outcome) => {
    expect(outcomeOfGuess(jsonResponse(status, body), true)).toBe(outcome);
  });

  test('takes no success that proves nothing for a right password', () => {
    expect(outcomeOfGuess(jsonResponse(200, {}), false)).toBe('other');
  });
});

describe('passwordGuess', () => {
  test.each([
    [{ type: STAGE, identifier: { type: 'm.id.user', user: 'Nora' } }, 'user:nora'],
    [{ type: STAGE, user: '@nora:b.example', session: 's' }, 'user:nora'],
    [{ type: STAGE, medium: 'email', address: 'A@b.example' }, 'email:a@b.example'],
    [{ type: STAGE, password: 'x' }, undefined],
  ])('names the account of %j', (auth, account) => {
    expect(passwordGuess(auth, 'b.example')).toEqual({ event: 'login', account });
  });

  test('ignores other stages', () => expect(passwordGuess({ type: 'm.login.dummy' }, 'b.example')).toBeUndefined());

  test.each([
    [{ type: STAGE, User: 'nora' }],
    [{ type: STAGE, identifier: { type: 'm.id.user', USER: 'nora' } }],
    [{ type: STAGE, user: 'nora', identifier: { type: 'm.id.user', user: 'eve' } }],
  ])('refuses %j', (auth) => expect(() => passwordGuess(auth, 'b.example')).toThrow());
});

test('authIn returns an object, and refuses another spelling or type', () => {
  expect(authIn({})).toBeUndefined();
  expect(authIn({ auth: null })).toBeUndefined();
  expect(authIn({ auth: { type: 'x' } })).toEqual({ type: 'x' });
  expect(() => authIn({ Auth: {} })).toThrow();
  expect(() => authIn({ auth: 'x' })).toThrow();
});
