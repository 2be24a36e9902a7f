import { withoutOverlap } from './serial-log.js';
import { isRemote, sshForwardArguments, sshTargetOf } from './ssh-forward.js';

describe('withoutOverlap', () => {
  test.each([
    ['boot login: ', '', 'boot login: '],
    ['boot login: ', 'login: ', 'boot '],
    ['boot login: ', 'login: root', 'boot '],
    ['boot login: ', 'root', 'boot login: '],
    ['boot lo', 'login: ', 'boot '],
    ['', 'login: ', ''],
  ])('of %j, when %j is delivered again, leaves %j', (log, delivered, rest) => {
    expect(withoutOverlap(Buffer.from(log), Buffer.from(delivered)).toString()).toBe(rest);
  });
});

describe('a libvirt on another machine', () => {
  test.each([
    ['qemu:///system', false],
    ['qemu+unix:///system?socket=/run/x', false],
    ['qemu+ssh://root@host/system', true],
    ['qemu+tls://host/system', true],
  ])('%s: %s', (uri, remote) => expect(isRemote(uri)).toBe(remote));

  test('is reached over ssh in its own words', () => {
    const target = sshTargetOf('qemu+ssh://ada@host-1:2222/system');
    expect(target).toEqual({ destination: 'ada@host-1', port: '2222' });
    expect(sshForwardArguments(target!, { host: '127.0.0.1', port: 5900 })).toEqual(
      expect.arrayContaining(['-p', '2222', '-W', '127.0.0.1:5900', '--', 'ada@host-1']),
    );
  });

  test('is not reached when its name would be an option', () => {
    expect(sshTargetOf('qemu+ssh://-oProxyCommand=x/system')).toBeUndefined();
    expect(sshTargetOf('qemu:///system')).toBeUndefined();
  });
});
