import { chooseChannel, type ChosenChannel } from './migration-channel.js';
import type { MigrationHost, MigrationTransport } from './migration-host.js';

const UUID = '2c749204-8322-4dfd-b324-cb2e556e0e9a';

interface Side {
  readonly uri?: string;
  readonly transport?: MigrationTransport;
  readonly address?: string;
  /** QEMU's user; absent in a session. */
  readonly qemu?: string;
  readonly pool?: string;
}

const host = (context: string, { uri, transport, address, qemu, pool = '/srv/headgate' }: Side): MigrationHost =>
  ({
    context,
    connection: {
      uri: uri ?? 'qemu:///system',
      host: {
        capabilities: async () =>
          `<capabilities><host>${qemu === undefined ? '<secmodel><model>none</model></secmodel>' : `<secmodel><model>dac</model><doi>0</doi><baselabel type='kvm'>${qemu}</baselabel></secmodel>`}</host></capabilities>`,
      },
    },
    pool: { futurePath: async () => pool },
    ...(transport && { migrationTransport: transport }),
    ...(address !== undefined && { migrationAddress: address }),
  }) as unknown as MigrationHost;

const choose = (source: Side, destination: Side): Promise<ChosenChannel> =>
  chooseChannel(host('alpha', source), host('beta', destination), UUID);

const REMOTE = 'qemu+ssh://root@beta.example.org/system';

describe('chooseChannel', () => {
  test("takes sockets in a folder of QEMU's user between two libvirts of one machine", async () => {
    const { channel, refusals, warnings } = await choose({ qemu: '+64055:+103' }, { qemu: '+64055:+103' });
    expect(channel).toEqual({
      kind: 'sockets',
      folder: '/srv/headgate/migration-2c7492048322',
      owner: { uid: 64055, gid: 103 },
    });
    expect([...refusals, ...warnings]).toEqual([]);
  });

  test('leaves the folder to the user of libvirt in a session', async () => {
    expect((await choose({}, {})).channel).toEqual({
      kind: 'sockets',
      folder: '/srv/headgate/migration-2c7492048322',
    });
  });

  test('takes TLS at the address of the destination', async () => {
    const { channel, warnings } = await choose(
      { transport: 'tls' },
      { uri: REMOTE, transport: 'tls', address: '192.0.2.7' },
    );
    expect(channel).toEqual({ kind: 'tls', address: '192.0.2.7' });
    expect(warnings).toEqual([]);
  });

  test('warns when the operator has chosen a network without protection', async () => {
    const { channel, warnings } = await choose(
      { transport: 'insecure' },
      { uri: REMOTE, transport: 'insecure', address: '192.0.2.7' },
    );
    expect(channel).toEqual({ kind: 'insecure', address: '192.0.2.7' });
    expect(warnings).toEqual([expect.stringMatching(/insecure.*everyone on their network can read/)]);
  });

  test.each<[string, Side, Side, RegExp]>([
    [
      'another machine without TLS',
      {},
      { uri: REMOTE, address: '192.0.2.7' },
      /^Others on the network could read and change/,
    ],
    ['a source on another machine', { uri: REMOTE }, {}, /^Others on the network/],
    ['TLS on one side only', { transport: 'tls' }, { uri: REMOTE, address: '192.0.2.7' }, /^Others on the network/],
    [
      'a network that only the destination trusts',
      {},
      { uri: REMOTE, transport: 'insecure', address: '192.0.2.7' },
      /^Others on the network/,
    ],
    [
      'TLS on all addresses',
      { transport: 'tls' },
      { uri: REMOTE, transport: 'tls' },
      /^migrationAddress of the context beta/,
    ],
    [
      'no address either',
      { transport: 'insecure' },
      { transport: 'insecure' },
      /^migrationAddress of the context beta/,
    ],
    ['QEMUs of different users', { qemu: '+64055:+103' }, { qemu: '+107:+107' }, /^QEMU runs as another user in beta/],
    [
      'a path that is too long',
      {},
      { pool: `/${'x'.repeat(90)}` },
      /^The path of the storage pool of beta is too long/,
    ],
  ])('refuses %s, with a remedy', async (_case, source, destination, reason) => {
    const { channel, refusals } = await choose(source, destination);
    expect(channel).toBeUndefined();
    expect(refusals).toEqual([
      { code: 'WRONG_STATE', reason: expect.stringMatching(reason), remedy: expect.stringMatching(/tls|Set /) },
    ]);
  });
});
