import { displayUrl, isDownloadUrl, isImageReference } from './image-location.js';

describe('isImageReference', () => {
  test.each(['debian', 'debian:13', 'docker://registry.example.org:5000/a/b:1@sha256:0123', 'oci://a/b'])(
    'accepts %j',
    (text) => expect(isImageReference(text)).toBe(true),
  );

  test.each(['', '-debian', 'https://example.org/a.qcow2', 'docker://', 'a b', 'a\nb', 'a//b', 'a'.repeat(513)])(
    'refuses %j',
    (text) => expect(isImageReference(text)).toBe(false),
  );
});

describe('isDownloadUrl', () => {
  test.each(['http://example.org', 'https://example.org:8443/a/b.qcow2?x=1', 'http://[fd00::1]/a'])(
    'accepts %j',
    (text) => expect(isDownloadUrl(text)).toBe(true),
  );

  test.each([
    '',
    'example.org/a',
    'ftp://example.org/a',
    'file:///etc/passwd',
    'https://ann:secret@example.org/a',
    'https://example.org/a b',
    `https://example.org/${'a'.repeat(2048)}`,
  ])('refuses %j', (text) => expect(isDownloadUrl(text)).toBe(false));
});

test('displays a URL without user, password, query and fragment', () => {
  expect(displayUrl('https://ann:secret@example.org:8443/a/disk.qcow2?token=secret#sha256:00')).toBe(
    'https://example.org:8443/a/disk.qcow2',
  );
  expect(displayUrl('not a URL')).toBe('not a URL');
});
