import { procedures } from '@headgate/libvirt-rpc';
import { SavedMemoryOperations } from '../connection/saved-memory-operations.js';
import type { RpcLink } from './rpc-link.js';

/** `virDomainSaveImageXMLFlags` and `virDomainSaveRestoreFlags`. */
const XML_SECURE = 1;
const RUNNING = 2;
/** Reading the memory of a large guest from a slow disk. */
const RESTORE_TIMEOUT_MS = 30 * 60_000;

export class RpcSavedMemory extends SavedMemoryOperations {
  constructor(private readonly link: RpcLink) {
    super();
  }

  override async xml(file: string): Promise<string> {
    const args = { file, flags: XML_SECURE };
    return (await this.link.call(procedures.domainSaveImageGetXmlDesc, args, { isSlow: true })).xml;
  }

  override async restore(file: string, xml: string): Promise<void> {
    const options = { timeoutMs: RESTORE_TIMEOUT_MS, isSlow: true };
    await this.link.call(procedures.domainRestoreFlags, { file, xml, flags: RUNNING }, options);
  }
}
