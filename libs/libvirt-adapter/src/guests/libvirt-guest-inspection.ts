import { GuestInspection, toGuestInfo, type GuestInfo, type InstanceRef } from '@headgate/domain-contracts';
import type { GuestFacts } from '../connection/guest-operations.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import { askAgent } from './ask-agent.js';

/** All questions together. A guest with many file systems on a busy host takes a second. */
const TIMEOUT_MS = 12_000;
const MAX_INDEX = 100;

/** Facts about a guest that libvirt reads through its agent. */
export class LibvirtGuestInspection extends GuestInspection {
  constructor(
    private readonly connection: LibvirtConnection,
    private readonly finder: DomainFinder,
  ) {
    super();
  }

  override async info(ref: InstanceRef): Promise<GuestInfo> {
    const { uuid } = await this.finder.find(ref);
    const options = { timeoutMs: TIMEOUT_MS };
    const facts = await askAgent(ref.name, () => this.connection.guests.facts(uuid, options));
    return toGuestInfo({
      os: {
        hostname: facts.get('hostname'),
        id: facts.get('os.id'),
        name: facts.get('os.name'),
        prettyName: facts.get('os.pretty-name'),
        version: facts.get('os.version'),
        kernel: facts.get('os.kernel-release'),
      },
      users: entriesOf(facts, 'user').map((fact) => ({ name: fact('name'), loginMs: fact('login-time') })),
      filesystems: entriesOf(facts, 'fs').map((fact) => ({
        disk: fact('name'),
        mountPoint: fact('mountpoint'),
        type: fact('fstype'),
        usedBytes: fact('used-bytes'),
        totalBytes: fact('total-bytes'),
      })),
    });
  }
}

/** The readers of the entries of a list: `user.0.name`, `user.1.name` and so on. The guest chooses the count. */
function entriesOf(facts: GuestFacts, list: string): ((field: string) => unknown)[] {
  const count = Math.min(Number(facts.get(`${list}.count`)) || 0, MAX_INDEX);
  return Array.from(
    { length: Math.max(0, Math.floor(count)) },
    (_none, index) => (field: string) => facts.get(`${list}.${index}.${field}`),
  );
}
