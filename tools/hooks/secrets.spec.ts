import { findSecrets } from './secrets.mjs';

// secret-scan: example
const line = (length: number): string => `${'A'.repeat(length)}\n`;

describe('findSecrets', () => {
  test.each([
    ['a private key', `-----BEGIN PRIVATE KEY-----\n${line(64)}${line(64)}`],
    ['a cloud access key', `key: AKIA${'A'.repeat(16)}`],
    ['a GitHub token', `ghp_${'a'.repeat(36)}`],
    ['an npm token', `npm_${'a'.repeat(36)}`],
    ['a registry host in a lock file', '"resolved": "https://registry.example.org/a.tgz"'],
  ])('finds %s', (name, text) => {
    expect(findSecrets(text)).toEqual([name]);
  });

  test('lets ordinary text and marked examples through', () => {
    expect(findSecrets('a PRIVATE KEY is a secret; Bearer abc')).toEqual([]);
    expect(findSecrets(`secret-scan: example\nghp_${'a'.repeat(36)}`)).toEqual([]);
  });
});
