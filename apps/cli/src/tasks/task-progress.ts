import type { TaskView } from '@headgate/api-contracts';
import { readable } from '../terminal/readable-seconds.js';
import { printable, printableLines } from '../terminal/printable.js';
import type { Environment } from '../terminal/environment.js';

const CLEAR_LINE = '\r\x1b[K';

/** The log of a task, and on a terminal one line with its progress, which is replaced. */
export class TaskProgress {
  private shown = '';

  constructor(private readonly stderr: Environment['stderr']) {}

  log(text: string): void {
    const lines = printableLines(text);
    if (lines === '') return;
    this.replaced(lines.endsWith('\n') ? lines : `${lines}\n`);
  }

  note(text: string): void {
    this.replaced(`${printable(text)}\n`);
  }

  show(task: TaskView): void {
    if (this.stderr.isTTY !== true) return;
    const line = task.status === 'running' ? formatProgress(task) : '';
    if (line === this.shown) return;
    this.stderr.write(`${CLEAR_LINE}${line}`);
    this.shown = line;
  }

  end(): void {
    if (this.shown !== '') this.stderr.write(CLEAR_LINE);
    this.shown = '';
  }

  private replaced(text: string): void {
    this.stderr.write(this.shown === '' ? text : `${CLEAR_LINE}${text}${this.shown}`);
  }
}

/** One line: `37% Copy the disk, 3 min left; waits for the guest to shut down`. */
export function formatProgress({ progress, steps, transfer, waitsFor, waiting }: TaskView): string {
  const step = steps.findLast(({ finishedAt }) => finishedAt === undefined) ?? steps.at(-1);
  const parts = [
    progress === null ? '' : `${Math.floor(progress * 100)}%`,
    printable(step?.name ?? ''),
    transfer?.remainingSeconds ? `${readable(transfer.remainingSeconds)} left` : '',
    waitsFor === undefined ? '' : `waits for ${printable(waitsFor)}`,
    waiting === undefined ? '' : printable(waiting),
  ];
  return parts.filter((part) => part !== '').join(' · ');
}
