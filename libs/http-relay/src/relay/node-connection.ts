import type { ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import { releaseBytes } from './release-bytes.js';

/** The client's side of a connection that Node's server sees. */
export interface NodeConnectionClient {
  readonly remoteAddress: string;
  /** @returns whether more may be written now */
  writeChunks(chunks: readonly WrittenChunk[]): boolean;
  /** Node's server accepts no more of the body for now. */
  pauseBody(): void;
  resumeBody(): void;
  /** The response is complete. */
  finish(): void;
  /** The response is complete, and Node's server closes the connection. */
  finishAndClose(): void;
  destroy(): void;
}

export interface WrittenChunk {
  readonly chunk: Buffer | string;
  readonly encoding: BufferEncoding;
}

/**
 * A client's connection as Node's HTTP server sees it: only those of its requests that the relay does not take, and
 * their responses. Node accepts any duplex stream as a connection, so the socket stays with the relay.
 */
export class NodeConnection extends Duplex {
  readonly remoteAddress: string;
  private missingBytes = 0;
  /** The chunk that begins a request. After an unusual one, Node's server keeps its end. */
  private first: Buffer | undefined;
  private onWritable: (() => void) | undefined;
  private isDetached = false;

  constructor(private readonly client: NodeConnectionClient) {
    super({ decodeStrings: false });
    this.remoteAddress = client.remoteAddress;
    this.on('error', () => undefined);
  }

  /** How much of the body of the request in progress has not arrived. */
  get missingBodyBytes(): number {
    return this.missingBytes;
  }

  /** @param bytes the head and the part of the body that has arrived; `missingBytes` follow */
  begin(bytes: Buffer, missingBytes: number): void {
    this.first = bytes;
    this.missingBytes = missingBytes;
    this.receive(bytes);
  }

  writeBody(bytes: Buffer): void {
    this.missingBytes -= bytes.length;
    this.receive(bytes);
  }

  /** Frees each part of a body once Node's server, which listens already, has parsed and copied it. */
  releaseWhenRead(): void {
    this.on('data', (bytes: Buffer) => {
      if (bytes !== this.first) releaseBytes(bytes);
    });
  }

  /** The client may receive more. */
  resumeResponse(): void {
    const { onWritable } = this;
    this.onWritable = undefined;
    onWritable?.();
  }

  /** The client has hung up. */
  hangUp(): void {
    this.detach();
  }

  /** Ends the connection for Node's server. The client's socket stays open. */
  detach(): void {
    this.isDetached = true;
    this.destroy();
  }

  /** Node's server has begun a response on this connection. */
  follow(response: ServerResponse): void {
    response.once('close', () => {
      if (this.isDetached || !response.writableFinished) return;
      // The relay discards the rest of the body, because Node's server would wait for it.
      if (this.missingBytes > 0) this.detach();
      this.client.finish();
    });
  }

  override _read(): void {
    if (!this.isDetached && this.missingBytes > 0) this.client.resumeBody();
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: () => void): void {
    this._writev([{ chunk, encoding }], done);
  }

  override _writev(chunks: readonly WrittenChunk[], done: () => void): void {
    if (this.isDetached || this.client.writeChunks(chunks)) done();
    else this.onWritable = done;
  }

  override _final(done: () => void): void {
    done();
    if (this.isDetached) return;
    this.detach();
    this.client.finishAndClose();
  }

  override _destroy(_error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.isDetached) this.client.destroy();
    done();
  }

  private receive(bytes: Buffer): void {
    if (!this.push(bytes) && this.missingBytes > 0) this.client.pauseBody();
  }
}
