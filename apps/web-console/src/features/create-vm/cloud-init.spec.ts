import { cloudInitText, cloudInitWarning, editAsText, NO_CLOUD_INIT } from './cloud-init.js';

describe('cloudInitText', () => {
  test('is empty by default', () => expect(cloudInitText(NO_CLOUD_INIT)).toBe(''));

  test('writes hostname, password, and keys with any characters', () => {
    const text = cloudInitText({
      ...NO_CLOUD_INIT,
      hostname: 'web',
      password: 'a"b: #c',
      keys: 'ssh-ed25519 A x\n\n ssh-rsa B ',
    });
    expect(text).toBe(
      [
        '#cloud-config',
        'hostname: "web"',
        'password: "a\\"b: #c"',
        'chpasswd: { expire: false }',
        'ssh_pwauth: true',
        'ssh_authorized_keys:',
        '  - "ssh-ed25519 A x"',
        '  - "ssh-rsa B"',
        '',
      ].join('\n'),
    );
  });

  test('is the edited text, which starts with the contents of the fields', () => {
    const asText = editAsText({ ...NO_CLOUD_INIT, hostname: 'web' });
    expect(asText.text).toBe('#cloud-config\nhostname: "web"\n');
    expect(cloudInitText({ ...asText, text: '#cloud-config\nruncmd: [ls]\n' })).toBe('#cloud-config\nruncmd: [ls]\n');
    expect(cloudInitText({ ...asText, text: '  \n' })).toBe('');
  });
});

test('warns about a text without the first line', () => {
  expect(cloudInitWarning({ ...NO_CLOUD_INIT, isText: true, text: 'hostname: a' })).toContain('#cloud-config');
  expect(cloudInitWarning({ ...NO_CLOUD_INIT, isText: true, text: '#!/bin/sh\nls' })).toBeUndefined();
});
