import type { Socket } from 'node:net';
import { DomainError } from '@headgate/domain-contracts';
import { SocketReader } from '../nbd/socket-reader.js';

/** `tools/reader-guest/rootfs/init` describes them. */
export type QuestionType = 'V' | 'L' | 'S' | 'R' | 'T' | 'C';
export type AnswerType = 'H' | 'A' | 'D' | 'E' | 'X';

export interface Frame {
  readonly type: AnswerType;
  /** The number of the question. */
  readonly id: number;
  readonly content: Buffer;
}

const HEADER_BYTES = 9;
/** The longest content of each type. The guest keeps to it, unless it is hostile. */
const MAX_BYTES: Readonly<Record<AnswerType, number>> = { H: 16, A: 1024 ** 2, D: 65_536, E: 0, X: 4096 };

const isAnswer = (type: string): type is AnswerType => Object.hasOwn(MAX_BYTES, type);

/** The frames of one port of a reader guest, which is not trusted: its frames are bounded. */
export class FrameSocket {
  private readonly reader: SocketReader;
  /** One reader at a time. */
  private reading: Promise<unknown> = Promise.resolve();

  constructor(readonly socket: Socket) {
    this.reader = new SocketReader(socket);
  }

  send(type: QuestionType, id: number, content: Buffer): void {
    const header = Buffer.alloc(HEADER_BYTES);
    header.write(type, 0, 'latin1');
    header.writeUInt32BE(id, 1);
    header.writeUInt32BE(content.length, 5);
    this.socket.write(Buffer.concat([header, content]));
  }

  /** @throws DomainError BACKEND_FAILED when the guest has ended, or has sent something else than a frame */
  receive(): Promise<Frame> {
    const next = this.reading.then(() => this.take());
    this.reading = next.catch(() => undefined);
    return next;
  }

  private async take(): Promise<Frame> {
    const header = await this.reader.take(HEADER_BYTES);
    if (!header) throw new DomainError('BACKEND_FAILED', ENDED);
    const type = header.toString('latin1', 0, 1);
    const [id, length] = [header.readUInt32BE(1), header.readUInt32BE(5)];
    if (!isAnswer(type) || length > MAX_BYTES[type]) throw new DomainError('BACKEND_FAILED', NO_FRAME);
    const content = length === 0 ? Buffer.alloc(0) : await this.reader.take(length);
    if (!content) throw new DomainError('BACKEND_FAILED', ENDED);
    return { type, id, content };
  }
}

const ENDED = 'The guest that reads the files has ended.';
const NO_FRAME = 'The guest that reads the files has sent an answer that can not be read.';
