const CR = 13;
const LF = 10;
const SEMICOLON = 59;
/** More than any server sends in one chunk, and far below the largest exact integer. */
const MAX_SIZE_DIGITS = 12;
const MAX_LINE_BYTES = 1024;
const MAX_TRAILER_BYTES = 16 * 1024;

type State =
  | 'size'
  | 'extension'
  | 'size-lf'
  | 'data'
  | 'data-cr'
  | 'data-lf'
  | 'trailer'
  | 'trailer-line'
  | 'trailer-lf'
  | 'end-lf';

/** Follows a chunked body without copying it, to know where it ends. */
export class ChunkedScanner {
  private state: State = 'size';
  private digits = 0;
  private size = 0;
  private lineBytes = 0;
  private trailerBytes = 0;
  private ended = false;

  /** Whether the end has been seen. */
  get isDone(): boolean {
    return this.ended;
  }

  /**
   * @returns how many of the bytes are the body's chunks, without its trailers and the empty line at the end, and how
   *   many belong to the body at all; undefined if they are not chunks
   */
  scan(bytes: Buffer): { chunkBytes: number; consumed: number } | undefined {
    let chunkBytes = this.inTrailer ? 0 : bytes.length;
    let at = 0;
    while (at < bytes.length && !this.ended) {
      if (this.state === 'data') {
        const taken = Math.min(this.size, bytes.length - at);
        this.size -= taken;
        at += taken;
        if (this.size === 0) this.state = 'data-cr';
        continue;
      }
      const wasInTrailer = this.inTrailer;
      if (!this.step(bytes[at++] ?? 0)) return undefined;
      if (this.inTrailer && !wasInTrailer) chunkBytes = at;
    }
    return { chunkBytes: Math.min(chunkBytes, at), consumed: at };
  }

  private get inTrailer(): boolean {
    return (
      this.ended ||
      this.state === 'trailer' ||
      this.state === 'trailer-line' ||
      this.state === 'trailer-lf' ||
      this.state === 'end-lf'
    );
  }

  /** Reads one byte of the framing. @returns whether it is valid */
  private step(byte: number): boolean {
    switch (this.state) {
      case 'size':
        return this.stepInSize(byte);
      case 'extension':
        if (byte === CR) return this.go('size-lf');
        return ++this.lineBytes <= MAX_LINE_BYTES && isText(byte);
      case 'size-lf':
        return byte === LF && this.go(this.size === 0 ? 'trailer' : 'data');
      case 'data-cr':
        return byte === CR && this.go('data-lf');
      case 'data-lf':
        return byte === LF && this.beginSize();
      default:
        return this.stepInTrailer(byte);
    }
  }

  private stepInSize(byte: number): boolean {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.size = this.size * 16 + digit;
      return ++this.digits <= MAX_SIZE_DIGITS;
    }
    if (this.digits === 0) return false;
    if (byte === CR) return this.go('size-lf');
    return byte === SEMICOLON && this.go('extension');
  }

  private stepInTrailer(byte: number): boolean {
    if (++this.trailerBytes > MAX_TRAILER_BYTES) return false;
    switch (this.state) {
      case 'trailer':
        return byte === CR ? this.go('end-lf') : isText(byte) && this.go('trailer-line');
      case 'trailer-line':
        return byte === CR ? this.go('trailer-lf') : isText(byte);
      case 'trailer-lf':
        return byte === LF && this.go('trailer');
      default:
        this.ended = true;
        return byte === LF;
    }
  }

  private beginSize(): boolean {
    this.digits = 0;
    this.size = 0;
    this.lineBytes = 0;
    return this.go('size');
  }

  private go(state: State): true {
    this.state = state;
    return true;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

const isText = (byte: number): boolean => byte === 9 || (byte >= 32 && byte !== 127);
