import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

const HEADER_BYTES = 12;
const ANSWER = 0x8180;
const NO_SUCH_NAME = 0x8183;
const TYPE_A = 1;

/** A DNS server over TCP that has the address 127.0.0.1 for some names, and no others. Source: RFC 1035. */
export class LocalNames {
  private readonly server: Server;
  private readonly names: ReadonlySet<string>;

  private constructor(names: readonly string[]) {
    this.names = new Set(names);
    this.server = createServer((socket) => this.serve(socket.on('error', () => undefined)));
  }

  static async listen(names: readonly string[]): Promise<LocalNames> {
    const local = new LocalNames(names);
    await once(local.server.listen(0, '127.0.0.1'), 'listening');
    return local;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    await closed;
  }

  private serve(socket: Socket): void {
    let bytes = Buffer.alloc(0);
    socket.on('data', (data: Buffer) => {
      bytes = Buffer.concat([bytes, data]);
      if (bytes.length < 2 || bytes.length < 2 + bytes.readUInt16BE(0)) return;
      const answer = this.answer(bytes.subarray(2));
      const length = Buffer.alloc(2);
      length.writeUInt16BE(answer.length);
      socket.end(Buffer.concat([length, answer]));
    });
  }

  private answer(query: Buffer): Buffer {
    const labels: string[] = [];
    let at = HEADER_BYTES;
    for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const question = query.subarray(HEADER_BYTES, at + 5);
    const isKnown = this.names.has(labels.join('.').toLowerCase());
    const hasAnswer = isKnown && query.readUInt16BE(at + 1) === TYPE_A;
    const head = Buffer.alloc(HEADER_BYTES);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(isKnown ? ANSWER : NO_SUCH_NAME, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(hasAnswer ? 1 : 0, 6);
    // The name of the question, type A, class IN, no time to live, four bytes.
    const record = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
    return Buffer.concat([head, question, ...(hasAnswer ? [record] : [])]);
  }
}
