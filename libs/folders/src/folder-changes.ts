import {
  buildPlan,
  Change,
  formatRef,
  parseRef,
  type Audit,
  type Caller,
  type InstanceDirectory,
  type Plan,
} from '@headgate/domain-contracts';
import type { Folders } from './folders.js';

/** How the audit log names a folder. */
const folder = (path: string): string => `folder/${path}`;

/** Creates a folder, with the folders around it that do not exist. */
export class CreateFolder extends Change<[path: string]> {
  constructor(
    private readonly folders: Folders,
    private readonly audit: Audit,
  ) {
    super();
  }

  override async plan(path: string): Promise<Plan> {
    const { created } = this.folders.tree.create(path);
    return buildPlan(created.map((one) => ({ name: 'create folder', detail: one })));
  }

  override async run(path: string, caller: Caller): Promise<void> {
    return this.audit.of(caller, 'create folder', folder(path), () => this.folders.change((tree) => tree.create(path)));
  }
}

/** Removes a folder and the folders in it. The members are in no folder then, and nothing happens to them. */
export class RemoveFolder extends Change<[path: string]> {
  constructor(
    private readonly folders: Folders,
    private readonly audit: Audit,
  ) {
    super();
  }

  override async plan(path: string): Promise<Plan> {
    const { tree } = this.folders;
    return buildPlan(
      tree
        .remove(path)
        .removed.map((one) => ({ name: 'remove folder', detail: `${one}, with ${count(tree.members(one).size)}` })),
    );
  }

  override async run(path: string, caller: Caller): Promise<void> {
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

  override async plan(from: string, to: string): Promise<Plan> {
    const { created, renamed } = this.folders.tree.move(from, to);
    return buildPlan([
      ...created.map((path) => ({ name: 'create folder', detail: path })),
      ...renamed.map((one) => ({ name: 'move folder', detail: `${one.from} to ${one.to}` })),
    ]);
  }

  override async run(from: string, to: string, caller: Caller): Promise<void> {
    return this.audit.of(
      caller,
      'move folder',
      folder(from),
      () => this.folders.change((tree) => tree.move(from, to)),
      () => `to ${to}`,
    );
  }
}

/** Puts an instance into a folder and takes it out of the one it was in. */
export class AddFolderMember extends Change<[path: string, ref: string]> {
  constructor(
    private readonly folders: Folders,
    private readonly directory: InstanceDirectory,
    private readonly audit: Audit,
  ) {
    super();
  }

  override async plan(path: string, ref: string): Promise<Plan> {
    const { assigned } = this.folders.tree.assign(this.find(ref), path);
    return buildPlan(assigned.map((one) => ({ name: 'add to folder', detail: `${one.ref} to ${path}` })));
  }

  override async run(path: string, ref: string, caller: Caller): Promise<void> {
    const found = this.find(ref);
    return this.audit.of(caller, `add to folder ${path}`, found, () =>
      this.folders.change((tree) => tree.assign(found, path)),
    );
  }

  /** @throws DomainError INVALID_REF, INSTANCE_NOT_FOUND */
  private find(text: string): string {
    const ref = parseRef(text);
    // `resolve` has the right error for an instance whose context was not listed yet.
    const instance = this.directory.get(ref) ?? this.directory.resolve(ref);
    return formatRef(instance.ref);
  }
}

/** Takes an instance out of its folder. The instance need not exist any more. */
export class RemoveFolderMember extends Change<[ref: string]> {
  constructor(
    private readonly folders: Folders,
    private readonly audit: Audit,
  ) {
    super();
  }

  override async plan(ref: string): Promise<Plan> {
    const member = formatRef(parseRef(ref));
    this.folders.tree.unassign(member);
    return buildPlan([{ name: 'remove from folder', detail: `${member} from ${this.folders.tree.folderOf(member)}` }]);
  }

  override async run(ref: string, caller: Caller): Promise<void> {
    const member = formatRef(parseRef(ref));
    const path = this.folders.tree.folderOf(member);
    return this.audit.of(caller, `remove from folder ${path ?? ''}`.trimEnd(), member, () =>
      this.folders.change((tree) => tree.unassign(member)),
    );
  }
}

const count = (members: number): string => `${members} ${members === 1 ? 'member' : 'members'}`;
