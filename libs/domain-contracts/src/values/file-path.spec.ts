import { bytesOfFile, textOfFile } from './file-path.js';

describe('Names of files as text', () => {
  const shown: readonly (readonly [bytes: Buffer, text: string])[] = [
    [Buffer.from('/etc/hosts'), '/etc/hosts'],
    [Buffer.from('/Übung/日本/😀.txt'), '/Übung/日本/😀.txt'],
    [Buffer.from('100%'), '100%25'],
    [Buffer.from([0x62, 0xff, 0x20, 0xc3]), 'b%FF %C3'],
    [Buffer.from('a\nb\u001b[31m'), 'a%0Ab%1B[31m'],
    // The end of this name would be shown first.
    [Buffer.from('gpj.\u202etxt'), 'gpj.%E2%80%AEtxt'],
    // A surrogate in UTF-8, an overlong slash, and a mark of the order of bytes.
    [Buffer.from([0xed, 0xa0, 0x80]), '%ED%A0%80'],
    [Buffer.from([0xc0, 0xaf]), '%C0%AF'],
    [Buffer.from('\ufeffx'), '%EF%BB%BFx'],
  ];

  test.each(shown)('%p is %s, and the same bytes again', (bytes, text) => {
    expect(textOfFile(bytes)).toBe(text);
    expect(bytesOfFile(text).equals(bytes)).toBe(true);
  });

  test('every byte comes back', () => {
    const bytes = Buffer.from(Array.from({ length: 255 }, (_, index) => index + 1)).filter((byte) => byte !== 0x2f);
    expect(bytesOfFile(textOfFile(Buffer.from(bytes)))).toEqual(Buffer.from(bytes));
  });

  test.each(['/a/../b', '..', '/a/.', '/%2e%2e/etc', 'a%00b', '50%', '%zz', '\ud800', 'x'.repeat(16_385)])(
    '%j is refused',
    (text) => {
      expect(() => bytesOfFile(text)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    },
  );
});
