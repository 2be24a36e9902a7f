import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isProofId } from '@headgate/domain-contracts';

/**
 * The proofs or the sessions for files that have begun, as files in the private folder of the context: a killed service
 * finds them again.
 */
export class ProofMarks {
  private readonly folder: string;

  constructor(contextFolder: string, name: 'proofs' | 'files' = 'proofs') {
    this.folder = join(contextFolder, name);
  }

  /** Before anything is created. */
  async add(id: string, diskCount: number): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await writeFile(this.fileOf(id), String(diskCount), { mode: 0o600, flag: 'wx', flush: true });
  }

  async remove(id: string): Promise<void> {
    await rm(this.fileOf(id), { force: true });
  }

  /** IDs, with the number of disks. A file that was not completed belongs to a proof that has created nothing. */
  async all(): Promise<ReadonlyMap<string, number>> {
    const marks = new Map<string, number>();
    for (const id of await readdir(this.folder).catch(() => [])) {
      if (!isProofId(id)) continue;
      marks.set(id, Number(await readFile(this.fileOf(id), 'utf8').catch(() => '')) || 0);
    }
    return marks;
  }

  private fileOf(id: string): string {
    return join(this.folder, id);
  }
}
