import type { InstantRestoreReport } from '@headgate/domain-contracts';

export interface FilledDisk {
  readonly target: string;
  readonly sizeBytes: number;
}

/** How much of the disks no longer needs the backup. A job that begins again skips what it has copied. */
export class FillProgress {
  private readonly done = new Map<string, number>();

  constructor(
    private readonly disks: readonly FilledDisk[],
    private readonly report: Pick<InstantRestoreReport, 'copied'>,
  ) {}

  /** @returns whether it is more than before */
  reach(target: string, bytes: number): boolean {
    const before = this.done.get(target) ?? 0;
    if (bytes <= before) return false;
    this.done.set(target, bytes);
    this.emit();
    return true;
  }

  /** @param remaining the targets of the disks that are not complete */
  completeAllBut(remaining: readonly string[]): void {
    for (const { target, sizeBytes } of this.disks) if (!remaining.includes(target)) this.reach(target, sizeBytes);
  }

  private emit(): void {
    const sum = (valueOf: (disk: FilledDisk) => number): number =>
      this.disks.reduce((bytes, disk) => bytes + valueOf(disk), 0);
    this.report.copied(
      sum(({ target, sizeBytes }) => Math.min(sizeBytes, this.done.get(target) ?? 0)),
      sum(({ sizeBytes }) => sizeBytes),
    );
  }
}
