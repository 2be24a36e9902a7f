import { ErrorNumber, LibvirtError, RpcConnectionError } from './errors.js';
import { openLibvirt, openOver } from './open-connection.js';
import { procedures } from './procedures.js';
import { FakeDaemon } from './testing/fake-daemon.js';
import { ManualTimers } from './testing/manual-timers.js';

const NONE = 0;
const SASL = 1;
const POLKIT = 2;

describe('openOver', () => {
  let daemon: FakeDaemon;
  let opened: (string | null)[];

  beforeEach(() => {
    daemon = new FakeDaemon();
    opened = [];
    daemon.answer(procedures.connectOpen, ({ name }) => void opened.push(name));
    daemon.answer(procedures.connectSupportsFeature, () => ({ isSupported: true }));
  });

  const offer = (...types: number[]) => daemon.answer(procedures.authList, () => types);

  test.each([[[]], [[NONE]], [[SASL, NONE]]])('opens without authentication if libvirt offers %j', async (types) => {
    offer(...types);
    const connection = await openOver(daemon.transport, 'qemu:///system');
    expect(opened).toEqual(['qemu:///system']);
    expect(daemon.calls(procedures.authPolkit)).toHaveLength(0);
    connection.close();
  });

  test('authenticates with polkit before it opens anything', async () => {
    offer(POLKIT);
    daemon.answer(procedures.authPolkit, () => {
      expect(opened).toEqual([]);
      return { isComplete: true };
    });
    const connection = await openOver(daemon.transport, 'qemu:///system');
    expect(opened).toEqual(['qemu:///system']);
    connection.close();
  });

  test('reports a refusal of polkit as forbidden', async () => {
    offer(POLKIT);
    daemon.answer(procedures.authPolkit, () => {
      throw new LibvirtError(ErrorNumber.authUnavailable, 7, 'authentication unavailable: no polkit agent available');
    });
    await expect(openOver(daemon.transport, 'qemu:///system')).rejects.toMatchObject({
      failure: 'forbidden',
      message: expect.stringContaining('no polkit agent available'),
    });
    expect(opened).toEqual([]);
    expect(daemon.transport.destroyed).toBe(true);
  });

  test.each([
    [[SASL], 'SASL'],
    [[7], 'type 7'],
  ])('refuses to open if libvirt requires authentication of types %j', async (types, mention) => {
    offer(...types);
    await expect(openOver(daemon.transport, 'qemu:///system')).rejects.toMatchObject({
      failure: 'unsupported',
      message: expect.stringContaining(mention),
    });
    expect(daemon.transport.destroyed).toBe(true);
  });

  test("throws libvirt's error if it can't open the driver", async () => {
    offer(NONE);
    daemon.answer(procedures.connectOpen, () => {
      throw new LibvirtError(ErrorNumber.internalError, 0, 'no connection driver available for qemu:///system');
    });
    await expect(openOver(daemon.transport, 'qemu:///system')).rejects.toBeInstanceOf(LibvirtError);
    expect(daemon.transport.destroyed).toBe(true);
  });

  test('reports a peer that hangs up during the handshake', async () => {
    daemon.handle(procedures.authList, () => daemon.hangUp());
    await expect(openOver(daemon.transport, 'qemu:///system')).rejects.toMatchObject({ failure: 'unreachable' });
  });

  test('sends pings only if libvirt knows them', async () => {
    const timers = new ManualTimers();
    offer(NONE);
    daemon.answer(procedures.connectSupportsFeature, () => ({ isSupported: false }));
    const keepalive = { intervalMs: 1000, count: 1 };
    const connection = await openOver(daemon.transport, 'qemu:///system', { timers, keepalive });
    expect(timers.pending).toBe(0);
    connection.close();
  });
});

describe('openLibvirt', () => {
  test('reports a missing socket with its path', async () => {
    const opening = openLibvirt('qemu+unix:///system?socket=/nonexistent/libvirt-sock');
    await expect(opening).rejects.toMatchObject({
      failure: 'unreachable',
      message: "Failed to connect socket to '/nonexistent/libvirt-sock': No such file or directory",
    });
  });

  test('refuses what it does not speak without connecting', async () => {
    await expect(openLibvirt('qemu+tcp://host/system')).rejects.toBeInstanceOf(RpcConnectionError);
  });

  test('reports a missing ssh as unsupported', async () => {
    await expect(openLibvirt('qemu+ssh://host/system', { sshProgram: '/nonexistent/ssh' })).rejects.toMatchObject({
      failure: 'unsupported',
    });
  });

  test('reports what ssh printed', async () => {
    await expect(openLibvirt('qemu+ssh://host/system', { sshProgram: 'false' })).rejects.toMatchObject({
      failure: 'unreachable',
      message: 'Cannot recv data: ssh ended',
    });
  });
});
