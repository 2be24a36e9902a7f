import { Injectable } from '@nestjs/common';
import { InstanceDirectory, parseRef, type InstanceIdentity } from '@headgate/domain-contracts';
import { Folders } from '@headgate/folders';
import { MetricsSampler } from '@headgate/metrics';
import { InstanceRecords } from '@headgate/moves';

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

  override async carryOver(from: InstanceIdentity, to: InstanceIdentity): Promise<void> {
    await this.folders.change((tree) => {
      const path = tree.folderOf(from);
      // The folder of the new one was chosen later.
      return path === undefined || tree.folderOf(to) !== undefined ? tree.unchanged() : tree.assign(to, path);
    });
    const target = parseRef(to.ref);
    await this.directory.waitFor(target, (instance) => instance?.uid === to.uid, LIST_TIMEOUT_MS);
    const found = this.directory.get(target);
    if (found?.uid === to.uid) this.sampler.carryOver({ ref: parseRef(from.ref), uid: from.uid }, found);
  }

  override async forget(instance: InstanceIdentity): Promise<void> {
    await this.folders.change((tree) => tree.unassign(instance));
  }
}
