import { Injectable } from '@nestjs/common';
import type { FoldersView, FolderView } from '@headgate/api-contracts';
import { INSTANCE_KINDS, isRunningStatus, isVm, parentFolder, parseRef } from '@headgate/domain-contracts';
import { FleetReader, type FleetEntry } from '@headgate/fleet';
import { Folders } from '@headgate/folders';
import { presentEntry } from '../fleet/present.js';

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
   * @throws DomainError BACKEND_UNREACHABLE when no context can be reached
   */
  async read({ summary }: { readonly summary: boolean }): Promise<FoldersView> {
    await this.fleet.whenSynced();
    this.fleet.expectSomeContext();
    const { tree } = this.folders;
    const contents = new Map(tree.paths().map((path) => [path, { entries: [], running: 0 } as Content]));
    const unfoldered: FleetEntry[] = [];
    for (const kind of INSTANCE_KINDS)
      for (const entry of this.fleet.all(kind)) {
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
      folders: [...contents].map(([path, content]) => this.present(path, content, summary)),
      ...(summary ? {} : { unfoldered: unfoldered.map(presentEntry) }),
      errors: Object.fromEntries(lost.map(({ context, reason = '' }) => [context, reason])),
    };
  }

  private present(path: string, { entries, running }: Content, summary: boolean): FolderView {
    const refs = this.folders.tree.members(path);
    const counts = { members: entries.length, running, missing: refs.size - entries.length };
    const folder = { path, parent: parentFolder(path) ?? null, counts };
    if (summary) return folder;
    const missing = counts.missing === 0 ? [] : [...refs].filter((ref) => !this.fleet.get(parseRef(ref))).sort();
    return { ...folder, members: entries.map(presentEntry), missing };
  }
}

const isOn = ({ instance }: FleetEntry): boolean =>
  isVm(instance) ? isRunningStatus(instance.status) : instance.phase === 'Running';
