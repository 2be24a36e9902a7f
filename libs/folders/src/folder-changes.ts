import {
  buildPlan,
  Change,
  DomainError,
  formatRef,
  parseRef,
  workOn,
  type Audit,
  type Caller,
  type Instance,
  type InstanceDirectory,
  type InstanceIdentity,
  type Plan,
  type Reservations,
} from '@headgate/domain-contracts';
import type { FolderTree, Member } from './folder-tree.js';
import type { Folders } from './folders.js';

/** How the audit log names a folder. */
const folder = (path: string): string => `folder/${path}`;

/** Creates a folder, with the folders around it that do not exist. */
export class CreateFolder extends Change<[path: string], void, string> {
  constructor(
    private readonly folders: Folders,
    private readonly audit: Audit,
  ) {
    super();
  }

  /** The tree decides when it is changed: another replica may have changed it meanwhile. */
  protected override prepare(path: string): string {
    return path;
  }

  protected override async planPrepared(path: string): Promise<Plan> {
    const { created } = this.folders.tree.create(path);
    return buildPlan(created.map((one) => ({ name: 'create folder', detail: one })));
  }

  protected override runPrepared(path: string, caller: Caller): Promise<void> {
    return this.audit.of(caller, 'create folder', folder(path), () => this.folders.change((tree) => tree.create(path)));
  }
}

/** Removes a folder and the folders in it. The members are in no folder then, and nothing happens to them. */
export class RemoveFolder extends Change<[path: string], void, string> {
  constructor(
    private readonly folders: Folders,
    private readonly audit: Audit,
  ) {
    super();
  }

  /** Like the creation. */
  protected override prepare(path: string): string {
    return path;
  }

  protected override async planPrepared(path: string): Promise<Plan> {
    const { tree } = this.folders;
    return buildPlan(
      tree
        .remove(path)
        .removed.map((one) => ({ name: 'remove folder', detail: `${one}, with ${count(tree.members(one).size)}` })),
    );
  }

  protected override runPrepared(path: string, caller: Caller): Promise<void> {
    return this.audit.of(caller, 'remove folder', folder(path), () => this.folders.change((tree) => tree.remove(path)));
  }
}

/** Gives a folder another path. The folders in it and all members go along. */
export class MoveFolder extends Change<[from: string, to: string]> {
  constructor(
    private readonly folders: Folders,
    private readonly audit: Audit,
  ) {
    super();
  }

  /** Like the creation. */
  protected override prepare(from: string, to: string): [from: string, to: string] {
    return [from, to];
  }

  protected override async planPrepared([from, to]: [from: string, to: string]): Promise<Plan> {
    const { created, renamed } = this.folders.tree.move(from, to);
    return buildPlan([
      ...created.map((path) => ({ name: 'create folder', detail: path })),
      ...renamed.map((one) => ({ name: 'move folder', detail: `${one.from} to ${one.to}` })),
    ]);
  }

  protected override runPrepared([from, to]: [from: string, to: string], caller: Caller): Promise<void> {
    return this.audit.of(
      caller,
      'move folder',
      folder(from),
      () => this.folders.change((tree) => tree.move(from, to)),
      () => `to ${to}`,
    );
  }
}

interface AddedMember {
  readonly path: string;
  /** The ref in the request. */
  readonly ref: string;
  readonly found: InstanceIdentity;
}

/** An instance by its ref, as text, and the ID of its object, if it may be no other instance of its name. */
export interface IdentifiedMember {
  readonly ref: string;
  readonly uid: string | undefined;
}

/** Puts an instance into a folder and takes it out of the one it was in. */
export class AddFolderMember extends Change<[path: string, member: string | IdentifiedMember], void, AddedMember> {
  constructor(
    private readonly folders: Folders,
    private readonly directory: InstanceDirectory,
    private readonly audit: Audit,
    private readonly reservations: Reservations,
  ) {
    super();
  }

  /** @throws DomainError INVALID_REF, INSTANCE_NOT_FOUND */
  protected override prepare(path: string, member: string | IdentifiedMember): AddedMember {
    const { ref, uid } = typeof member === 'string' ? { ref: member, uid: undefined } : member;
    const found = this.find(ref);
    if (uid !== undefined && uid !== found.uid) throw replaced(ref);
    return { path, ref, found };
  }

  protected override async planPrepared({ path, found }: AddedMember): Promise<Plan> {
    return this.reservations.inPlan(workOn('folder', found.ref), this.planOf(path, found));
  }

