import type { UnixTarget } from './libvirt-target.js';
import { parseLibvirtUri } from './libvirt-uri.js';
import { sshArguments } from './transport/ssh.js';

const ENV = { XDG_RUNTIME_DIR: '/run/user/1000', HOME: '/home/ada' };

describe('parseLibvirtUri', () => {
  test.each<[string, string, boolean, string[]]>([
    ['qemu:///system', 'qemu:///system', false, ['/var/run/libvirt/virtqemud-sock', '/var/run/libvirt/libvirt-sock']],
    ['qemu+unix:///session?socket=/tmp/sock', 'qemu:///session', true, ['/tmp/sock']],
    ['qemu+unix:///system?mode=legacy', 'qemu:///system', false, ['/var/run/libvirt/libvirt-sock']],
    ['qemu:///system?mode=direct', 'qemu:///system', false, ['/var/run/libvirt/virtqemud-sock']],
    ['test+unix:///default?socket=/tmp/sock', 'test:///default', false, ['/tmp/sock']],
    ['test+unix:///tmp/node.xml?socket=/tmp/sock', 'test:///tmp/node.xml', false, ['/tmp/sock']],
    ['qemu+unix:///system?socket=/tmp/sock&extra=1', 'qemu:///system?extra=1', false, ['/tmp/sock']],
    [
      'qemu+unix:///system?name=test:///default',
      'test:///default',
      false,
      ['/var/run/libvirt/virtqemud-sock', '/var/run/libvirt/libvirt-sock'],
    ],
  ])('parses %s', (uri, name, isSession, sockets) => {
    expect(parseLibvirtUri(uri, ENV)).toEqual({ name, isSession, transport: { kind: 'unix', sockets } });
  });

  test('parses qemu:///session', () => {
    expect(parseLibvirtUri('qemu:///session', ENV)).toEqual({
      name: 'qemu:///session',
      isSession: true,
      transport: {
        kind: 'unix',
        sockets: ['/run/user/1000/libvirt/virtqemud-sock', '/run/user/1000/libvirt/libvirt-sock'],
        daemons: ['virtqemud', 'libvirtd'],
      },
    });
  });

  test.each<[string, string[] | undefined]>([
    ['qemu:///session', ['virtqemud', 'libvirtd']],
    ['qemu:///session?mode=direct', ['virtqemud']],
    ['qemu:///session?mode=legacy', ['libvirtd']],
    ['qemu+unix:///session?socket=/tmp/sock', undefined],
    ['qemu:///system', undefined],
  ])('for %s, starts one of %j', (uri, daemons) => {
    expect((parseLibvirtUri(uri, ENV).transport as UnixTarget).daemons).toEqual(daemons);
  });

  test('finds the sockets of a session without a runtime directory', () => {
    expect(parseLibvirtUri('qemu:///session', { HOME: '/home/ada' }).transport).toMatchObject({
      sockets: expect.arrayContaining(['/home/ada/.cache/libvirt/libvirt-sock']),
    });
  });

  test.each<[string, object]>([
    ['qemu+tls://host/system', { host: 'host', port: 16514, skipCertificateCheck: false }],
    ['qemu://host/system', { host: 'host', port: 16514, skipCertificateCheck: false }],
    [
      'qemu+tls://ada@[::1]:7/system?no_verify=1&pkipath=/k',
      { host: '::1', port: 7, pkiPath: '/k', skipCertificateCheck: true },
    ],
  ])('connects to %s with TLS', (uri, target) => {
    expect(parseLibvirtUri(uri, ENV)).toEqual({
      name: 'qemu:///system',
      isSession: false,
      transport: { kind: 'tls', ...target },
    });
  });

  test.each([
    'qemu+tls:///system',
    'qemu+tls://host/system?tls_priority=NORMAL',
    'qemu+tcp://host/system',
    'qemu+libssh2://host/system',
    'qemu+ext:///system?command=/bin/x',
    'qemu+ssh://host/system?command=/bin/x',
    'qemu+unix://host/system',
    'qemu+ssh:///system',
    'qemu+ssh://-oProxyCommand=x/system',
    'qemu+ssh://-l@host/system',
    'qemu+ssh://host/system?proxy=other',
    'qemu:///system?mode=other',
    'qemu:///embed?root=/tmp',
    'test:///default',
    'esx://host/',
    'no uri',
    '',
  ])('leaves %j to the client of libvirt', (uri) => {
    expect(() => parseLibvirtUri(uri, ENV)).toThrow(expect.objectContaining({ failure: 'unsupported' }));
  });
});

describe('sshArguments', () => {
  const argumentsFor = (uri: string): string[] => {
    const { transport, name } = parseLibvirtUri(uri, ENV);
    if (transport.kind !== 'ssh') throw new Error('This URI is local.');
    return sshArguments(transport, name);
  };

  test('prefers virt-ssh-helper on the other machine, and falls back to nc', () => {
    const args = argumentsFor('qemu+ssh://ada@host:2222/system?keyfile=/k&no_verify=1');
    expect(args.slice(0, -1)).toEqual([
      '-T', '-e', 'none', '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=10', '-o', 'StrictHostKeyChecking=no',
      '-p', '2222', '-l', 'ada', '-i', '/k', '--', 'host',
    ]); // prettier-ignore
    expect(args.at(-1)).toMatch(/^sh -c '.*virt-ssh-helper .*qemu:\/\/\/system.*nc.* -U .*libvirt-sock/);
  });

  test.each([
    ['qemu+ssh://host/system?socket=/tmp/sock', 'virt-ssh-helper', '/tmp/sock'],
    ['qemu+ssh://host/system?netcat=/opt/nc', 'virt-ssh-helper', '/opt/nc'],
    ['qemu+ssh://host/session', 'nc', 'virt-ssh-helper'],
    ['qemu+ssh://[::1]/system?proxy=native', ' -U ', 'virt-ssh-helper'],
  ])('%s runs no %s', (uri, absent, present) => {
    const command = argumentsFor(uri).at(-1);
    expect(command).not.toContain(absent);
    expect(command).toContain(present);
  });

  test('quotes everything that the URI contains', () => {
    const command = argumentsFor("qemu+ssh://host/system?socket=/tmp/$(id)'; touch /tmp/x; '").at(-1) ?? '';
    const words = shellWords(command);
    expect(words).toHaveLength(3);
    expect(words.slice(0, 2)).toEqual(['sh', '-c']);
    expect(words[2]).toContain(`'/tmp/$(id)'\\''; touch /tmp/x; '\\'''`);
  });
});

/** Splits a command as a shell would, for commands that use single quotes and backslashes only. */
const shellWords = (command: string): string[] =>
  [...command.matchAll(/(?:'[^']*'|\\.|[^\s'\\])+/g)].map(([word]) =>
    word.replace(
      /'([^']*)'|\\(.)/g,
      (_all, quoted: string | undefined, escaped: string | undefined) => quoted ?? escaped ?? '',
    ),
  );
