import { formatRef, type InstanceRef } from '@headgate/domain-contracts';

/** The VMs that this process is moving. */
export class MovesInProgress {
  /** The IDs of the last tasks, by the refs of their sources. */
  private readonly tasks = new Map<string, string>();

  constructor(private readonly isRunning: (task: string) => boolean) {}

  has(source: InstanceRef): boolean {
    const task = this.tasks.get(formatRef(source));
    return task !== undefined && this.isRunning(task);
  }

  /** @param source as text */
  add(source: string, task: string): void {
    this.tasks.set(source, task);
  }
}
