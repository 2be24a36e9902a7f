import { Readable } from 'node:stream';
import { DomainError, plainText, type Clock, type ErrorCode } from '@headgate/domain-contracts';
import { FrameSocket, type Frame, type QuestionType } from './frames.js';
import type { Socket } from 'node:net';
import { Fields } from './fields.js';

const CODES: Readonly<Record<string, ErrorCode>> = {
  'not-found': 'FILE_NOT_FOUND',
  'not-folder': 'WRONG_STATE',
  'not-file': 'WRONG_STATE',
  'not-supported': 'NOT_SUPPORTED',
  invalid: 'INVALID_INPUT',
};

/** More frames of a canceled download fit into no buffer between the guest and this process. */
const MAX_SKIPPED = 512;

export interface ReaderPortOptions {
  readonly clock: Clock;
  /** For an answer, and for each part of a stream that is wanted. */
  readonly timeoutMs: number;
  /** Called once the port can't be used any more. */
  readonly onBroken: (error: unknown) => void;
}

export interface ReaderStream {
  /** The content of the answer that comes before the stream. */
  readonly head: Buffer;
  readonly body: Readable;
}

/** One port of a reader guest, which answers one question at a time. */
export class ReaderPort {
  private readonly frames: FrameSocket;
  private last = 0;
  private turn: Promise<void> = Promise.resolve();
  private isBroken = false;
  /** Whether a question is being answered, or a stream read. */
  isBusy = false;

  constructor(
    socket: Socket,
    private readonly options: ReaderPortOptions,
  ) {
    this.frames = new FrameSocket(socket);
  }

  /** Resolves when the guest is ready. */
  async greeting(timeoutMs: number): Promise<void> {
    const { type } = await this.next(timeoutMs);
    if (type !== 'H')
      throw this.broken(new DomainError('BACKEND_FAILED', 'The reader guest has not started properly.'));
  }

  /** Waits for its turn. @returns the content of the answer */
  async ask(type: QuestionType, content: Buffer): Promise<Buffer> {
    const release = await this.takeTurn();
    try {
      return (await this.answer(this.begin(type, content))).content;
    } finally {
      release();
    }
  }

  /** Until the stream is closed, the port has no other question. `signal` destroys it. */
  async stream(type: QuestionType, content: Buffer, signal: AbortSignal): Promise<ReaderStream> {
    const release = await this.takeTurn();
    try {
      signal.throwIfAborted();
      const id = this.begin(type, content);
      const { content: head } = await this.answer(id);
      return { head, body: this.bodyOf(id, signal, release) };
    } catch (error) {
      release();
      throw error;
    }
  }

  private bodyOf(id: number, signal: AbortSignal, release: () => void): Readable {
    let hasEnded = false;
    let pending: Promise<Frame | undefined> = Promise.resolve(undefined);
    const next = async (): Promise<Frame> => {
      const frame = await this.nextOf(id);
      hasEnded = frame.type !== 'D';
      return frame;
    };
    const body = new Readable({
      highWaterMark: 65_536,
      read: () => {
        pending = next();
        pending.then(
          (frame) => {
            if (frame?.type === 'D') body.push(frame.content);
            else if (frame?.type === 'E') body.push(null);
            else body.destroy(frame && failureOf(frame));
          },
          (error: unknown) => body.destroy(error as Error),
        );
      },
      destroy: (error, done) => {
        // The part that is under way is dropped.
        void (async () => {
          await pending.catch(() => undefined);
          if (!hasEnded && !this.isBroken) this.frames.send('C', id, Buffer.alloc(0));
          while (!hasEnded && !this.isBroken) await next().catch(() => undefined);
          release();
        })();
        done(error);
      },
      signal,
    });
    return body;
  }

  private begin(type: QuestionType, content: Buffer): number {
    if (this.isBroken) throw new DomainError('BACKEND_FAILED', 'The guest that reads the files has ended.');
    this.last = (this.last % 0xffffffff) + 1;
    this.frames.send(type, this.last, content);
    return this.last;
  }

  private async answer(id: number): Promise<Frame> {
    const frame = await this.nextOf(id);
    if (frame.type === 'X') throw failureOf(frame);
    if (frame.type !== 'A')
      throw this.broken(new DomainError('BACKEND_FAILED', 'The reader guest has lost its place.'));
    return frame;
  }

  /** Skips the frames of former questions, which were under way when these were canceled. */
  private async nextOf(id: number): Promise<Frame> {
    for (let skipped = 0; skipped <= MAX_SKIPPED; skipped++) {
      const frame = await this.next(this.options.timeoutMs);
      if (frame.id === id) return frame;
    }
    throw this.broken(new DomainError('BACKEND_FAILED', 'The reader guest does not stop a canceled download.'));
  }

  private async next(timeoutMs: number): Promise<Frame> {
    const late = new DomainError('BACKEND_TIMEOUT', 'The guest that reads the files has not answered in time.');
    let cancel = (): void => undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      cancel = this.options.clock.after(timeoutMs, () => reject(late));
    });
    try {
      return await Promise.race([this.frames.receive(), timeout]);
    } catch (error) {
      throw this.broken(error);
    } finally {
      cancel();
    }
  }

  private broken(error: unknown): unknown {
    if (!this.isBroken) {
      this.isBroken = true;
      this.options.onBroken(error);
    }
    return error;
  }

  private async takeTurn(): Promise<() => void> {
    const before = this.turn;
    let release = (): void => undefined;
    this.turn = new Promise((resolve) => (release = resolve));
    this.isBusy = true;
    const mine = this.turn;
    await before;
    return () => {
      if (this.turn === mine) this.isBusy = false;
      release();
    };
  }
}

function failureOf({ content }: Frame): DomainError {
  const fields = new Fields(content);
  const word = fields.text();
  return new DomainError(CODES[word] ?? 'BACKEND_FAILED', plainText(fields.text(), 300));
}
