import { accountKey } from './account-key.js';

const keyOf = (body: object) => accountKey(body, 'b.example');
const user = (name: string) => keyOf({ identifier: { type: 'm.id.user', user: name } });

describe('accountKey', () => {
  test.each([
    ['alice'],
    ['Alice'],
    ['@alice:b.example'],
    ['@ALICE:B.example'],
    ['alice:b.example'],
    ['@alice'],
    [' alice '],
    ['al\u0130ce'],
    ['alice\u001f'],
  ])('gives %p the key of alice', (name) => expect(user(name)).toBe('user:alice'));

  test('gives the old top-level form the same key', () =>
    expect(keyOf({ user: '@alice:b.example' })).toBe('user:alice'));

  test('keeps an id of another server apart', () => expect(user('@alice:c.example')).toBe('user:alice:c.example'));

  test('keys mail addresses without case, in both forms', () => {
    const identifier = { type: 'm.id.thirdparty', medium: 'email', address: 'Nora@Mail.example' };
    expect(keyOf({ identifier })).toBe('email:nora@mail.example');
    expect(keyOf({ medium: 'email', address: 'NORA@mail.example' })).toBe('email:nora@mail.example');
  });

  test.each([['no\u017fe\u212a@mail.example'], ['NO\u017fEK@mail.example\u001c'], ['\u0085nose\u200bk@mail.example ']])(
    'gives the mail address %j the key that the most generous server would',
    (address) => expect(keyOf({ medium: 'email', address })).toBe('email:nosek@mail.example'),
  );

  test.each([['07700 900-001'], ['7700900001'], ['+44 (0) 7700 900001'], ['00447700900001']])(
    'keys the telephone number %s by how it ends, however it is dialled',
    (number) => {
      for (const member of ['phone', 'number']) {
        expect(keyOf({ identifier: { type: 'm.id.phone', country: 'gb', [member]: number } })).toBe('phone:0900001');
      }
      expect(keyOf({ identifier: { type: 'm.id.thirdparty', medium: 'msisdn', address: number } })).toBe(
        'phone:0900001',
      );
    },
  );

  test.each([['0800-FLOWERS'], ['07700900001#12'], ['07700900001;ext=1'], ['٠٧٧٠٠٩٠٠٠٠١']])(
    'gives the number %s, which not every server can read, the budget of all such',
    (phone) => expect(keyOf({ identifier: { type: 'm.id.phone', country: 'GB', phone } })).toBe('phone:other'),
  );

  test.each([
    [{ identifier: { type: 'm.id.user', user: 'mallory' }, user: 'alice' }],
    [{ identifier: { type: 'm.id.thirdparty', medium: 'email', address: 'x@y' }, user: 'alice' }],
    [{ identifier: { type: 'm.id.user', user: 'mallory' }, medium: 'email', address: 'alice@mail.example' }],
    [{ user: 'mallory', medium: 'email', address: 'alice@mail.example' }],
  ])('refuses %j, which one server reads as this account and another as that', (body) => {
    expect(() => keyOf(body)).toThrow(expect.objectContaining({ status: 400, errcode: 'M_BAD_JSON' }));
  });

  test('takes the old members beside an identifier that says the same', () => {
    const identifier = { type: 'm.id.user', user: 'alice' };
    expect(keyOf({ identifier, user: '@Alice:b.example' })).toBe('user:alice');
  });

  test('keys by the old member beside an identifier that nobody knows', () => {
    expect(keyOf({ identifier: { type: 'x.new' }, user: 'alice' })).toBe('user:alice');
  });

  test.each([[{}], [{ identifier: 'alice' }], [{ identifier: { type: 'm.id.user' } }], [{ user: 5 }]])(
    'finds no account in %p',
    (body) => expect(keyOf(body)).toBeUndefined(),
  );
});
