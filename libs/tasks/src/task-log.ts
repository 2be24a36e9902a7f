import { logLines } from './log-lines.js';
import { SecretMask } from './mask-secrets.js';

/** The most that is kept of a log; the oldest lines are cut first. */
export const MAX_LOG_BYTES = 262_144;
export const MAX_LOG_LINES = 5_000;

const CUT_NOTE = /^\[([\d,]+) earlier lines were cut\]$/;

/** The log from an offset. */
export interface LogPart {
  /** Where the text begins: the offset that was asked for, or a later one if lines were cut since. */
  readonly offset: number;
  readonly text: string;
  /** The offset after the text. */
  readonly end: number;
}

interface LogLine {
  readonly text: string;
  readonly bytes: number;
}

/**
 * The log lines of a task. Offsets count the characters since the beginning, with the newline after each line, so they
 * stay valid when lines are cut.
 */
export class TaskLog {
  readonly secrets = new SecretMask();
  private lines: LogLine[] = [];
  private bytes = 0;
  private cutLines = 0;
  private start = 0;
  private joined: string | undefined;
  /** The offset after the last line. */
  end = 0;

  /** @param kept the text of an earlier process */
  constructor(kept = '') {
    const lines = kept === '' ? [] : kept.split('\n');
    const [, cut] = CUT_NOTE.exec(lines[0] ?? '') ?? [];
    if (cut !== undefined) {
      this.cutLines = Number(cut.replaceAll(',', ''));
      lines.shift();
    }
    for (const line of lines) this.push(line);
  }

  append(text: string): void {
    for (const line of logLines(text)) {
      const masked = this.secrets.line(line);
      if (masked !== undefined) this.push(masked);
    }
    // Halves the log, so that not every further line moves all the others.
    if (this.bytes > MAX_LOG_BYTES || this.lines.length > MAX_LOG_LINES) this.trim();
  }

  /** The lines, separated by newline. The first one says how many were cut. */
  text(): string {
    return (this.joined ??= [...this.cutNote(), ...this.lines.map(({ text }) => text)].join('\n'));
  }

  /** The complete lines from an offset on. */
  since(offset: number): LogPart {
    let at = this.start;
    let from = 0;
    for (; from < this.lines.length && at < offset; from++) at += (this.lines[from]?.text.length ?? 0) + 1;
    const text = this.lines
      .slice(from)
      .map((line) => `${line.text}\n`)
      .join('');
    return { offset: at, text, end: this.end };
  }

  private push(text: string): void {
    const bytes = Buffer.byteLength(text) + 1;
    this.lines.push({ text, bytes });
    this.bytes += bytes;
    this.end += text.length + 1;
    this.joined = undefined;
  }

  private trim(): void {
    let from = 0;
    while (this.bytes > MAX_LOG_BYTES / 2 || this.lines.length - from > MAX_LOG_LINES / 2) {
      const line = this.lines[from++];
      if (!line) break;
      this.bytes -= line.bytes;
      this.start += line.text.length + 1;
    }
    this.cutLines += from;
    this.lines = this.lines.slice(from);
    this.joined = undefined;
  }

  private cutNote(): string[] {
    return this.cutLines === 0 ? [] : [`[${this.cutLines.toLocaleString('en')} earlier lines were cut]`];
  }
}
