import {
  DomainError,
  InstanceProvisioning,
  messageOf,
  buildPlan,
  type Creation,
  type InstanceRef,
  type Plan,
  type TaskReporter,
  type VmSourceKind,
  type VmSpec,
} from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import { planCreation, throwFirstRefusal, type PlanningParts } from './creation-plan.js';
import { MachineMaker, type MakingParts } from './machine-maker.js';
import { BOOTC_REFUSAL } from './plan-source.js';

export interface ProvisioningParts extends PlanningParts, MakingParts {
  /** Whether the image that is built on the spot is there already. */
  readonly isTinyGuestBuilt: () => Promise<boolean>;
}

export class LibvirtProvisioning extends InstanceProvisioning {
  private readonly maker: MachineMaker;

  constructor(private readonly parts: ProvisioningParts) {
    super();
    this.maker = new MachineMaker(parts);
  }

  override sources(): Readonly<Record<VmSourceKind, true | string>> {
    return { containerDisk: true, image: true, import: true, iso: true, pvc: true, bootc: BOOTC_REFUSAL };
  }

  override async planCreate(spec: VmSpec): Promise<Plan> {
    const { steps, warnings, refusals } = await planCreation(spec, this.parts);
    return { steps, warnings, refusals };
  }

  /** Defines the machine first: the name is taken, or refused, before anything is fetched. */
  override async create(spec: VmSpec): Promise<Creation> {
    const plan = await planCreation(spec, this.parts);
    throwFirstRefusal(plan);
    await this.parts.pool.ensure();
    const draft = await this.exclusively(spec, () => this.maker.define(spec, plan));
    if (await this.isLong(spec)) return { remaining: (report) => this.maker.fill(draft, report) };
    await this.maker.fill(draft, QUIET);
    return {};
  }

  override async planDelete(ref: InstanceRef): Promise<Plan> {
    const { uuid, name } = await this.parts.finder.find(ref);
    const { domain, volumes, kept } = await this.parts.remover.plan(uuid);
    return buildPlan(
      [
        ...(domain.isActive ? [{ name: 'stop', detail: `Pull the plug of ${name}.` }] : []),
        ...volumes.map((volume) => ({ name: 'volume', detail: `Remove the volume ${volume.pool}/${volume.name}.` })),
        {
          name: 'undefine',
          detail: `Remove ${name} from libvirt, with its saved state and the notes of its snapshots.`,
        },
      ],
      {
        warnings: kept.map((path) => `${path} stays: it was not made for this VM by this service.`),
        refusals: domain.description.metadata.isProtected ? [protectedRefusal(name)] : [],
      },
    );
  }

  override async delete(ref: InstanceRef): Promise<void> {
    const { uuid, name } = await this.parts.finder.find(ref);
    // What is being filled is stopped first; it removes itself, and the rest is done here.
    await this.parts.progress.cancel(uuid);
    await this.parts.lock.run(uuid, async () => {
      const still = (await this.parts.finder.all()).find((domain) => domain.uuid === uuid);
      if (!still) return;
      const { description } = await this.parts.editor.read(uuid);
      if (description.metadata.isProtected) throw new DomainError('WRONG_STATE', protectedRefusal(name).reason);
      await this.parts.remover.remove(uuid);
    });
  }

  override async setTag(ref: InstanceRef, tag: string, on: boolean): Promise<void> {
    const { uuid } = await this.parts.finder.find(ref);
    await this.parts.lock.run(uuid, () =>
      this.parts.editor.note(uuid, (metadata) => {
        const others = metadata.tags.filter((other) => other !== tag);
        return { ...metadata, tags: on ? [...others, tag].sort() : others };
      }),
    );
  }

  /** Removes what an earlier run of this service left half-made. */
  async removeInterrupted({ uuid, name, metadata }: DomainDescription): Promise<void> {
    const { progress, lock, remover, log } = this.parts;
    if (!progress.isInterrupted(metadata, uuid)) return;
    log.warn({ domain: name }, 'a VM whose making was interrupted is removed');
    try {
      await lock.run(uuid, () => remover.remove(uuid));
    } catch (error) {
      log.warn({ domain: name, reason: messageOf(error) }, 'what was left of it could not be removed');
    }
  }

  /** Two machines that ask for one volume at the same time are told apart: the second sees the first. */
  private async exclusively<T>(spec: VmSpec, work: () => Promise<T>): Promise<T> {
    if (spec.source.kind !== 'pvc') return work();
    return this.parts.lock.run(`claim ${spec.source.claim}`, async () => {
      throwFirstRefusal(await planCreation(spec, this.parts));
      return work();
    });
  }

  private async isLong({ source }: VmSpec): Promise<boolean> {
    if (source.kind === 'pvc') return false;
    return !(
      source.kind === 'image' &&
      source.entry.builtLocally !== undefined &&
      (await this.parts.isTinyGuestBuilt())
    );
  }
}

const QUIET: TaskReporter = {
  step: () => undefined,
  log: () => undefined,
  progress: () => undefined,
  signal: new AbortController().signal,
};

const protectedRefusal = (name: string) => ({
  code: 'WRONG_STATE',
  reason: `${name} is protected against deletion.`,
  remedy: 'Take the protection away in its description first.',
});
