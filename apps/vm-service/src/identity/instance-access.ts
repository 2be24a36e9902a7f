import {
  DomainError,
  formatRef,
  isScoped,
  parseRef,
  type AccessSubject,
  type FolderDirectory,
  type Grant,
  type Instance,
  type InstanceDirectory,
  type InstanceQuery,
} from '@headgate/domain-contracts';
import type { FleetReader } from '@headgate/fleet';

const KIND_WORDS = { vm: 'VM', ct: 'container' };

/** The instances as a caller sees them. Those that they may not read do not exist for them. */
export class InstanceAccess {
  constructor(
    private readonly fleet: FleetReader,
    private readonly directory: InstanceDirectory,
    private readonly folders: FolderDirectory,
  ) {}

  /**
   * The instance that a query means for a caller.
   * @throws DomainError INSTANCE_NOT_FOUND, AMBIGUOUS_INSTANCE, NOT_READY, BACKEND_UNREACHABLE
   */
  find(query: InstanceQuery, grant: Grant): Instance {
    if (!isScoped(grant)) return this.directory.resolve(query);
    const contexts = query.context === undefined ? this.fleet.states().map(({ context }) => context) : [query.context];
    const readable = contexts
      .flatMap((context) => this.directory.get({ ...query, context }) ?? [])
      .filter((instance) => grant.allows('read', this.subjectOf(instance)));
    const [only, other] = readable;
    if (only && !other) return only;
    if (other) {
      throw new DomainError(
        'AMBIGUOUS_INSTANCE',
        `${query.namespace}/${query.name} exists in several contexts; add ?context= with one of them.`,
        { details: { candidates: readable.map(({ ref }) => formatRef(ref)) } },
      );
    }
    this.expectKnown(query);
    throw new DomainError(
      'INSTANCE_NOT_FOUND',
      `There is no ${KIND_WORDS[query.kind]} ${query.namespace}/${query.name}.`,
    );
  }

  /** The same for the text of a ref. @throws DomainError also INVALID_REF */
  findRef(text: string, grant: Grant): Instance {
    return this.find(parseRef(text), grant);
  }

  subjectOf(instance: Instance): AccessSubject {
    const { ref, uid } = instance;
    const folder = this.folders.folderOf({ ref: formatRef(ref), uid });
    return folder === undefined ? { instance } : { instance, folder };
  }

  /** The errors of a context that was not listed yet, or can't be reached. */
  private expectKnown(query: InstanceQuery): void {
    try {
      this.directory.resolve(query);
    } catch (error) {
      if (!DomainError.is(error, 'AMBIGUOUS_INSTANCE', 'INSTANCE_NOT_FOUND')) throw error;
    }
  }
}
