import {
  throwFirstRefusal,
  Containers,
  DomainError,
  buildPlan,
  type Clock,
  type ContainerSpec,
  type InstanceRef,
  type Plan,
  type Refusal,
} from '@headgate/domain-contracts';
import { ensureNamespace, namespaceExists } from '../api/ensure-namespace.js';
import { instanceNotFound, isOutcomeUnknown } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import type { KubeObject } from '../api/kube-object.js';
import type { ClaimObject, PodObject } from '../api/object-types.js';
import { CLAIMS, PODS, SERVICES, STORAGE_CLASSES, type Resource } from '../api/resources.js';
import { nameRefusals } from '../kubevirt-traits.js';
import { ANNOTATION, containerSelector, TAG_PREFIX } from '../labels.js';
import { containerPod, dataClaim, dataClaimName } from './container-manifest.js';
import { readRecordedSpec, writeRecordedSpec } from './recorded-spec.js';

/** A pod that is being deleted keeps its name. Waiting ends after 15 s, which is longer than its grace period. */
const TERMINATION_POLL_MS = 250;
const TERMINATION_MAX_POLLS = 60;
/** How often and how many times to try to remove an incomplete container while the server does not answer. */
const ROLL_BACK_INTERVAL_MS = 500;
const ROLL_BACK_MAX_ATTEMPTS = 60;

