import { constants, createGzip, type Gzip } from 'node:zlib';
import { DomainError, type Clock, type DiskWriter } from '@headgate/domain-contracts';
import { sendToUploadProxy, type ProxyAddress } from '../images/upload-proxy.js';

export interface DiskUpload {
  readonly clock: Clock;
  readonly proxy: ProxyAddress;
  readonly requestToken: () => Promise<string>;
  readonly sizeBytes: number;
  readonly signal: AbortSignal;
  /** Resolves when CDI has stored the disk. */
  readonly untilStored: (signal: AbortSignal) => Promise<void>;
}

const ZEROS = Buffer.alloc(1024 ** 2);

/** Sends a disk to CDI as one stream, compressed, so that its holes cost almost nothing. */
export class UploadWriter implements DiskWriter {
  private readonly gzip: Gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: 256 * 1024 });
  private readonly stop = new AbortController();
  private readonly signal: AbortSignal;
  private readonly sent: Promise<void>;
  private failure?: unknown;
  private hasEnded = false;
  private position = 0;
  /**
   * Called when the stream takes data again, or never will. One listener for all waits, as a large disk waits often.
   */
  private wake = (): void => undefined;

  constructor(private readonly upload: DiskUpload) {
    const { clock, proxy, requestToken, signal } = upload;
    this.signal = AbortSignal.any([signal, this.stop.signal]);
    this.gzip.on('error', () => undefined);
    for (const event of ['drain', 'close']) this.gzip.on(event, () => this.wake());
    this.sent = sendToUploadProxy(clock, {
      proxy,
      requestToken,
      signal: this.signal,
      open: () => this.gzip,
      maxAttempts: 1,
      onBytes: () => undefined,
    });
    this.sent
      .catch((error: unknown) => {
        this.failure = error;
        this.gzip.destroy();
      })
      .finally(() => {
        this.hasEnded = true;
        this.wake();
      });
  }

  async write(offset: number, data: Buffer): Promise<void> {
    if (offset < this.position || offset + data.length > this.upload.sizeBytes)
      throw new DomainError('BACKEND_FAILED', `The disk has ${this.upload.sizeBytes} bytes, fewer than its content.`);
    await this.fillTo(offset);
    await this.send(data);
  }

  async finish(): Promise<void> {
    await this.fillTo(this.upload.sizeBytes);
    this.gzip.end();
    await this.sent;
    await this.upload.untilStored(this.signal);
  }

  async abort(): Promise<void> {
    this.stop.abort(new DomainError('CONFLICT', 'The upload was canceled.'));
    this.gzip.destroy();
    await this.sent.catch(() => undefined);
  }

  private async fillTo(offset: number): Promise<void> {
    while (this.position < offset) await this.send(ZEROS.subarray(0, Math.min(ZEROS.length, offset - this.position)));
  }

  private async send(data: Buffer): Promise<void> {
    this.throwIfEnded();
    this.position += data.length;
    if (this.gzip.write(data)) return;
    await new Promise<void>((resolve) => (this.wake = resolve));
    this.throwIfEnded();
  }

  private throwIfEnded(): void {
    if (this.failure !== undefined) throw this.failure;
    if (this.hasEnded || this.gzip.destroyed)
      throw new DomainError('BACKEND_FAILED', 'The cluster has ended the upload early.');
  }
}
