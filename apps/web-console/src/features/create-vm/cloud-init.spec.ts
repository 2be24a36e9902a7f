import { cloudInitText, cloudInitWarning, editByHand, NO_CLOUD_INIT } from './cloud-init.js';

describe('cloudInitText', () => {
  test('is empty where nothing was asked for', () => expect(cloudInitText(NO_CLOUD_INIT)).toBe(''));

  test('writes host name, password and keys, whatever is in them', () => {
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

  test('is the text itself once somebody edits it, beginning with what the fields said', () => {
    const byHand = editByHand({ ...NO_CLOUD_INIT, hostname: 'web' });
    expect(byHand.text).toBe('#cloud-config\nhostname: "web"\n');
    expect(cloudInitText({ ...byHand, text: '#cloud-config\nruncmd: [ls]\n' })).toBe('#cloud-config\nruncmd: [ls]\n');
    expect(cloudInitText({ ...byHand, text: '  \n' })).toBe('');
  });
});

test('a text without its first line is warned of', () => {
  expect(cloudInitWarning({ ...NO_CLOUD_INIT, byHand: true, text: 'hostname: a' })).toContain('#cloud-config');
  expect(cloudInitWarning({ ...NO_CLOUD_INIT, byHand: true, text: '#!/bin/sh\nls' })).toBeUndefined();
});
