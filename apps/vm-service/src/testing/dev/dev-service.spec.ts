import { once } from 'node:events';
import { WebSocket } from 'ws';
import { startDevService, type DevService } from './dev-service.js';

describe('the development service', () => {
  let dev: DevService | undefined;

  afterEach(async () => {
    await dev?.close();
    dev = undefined;
  });

  const start = async (...args: string[]): Promise<DevService> => {
    const started = await startDevService(['--port', '0', '--changes', '0', ...args]);
    if (!started) throw new Error('it did not start');
    return (dev = started);
  };
  const get = async (path: string): Promise<unknown> => (await fetch(`${dev?.url}${path}`)).json();

  test('serves the given number of VMs over two kinds of backends', async () => {
    await start('--count', '50');
    const vms = (await get('/api/vms')) as { backend: string }[];
    expect(vms).toHaveLength(50);
    expect(new Set(vms.map(({ backend }) => backend))).toEqual(new Set(['kubevirt', 'libvirt']));
  });

  test('draws a screen', async () => {
    const { url } = await start('--count', '7');
    const vms = (await get('/api/vms?q=running')) as { namespace: string; name: string }[];
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/vnc/${vms[0]?.namespace}/${vms[0]?.name}`);
    const received: Buffer[] = [];
    socket.on('message', (data: Buffer) => received.push(data));
    const until = async (bytes: number): Promise<Buffer> => {
      while (Buffer.concat(received).length < bytes) await once(socket, 'message');
      return Buffer.concat(received.splice(0));
    };
    expect(String(await until(12))).toBe('RFB 003.008\n');
    socket.send(Buffer.from('RFB 003.008\n'));
    expect([...(await until(2))]).toEqual([1, 1]);
    socket.send(Buffer.from([1]));
    await until(4);
    socket.send(Buffer.from([1]));
    const init = await until(24);
    socket.send(Buffer.from([3, 0, 0, 0, 0, 0, 2, 208, 1, 144]));
    const bytes = init.readUInt16BE(0) * init.readUInt16BE(2) * 4;
    expect((await until(16 + bytes)).readUInt16BE(8)).toBe(720);
    socket.close();
    await once(socket, 'close');
  });

  test.each([
    ['partial', [true, false]],
    ['ok', [true, true]],
  ])('in the state %s reports which contexts are up', async (state, up) => {
    await start('--count', '7', '--state', state);
    const { contexts } = (await get('/api/capabilities')) as { contexts: { up: boolean }[] };
    expect(contexts.map((context) => context.up)).toEqual(up);
  });

  test('refuses an unknown state', async () => {
    await expect(startDevService(['--state', 'tired'])).rejects.toThrow('--state must be ok');
  });
});
