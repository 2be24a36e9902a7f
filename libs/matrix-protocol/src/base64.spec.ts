import { decodeBase64, encodeBase64 } from './base64.js';

describe('base64', () => {
  test.each([[''], ['YQ'], ['YWI'], ['YWJj'], ['+/+/']])('decodes %j and encodes it again unchanged', (text) => {
    expect(encodeBase64(decodeBase64(text) ?? Buffer.from('not decoded'))).toBe(text);
  });

  test.each([
    ['YQ==', 'a'],
    ['YWI=', 'ab'],
    ['YR', 'a'],
  ])('also decodes %j', (text, expected) => expect(decodeBase64(text)?.toString()).toBe(expected));

  test.each([['Y'], ['YWJjZ'], ['Y Q'], ['YQ\n'], ['-_'], ['YQ===='], ['=YQ'], [5], [undefined]])(
    'does not decode %j',
    (text) => expect(decodeBase64(text)).toBeUndefined(),
  );
});
