import { hashToken, newToken, tokenId } from './token-text.js';

const GENERATED = 200;

describe('an API token', () => {
  test('has a prefix, an ID and a checksum, and nothing that a URL or a shell would change', () => {
    const { id, text } = newToken();
    expect(text).toMatch(/^hgt_[0-9A-Za-z]{48}$/);
    expect(tokenId(text)).toBe(id);
  });

  test('is different each time', () => {
    const all = Array.from({ length: GENERATED }, () => newToken().text);
    expect(new Set(all).size).toBe(GENERATED);
  });

  test('with one changed character is none', () => {
    const { text } = newToken();
    for (let index = 'hgt_'.length; index < text.length; index++) {
      const other = text[index] === 'A' ? 'B' : 'A';
      expect(tokenId(text.slice(0, index) + other + text.slice(index + 1))).toBeUndefined();
    }
  });

  test.each([
    '',
    'hgt_',
    'hgt_short',
    `ghp_${'a'.repeat(48)}`,
    `hgt_${'a'.repeat(48)}`,
    ` ${newToken().text}`,
    `${newToken().text}\n`,
  ])('is not %j', (text) => expect(tokenId(text)).toBeUndefined());

  test('is stored as a digest that does not contain it', () => {
    const { text } = newToken();
    expect(hashToken(text)).toMatch(/^[0-9a-f]{64}$/);
    expect(hashToken(text)).not.toBe(hashToken(newToken().text));
  });
});
