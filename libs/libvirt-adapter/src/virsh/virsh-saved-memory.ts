import { SavedMemoryOperations } from '../connection/saved-memory-operations.js';
import type { Virsh } from './virsh.js';

/** Reading the memory of a large guest from a slow disk. */
const RESTORE_TIMEOUT_MS = 30 * 60_000;

export class VirshSavedMemory extends SavedMemoryOperations {
  constructor(private readonly virsh: Virsh) {
    super();
  }

  override xml(path: string): Promise<string> {
    return this.virsh.run(['save-image-dumpxml', path, '--security-info']);
  }

  override async restore(path: string, xml: string): Promise<void> {
    const options = { timeoutMs: RESTORE_TIMEOUT_MS };
    await this.virsh.withXml(xml, (file) => ['restore', path, '--xml', file, '--running'], options);
  }
}
