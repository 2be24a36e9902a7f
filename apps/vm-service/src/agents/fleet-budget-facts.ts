import { Injectable } from '@nestjs/common';
import {
  FleetAuditLog,
  FolderDirectory,
  formatRef,
  INSTANCE_KINDS,
  isInstanceRef,
  parseRef,
  type InstanceIdentity,
} from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import { BudgetFacts, type ChangedInstance } from '@headgate/rehearsals';

const PAGE = 1000;

/** The changes of agents from the journal, and the members of folders from the fleet. */
@Injectable()
export class FleetBudgetFacts extends BudgetFacts {
  constructor(
    private readonly journal: FleetAuditLog,
    private readonly fleet: FleetReader,
    private readonly folders: FolderDirectory,
  ) {
    super();
  }

  override changesOf(token: string, sinceMs: number): readonly ChangedInstance[] {
    const found: ChangedInstance[] = [];
    const query = { token, since: new Date(sinceMs).toISOString(), limit: PAGE };
    for (let before: number | undefined; ;) {
      const page = this.journal.find({ ...query, ...(before !== undefined && { before }) });
      for (const { kind, ref, time } of page)
        if (kind === 'action' && isInstanceRef(ref)) found.push({ ref, at: Date.parse(time) });
      before = page.at(-1)?.number;
      if (page.length < PAGE) return found;
    }
  }

  override folderOf(text: string): string | undefined {
    const instance = this.fleet.get(parseRef(text));
    return instance && (this.folders.folderOf({ ref: text, uid: instance.uid }) ?? '');
  }

  override membersOf(path: string): readonly InstanceIdentity[] {
    return INSTANCE_KINDS.flatMap((kind) =>
      [...this.fleet.all(kind)]
        .map(({ instance: { ref, uid } }) => ({ ref: formatRef(ref), uid }))
        .filter((identity) => (this.folders.folderOf(identity) ?? '') === path),
    );
  }
}
