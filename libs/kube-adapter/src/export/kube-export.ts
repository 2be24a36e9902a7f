import type { Readable } from 'node:stream';
import {
  DiskExport,
  DomainError,
  releaseOnDestroy,
  type ExportFormat,
  type InstanceRef,
} from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import { instanceNotFound } from '../api/kube-api-error.js';
import type { VmiObject, VmObject } from '../api/object-types.js';
import { CLAIMS, EXPORTS, VIRTUAL_MACHINES, VM_INSTANCES } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import type { ClusterFacts } from '../discovery/cluster-facts.js';
import { bootDiskOf } from '../inventory/boot-disk.js';
import { LABEL } from '../labels.js';
import type { ClusterExports } from './cluster-exports.js';

/** Exports disks with a VirtualMachineExport of their own, which exists as long as the stream. */
export class KubeExport extends DiskExport {
  constructor(
    private readonly api: KubeApi,
    private readonly discovery: ClusterDiscovery,
    private readonly exports: ClusterExports,
  ) {
    super();
  }

  override async check(ref: InstanceRef, format: ExportFormat): Promise<void> {
    await this.claimOf(ref, format);
  }

  override async open(ref: InstanceRef, format: ExportFormat, signal: AbortSignal): Promise<Readable> {
    return this.openClaim(ref, await this.claimOf(ref, format), signal);
  }

  /** Opens a claim of a VM, compressed with gzip. @throws DomainError like `open` */
  async openClaim(ref: InstanceRef, claim: string, signal: AbortSignal): Promise<Readable> {
    await this.expectExports();
    signal.throwIfAborted();
    const own = await this.exports.create({
      namespace: ref.namespace,
      source: { apiGroup: '', kind: 'PersistentVolumeClaim', name: claim },
      labels: { [LABEL.vm]: ref.name },
    });
    const remove = (): Promise<void> => this.exports.remove(own);
    try {
      const ready = await this.exports.whenReady(own, { subject: ref.name, inUse: () => isRunning(ref), signal });
      return releaseOnDestroy(await this.exports.open(ready, own.token, { claim, format: 'gzip' }, signal), remove);
    } catch (error) {
      // Its time to live ends an export that can't be removed now.
      await remove().catch(() => undefined);
      throw error;
    }
  }

  private async claimOf(ref: InstanceRef, format: ExportFormat): Promise<string> {
    const { api } = this;
    const [vm, vmi] = await Promise.all([
      api.find<VmObject>(VIRTUAL_MACHINES, ref),
      api.find<VmiObject>(VM_INSTANCES, ref),
    ]);
    if (!vm) throw instanceNotFound(ref);
    if (vmi && !['Succeeded', 'Failed'].includes(vmi.status?.phase ?? '')) throw isRunning(ref);
    if (format === 'qcow2') {
      throw new DomainError(
        'NOT_SUPPORTED',
        'A cluster exports raw images only: leave out the format, and convert the image with qemu-img.',
      );
    }
    await this.expectExports();
    const { claim } = bootDiskOf(vm);
    if (claim !== undefined && (await api.find(CLAIMS, { namespace: ref.namespace, name: claim }))) return claim;
    throw new DomainError('NOT_SUPPORTED', `The boot disk of ${ref.name} is not a volume, so it can't be exported.`);
  }

  /** @throws DomainError NOT_SUPPORTED */
  async expectExports(): Promise<void> {
    if (!hasExports(await this.discovery.facts())) throw new DomainError('NOT_SUPPORTED', NO_EXPORTS);
  }
}

export const NO_EXPORTS = 'The cluster has no exports: enable the feature gate VMExport of KubeVirt.';

export const hasExports = (facts: ClusterFacts): boolean =>
  facts.serves(EXPORTS.apiVersion) && (facts.isAtLeast(1, 9) || facts.isGateEnabled('VMExport'));

const isRunning = ({ name }: InstanceRef): DomainError =>
  new DomainError('WRONG_STATE', `${name} runs, or its disk is in use: stop it before exporting its disk.`);
