import {
  throwFirstRefusal,
  DomainError,
  InstanceProvisioning,
  messageOf,
  buildPlan,
  SILENT_REPORTER,
  type Creation,
  type CreationState,
  type InstanceRef,
  type Plan,
  type Refusal,
  type VmSourceKind,
  type VmSpec,
} from '@headgate/domain-contracts';
import { SPACE_WATERMARK_BYTES } from '@headgate/downloads';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { BaseImages } from '../storage/base-images.js';
import type { GuestNetwork } from '../network/guest-network.js';
import { planCreation, type CreationPlanDeps } from './creation-plan.js';
import { DomainCreator, INTERRUPTED, NO_NETWORK_CARD, type DomainCreatorDeps } from './domain-creator.js';
import { importedName } from './creation-steps.js';

export interface LibvirtProvisioningDeps extends Omit<CreationPlanDeps, 'connection'>, DomainCreatorDeps {
  readonly bases: Pick<BaseImages, 'reclaim' | 'sweep'>;
  readonly network: Pick<GuestNetwork, 'ensure'>;
  /** Whether the local image has been built already. */
  readonly isTinyGuestBuilt: () => Promise<boolean>;
}

export class LibvirtProvisioning extends InstanceProvisioning {
  private readonly creator: DomainCreator;

  constructor(private readonly deps: LibvirtProvisioningDeps) {
    super();
    this.creator = new DomainCreator(deps);
  }

  override sources(): Readonly<Record<VmSourceKind, true | string>> {
    return { containerDisk: true, image: true, import: true, iso: true, pvc: true, bootc: true };
  }

  override async planCreate(spec: VmSpec): Promise<Plan> {
    const { steps, warnings, refusals } = await planCreation(roundSizes(spec), this.deps);
    return { steps, warnings, refusals };
  }

  /** Defines the domain first, which reserves its name before anything is downloaded. */
  override async create(request: VmSpec): Promise<Creation> {
    const spec = roundSizes(request);
    if (await this.isSpaceShort()) await this.deps.bases.reclaim();
    const plan = await planCreation(spec, this.deps);
    throwFirstRefusal(plan);
    await this.deps.pool.ensure();
    const network = await this.startNetwork(spec);
    const host = { ...plan.host, network };
    const draft = await this.withClaimLock(spec, () => this.creator.define(spec, { ...plan, host }));
    const warnings = network === undefined ? { warnings: [NO_NETWORK_CARD] } : {};
    if (await this.needsTask(spec))
      return { remaining: (report) => this.creator.fill(draft, report, 'keep'), ...warnings };
    await this.creator.fill(draft, SILENT_REPORTER, 'remove');
    return warnings;
  }

  /** The UUID of the domain is the ID of its creation. */
  override async creationState(ref: InstanceRef, creation: string): Promise<CreationState> {
    const domain = (await this.deps.finder.all()).find(({ uuid }) => uuid === creation);
    if (!domain || this.deps.finder.refOf(domain).name !== ref.name) return 'absent';
    const { metadata } = (await this.deps.editor.read(creation)).description;
    return metadata.provisioning === undefined && metadata.failure === undefined ? 'complete' : 'incomplete';
  }

  override async discardCreation(ref: InstanceRef, creation: string): Promise<void> {
    if ((await this.creationState(ref, creation)) !== 'incomplete') return;
    await this.deps.progress.cancel(creation);
    await this.deps.lock.run(creation, async () => {
      // It may have been completed or removed while this waited.
      if ((await this.creationState(ref, creation)) === 'incomplete') await this.deps.remover.remove(creation);
    });
  }

  override async planDelete(ref: InstanceRef): Promise<Plan> {
    const { uuid, name } = await this.deps.finder.find(ref);
    const { domain, volumes, kept } = await this.deps.remover.plan(uuid);
    return buildPlan(
      [
        ...(domain.isActive ? [{ name: 'stop', detail: `Force stop ${name}.` }] : []),
        ...volumes.map((volume) => ({ name: 'volume', detail: `Remove the volume ${volume.pool}/${volume.name}.` })),
        {
          name: 'undefine',
          detail: `Remove ${name} from libvirt, with its saved state and snapshot metadata.`,
        },
      ],
      {
        warnings: kept.map((path) => `${path} is kept, because this service did not create it for this VM.`),
        refusals: deletionRefusals(name, domain.description),
      },
    );
  }

