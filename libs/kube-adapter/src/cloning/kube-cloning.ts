import {
  buildPlan,
  DomainError,
  InstanceCloning,
  ServiceShutdown,
  throwFirstRefusal,
  type AcceptedClone,
  type BackgroundWork,
  type InstanceRef,
  type OperationKey,
  type OperationState,
  type Plan,
  type Refusal,
  type TaskReporter,
} from '@headgate/domain-contracts';
import { conditionOf, type KubeObject } from '../api/kube-object.js';
import { findOfOperation, isOfOperation, operationAnnotations, operationName } from '../api/operation-objects.js';
import type { VmObject } from '../api/object-types.js';
import { CLONES, CLONES_V1ALPHA1, SECRETS, VIRTUAL_MACHINES, type Resource } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { ANNOTATION, LABEL } from '../labels.js';
import { isLive } from '../power/power-requests.js';
import { failureOf, findVm, sourceRefusals, type CloneObject, type FoundVm } from '../snapshots/snapshot-objects.js';
import { followObject } from '../watch/follow-object.js';
import type { WatchDeps } from '../watch/kind-watch.js';

/** The labels of this service and KubeVirt's own name stay with the source. */
const LABEL_FILTERS = ['*', '!svc.dev/*', '!kubevirt.io/vm'];

interface CloudInitVolume {
  readonly name: string;
  readonly [source: string]: unknown;
}

interface SecretObject extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** Clones of KubeVirt, and templates, which are VMs with a label. */
export class KubeCloning extends InstanceCloning {
  constructor(
    private readonly deps: WatchDeps,
    private readonly discovery: ClusterDiscovery,
  ) {
    super();
  }

  override async planClone(source: InstanceRef, target: InstanceRef): Promise<Plan> {
    const { api } = this.deps;
    const found = await findVm(api, source);
    const refusals: Refusal[] = sourceRefusals(withoutClones(found), await this.discovery.facts());
    if (isLive(found))
      refusals.unshift({ code: 'WRONG_STATE', reason: `${source.name} runs.`, remedy: 'Stop it first.' });
    if (await api.find(VIRTUAL_MACHINES, target))
      refusals.unshift({
        code: 'ALREADY_EXISTS',
        reason: `A VM named ${target.name} already exists in ${target.namespace}.`,
        remedy: 'Choose another name.',
      });
    const steps = [
      { name: 'clone', detail: `VirtualMachineClone of ${source.name} to ${target.name}.` },
      ...(secretOf(found.vm) === undefined
        ? []
        : [{ name: 'secret', detail: `Copy of the Secret with the cloud-init user data, owned by ${target.name}.` }]),
    ];
    return buildPlan(steps, { refusals });
  }

