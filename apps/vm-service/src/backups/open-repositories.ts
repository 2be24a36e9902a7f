import { createHmac, randomBytes } from 'node:crypto';
import type { BackupTarget, Clock } from '@headgate/domain-contracts';
import type { ResticRepository } from '@headgate/restic-repository';

/** After its last use. The page of backups sends several requests for each target that it shows. */
const KEPT_MS = 5 * 60_000;
/** As many as there may be targets. A repository without its index takes a few KiB. */
const MAX_KEPT = 32;

interface Kept {
  readonly proof: string;
  readonly opening: Promise<ResticRepository>;
  cancel: () => void;
}

/**
 * Remembers the keys of repositories for a while, because deriving one takes a processor for up to seconds.
 * What it remembers counts only for the same path and password. Of the password, it has a keyed hash.
 */
export class OpenRepositories {
  private readonly kept = new Map<string, Kept>();
  private readonly salt = randomBytes(32);

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.kept.size;
  }

  /**
   * The repository as it was opened before. Requests at the same time open it once.
   * @param open is called for a target that is not remembered
   */
  async get(target: BackupTarget, open: () => Promise<ResticRepository>): Promise<ResticRepository> {
    const proof = this.proofOf(target);
    const known = this.kept.get(target.id);
    if (known && known.proof === proof) {
      this.keep(target.id, known);
      return known.opening;
    }
    const opened: Kept = { proof, opening: open(), cancel: () => undefined };
    this.keep(target.id, opened);
    try {
      return await opened.opening;
    } catch (error) {
      if (this.kept.get(target.id) === opened) this.drop(target.id);
      throw error;
    }
  }

  drop(id: string): void {
    this.kept.get(id)?.cancel();
    this.kept.delete(id);
  }

  close(): void {
    for (const id of [...this.kept.keys()]) this.drop(id);
  }

  /** As the one that was used last. */
  private keep(id: string, kept: Kept): void {
    this.drop(id);
    kept.cancel = this.clock.after(KEPT_MS, () => this.drop(id));
    this.kept.set(id, kept);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MAX_KEPT && oldest !== undefined) this.drop(oldest);
  }

  private proofOf({ path, password }: BackupTarget): string {
    return createHmac('sha256', this.salt)
      .update(JSON.stringify([path, password]))
      .digest('base64');
  }
}
