import type { NbdReceiver } from './nbd-connection.js';

export interface NbdReplyHandler {
  /** The length of the header of a reply, as far as it shows in the part that has arrived. */
  headerBytes(arrived: Buffer): number;
  /** @returns the place of the data that follows the header, or undefined if none follows */
  begin(header: Buffer): Buffer | undefined;
  /** The data of the last reply has arrived. */
  end(): void;
  /** All that has arrived so far was handled. */
  settle(): void;
  /** Whether nothing more is handled. */
  readonly isClosed: boolean;
}

/** Splits what a server sends into replies. Headers are collected; data goes directly to its place. */
export class NbdReplies implements NbdReceiver {
  private header: Buffer = Buffer.alloc(0);
  private data?: { readonly place: Buffer; at: number };

  constructor(private readonly handler: NbdReplyHandler) {}

  place(): Buffer | undefined {
    return this.data?.place.subarray(this.data.at);
  }

  receive(received: Buffer, isPlaced: boolean): void {
    if (isPlaced) this.advance(received.length);
    else this.take(received);
    this.handler.settle();
  }

  private take(received: Buffer): void {
    let from = 0;
    while (from < received.length && !this.handler.isClosed) {
      if (this.data) {
        const { place, at } = this.data;
        const part = received.subarray(from, from + place.length - at);
        part.copy(place, at);
        from += part.length;
        this.advance(part.length);
        continue;
      }
      const part = received.subarray(from, from + this.handler.headerBytes(this.header) - this.header.length);
      from += part.length;
      this.header = this.header.length === 0 ? Buffer.from(part) : Buffer.concat([this.header, part]);
      if (this.header.length === this.handler.headerBytes(this.header)) this.begin();
    }
  }

  private begin(): void {
    const { header } = this;
    this.header = Buffer.alloc(0);
    const place = this.handler.begin(header);
    if (place) this.data = { place, at: 0 };
  }

  private advance(bytes: number): void {
    const { data } = this;
    if (!data) return;
    data.at += bytes;
    if (data.at < data.place.length) return;
    this.data = undefined;
    this.handler.end();
  }
}
