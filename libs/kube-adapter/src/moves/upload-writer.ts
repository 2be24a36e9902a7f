import { once } from 'node:events';
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
  private position = 0;

  constructor(private readonly upload: DiskUpload) {
    const { clock, proxy, requestToken, signal } = upload;
    this.signal = AbortSignal.any([signal, this.stop.signal]);
    this.gzip.on('error', () => undefined);
    this.sent = sendToUploadProxy(clock, {
      ...{ proxy, requestToken, signal: this.signal },
      open: () => this.gzip,
      maxAttempts: 1,
      onBytes: () => undefined,
    });
    this.sent.catch((error: unknown) => {
      this.failure = error;
      this.gzip.destroy();
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
    if (this.failure !== undefined) throw this.failure;
    this.position += data.length;
    if (this.gzip.write(data)) return;
    // The stream is destroyed when the upload fails.
    await Promise.race([once(this.gzip, 'drain'), this.sent, once(this.gzip, 'close')]);
    if (this.failure !== undefined) throw this.failure;
    if (this.gzip.destroyed) throw new DomainError('BACKEND_FAILED', 'The cluster has ended the upload early.');
  }
}
