/** The most text of a plugin's standard error that is kept. */
const MAX_LOG_BYTES = 64 * 1024;

/** The end of a plugin's standard error. Control characters are removed, because operators read it in terminals. */
export class ErrorLog {
  private chunks: Buffer[] = [];
  private kept = 0;
  /** How much was written, kept or not. */
  writtenBytes = 0;

  append(chunk: Buffer): void {
    this.writtenBytes += chunk.length;
    this.chunks.push(chunk.length > MAX_LOG_BYTES ? chunk.subarray(-MAX_LOG_BYTES) : chunk);
    this.kept += chunk.length;
    while (this.kept > MAX_LOG_BYTES && this.chunks.length > 1) this.kept -= this.chunks.shift()?.length ?? 0;
  }

  text(): string {
    return Buffer.concat(this.chunks)
      .subarray(-MAX_LOG_BYTES)
      .toString('utf8')
      .replace(/[^\P{Cc}\n\t]/gu, '');
  }

  /** The last line that is not empty. */
  lastLine(): string {
    return this.text().trimEnd().split('\n').at(-1)?.trim().slice(0, 300) ?? '';
  }
}
