import { execFileSync } from 'node:child_process';
import { parseLogin, sshArguments } from './ssh-arguments.js';

const ODD = [`it's`, 'a b', '$(touch /tmp/x)', '`id`', '; id', '%h', '"', '\\', '*', '--option', 'ümlaut', ''];
const RUN = {
  command: ['/usr/bin/node', '/opt/head gate/headgate.js', 'port-forward', '--stdio'],
  target: 'vm/lab/default/web-1',
  host: 'web-1',
  uid: '5d9a31f0-0000-4000-8000-000000000001',
  port: 22,
  knownHosts: '/home/ann/.config/headgate/known_hosts',
  rest: [],
};
const proxyOf = (args: readonly string[]): string => args[1]!.replace(/^ProxyCommand=/, '');

describe('the arguments of ssh', () => {
  test('name a host by the identity of its VM, in a file of their own', () => {
    const args = sshArguments({ ...RUN, user: 'root', rest: ['-v', 'uptime'] });
    expect(args).toContain(`HostKeyAlias=headgate-${RUN.uid}`);
    expect(args).toContain('UserKnownHostsFile="/home/ann/.config/headgate/known_hosts"');
    expect(args.slice(-5)).toEqual(['-l', 'root', 'web-1', '-v', 'uptime']);
  });

  test('give the words of the program to the shell of ssh unchanged', () => {
    const command = [process.execPath, '-p', 'JSON.stringify(process.argv.slice(1))', '--', ...ODD];
    const proxy = proxyOf(sshArguments({ ...RUN, command, target: `vm/lab/default/${ODD[2]}` }));
    const seen = execFileSync('/bin/sh', ['-c', `exec ${proxy.replaceAll('%%', '%')}`], { encoding: 'utf8' });
    expect(JSON.parse(seen)).toEqual([...ODD, 'vm/lab/default/$(touch /tmp/x)', '22']);
    expect(proxy.replaceAll('%%', '')).not.toContain('%');
  });

  test.each(['-oProxyCommand=id', 'a b', '$(id)', 'wéb', '', '*'])(
    'do not have "%s" as the name of the host',
    (host) => {
      const args = sshArguments({ ...RUN, host });
      expect(args.at(-1)).toBe(`headgate-${RUN.uid}`);
    },
  );

  test('have no line break', () => {
    expect(() => sshArguments({ ...RUN, target: 'vm/lab/default/a\nb' })).toThrow(/line break/);
  });

  test.each([
    ['web-1', { name: 'web-1' }],
    ['root@web-1', { user: 'root', name: 'web-1' }],
    ['root@default/web-1', { user: 'root', name: 'default/web-1' }],
    ['ann@vm/lab/default/web-1', { user: 'ann', name: 'vm/lab/default/web-1' }],
  ])('take the user of %s', (text, expected) => expect(parseLogin(text)).toEqual(expected));

  test.each(['-oProxyCommand=id@web', '@web', '$(id)@web', 'a b@web', '`id`@web', "'@web"])('refuse %s', (text) => {
    expect(() => parseLogin(text)).toThrow(/not the name of a user/);
  });
});
