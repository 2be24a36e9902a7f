import { Injectable } from '@nestjs/common';
import type { FoldersView, FolderView } from '@headgate/api-contracts';
import {
  INSTANCE_KINDS,
  isRunningStatus,
  isVm,
  isWithinFolder,
  parentFolder,
  parseRef,
  type Grant,
} from '@headgate/domain-contracts';
import { FleetReader, type FleetEntry } from '@headgate/fleet';
import { Folders, type Member } from '@headgate/folders';
import { presentEntry } from '../fleet/present.js';
import { readable } from '../fleet/readable.js';

interface Content {
  readonly entries: FleetEntry[];
  running: number;
}

/** The folders with the instances that the fleet shows in them. Never asks a backend. */
@Injectable()
export class ReadFolders {
  constructor(
    private readonly folders: Folders,
    private readonly fleet: FleetReader,
  ) {}

  /**
   * @param summary only the counts
   * @param grant leaves out the instances that it does not allow to read, and the folders without any
   * @throws DomainError BACKEND_UNREACHABLE when no context can be reached
   */
  async read({ summary }: { readonly summary: boolean }, grant: Grant): Promise<FoldersView> {
    await this.fleet.whenSynced();
    this.fleet.expectSomeContext();
    const { tree } = this.folders;
    const contents = new Map(tree.paths().map((path) => [path, { entries: [], running: 0 } as Content]));
    const unfoldered: FleetEntry[] = [];
    for (const kind of INSTANCE_KINDS)
      for (const entry of readable(this.fleet.all(kind), grant)) {
        const content = contents.get(entry.folder ?? '');
        if (!content) {
          unfoldered.push(entry);
          continue;
        }
        content.entries.push(entry);
        if (isOn(entry)) content.running++;
      }
    const lost = this.fleet.states().filter(({ state }) => state === 'lost');
    return {
      folders: visible(contents, grant).map(([path, content]) => this.present(path, content, summary, grant)),
      ...(summary ? {} : { unfoldered: unfoldered.map(presentEntry) }),
      errors: Object.fromEntries(lost.map(({ context, reason = '' }) => [context, reason])),
    };
  }

  private present(path: string, { entries, running }: Content, summary: boolean, grant: Grant): FolderView {
    // Members that do not exist are shown to those who may read the whole folder.
    const isWhole = grant.allowsFolder('read', path);
    const members = this.folders.tree.members(path);
    const missing = isWhole && members.size > entries.length ? this.missing(members) : [];
    const counts = { members: entries.length, running, missing: missing.length };
    const folder = { path, parent: parentFolder(path) ?? null, counts };
    return summary ? folder : { ...folder, members: entries.map(presentEntry), missing };
  }

  /**
   * The refs of members that are not in the list. Another instance may have the ref. Those that were deleted are gone.
   */
  private missing(members: Iterable<Member>): string[] {
    return [...members]
      .filter(({ ref, uid, state }) => state !== 'ending' && this.fleet.get(parseRef(ref))?.uid !== uid)
      .map(({ ref }) => ref)
      .sort();
  }
}

/** The folders that a grant allows to read, those with an instance that it does, and the folders around them. */
function visible(contents: ReadonlyMap<string, Content>, grant: Grant): [string, Content][] {
  const all = [...contents];
  if (grant.allowsAll('read')) return all;
  const shown = all
    .filter(([path, { entries }]) => entries.length > 0 || grant.allowsFolder('read', path))
    .map(([path]) => path);
  return all.filter(([path]) => shown.some((one) => isWithinFolder(one, path)));
}

const isOn = ({ instance }: FleetEntry): boolean =>
  isVm(instance) ? isRunningStatus(instance.status) : instance.phase === 'Running';
