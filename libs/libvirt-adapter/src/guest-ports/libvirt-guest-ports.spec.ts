import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { SystemClock, type InstanceRef } from '@headgate/domain-contracts';
import { readUntil } from '@headgate/testing';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { connectToGuest, type GuestTarget } from './connect-to-guest.js';
import { LibvirtGuestPorts } from './libvirt-guest-ports.js';

const clock = new SystemClock();
const REF: InstanceRef = { kind: 'vm', context: 'lab', namespace: 'local', name: 'web' };
const NETWORK = "<network><forward mode='nat'/><ip address='192.168.122.1' prefix='24'><dhcp/></ip></network>";
const DOMAIN = `<domain type='qemu'><name>web</name><uuid>u</uuid><devices><interface type='network'>
  <mac address='52:54:00:aa:bb:01'/><source network='default'/></interface></devices></domain>`;

/** A libvirt whose answers a test changes, and the addresses that a connection was opened to. */
class Fixture {
  address = '192.168.122.7';
  state = { word: 'running', reason: 'booted', isActive: true };
  uri = 'qemu:///system';
  readonly opened: GuestTarget[] = [];
  /** Called while a connection is being opened. */
  meanwhile: () => void = () => undefined;

  constructor(private readonly port: number) {}

  get ports(): LibvirtGuestPorts {
    const connection = {
      uri: this.uri,
      domains: {
        inspect: () => Promise.resolve({ xml: DOMAIN, state: this.state }),
        interfaceAddresses: () =>
          Promise.resolve([{ interfaceName: 'vnet0', mac: '52:54:00:aa:bb:01', address: this.address }]),
      },
      networks: { xml: () => Promise.resolve(NETWORK) },
    } as unknown as LibvirtConnection;
    const finder = { find: () => Promise.resolve({ uuid: 'u', name: 'web' }) };
    const open = (target: GuestTarget): Promise<Socket> => {
      this.opened.push(target);
      this.meanwhile();
      return connectToGuest(clock, { ...target, address: '127.0.0.1', port: this.port });
    };
    return new LibvirtGuestPorts({ connection, finder, clock, open });
  }
}

describe('ports of guests on libvirt', () => {
  let server: Server;
  let accepted: Socket[];
  let fixture: Fixture;

  beforeEach(async () => {
    accepted = [];
    server = createServer({ allowHalfOpen: true }, (socket) => {
      accepted.push(socket.on('error', () => undefined));
      server.emit('accepted');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    fixture = new Fixture((server.address() as AddressInfo).port);
  });
  afterEach(async () => {
    for (const socket of accepted) socket.destroy();
    server.close();
    await once(server, 'close');
  });

  const guest = async (): Promise<Socket> => {
    if (accepted.length === 0) await once(server, 'accepted');
    return accepted[0]!;
  };

  test('are reached at the leased address, and their directions end on their own', async () => {
    const connection = await fixture.ports.connect(REF, 2222);
    expect(fixture.opened).toEqual([{ name: 'web', address: '192.168.122.7', port: 2222 }]);
    connection.end('question\n');
    const program = await guest();
    expect(await readUntil(program, /\n/)).toBe('question\n');
    program.resume();
    if (!program.readableEnded) await once(program, 'end');
    program.end('answer after the end\n');
    expect(await readUntil(connection, /\n/)).toBe('answer after the end\n');
    connection.resume();
    await once(connection, 'close');
  });

  test('see a reset when the connection is aborted, and report one', async () => {
    const [first] = [await fixture.ports.connect(REF, 1)];
    const program = await guest();
    const error = once(program, 'error');
    program.resume();
    first.reset?.();
    expect((await error)[0]).toMatchObject({ code: 'ECONNRESET' });

    accepted.length = 0;
    const second = await fixture.ports.connect(REF, 1);
    const failure = once(second.resume(), 'error');
    (await guest()).resetAndDestroy();
    expect((await failure)[0]).toMatchObject({ code: 'ECONNRESET' });
  });

  test('are not reached when the address belongs to another guest by then', async () => {
    fixture.meanwhile = () => (fixture.address = '192.168.122.8');
    await expect(fixture.ports.connect(REF, 22)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    const program = await guest();
    if (!program.destroyed) await new Promise((resolve) => program.resume().once('close', resolve));
  });

  test('are not reached when the guest stops meanwhile', async () => {
    fixture.meanwhile = () => (fixture.state = { word: 'shut off', reason: 'shutdown', isActive: false });
    await expect(fixture.ports.connect(REF, 22)).rejects.toMatchObject({ code: 'WRONG_STATE' });
  });

  test.each([
    ['is paused', { word: 'paused', reason: 'user', isActive: true }, /Resume/],
    ['is stopped', { word: 'shut off', reason: 'shutdown', isActive: false }, /Start/],
  ])('are refused while it %s', async (_title, state, message) => {
    fixture.state = state;
    await expect(fixture.ports.connect(REF, 22)).rejects.toMatchObject({
      code: 'WRONG_STATE',
      message: expect.stringMatching(message),
    });
    expect(fixture.opened).toEqual([]);
  });

  test.each(['qemu+ssh://root@other/system', 'qemu+tls://other/system', 'qemu+tcp://127.0.0.1/system'])(
    'are refused on another machine: %s',
    async (uri) => {
      fixture.uri = uri;
      await expect(fixture.ports.connect(REF, 22)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
      expect(fixture.opened).toEqual([]);
    },
  );

  test('are refused without a leased address, whatever the agent claims', async () => {
    fixture.address = '127.0.0.1';
    await expect(fixture.ports.connect(REF, 22)).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: expect.stringContaining('leased'),
    });
    expect(fixture.opened).toEqual([]);
  });

  test('at which no program accepts connections are refused', async () => {
    server.close();
    await once(server, 'close');
    await expect(fixture.ports.connect(REF, 81)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
});
