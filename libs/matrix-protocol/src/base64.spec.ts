import { decodeBase64, encodeBase64 } from './base64.js';

describe('base64', () => {
  test.each([[''], ['YQ'], ['YWI'], ['YWJj'], ['+/+/']])('reads back %j as it was written', (text) => {
    expect(encodeBase64(decodeBase64(text) ?? Buffer.from('not read'))).toBe(text);
  });

  test.each([
    ['YQ==', 'a'],
    ['YWI=', 'ab'],
    ['YR', 'a'],
  ])('reads %j too', (text, meant) => expect(decodeBase64(text)?.toString()).toBe(meant));

  test.each([['Y'], ['YWJjZ'], ['Y Q'], ['YQ\n'], ['-_'], ['YQ===='], ['=YQ'], [5], [undefined]])(
    'reads nothing out of %j',
    (text) => expect(decodeBase64(text)).toBeUndefined(),
  );
});
