import { chmod, chown, copyFile, rename, stat } from 'node:fs/promises';
import { DomainError } from '@headgate/domain-contracts';
import { isRemote } from '../host/host.js';

/** Where libvirt's system daemon has the state of emulated TPMs. */
const STATE_FOLDER = '/var/lib/libvirt/swtpm';

/** The state of a domain's emulated TPM 2.0: one file, which swtpm replaces as a whole. */
export class TpmState {
  constructor(
    private readonly uri: string,
    private readonly folder = STATE_FOLDER,
  ) {}

  pathOf(uuid: string): string {
    return `${this.folder}/${uuid}/tpm2/tpm2-00.permall`;
  }

  /** Why the state can't be saved; undefined if it can. A TPM that was never started has none. */
  refusal(): string | undefined {
    if (isRemote(this.uri) || process.getuid?.() !== 0 || /\/session(?:\?|$)/.test(this.uri))
      return 'the state of its TPM is in a folder that this service can not read: it has to run as root on the same machine';
    return undefined;
  }

  async exists(uuid: string): Promise<boolean> {
    return stat(this.pathOf(uuid)).then(
      () => true,
      () => false,
    );
  }

  /** Replaces the state of a stopped domain, for the same user as before. */
  async replace(uuid: string, file: string): Promise<void> {
    const path = this.pathOf(uuid);
    try {
      const { uid, gid, mode } = await stat(path);
      const copy = `${path}.new`;
      await copyFile(file, copy);
      await chown(copy, uid, gid);
      await chmod(copy, mode & 0o777);
      await rename(copy, path);
    } catch (cause) {
      throw new DomainError('BACKEND_FAILED', 'The state of the TPM could not be restored.', { cause });
    }
  }
}
