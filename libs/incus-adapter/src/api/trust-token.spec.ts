import { parseTrustToken } from './trust-token.js';

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
const fingerprint = 'ab'.repeat(32);

test('a token names the certificate of its server', () => {
  expect(parseTrustToken(encode({ client_name: 'a', fingerprint, secret: 's', addresses: [] }))).toEqual({
    fingerprint,
  });
});

test.each([
  '',
  'no token',
  encode(null),
  encode({ fingerprint }),
  encode({ secret: 's' }),
  encode({ secret: 's', fingerprint: 'short' }),
  encode({ secret: 's', fingerprint: 5 }),
])('%j is no token', (text) => {
  expect(parseTrustToken(text)).toBeUndefined();
});
