import { listeningCluster, type SocketClient } from '../testing/listening-cluster.js';

const MIB = 2 ** 20;
/** A comment, so that the shell prints nothing but its prompt. */
const LINE = `#${'x'.repeat(75)}\r`;

type Cluster = Awaited<ReturnType<typeof listeningCluster>>;

describe('consoles under load', () => {
  let cluster: Cluster;

  beforeEach(async () => {
    cluster = await listeningCluster();
    cluster.simulation.seedVm({ name: 'web' });
    cluster.clock.advance(60_000);
  });

  afterEach(() => cluster.close());

  const dial = async (device: string): Promise<SocketClient> => {
    const socket = cluster.dial(cluster.consolePath('web', device), ['plain.kubevirt.io']);
    await socket.opened;
    return socket;
  };

  test.each([
    ['lines', LINE.repeat(Math.floor(MIB / LINE.length))],
    ['one line', 'x'.repeat(MIB)],
  ])(
    'a paste of 1 MiB as %s returns a frame per read, not per character',
    async (_form, text) => {
      const console = await dial('console');
      console.send('root\r\r');
      await console.untilText('[root@web ~]# ');
      const framesBefore = console.frames.length;
      const bytesBefore = console.received.length;
      console.send(`${text}\recho done\r`);
      await console.untilText('\r\ndone\r\n');
      const output = console.received.subarray(bytesBefore).toString();
      expect(output.replaceAll(/\r\n|\[root@web ~\]# /g, '').startsWith(text.replaceAll('\r', ''))).toBe(true);
      expect(console.frames.length - framesBefore).toBeLessThan(output.length / 10_240 + 5);
      expect(Math.max(...console.frames.map(({ length }) => length))).toBe(10_240);
    },
    30_000,
  );

  test('a paste into a shell of a container returns a frame per read', async () => {
    await cluster.call('POST', '/api/v1/namespaces/tailvm/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'box' },
      spec: { containers: [{ name: 'main', image: 'debian' }] },
    });
    cluster.clock.advance(10_000);
    const shell = cluster.dial(
      '/api/v1/namespaces/tailvm/pods/box/exec?command=/bin/sh&stdin=true&stdout=true&tty=true',
      ['v5.channel.k8s.io'],
    );
    await shell.untilText('[root@box ~]# ');
    const before = shell.frames.length;
    shell.send(`\x00${LINE.repeat(1000)}echo done\r`);
    await shell.untilText('\r\ndone\r\n');
    expect(shell.frames.length - before).toBe(1);
  });

  test('the last output of a guest that powers off arrives before the console closes', async () => {
    const console = await dial('console');
    console.send('root\r\rpoweroff\r');
    await console.closed;
    expect(console.received.toString()).toMatch(/poweroff\r\n[\s\S]*Power down\r\n$/);
  });

  test('a character that is split between two messages arrives whole', async () => {
    const console = await dial('console');
    const [first, ...rest] = Buffer.from('é');
    console.send(Buffer.from([first!]));
    console.send(Buffer.from([...rest, 0x0d]));
    await console.untilText('Password: ');
    expect(console.received.toString()).toContain('é');
  });

  test('keys that arrive together are drawn once', async () => {
    const vnc = await dial('vnc');
    await vnc.untilText('RFB 003.008\n');
    vnc.send(Buffer.concat([Buffer.from('RFB 003.008\n'), Buffer.from([1, 1])]));
    await vnc.untilText('simulated guest');
    const { screen } = cluster.simulation.guestOf('tailvm', 'web');
    let changes = 0;
    screen.onChange(() => changes++);
    const keys = Array.from({ length: 5_000 }, () => Buffer.from([4, 1, 0, 0, 0, 0, 0, 0x78]));
    const update = Buffer.from([3, 0, 0, 0, 0, 0, 0x03, 0x20, 0x02, 0x58]);
    const before = vnc.received.length;
    vnc.send(Buffer.concat([...keys, update]));
    await vnc.until((received) => received.length > before);
    expect(changes).toBe(1);
    expect(screen.text).toContain('xxxxxxxx');
  });
});
