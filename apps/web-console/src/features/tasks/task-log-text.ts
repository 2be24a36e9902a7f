import { t } from '@lingui/core/macro';
import type { TaskStreamEvents } from '@headgate/api-contracts';

/** The page keeps as much of a log as the service. */
const MAX_LOG_CHARS = 262_144;

/** The log of one task, from the events of its stream. */
export class TaskLogText {
  private kept = '';
  private end = 0;

  get text(): string {
    return this.kept;
  }

  replace({ log, logOffset }: TaskStreamEvents['snapshot']): void {
    this.kept = log === '' ? '' : `${log}\n`;
    this.end = logOffset;
  }

  append({ offset, text }: TaskStreamEvents['log']): void {
    const gap =
      offset > this.end
        ? t`[Some lines were cut]
`
        : '';
    // A part that the page has already, after a reconnection.
    const added = text.slice(Math.max(0, this.end - offset));
    this.end = Math.max(this.end, offset + text.length);
    this.kept = shorten(`${this.kept}${gap}${added}`);
  }
}

/** The last lines of a text. */
function shorten(text: string): string {
  if (text.length <= MAX_LOG_CHARS) return text;
  return `[Some lines were cut]\n${text.slice(text.indexOf('\n', text.length - MAX_LOG_CHARS / 2) + 1)}`;
}
