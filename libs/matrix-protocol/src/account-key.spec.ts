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

  test('gives the legacy top-level form the same key', () =>
    expect(keyOf({ user: '@alice:b.example' })).toBe('user:alice'));

  test('gives a user ID of another server its own key', () =>
    expect(user('@alice:c.example')).toBe('user:alice:c.example'));

  test('ignores the case of email addresses, in both forms', () => {
    const identifier = { type: 'm.id.thirdparty', medium: 'email', address: 'Nora@Mail.example' };
    expect(keyOf({ identifier })).toBe('email:nora@mail.example');
    expect(keyOf({ medium: 'email', address: 'NORA@mail.example' })).toBe('email:nora@mail.example');
  });

  test.each([['no\u017fe\u212a@mail.example'], ['NO\u017fEK@mail.example\u001c'], ['\u0085nose\u200bk@mail.example ']])(
    'normalizes the email address %j like the most lenient server',
    (address) => expect(keyOf({ medium: 'email', address })).toBe('email:nosek@mail.example'),
  );

  test.each([['07700 900-001'], ['7700900001'], ['+44 (0) 7700 900001'], ['00447700900001']])(
    'uses the last digits of the phone number %s, whatever its prefix',
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
    'uses one shared key for numbers such as %s that not every server can parse',
    (phone) => expect(keyOf({ identifier: { type: 'm.id.phone', country: 'GB', phone } })).toBe('phone:other'),
  );

  test.each([
    [{ identifier: { type: 'm.id.user', user: 'mallory' }, user: 'alice' }],
    [{ identifier: { type: 'm.id.thirdparty', medium: 'email', address: 'x@y' }, user: 'alice' }],
    [{ identifier: { type: 'm.id.user', user: 'mallory' }, medium: 'email', address: 'alice@mail.example' }],
    [{ user: 'mallory', medium: 'email', address: 'alice@mail.example' }],
  ])('refuses %j, which servers resolve to different accounts', (body) => {
    expect(() => keyOf(body)).toThrow(expect.objectContaining({ status: 400, errcode: 'M_BAD_JSON' }));
  });

  test('accepts legacy members next to an identifier that names the same account', () => {
    const identifier = { type: 'm.id.user', user: 'alice' };
    expect(keyOf({ identifier, user: '@Alice:b.example' })).toBe('user:alice');
  });

  test('uses the legacy member next to an unknown type of identifier', () => {
    expect(keyOf({ identifier: { type: 'x.new' }, user: 'alice' })).toBe('user:alice');
  });

  test.each([[{}], [{ identifier: 'alice' }], [{ identifier: { type: 'm.id.user' } }], [{ user: 5 }]])(
    'returns undefined for %p',
    (body) => expect(keyOf(body)).toBeUndefined(),
  );
});
