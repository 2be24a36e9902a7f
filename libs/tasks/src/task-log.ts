/** The most characters of a log that are kept; the oldest lines are dropped first. */
const MAX_LOG_CHARS = 262_144;

/** The log lines of a task, joined only when they are read. */
export class TaskLog {
  private lines: string[] = [];
  private length = 0;
  private joined: string | undefined;

  append(line: string): void {
    this.lines.push(line);
    this.length += line.length + 1;
    this.joined = undefined;
    // Halves the log, so that not every further line moves all the others.
    if (this.length > MAX_LOG_CHARS) this.trim();
  }

  /** The lines, separated by newline. */
  text(): string {
    return (this.joined ??= this.lines.join('\n'));
  }

  private trim(): void {
    let from = 0;
    while (this.length > MAX_LOG_CHARS / 2 && from < this.lines.length - 1)
      this.length -= (this.lines[from++]?.length ?? 0) + 1;
    this.lines = this.lines.slice(from);
  }
}