/** Containers as pods with a data volume. Their objects are found by labels, never by name alone. */
export class KubeContainers extends Containers {
  constructor(
    private readonly api: KubeApi,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async planCreate(spec: ContainerSpec): Promise<Plan> {
    const { namespace, name } = spec.ref;
    const exists = await namespaceExists(this.api, namespace);
    const steps = [
      ...(exists === false ? [{ name: 'namespace', detail: `Create the namespace ${namespace}.` }] : []),
      { name: 'volume', detail: `PersistentVolumeClaim ${dataClaimName(name)}.` },
      ...(spec.privileged ? [{ name: 'seed', detail: `Copy the files of ${spec.image} onto the volume.` }] : []),
      { name: 'start', detail: `Pod ${name}.` },
    ];
    return buildPlan(steps, { refusals: await this.refusals(spec) });
  }

  override async create(spec: ContainerSpec): Promise<void> {
    throwFirstRefusal({ refusals: await this.refusals(spec) });
    await ensureNamespace(this.api, spec.ref.namespace);
    const claim = await this.createClaim(spec);
    try {
      await this.createPod(spec.ref, claim.metadata.name ?? '', writeRecordedSpec(spec));
    } catch (error) {
      await this.rollBack(spec.ref, claim);
      throw error;
    }
  }

  override async start(ref: InstanceRef): Promise<void> {
    const claim = await this.claim(ref);
    const text = claim.metadata.annotations?.[ANNOTATION.spec];
    for (let poll = 0; poll < TERMINATION_MAX_POLLS; poll++) {
      const [pod] = await this.listLabeled<PodObject>(PODS, ref);
      const ended = pod?.status?.phase === 'Succeeded' || pod?.status?.phase === 'Failed';
      if (!pod) return this.createPod(ref, claim.metadata.name ?? '', text);
      if (pod.metadata.deletionTimestamp === undefined && !ended) return;
      if (ended) await this.remove(PODS, pod, 0);
      await this.clock.delay(TERMINATION_POLL_MS);
    }
    throw new DomainError('BUSY', `The container ${ref.name} is still being stopped; try again in a moment.`);
  }

  override async stop(ref: InstanceRef): Promise<void> {
    await this.claim(ref);
    for (const pod of await this.listLabeled(PODS, ref)) await this.remove(PODS, pod);
  }

  override async setTag(ref: InstanceRef, tag: string, on: boolean): Promise<void> {
    const { namespace, name } = (await this.claim(ref)).metadata;
    const labels = { [TAG_PREFIX + tag]: on ? 'true' : null };
    await this.api.patch(CLAIMS, { namespace, name }, { metadata: { labels } });
  }

  override async planDelete(ref: InstanceRef): Promise<Plan> {
    const found = await this.objectsOf(ref);
    if (found.length === 0) throw instanceNotFound(ref);
    return buildPlan(
      found.map(({ resource, object }) => ({ name: 'delete', detail: `${resource.kind} ${object.metadata.name}.` })),
    );
  }

  override async delete(ref: InstanceRef): Promise<void> {
    const found = await this.objectsOf(ref);
    if (found.length === 0) throw instanceNotFound(ref);
    for (const { resource, object } of found) await this.remove(resource, object);
  }

  private async refusals({ ref, storageClass }: ContainerSpec): Promise<Refusal[]> {
    const { namespace, name } = ref;
    const [claim, pod, storage] = await Promise.all([
      this.api.find(CLAIMS, { namespace, name: dataClaimName(name) }),
      this.api.find(PODS, { namespace, name }),
      storageClass === '' ? undefined : this.api.find(STORAGE_CLASSES, { name: storageClass }),
    ]);
    const refusals = nameRefusals(name);
    if (claim || pod) {
      const object = claim ? `PVC ${dataClaimName(name)}` : `pod ${name}`;
      refusals.push({
        code: 'ALREADY_EXISTS',
        reason: `A ${object} already exists in ${namespace}.`,
        remedy: 'Choose another name.',
      });
    }
    if (storageClass !== '' && !storage) {
      refusals.push({
        code: 'INVALID_INPUT',
        reason: `storageClass: ${ref.context} has no storage class ${storageClass}.`,
        remedy: 'Omit it, or name one of its storage classes.',
      });
    }
    return refusals;
  }

  private async createClaim(spec: ContainerSpec): Promise<ClaimObject> {
    const manifest = dataClaim(spec);
    try {
      return await this.api.create<ClaimObject>(CLAIMS, manifest);
    } catch (error) {
      // The claim may exist after all; it must not stay without its container.
      if (isOutcomeUnknown(error)) void this.rollBack(spec.ref, manifest);
      throw error;
    }
  }

  private async createPod(ref: InstanceRef, claimName: string, recorded: string | undefined): Promise<void> {
    const spec = readRecordedSpec(recorded);
    if (!spec) {
      throw new DomainError(
        'WRONG_STATE',
        `The data volume of ${ref.name} has no valid ${ANNOTATION.spec} annotation, so its pod can't be created again.`,
      );
    }
    await this.api.create(PODS, containerPod(ref, claimName, spec));
  }

  /** Removes an incomplete container. Retries for half a minute while the server does not answer. */
  private async rollBack(ref: InstanceRef, claim: KubeObject): Promise<void> {
    for (let attempt = 0; attempt < ROLL_BACK_MAX_ATTEMPTS; attempt++) {
      try {
        for (const pod of await this.listLabeled(PODS, ref)) await this.remove(PODS, pod, 0);
        await this.api.delete(
          CLAIMS,
          { namespace: ref.namespace, name: claim.metadata.name },
          { uid: claim.metadata.uid },
        );
        return;
      } catch (error) {
        if (!isOutcomeUnknown(error)) return;
        await this.clock.delay(ROLL_BACK_INTERVAL_MS);
      }
    }
  }

  private async claim(ref: InstanceRef): Promise<ClaimObject> {
    const [claim] = await this.listLabeled<ClaimObject>(CLAIMS, ref);
    if (!claim) throw instanceNotFound(ref);
    return claim;
  }

  /** In the order of deletion: the pod first, because a volume in use would only be marked for deletion. */
  private async objectsOf(ref: InstanceRef): Promise<{ resource: Resource; object: KubeObject }[]> {
    const kinds = [PODS, SERVICES, CLAIMS];
    const found = await Promise.all(kinds.map((resource) => this.listLabeled(resource, ref)));
    return kinds.flatMap((resource, index) => (found[index] ?? []).map((object) => ({ resource, object })));
  }

  private listLabeled<T extends KubeObject>(resource: Resource, { namespace, name }: InstanceRef): Promise<T[]> {
    return this.api.list<T>(resource, { namespace, labelSelector: containerSelector(name) });
  }

  private remove(resource: Resource, { metadata }: KubeObject, gracePeriodSeconds?: number): Promise<boolean> {
    const { namespace, name, uid } = metadata;
    return this.api.delete(resource, { namespace, name }, { uid, gracePeriodSeconds });
  }
}