  override async delete(ref: InstanceRef): Promise<void> {
    const { uuid, name } = await this.deps.finder.find(ref);
    // A running creation is canceled first and cleans up after itself.
    await this.deps.progress.cancel(uuid);
    await this.deps.lock.run(uuid, async () => {
      const existing = (await this.deps.finder.all()).find((domain) => domain.uuid === uuid);
      if (!existing) return;
      const { description } = await this.deps.editor.read(uuid);
      const [refusal] = deletionRefusals(name, description);
      if (refusal) throw new DomainError(refusal.code, refusal.reason);
      await this.deps.remover.remove(uuid);
    });
    void this.deps.bases.sweep();
  }

  override async setTag(ref: InstanceRef, tag: string, on: boolean): Promise<void> {
    const { uuid } = await this.deps.finder.find(ref);
    await this.deps.lock.run(uuid, () =>
      this.deps.editor.updateMetadata(uuid, (metadata) => {
        const others = metadata.tags.filter((other) => other !== tag);
        return { ...metadata, tags: on ? [...others, tag].sort() : others };
      }),
    );
  }

  override async setProtection(ref: InstanceRef, isProtected: boolean): Promise<void> {
    const { uuid } = await this.deps.finder.find(ref);
    await this.deps.lock.run(uuid, () =>
      this.deps.editor.updateMetadata(uuid, (metadata) => ({ ...metadata, isProtected })),
    );
  }

  /** Marks a VM whose creation was interrupted by the end of an earlier run, and removes its incomplete disks. */
  async failInterrupted({ uuid, name, metadata }: DomainDescription): Promise<void> {
    const { progress, log } = this.deps;
    if (!progress.isInterrupted(metadata, uuid)) return;
    log.warn({ domain: name }, 'the creation of a VM was interrupted');
    await this.creator.fail(uuid, INTERRUPTED);
  }

  private async isSpaceShort(): Promise<boolean> {
    const [hasSpace, pool] = await Promise.all([this.deps.hasSpaceForDownloads(), this.deps.pool.space()]);
    return !hasSpace || (pool?.isActive === true && pool.availableBytes < SPACE_WATERMARK_BYTES);
  }

  /** A VM without a network can still be used through its consoles, so a failure does not end the creation. */
  private async startNetwork({ ref, network }: VmSpec): Promise<string | undefined> {
    if (network !== undefined) return network;
    try {
      return await this.deps.network.ensure();
    } catch (error) {
      this.deps.log.warn({ domain: ref.name, reason: messageOf(error) }, 'the VM gets no network card');
      return undefined;
    }
  }

  /** Serializes creations that claim the same volume, so that the second one finds the volume in use. */
  private async withClaimLock<T>(spec: VmSpec, work: () => Promise<T>): Promise<T> {
    if (spec.source.kind !== 'pvc') return work();
    return this.deps.lock.run(`claim ${spec.source.claim}`, async () => {
      throwFirstRefusal(await planCreation(spec, this.deps));
      return work();
    });
  }

  private async needsTask({ source }: VmSpec): Promise<boolean> {
    if (source.kind === 'pvc' || importedName(source) !== undefined) return false;
    return !(
      source.kind === 'image' &&
      source.entry.builtLocally !== undefined &&
      (await this.deps.isTinyGuestBuilt())
    );
  }
}

/**
 * libvirt and QEMU round memory when a VM starts, which would look like a pending change, and disks consist of sectors.
 */
const MEMORY_STEP_BYTES = 2 * 1024 ** 2;
const DISK_STEP_BYTES = 1024 ** 2;

const roundSizes = (spec: VmSpec): VmSpec => ({
  ...spec,
  memoryBytes: roundUp(spec.memoryBytes, MEMORY_STEP_BYTES),
  diskBytes: roundUp(spec.diskBytes, DISK_STEP_BYTES),
});

const roundUp = (value: number, step: number): number => Math.ceil(value / step) * step;

/** Metadata that can't be read may protect the VM and list its volumes. */
function deletionRefusals(name: string, { metadata, unreadable }: DomainDescription): Refusal[] {
  if (unreadable !== undefined) {
    return [
      {
        code: 'WRONG_STATE',
        reason: `${name} can't be deleted. ${unreadable}`,
        remedy: 'Correct its metadata, or remove the domain, with virsh.',
      },
    ];
  }
  if (!metadata.isProtected) return [];
  return [
    {
      code: 'WRONG_STATE',
      reason: `${name} is protected against deletion.`,
      remedy: 'Remove the protection from its metadata first.',
    },
  ];
}
