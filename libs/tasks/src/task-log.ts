/** How much of a log is kept, in characters; the oldest lines go first. */
const KEPT = 262_144;

/** The lines of a task, put together only when somebody reads them. */
export class TaskLog {
  private lines: string[] = [];
  private length = 0;
  private joined: string | undefined;

  append(line: string): void {
    this.lines.push(line);
    this.length += line.length + 1;
    this.joined = undefined;
    // Cut to half at once, so that not each further line moves all the others.
    if (this.length > KEPT) this.cut();
  }

  /** The lines, separated by newline. */
  text(): string {
    return (this.joined ??= this.lines.join('\n'));
  }

  private cut(): void {
    let from = 0;
    while (this.length > KEPT / 2 && from < this.lines.length - 1) this.length -= (this.lines[from++]?.length ?? 0) + 1;
    this.lines = this.lines.slice(from);
  }
}