  override async clone(source: InstanceRef, target: InstanceRef, key?: OperationKey): Promise<AcceptedClone> {
    throwFirstRefusal(await this.planClone(source, target));
    const { api } = this.deps;
    const resource = await this.resource();
    const object = await api.create<CloneObject>(resource, {
      metadata: {
        name: operationName(target.name, key),
        namespace: source.namespace,
        labels: { [LABEL.vm]: target.name },
        ...operationAnnotations(key),
      },
      spec: {
        source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: source.name },
        target: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: target.name },
        labelFilters: LABEL_FILTERS,
        annotationFilters: ['*', `!${ANNOTATION.createId}`, `!${ANNOTATION.task}`],
        template: { labelFilters: LABEL_FILTERS, annotationFilters: ['*'] },
      },
    } as KubeObject);
    return { remaining: (report) => this.complete(resource, object, { source, target, key, report }) };
  }

  /** The VM of a complete clone has the annotation of its operation. */
  override async stateOf(source: InstanceRef, target: InstanceRef, key: OperationKey): Promise<OperationState> {
    const clone = await this.cloneOf(source, target, key);
    // Read after the clone, which is removed when its VM exists: the other way around, both could be missed.
    const vm = await this.deps.api.find<VmObject>(VIRTUAL_MACHINES, target);
    if (vm && isOfOperation(vm, key)) return { state: 'done' };
    if (!clone) return { state: 'absent' };
    const failure = failureOfClone(clone);
    return failure === undefined ? { state: 'running' } : { state: 'failed', reason: cloneFailed(failure) };
  }

  override async resume(source: InstanceRef, target: InstanceRef, key: OperationKey): Promise<BackgroundWork> {
    const clone = await this.cloneOf(source, target, key);
    if (!clone) throw new DomainError('BACKEND_FAILED', 'The clone was deleted before it had ended.');
    const resource = await this.resource();
    return (report) => this.complete(resource, clone, { source, target, key, report });
  }

  override async discard(source: InstanceRef, target: InstanceRef, key: OperationKey): Promise<void> {
    const clone = await this.cloneOf(source, target, key);
    if (clone) await this.remove(await this.resource(), clone, { target, key });
  }

  private async resource(): Promise<Resource> {
    const facts = await this.discovery.facts();
    return facts.serves(CLONES.apiVersion) ? CLONES : CLONES_V1ALPHA1;
  }

  private async cloneOf(
    { namespace }: InstanceRef,
    target: InstanceRef,
    key: OperationKey,
  ): Promise<CloneObject | undefined> {
    return findOfOperation<CloneObject>(this.deps.api, await this.resource(), { namespace, prefix: target.name, key });
  }

  /** Deletes a clone that is not complete, with the VM that it has created. */
  private async remove(
    resource: Resource,
    object: CloneObject,
    { target, key }: { readonly target: InstanceRef; readonly key: OperationKey | undefined },
  ): Promise<void> {
    const { api } = this.deps;
    const { namespace = target.namespace, name, uid } = object.metadata;
    await api.delete(resource, { namespace, name }, { uid });
    const vm = await api.find<VmObject>(VIRTUAL_MACHINES, target);
    if (!vm || (key && isOfOperation(vm, key)) || !isCreatedBy(vm, object)) return;
    await api.delete(VIRTUAL_MACHINES, target, { uid: vm.metadata.uid });
  }

  override async planTemplate(ref: InstanceRef, on: boolean): Promise<Plan> {
    const found = await findVm(this.deps.api, ref);
    const refusals: Refusal[] =
      on && isLive(found)
        ? [{ code: 'WRONG_STATE', reason: `${ref.name} runs.`, remedy: 'Stop it, then mark it as a template.' }]
        : [];
    const isDone = isTemplate(found.vm) === on;
    const step = { name: on ? 'add label' : 'remove label', detail: `${LABEL.template} on ${ref.name}.` };
    return buildPlan(isDone ? [] : [step], { refusals });
  }

  override async setTemplate(ref: InstanceRef, on: boolean): Promise<void> {
    throwFirstRefusal(await this.planTemplate(ref, on));
    await this.deps.api.patch(VIRTUAL_MACHINES, ref, {
      metadata: { labels: { [LABEL.template]: on ? 'true' : null } },
    });
  }

  private async complete(
    resource: Resource,
    object: CloneObject,
    { source, target, key, report }: Completion,
  ): Promise<void> {
    try {
      report.step('Copying the disks');
      await this.follow(resource, object, report);
      report.step('Separating the clone from its source');
      await this.separate(source, target, { key, report });
    } catch (error) {
      // The cluster completes the clone when the service ends.
      if (!(report.signal.reason instanceof ServiceShutdown)) await this.remove(resource, object, { target, key });
      throw error;
    }
  }

  private async follow(resource: Resource, object: CloneObject, report: TaskReporter): Promise<void> {
    let phase = '';
    report.waitsFor?.(`the VirtualMachineClone ${object.metadata.name} to succeed`);
    await followObject<CloneObject>({
      ...this.deps,
      resource,
      object,
      signal: report.signal,
      onChange: (clone) => {
        const { status } = clone;
        if (status?.phase !== undefined && status.phase !== phase) report.log((phase = status.phase));
        const failure = failureOfClone(clone);
        if (failure !== undefined) throw new DomainError('BACKEND_FAILED', cloneFailed(failure));
        return status?.phase === 'Succeeded';
      },
      onRemoved: () => {
        throw new DomainError('BACKEND_FAILED', 'The clone was deleted before it had ended.');
      },
    });
  }

  /** The Secret with the user data belongs to the source and is deleted with it, so the clone gets its own. */
  private async separate(
    source: InstanceRef,
    target: InstanceRef,
    { key, report }: Pick<Completion, 'key' | 'report'>,
  ): Promise<void> {
    const { api } = this.deps;
    const vm = await api.get<VmObject>(VIRTUAL_MACHINES, target);
    const labels = { [LABEL.vm]: target.name };
    const metadata = { labels, ...operationAnnotations(key) };
    const finish = async (spec?: object): Promise<void> => {
      await report.commit?.(`${target.name} is complete.`);
      await api.patch(VIRTUAL_MACHINES, target, { metadata, ...(spec && { spec }) });
    };
    const name = secretOf(vm);
    if (name === undefined) return finish();
    const copy = operationName(`${target.name}-cloudinit`, key);
    const isCopied = (await this.secretNamed(target, copy)) !== undefined;
    if (isCopied) return finish({ template: { spec: { volumes: volumesOf(vm).map((one) => withSecret(one, copy)) } } });
    const secret = await this.secretNamed(source, name);
    if (!secret) throw new DomainError('BACKEND_FAILED', `The Secret ${name} of ${source.name} does not exist.`);
    const owner = {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      name: target.name,
      uid: vm.metadata.uid ?? '',
    };
    await api.create(SECRETS, {
      metadata: { name: copy, namespace: target.namespace, labels, ownerReferences: [owner] },
      type: secret.type ?? 'Opaque',
      data: secret.data ?? {},
    } as KubeObject);
    const volumes = volumesOf(vm).map((volume) => withSecret(volume, copy));
    await finish({ template: { spec: { volumes } } });
  }

  private async secretNamed({ namespace }: InstanceRef, name: string): Promise<SecretObject | undefined> {
    const [secret] = await this.deps.api.list<SecretObject>(SECRETS, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
    });
    return secret;
  }
}

