import { DomainError, type Log } from '@headgate/domain-contracts';
import { isUnanswered } from '../api/kube-api-error.js';
import type { KubeObject, OwnerReference } from '../api/kube-object.js';
import { SECRETS, VIRTUAL_MACHINES } from '../api/resources.js';
import type { VmObject } from '../inventory/vm-object.js';
import { ANNOTATION } from '../labels.js';
import type { Following } from '../migration/follow-object.js';
import { cloudInitFromSecret, cloudInitInline, cloudInitSecret, fitsInline } from './cloud-init.js';
import { vmManifest, type VmManifestInput } from './vm-manifest.js';

export type VmDraft = Omit<VmManifestInput, 'cloudInit' | 'runStrategy'>;

/** How often and how long it is tried to find out what became of a request whose answer was lost. */
const SETTLE_PAUSE_MS = 500;
const SETTLE_ATTEMPTS = 20;
/** Cleaning up goes on for this long behind the failed call, at most. */
const CLEAN_UP_ATTEMPTS = 240;

/**
 * Makes the VM and what goes with it, so that a failure leaves nothing behind. The VM comes first, stopped, and owns
 * what follows: taking it back takes everything back. An answer that was lost is looked up: the VM that bears this
 * call's id is this call's.
 */
export class VmCreation {
  constructor(
    private readonly following: Following,
    private readonly log: Log,
  ) {}

  /** Asks admission only. @throws DomainError REJECTED_BY_BACKEND */
  async rehearse(draft: VmDraft): Promise<void> {
    await this.following.api.create(VIRTUAL_MACHINES, manifestOf(draft), { dryRun: true });
  }

  async carryOut(draft: VmDraft): Promise<VmObject> {
    const vm = await this.createVm(draft);
    if (secretName(draft) === undefined) return vm;
    try {
      await this.createSecret(draft, vm);
      if (draft.spec.start)
        await this.following.api.patch(VIRTUAL_MACHINES, draft.spec.ref, { spec: { runStrategy: 'Always' } });
      return vm;
    } catch (error) {
      await this.takeBack(draft);
      throw error;
    }
  }

  private async createVm(draft: VmDraft): Promise<VmObject> {
    try {
      return await this.following.api.create<VmObject>(VIRTUAL_MACHINES, manifestOf(draft));
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      const found = await this.lookUp(draft, error as Error);
      if (found) return found;
      throw error;
    }
  }

  private async createSecret({ spec, createId }: VmDraft, vm: VmObject): Promise<void> {
    const { namespace, name } = spec.ref;
    const owner: OwnerReference = {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      name,
      uid: vm.metadata.uid ?? '',
    };
    const secret = { namespace, vm: name, name: `${name}-cloudinit-${createId}`, userData: spec.cloudInit ?? '' };
    try {
      await this.following.api.create(SECRETS, cloudInitSecret(secret, owner) as unknown as KubeObject);
    } catch (error) {
      // Its name holds this call's id: whoever made it, it was this call, whose first answer was lost.
      if (!DomainError.is(error, 'ALREADY_EXISTS')) throw error;
    }
  }

  /** This call's VM if it was made after all; undefined when it was not. */
  private async lookUp(draft: VmDraft, failure: Error): Promise<VmObject | undefined> {
    const { api, clock } = this.following;
    for (let attempt = 0; attempt < SETTLE_ATTEMPTS; attempt++) {
      try {
        const vm = await api.find<VmObject>(VIRTUAL_MACHINES, draft.spec.ref);
        return vm && isOf(draft, vm) ? vm : undefined;
      } catch (error) {
        if (!isUnanswered(error)) throw error;
        await clock.delay(SETTLE_PAUSE_MS);
      }
    }
    // The caller is told that it failed: so it must have failed, even when the server comes back with the VM.
    void this.cleanUp(draft, CLEAN_UP_ATTEMPTS);
    throw failure;
  }

  private async takeBack(draft: VmDraft): Promise<void> {
    if (!(await this.cleanUp(draft, 1))) void this.cleanUp(draft, CLEAN_UP_ATTEMPTS);
  }

  private async cleanUp(draft: VmDraft, attempts: number): Promise<boolean> {
    const { api, clock } = this.following;
    for (let attempt = 0; attempt < attempts; attempt++) {
      try {
        const vm = await api.find<VmObject>(VIRTUAL_MACHINES, draft.spec.ref);
        if (vm && isOf(draft, vm)) await api.delete(VIRTUAL_MACHINES, draft.spec.ref, { uid: vm.metadata.uid });
        return true;
      } catch (error) {
        this.log.warn({ vm: draft.spec.ref.name, err: String(error) }, 'half-made VM not removed yet');
        if (attempt + 1 < attempts) await clock.delay(SETTLE_PAUSE_MS);
      }
    }
    return false;
  }
}

const isOf = ({ createId }: VmDraft, { metadata }: VmObject): boolean =>
  metadata.annotations?.[ANNOTATION.createId] === createId;

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

/** Where the user data goes when it is too large for the VM object. */
const secretName = ({ spec, createId }: VmDraft): string | undefined =>
  spec.cloudInit === undefined || fitsInline(spec.cloudInit) ? undefined : `${spec.ref.name}-cloudinit-${createId}`;
