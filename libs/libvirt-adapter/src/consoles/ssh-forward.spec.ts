import { isRemote } from '../host/host.js';
import { sshForwardArguments, sshTargetOf } from './ssh-forward.js';

describe('ssh forwarding to a remote libvirt', () => {
  test.each([
    ['qemu:///system', false],
    ['qemu+unix:///system?socket=/run/x', false],
    ['qemu+ssh://root@host/system', true],
    ['qemu+tls://host/system', true],
  ])('isRemote(%s) is %s', (uri, remote) => expect(isRemote(uri)).toBe(remote));

  test('derives ssh arguments from the URI', () => {
    const target = sshTargetOf('qemu+ssh://ada@host-1:2222/system');
    expect(target).toEqual({ destination: 'ada@host-1', port: '2222' });
    expect(sshForwardArguments(target!, { host: '127.0.0.1', port: 5900 })).toEqual(
      expect.arrayContaining(['-p', '2222', '-W', '127.0.0.1:5900', '--', 'ada@host-1']),
    );
  });

  test('rejects a host name that ssh would read as an option', () => {
    expect(sshTargetOf('qemu+ssh://-oProxyCommand=x/system')).toBeUndefined();
    expect(sshTargetOf('qemu:///system')).toBeUndefined();
  });
});