interface Completion {
  readonly source: InstanceRef;
  readonly target: InstanceRef;
  readonly key: OperationKey | undefined;
  readonly report: TaskReporter;
}

const cloneFailed = (reason: string): string => `The clone failed: ${reason}.`;

function failureOfClone({ status }: CloneObject): string | undefined {
  if (status?.phase === 'Failed') return failureOf(status) ?? 'KubeVirt gave no reason';
  const pending = conditionOf(status?.conditions, 'Progressing');
  return pending?.reason === 'Pending' ? conditionOf(status?.conditions, 'Ready')?.reason : undefined;
}

/**
 * Whether a restore of the clone has created the VM: no other one has the annotation of a restore and is younger than
 * the clone.
 */
function isCreatedBy(vm: VmObject, clone: CloneObject): boolean {
  const restored = vm.metadata.annotations?.['restore.kubevirt.io/lastRestoreUID'];
  const isYounger = (vm.metadata.creationTimestamp ?? '') >= (clone.metadata.creationTimestamp ?? '');
  return isYounger && restored?.startsWith(`${vm.metadata.name}-`) === true;
}

export const isTemplate = ({ metadata }: Pick<KubeObject, 'metadata'>): boolean =>
  metadata.labels?.[LABEL.template] === 'true';

const volumesOf = ({ spec }: FoundVm['vm']): readonly CloudInitVolume[] =>
  (spec?.template?.spec?.volumes ?? []) as unknown as readonly CloudInitVolume[];

const CLOUD_INIT = ['cloudInitNoCloud', 'cloudInitConfigDrive'] as const;

/** The name of the Secret with the cloud-init user data. */
function secretOf(vm: VmObject): string | undefined {
  for (const volume of volumesOf(vm)) {
    for (const kind of CLOUD_INIT) {
      const name = (volume[kind] as { secretRef?: { name?: string } } | undefined)?.secretRef?.name;
      if (name !== undefined) return name;
    }
  }
  return undefined;
}

function withSecret(volume: CloudInitVolume, name: string): CloudInitVolume {
  for (const kind of CLOUD_INIT) {
    const source = volume[kind] as { secretRef?: object } | undefined;
    if (source?.secretRef) return { ...volume, [kind]: { ...source, secretRef: { name } } };
  }
  return volume;
}

/** The name that KubeVirt gives to the snapshot of a clone: with the UID of its VirtualMachineClone. */
const SNAPSHOT_OF_CLONE = /^tmp-snapshot-[0-9a-f-]{36}$/;

/** A VM without the snapshot of another clone, for which KubeVirt lets the next clone wait. */
function withoutClones(found: FoundVm): FoundVm {
  const { snapshotInProgress = '', ...status } = found.vm.status ?? {};
  return SNAPSHOT_OF_CLONE.test(snapshotInProgress) ? { ...found, vm: { ...found.vm, status } } : found;
}
