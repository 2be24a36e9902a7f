import { DomainError, type Log } from '@headgate/domain-contracts';
import { isOutcomeUnknown } from '../api/kube-api-error.js';
import type { KubeObject } from '../api/kube-object.js';
import type { VmObject } from '../api/object-types.js';
import { SECRETS, VIRTUAL_MACHINES } from '../api/resources.js';
import { vmOwner } from '../api/vm-owner.js';
import { ANNOTATION } from '../labels.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import { cloudInitFromSecret, cloudInitInline, cloudInitSecret, fitsInline } from './cloud-init.js';
import { vmManifest, type VmManifestInput } from './vm-manifest.js';

export type VmDraft = Omit<VmManifestInput, 'cloudInit' | 'runStrategy'>;

/** How often and how many times to look for the VM after a request that got no response. */
const LOOKUP_INTERVAL_MS = 500;
const MAX_LOOKUPS = 20;
/** How many times to try to remove the VM in the background, after the call has failed. */
const MAX_BACKGROUND_REMOVALS = 240;

/**
 * Creates a VM and the objects that go with it, so that a failure leaves nothing behind. The VM is created first,
 * stopped, and owns the others: removing it removes them all. After a request that got no response, the VM with the id
 * of this call is the one that this call created.
 */
export class VmCreation {
  constructor(
    private readonly deps: WatchDeps,
    private readonly log: Log,
  ) {}

  /** Sends a dry run to the cluster. @throws DomainError REJECTED_BY_BACKEND */
  async dryRun(draft: VmDraft): Promise<void> {
    await this.deps.api.create(VIRTUAL_MACHINES, manifestOf(draft), { dryRun: true });
  }

  async create(draft: VmDraft): Promise<VmObject> {
    const vm = await this.createVm(draft);
    if (secretName(draft) === undefined) return vm;
    try {
      await this.createSecret(draft, vm);
      if (draft.spec.start)
        await this.deps.api.patch(VIRTUAL_MACHINES, draft.spec.ref, { spec: { runStrategy: 'Always' } });
      return vm;
    } catch (error) {
      await this.rollBack(draft);
      throw error;
    }
  }

  private async createVm(draft: VmDraft): Promise<VmObject> {
    try {
      return await this.deps.api.create<VmObject>(VIRTUAL_MACHINES, manifestOf(draft));
    } catch (error) {
      if (!isOutcomeUnknown(error)) throw error;
      const found = await this.findCreated(draft, error as Error);
      if (found) return found;
      throw error;
    }
  }

  private async createSecret({ spec, createId }: VmDraft, vm: VmObject): Promise<void> {
    const { namespace, name } = spec.ref;
    const secret = { namespace, vm: name, name: `${name}-cloudinit-${createId}`, userData: spec.cloudInit ?? '' };
    try {
      await this.deps.api.create(SECRETS, cloudInitSecret(secret, vmOwner(vm)) as unknown as KubeObject);
    } catch (error) {
      // The name contains the id of this call, so this call has created it and got no response.
      if (!DomainError.is(error, 'ALREADY_EXISTS')) throw error;
    }
  }

  /** The VM of this call if it exists after all; undefined when it does not. */
  private async findCreated(draft: VmDraft, failure: Error): Promise<VmObject | undefined> {
    const { api, clock } = this.deps;
    for (let lookup = 0; lookup < MAX_LOOKUPS; lookup++) {
      try {
        const vm = await api.find<VmObject>(VIRTUAL_MACHINES, draft.spec.ref);
        return vm && isCreatedBy(draft, vm) ? vm : undefined;
      } catch (error) {
        this.log.warn({ vm: draft.spec.ref.name, err: String(error) }, 'created VM not looked up yet');
        await clock.delay(LOOKUP_INTERVAL_MS);
      }
    }
    // The caller gets an error, so the VM must not exist, even when the server returns later and has it.
    void this.removeVm(draft, MAX_BACKGROUND_REMOVALS);
    throw failure;
  }

  private async rollBack(draft: VmDraft): Promise<void> {
    if (!(await this.removeVm(draft, 1))) void this.removeVm(draft, MAX_BACKGROUND_REMOVALS);
  }

  private async removeVm(draft: VmDraft, maxAttempts: number): Promise<boolean> {
    const { api, clock } = this.deps;
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      try {
        const vm = await api.find<VmObject>(VIRTUAL_MACHINES, draft.spec.ref);
        if (vm && isCreatedBy(draft, vm)) await api.delete(VIRTUAL_MACHINES, draft.spec.ref, { uid: vm.metadata.uid });
        return true;
      } catch (error) {
        this.log.warn({ vm: draft.spec.ref.name, err: String(error) }, 'incomplete VM not removed yet');
        if (attempt < maxAttempts) await clock.delay(LOOKUP_INTERVAL_MS);
      }
    }
    return false;
  }
}

const isCreatedBy = ({ spec, createId }: VmDraft, { metadata }: VmObject): boolean =>
  metadata.annotations?.[ANNOTATION.createId] === (spec.creation ?? createId);

function manifestOf(draft: VmDraft): KubeObject {
  const { cloudInit, start } = draft.spec;
  const secret = secretName(draft);
  if (secret !== undefined) {
    return vmManifest({ ...draft, cloudInit: cloudInitFromSecret(secret), runStrategy: 'Halted' });
  }
  return vmManifest({
    ...draft,
    cloudInit: cloudInit === undefined ? undefined : cloudInitInline(cloudInit),
    runStrategy: start ? 'Always' : 'Halted',
  });
}

/** The Secret for user data that is too large for the VM object; undefined when it fits. */
const secretName = ({ spec, createId }: VmDraft): string | undefined =>
  spec.cloudInit === undefined || fitsInline(spec.cloudInit) ? undefined : `${spec.ref.name}-cloudinit-${createId}`;
