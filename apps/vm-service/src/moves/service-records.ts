import { Injectable } from '@nestjs/common';
import { InstanceDirectory, parseRef } from '@headgate/domain-contracts';
import { Folders } from '@headgate/folders';
import { MetricsSampler } from '@headgate/metrics';
import { InstanceRecords, type FormerInstance } from '@headgate/moves';

/** An instance that is not listed by then has no samples of its own, and gets none. */
const LIST_TIMEOUT_MS = 5_000;

/** The folders and the samples of the service. */
@Injectable()
export class ServiceRecords extends InstanceRecords {
  constructor(
    private readonly folders: Folders,
    private readonly sampler: MetricsSampler,
    private readonly directory: InstanceDirectory,
  ) {
    super();
  }

  override async carryOver({ ref, uid }: FormerInstance, to: string): Promise<void> {
    await this.folders.change((tree) => {
      const path = tree.folderOf(ref);
      // The folder of the new ref was chosen later.
      return path === undefined || tree.folderOf(to) !== undefined ? tree.unchanged() : tree.assign(to, path);
    });
    const target = parseRef(to);
    await this.directory.waitFor(target, (instance) => instance !== undefined, LIST_TIMEOUT_MS);
    const found = this.directory.get(target);
    if (found) this.sampler.carryOver({ ref: parseRef(ref), uid }, found);
  }

  override async forget(ref: string): Promise<void> {
    await this.folders.change((tree) => (tree.folderOf(ref) === undefined ? tree.unchanged() : tree.unassign(ref)));
  }
}
