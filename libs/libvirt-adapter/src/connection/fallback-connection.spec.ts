import { DomainError } from '@headgate/domain-contracts';
import { RpcConnectionError } from '@headgate/libvirt-rpc';
import { RpcLibvirt } from '../rpc/rpc-libvirt.js';
import { ownDomainXml, UUID } from '../testing/domain-xml.js';
import { FakeLibvirt } from '../testing/fake-libvirt.js';
import { FallbackConnection } from './fallback-connection.js';

describe('FallbackConnection', () => {
  let virsh: FakeLibvirt;
  let logged: { readonly [field: string]: unknown }[];
  let opened: number;

  beforeEach(() => {
    virsh = new FakeLibvirt();
    virsh.add(ownDomainXml());
    logged = [];
    opened = 0;
  });

  const log = {
    info: (fields: { readonly [field: string]: unknown }, message: string) => void logged.push({ message, ...fields }),
    warn: () => undefined,
    error: () => undefined,
  };
  /** A connection whose RPC client fails to open. */
  const connect = (failure: RpcConnectionError, uri = 'qemu:///system') =>
    new FallbackConnection(
      new RpcLibvirt({
        uri,
        open: () => {
          opened++;
          return Promise.reject(failure);
        },
      }),
      virsh.connection(),
      log,
    );

  test('uses virsh for good where the RPC client does not speak what libvirt requires, and logs it once', async () => {
    const connection = connect(new RpcConnectionError('unsupported', 'libvirt requires SASL authentication.'));
    expect(await connection.domains.list()).toEqual([{ uuid: UUID, name: 'web' }]);
    await connection.domains.start(UUID);
    expect(virsh.changes).toEqual([`start ${UUID}`]);
    expect(await connection.host.hostname()).toBe('host-1');
    expect(opened).toBe(1);
    expect(logged).toEqual([
      {
        message: 'connected to libvirt',
        uri: 'qemu:///system',
        transport: 'through virsh',
        reason: 'libvirt requires SASL authentication.',
      },
    ]);
    expect(connection.describeTransport()).toBe('through virsh: libvirt requires SASL authentication.');
  });

  test.each(['qemu+tcp://host/system', 'qemu+ext:///system?command=/bin/x', 'test:///default'])(
    'uses virsh for %s without trying anything else',
    async (uri) => {
      const connection = new FallbackConnection(new RpcLibvirt({ uri }), virsh.connection(), log);
      expect(await connection.host.hostname()).toBe('host-1');
      expect(logged).toMatchObject([{ transport: 'through virsh' }]);
    },
  );

  test.each([
    ['unreachable', 'BACKEND_UNREACHABLE'],
    ['forbidden', 'BACKEND_FORBIDDEN'],
    ['timeout', 'BACKEND_TIMEOUT'],
  ] as const)(
    'does not ask virsh when libvirt is %s, and tries again with the next operation',
    async (failure, code) => {
      const connection = connect(new RpcConnectionError(failure, "Failed to connect socket to '/run/libvirt-sock'"));
      await expect(connection.domains.start(UUID)).rejects.toMatchObject({ code });
      await expect(connection.host.hostname()).rejects.toBeInstanceOf(DomainError);
      expect(opened).toBe(2);
      expect(virsh.changes).toEqual([]);
      expect(logged).toEqual([]);
    },
  );

  test('lets virsh start the daemon of a session, and tries again with the next operation', async () => {
    const connection = connect(new RpcConnectionError('unreachable', 'No such file or directory'), 'qemu:///session');
    expect(await connection.host.hostname()).toBe('host-1');
    expect(await connection.host.hostname()).toBe('host-1');
    expect(opened).toBe(2);
    expect(connection.describeTransport()).toBe('over its RPC protocol');
  });
});
