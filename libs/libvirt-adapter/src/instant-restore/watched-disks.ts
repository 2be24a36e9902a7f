import { messageOf, type ProofDisk } from '@headgate/domain-contracts';
import type { NbdExport } from '../nbd/nbd-export.js';

interface FailedRead {
  readonly disk: ProofDisk;
  readonly offset: number;
  readonly length: number;
  readonly reason: string;
}

/** More are not remembered: they fail again when the others succeed. */
const MAX_FAILED = 64;

/** The disks of a backup. Remembers which reads have failed until they succeed, because the guest waits for them. */
export class WatchedDisks {
  private readonly failed = new Map<string, FailedRead>();

  constructor(private readonly disks: readonly ProofDisk[]) {}

  /** For the server, by their names. */
  get exports(): ReadonlyMap<string, NbdExport> {
    return new Map(
      this.disks.map((disk, index) => [
        exportNameOf(index),
        { sizeBytes: disk.sizeBytes, read: (offset: number, length: number) => this.read(disk, offset, length) },
      ]),
    );
  }

  /** One sentence, while something can't be read that was asked for. */
  get problem(): string | undefined {
    const [first] = this.failed.values();
    return first && `The disk ${first.disk.name} of the backup can't be read: ${first.reason}`;
  }

  async read(disk: ProofDisk, offset: number, length: number): Promise<Buffer> {
    const key = `${disk.name} ${offset} ${length}`;
    try {
      const data = await disk.read(offset, length);
      this.failed.delete(key);
      return data;
    } catch (error) {
      if (this.failed.size < MAX_FAILED || this.failed.has(key))
        this.failed.set(key, { disk, offset, length, reason: messageOf(error) });
      throw error;
    }
  }

  /** Reads again what has failed, up to the first part that still fails. @returns whether there is no problem now */
  async retry(): Promise<boolean> {
    for (const { disk, offset, length } of [...this.failed.values()]) {
      const isRead = await this.read(disk, offset, length).then(
        () => true,
        () => false,
      );
      if (!isRead) return false;
    }
    return this.failed.size === 0;
  }
}

export const exportNameOf = (index: number): string => `disk${index}`;
