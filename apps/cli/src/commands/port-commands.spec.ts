import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { FakePorts } from '../testing/fake-ports.js';
import { FakeService } from '../testing/fake-service.js';
import { containerView } from '../testing/instances.js';
import { Cli, Recorder } from '../testing/run-cli.js';

const END = '{"end":true}';
const MIB = 1024 * 1024;

describe('port-forward', () => {
  let service: FakeService;
  let ports: FakePorts;
  let cli: Cli;
  beforeEach(async () => {
    service = await FakeService.open();
    ports = new FakePorts(service);
    cli = new Cli({ HEADGATE_SERVER: service.url });
  });
  afterEach(async () => {
    ports.close();
    await service.close();
    cli.remove();
  });

  /** The program while it forwards, until `stop`. */
  const start = async (...args: string[]) => {
    const [stdout, stderr, interruption] = [new Recorder(), new Recorder(), new AbortController()];
    const outcome = cli.run(['port-forward', 'web-1', ...args], { stdout, stderr, interrupted: interruption.signal });
    await Promise.race([stdout.until(/leads to/), outcome.then(({ stderr: text }) => Promise.reject(new Error(text)))]);
    const local = Number(/:(\d+) leads/.exec(stdout.text)?.[1]);
    const stop = async () => {
      interruption.abort();
      return outcome;
    };
    return { stdout, stderr, local, stop };
  };
  const dial = (port: number): Socket => connect({ port, host: '127.0.0.1', allowHalfOpen: true });

  test('copies bytes and the end of each direction, one socket per connection', async () => {
    const { local, stop, stdout } = await start(':80');
    expect(stdout.text).toBe(`127.0.0.1:${local} leads to port 80 of web-1\n`);
    const client = dial(local);
    client.end('question');
    const guest = await ports.next();
    expect([await ports.message(guest), await ports.message(guest)]).toEqual(['question', END]);
    guest.send(Buffer.from('answer'));
    guest.send(END);
    guest.close(1000);
    let answer = '';
    for await (const part of client) answer += String(part);
    expect(answer).toBe('answer');
    expect(ports.opened).toEqual(['/api/ext/vms/default/web-1/ports/80?context=lab']);
    expect((await stop()).code).toBe(130);
  });

  test('carries 100 MiB in each direction at once, unchanged', async () => {
    const { local, stop } = await start(':80');
    const client = dial(local);
    const guest = await ports.next();
    const block = Buffer.alloc(MIB, 'the bytes of a large file ');
    const measure = () => ({ bytes: 0, isWrong: false });
    const [inward, outward] = [measure(), measure()];
    const twice = Buffer.concat([block, block]);
    const take = (sum: ReturnType<typeof measure>, data: Buffer) => {
      const at = sum.bytes % MIB;
      for (let from = 0; from < data.length; from += MIB) {
        const part = data.subarray(from, from + MIB);
        sum.isWrong ||= !part.equals(twice.subarray(at, at + part.length));
      }
      sum.bytes += data.length;
    };
    client.on('data', (data) => take(inward, data));
    const isOver = new Promise<void>((resolve) => {
      guest.on('message', (data: Buffer, isBinary) => (isBinary ? take(outward, data) : resolve()));
    });
    const ended = once(client, 'end');
    const sending = (async () => {
      for (let sent = 0; sent < 100; sent++) await new Promise((resolve) => guest.send(block, resolve));
      guest.send(END);
    })();
    for (let sent = 0; sent < 100; sent++) if (!client.write(block)) await once(client, 'drain');
    client.end();
    await Promise.all([sending, isOver, ended]);
    expect([inward, outward]).toEqual([
      { bytes: 100 * MIB, isWrong: false },
      { bytes: 100 * MIB, isWrong: false },
    ]);
    guest.close(1000);
    await stop();
  }, 60_000);

  test('resets the local connection when the guest resets its own, and goes on', async () => {
    const { local, stop, stderr } = await start(':80');
    const client = dial(local);
    const error = once(client, 'error');
    (await ports.next()).close(4500, 'The guest has reset the connection.\x1b[2J');
    expect((await error)[0]).toMatchObject({ code: 'ECONNRESET' });
    await stderr.until(/port 80/);
    expect(stderr.text).toContain('The guest has reset the connection.\\x1b[2J');
    const again = dial(local);
    (await ports.next()).close(1000);
    await once(again.resume(), 'end');
    again.destroy();
    await stop();
  });

  test('cuts the socket when the local program is reset, so that the guest sees a reset', async () => {
    const { local, stop, stderr } = await start(':80');
    const client = dial(local);
    client.write('half a fi');
    const guest = await ports.next();
    await ports.message(guest);
    const closed = once(guest, 'close');
    client.resetAndDestroy();
    expect((await closed)[0]).toBe(1006);
    expect(stderr.text).toBe('');
    await stop();
  });

  test('waits for a guest that never answers, and ends with Ctrl-C', async () => {
    const { local, stop } = await start(':80');
    const client = dial(local);
    const reset = once(client, 'error');
    await ports.next();
    expect((await stop()).code).toBe(130);
    expect((await reset)[0]).toMatchObject({ code: 'ECONNRESET' });
  });

  test('listens only on loopback, and at several ports', async () => {
    const { stdout, stop } = await start(':80', ':81');
    await stdout.until(/port 81/);
    expect(stdout.text.match(/127\.0\.0\.1:\d+ leads to port 8[01] of web-1\n/g)).toHaveLength(2);
    await stop();
    const other = await start(':80', '--address', '0.0.0.0');
    expect(other.stdout.text).toMatch(/^0\.0\.0\.0:/);
    await other.stop();
  });

  test('reports a port that is not free, and opens none then', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    expect(await cli.run(['port-forward', 'web-1', ':80', `${port}:81`])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('PORT_NOT_FREE'),
    });
    taken.close();
  });

  test.each([['0'], ['65536'], ['80:'], ['a:80'], ['80:0'], ['80/udp'], ['-1']])(
    'refuses the port %s',
    async (text) => {
      expect((await cli.run(['port-forward', 'web-1', '--', text])).code).toBe(2);
    },
  );

  test('refuses another address than an IP address, and containers', async () => {
    expect((await cli.run(['port-forward', 'web-1', '80', '--address', 'example.org'])).code).toBe(2);
    service.json('GET /api/vms', []).json('GET /api/cts', [containerView()]);
    expect(await cli.run(['port-forward', 'box-1', '80'])).toMatchObject({ code: 3 });
  });

  test('ends with the refusal of the service', async () => {
    const body = { error: 'no network of libvirt has leased an address', code: 'NOT_SUPPORTED' };
    service.json('GET /api/ext/vms/default/web-1/ports', body, 501);
    expect(await cli.run(['port-forward', 'web-1', '80'])).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining(body.error),
    });
  });

  describe('--stdio', () => {
    const stdio = (stdin: string, stdout = new Recorder()) => ({
      outcome: cli.run(['port-forward', '--stdio', 'web-1', '22'], { stdin, stdout }),
      stdout,
    });

    test('connects standard input and output, and ends with the output of the guest', async () => {
      const { outcome } = stdio('SSH-2.0-client');
      const guest = await ports.next();
      expect([await ports.message(guest), await ports.message(guest)]).toEqual(['SSH-2.0-client', END]);
      guest.send(Buffer.from('SSH-2.0-server'));
      guest.send(END);
      expect(await outcome).toEqual({ code: 0, stdout: 'SSH-2.0-server', stderr: '' });
    });

    test('ends with 1 and the reason when the connection fails', async () => {
      const { outcome } = stdio('');
      (await ports.next()).close(4500, 'No program of web-1 accepts connections at port 22.');
      expect(await outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('port 22') });
    });

    test('ends with 6 when the connection to the service is cut', async () => {
      const { outcome } = stdio('');
      (await ports.next()).terminate();
      expect(await outcome).toMatchObject({ code: 6 });
    });

    test.each([['22', '23'], ['2222:22']])('takes one port only: %s', async (...args) => {
      expect((await cli.run(['port-forward', '--stdio', 'web-1', ...args])).code).toBe(2);
    });
  });
});