  protected override runPrepared(
    { path, ref, found: { ref: found, uid } }: AddedMember,
    caller: Caller,
  ): Promise<void> {
    return this.reservations.during(workOn('folder', found), async () => {
      const instance = this.find(ref);
      // The caller was allowed to change that one only.
      if (instance.uid !== uid) throw replaced(ref);
      if (caller.rehearsed) await caller.rehearsed.expectSame(instance, async () => this.planOf(path, instance));
      return this.audit.of(caller, `add to folder ${path}`, found, () =>
        this.folders.change((tree) => tree.assign(instance, path)),
      );
    });
  }

  private planOf(path: string, instance: InstanceIdentity): Plan {
    const { assigned } = this.folders.tree.assign(instance, path);
    const added = assigned.filter((one) => one.path !== undefined);
    return buildPlan(added.map((one) => ({ name: 'add to folder', detail: `${one.ref} to ${path}` })));
  }

  /** @throws DomainError INVALID_REF, INSTANCE_NOT_FOUND */
  private find(text: string): InstanceIdentity {
    const ref = parseRef(text);
    // `resolve` has the right error for an instance whose context was not listed yet.
    const instance = this.directory.get(ref) ?? this.directory.resolve(ref);
    return identityOf(instance);
  }
}

const replaced = (ref: string): DomainError =>
  new DomainError('INSTANCE_NOT_FOUND', `${ref} was replaced by another instance.`);

export interface MemberRemovalOptions {
  /** Only former instances, also if there is one now that is in a folder. */
  readonly isMissing?: boolean;
  /** Only the instance that exists now, never former ones. Nothing changes if it is in no folder. */
  readonly isPresent?: boolean;
  /** The ID of its object, if it may be no other instance of its name. */
  readonly uid?: string | undefined;
}

interface RemovedMember extends MemberRemovalOptions {
  readonly member: string;
}

/**
 * Takes an instance out of its folder, or the former instances of its ref, which need not exist any more. An instance
 * that is in a folder comes first, unless only the missing ones are meant.
 */
export class RemoveFolderMember extends Change<[ref: string, options: MemberRemovalOptions], void, RemovedMember> {
  constructor(
    private readonly folders: Folders,
    private readonly directory: InstanceDirectory,
    private readonly audit: Audit,
    private readonly reservations: Reservations,
  ) {
    super();
  }

  /** @throws DomainError INVALID_REF */
  protected override prepare(ref: string, options: MemberRemovalOptions): RemovedMember {
    return { member: formatRef(parseRef(ref)), ...options };
  }

  protected override async planPrepared(removed: RemovedMember): Promise<Plan> {
    return this.reservations.inPlan(workOn('folder', removed.member), this.planOf(removed));
  }

  protected override runPrepared(removed: RemovedMember, caller: Caller): Promise<void> {
    const { member } = removed;
    return this.reservations.during(workOn('folder', member), async () => {
      const { rehearsed } = caller;
      if (rehearsed) {
        const { uid } = this.directory.resolve(parseRef(member));
        await rehearsed.expectSame({ ref: member, uid }, async () => this.planOf(removed));
      }
      const paths = this.folders.tree.membersWith(member).map(({ folder: { path } }) => path);
      const action = `remove from folder ${paths.join(', ')}`.trimEnd();
      return this.audit.of(caller, action, member, () =>
        this.folders.change((tree) => tree.unassign(...this.find(tree, removed))),
      );
    });
  }

  private planOf(removed: RemovedMember): Plan {
    const steps = this.find(this.folders.tree, removed).map(({ folder: { path } }) => ({
      name: 'remove from folder',
      detail: `${removed.member} from ${path}`,
    }));
    return buildPlan(steps);
  }

  /** @throws DomainError FOLDER_NOT_FOUND; INSTANCE_NOT_FOUND for one that has to be present */
  private find(tree: FolderTree, { member: ref, isMissing = false, ...only }: RemovedMember): readonly Member[] {
    const uid = this.directory.get(parseRef(ref))?.uid;
    if (only.isPresent) {
      const instance = this.directory.resolve(parseRef(ref));
      if (only.uid !== undefined && only.uid !== instance.uid) throw replaced(ref);
      return tree.membersWith(ref).filter((one) => one.uid === instance.uid);
    }
    const present = tree.membersWith(ref).filter((one) => one.uid === uid);
    const missing = tree.membersWith(ref).filter((one) => one.uid !== uid);
    const found = isMissing || present.length === 0 ? missing : present;
    if (found.length === 0)
      throw new DomainError(
        'FOLDER_NOT_FOUND',
        isMissing ? `${ref} is not a missing member of any folder.` : `${ref} is in no folder.`,
      );
    return found;
  }
}

/** One object, and no other one of its name. */
export const identityOf = ({ ref, uid }: Instance): InstanceIdentity => ({ ref: formatRef(ref), uid });

const count = (members: number): string => `${members} ${members === 1 ? 'member' : 'members'}`;
