import { DomainError, messageOf } from './domain-error.js';
import { MAX_PLAIN_CHARS, plainText, plainValue } from './plain-text.js';

describe('plainText', () => {
  test.each([
    ['control characters', 'a\u0000b\u001b[31mc\u009bd', 'a b [31mc d'],
    ['line breaks', ' first\r\nsecond\u2028third\tfourth ', 'first second third fourth'],
    ['marks that reverse text', 'a\u202eb\u2066c\u200fd\ufeff', 'abcd'],
    ['lone surrogates and characters that no XML may have', 'a\ud800b\ufffec', 'abc'],
    ['characters that no font has', 'a\ue000b', 'ab'],
  ])('removes %s', (_what, text, plain) => expect(plainText(text)).toBe(plain));

  test('keeps any other text', () => {
    const text = 'The image "größe" 圖 🖥️ has 3  spaces: use <one>.';
    expect(plainText(text)).toBe(text);
  });

  test('cuts a long text, and looks at a bounded part of it', () => {
    expect(plainText('x'.repeat(1e6))).toHaveLength(MAX_PLAIN_CHARS);
    expect(plainText('🖥'.repeat(100), 10)).toBe(`${'🖥'.repeat(9)}…`);
    expect(plainValue('🖥'.repeat(100), 10)).toBe('🖥'.repeat(10));
  });

  test('is applied to every error', () => {
    const hostile = 'host.example returned 500 \u001b[2J\u202egnp.exe\u0007';
    const plain = 'host.example returned 500 [2Jgnp.exe';
    expect(new DomainError('BACKEND_FAILED', hostile).message).toBe(plain);
    expect(messageOf(new Error(hostile))).toBe(plain);
    expect(messageOf(hostile)).toBe(plain);
  });
});
