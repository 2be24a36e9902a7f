import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConsoleBroker } from '@headgate/consoles';
import { ConsoleSource, DomainError, type ConsoleStream, type SerialLine } from '@headgate/domain-contracts';
import { connectSocket } from '@headgate/libvirt-adapter';
import { buildVm, FixedClock } from '@headgate/testing';
import { WebSocket, WebSocketServer } from 'ws';
import { SocketViewer } from './socket-viewer.js';

/** On a busy machine 96 MiB take longer than the default timeout of a test. */
const TEST_TIMEOUT_MS = 30_000;
/** More than all buffers between a guest and a browser that does not read can hold. */
const BYTES = 16 * 1_048_576;
const GUESTS = 5;

/**
 * The output of a guest: words of its number and a counter, so that no two positions and no two guests have the same
 * bytes.
 */
const printed = (guest: number): Buffer =>
  Buffer.from(Uint32Array.from({ length: BYTES / 4 }, (_, index) => guest * 0x1000000 + index).buffer);

/** Serial lines that print as fast as they are read, after they received the number of the guest. */
class FastLines extends ConsoleSource {
  override readonly screenSharing = 'none';

  constructor(private readonly path: string) {
    super();
  }

  override async openSerial(): Promise<SerialLine> {
    return { stream: await connectSocket({ path: this.path }), backlog: Buffer.alloc(0) };
  }

  override openVnc(): Promise<ConsoleStream> {
    return Promise.reject(new DomainError('NOT_SUPPORTED', 'There is no screen here.'));
  }

  override openShell(): Promise<never> {
    return Promise.reject(new DomainError('NOT_SUPPORTED', 'There is no shell here.'));
  }
}

/** A browser that compares each byte with the output of its guest. */
class Browser {
  private position = 0;
  /** Position of the first wrong byte. */
  wrongAt: number | undefined;

  private constructor(
    readonly socket: WebSocket,
    private readonly expected: Buffer,
  ) {
    socket.on('message', (data: Buffer) => {
      if (!data.equals(expected.subarray(this.position, this.position + data.length))) this.wrongAt ??= this.position;
      this.position += data.length;
      if (this.position >= expected.length) socket.close();
    });
  }

  static async open(port: number, guest: number, expected: Buffer): Promise<Browser> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/${guest}`, { perMessageDeflate: false });
    const browser = new Browser(socket, expected);
    await once(socket, 'open');
    return browser;
  }

  async all(): Promise<void> {
    if (this.socket.readyState !== WebSocket.CLOSED) await once(this.socket, 'close');
    expect(this.position).toBe(this.expected.length);
  }
}

describe('the output of many consoles', () => {
  let folder: string;
  let guests: Server;
  let service: WebSocketServer;
  let broker: ConsoleBroker;
  const expected = Array.from({ length: GUESTS }, (_, guest) => printed(guest));

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-consoles-'));
    guests = createServer((line) => {
      line.on('error', () => undefined);
      line.once('data', (number) => line.write(expected[Number(String(number))] ?? ''));
    }).listen(join(folder, 'line'));
    await once(guests, 'listening');
    const source = new FastLines(join(folder, 'line'));
    broker = new ConsoleBroker({ get: () => buildVm({ status: 'Running' }) } as never, new FixedClock());
    service = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
    service.on('connection', (socket, { url = '' }) => {
      const { ref } = buildVm({ ref: { name: `vm${url.replace('/', '-')}` } });
      void broker.openSerial(ref, source, new SocketViewer(socket, false));
    });
    await once(service, 'listening');
  });

  afterEach(async () => {
    broker.close();
    service.close();
    guests.close();
    await Promise.all([once(service, 'close'), once(guests, 'close')]);
    rmSync(folder, { recursive: true });
  });

  test(
    'reaches each browser unmixed and in order, even one that stops reading for a while',
    async () => {
      const { port } = service.address() as AddressInfo;
      const open = (guest: number): Promise<Browser> => Browser.open(port, guest, expected[guest] as Buffer);
      const browsers = await Promise.all(expected.map((_, guest) => open(guest)));
      // The first guest has two viewers: its buffers are in use until both have them.
      const second = await open(0);
      // Each one but the last starts to read when the next one is done, so that its data piles up until then.
      for (const { socket } of browsers.slice(0, -1)) socket.pause();
      for (const [guest, { socket }] of browsers.entries()) socket.send(String(guest));
      for (const browser of browsers.toReversed()) {
        browser.socket.resume();
        await browser.all();
      }
      await second.all();
      expect([...browsers, second].map(({ wrongAt }) => wrongAt)).toEqual(Array(GUESTS + 1).fill(undefined));
    },
    TEST_TIMEOUT_MS,
  );
});
