import { randomBytes } from 'node:crypto';
import {
  buildPlan,
  DomainError,
  InstanceCloning,
  MAX_NAME_LENGTH,
  ServiceShutdown,
  throwFirstRefusal,
  type AcceptedClone,
  type InstanceRef,
  type Plan,
  type Refusal,
  type TaskReporter,
} from '@headgate/domain-contracts';
import { conditionOf, type KubeObject } from '../api/kube-object.js';
import type { VmObject } from '../api/object-types.js';
import { CLONES, CLONES_V1ALPHA1, SECRETS, VIRTUAL_MACHINES, type Resource } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { ANNOTATION, LABEL } from '../labels.js';
import {
  failureOf,
  findVm,
  isLive,
  sourceRefusals,
  type CloneObject,
  type FoundVm,
} from '../snapshots/snapshot-objects.js';
import { followObject } from '../watch/follow-object.js';
import type { WatchDeps } from '../watch/kind-watch.js';

const SUFFIX_BYTES = 4;
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
    const refusals: Refusal[] = sourceRefusals(found, await this.discovery.facts());
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

  override async clone(source: InstanceRef, target: InstanceRef): Promise<AcceptedClone> {
    throwFirstRefusal(await this.planClone(source, target));
    const { api } = this.deps;
    const facts = await this.discovery.facts();
    const resource = facts.serves(CLONES.apiVersion) ? CLONES : CLONES_V1ALPHA1;
    const suffix = randomBytes(SUFFIX_BYTES).toString('hex');
    const object = await api.create<CloneObject>(resource, {
      metadata: {
        name: `${target.name.slice(0, MAX_NAME_LENGTH - suffix.length - 1)}-${suffix}`,
        namespace: source.namespace,
        labels: { [LABEL.vm]: target.name },
      },
      spec: {
        source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: source.name },
        target: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: target.name },
        labelFilters: LABEL_FILTERS,
        annotationFilters: ['*', `!${ANNOTATION.createId}`],
        template: { labelFilters: LABEL_FILTERS, annotationFilters: ['*'] },
      },
    } as KubeObject);
    return { remaining: (report) => this.complete(resource, object, { source, target, report }) };
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
    { source, target, report }: { source: InstanceRef; target: InstanceRef; report: TaskReporter },
  ): Promise<void> {
    const { api } = this.deps;
    try {
      report.step('Copying the disks');
      await this.follow(resource, object, report);
      report.step('Separating the clone from its source');
      await this.separate(source, target);
    } catch (error) {
      // The cluster completes the clone when the service ends.
      if (!(report.signal.reason instanceof ServiceShutdown)) {
        await api.delete(
          resource,
          { namespace: source.namespace, name: object.metadata.name },
          { uid: object.metadata.uid },
        );
      }
      throw error;
    }
  }

  private async follow(resource: Resource, object: CloneObject, report: TaskReporter): Promise<void> {
    let phase = '';
    await followObject<CloneObject>({
      ...this.deps,
      resource,
      object,
      signal: report.signal,
      onChange: ({ status }) => {
        if (status?.phase !== undefined && status.phase !== phase) report.log((phase = status.phase));
        const pending = conditionOf(status?.conditions, 'Progressing');
        const obstacle = pending?.reason === 'Pending' ? conditionOf(status?.conditions, 'Ready')?.reason : undefined;
        const failure = status?.phase === 'Failed' ? (failureOf(status) ?? 'KubeVirt gave no reason') : obstacle;
        if (failure !== undefined) throw new DomainError('BACKEND_FAILED', `The clone failed: ${failure}.`);
        return status?.phase === 'Succeeded';
      },
      onRemoved: () => {
        throw new DomainError('BACKEND_FAILED', 'The clone was deleted before it had ended.');
      },
    });
  }

  /** The Secret with the user data belongs to the source and is deleted with it, so the clone gets its own. */
  private async separate(source: InstanceRef, target: InstanceRef): Promise<void> {
    const { api } = this.deps;
    const vm = await api.get<VmObject>(VIRTUAL_MACHINES, target);
    const labels = { [LABEL.vm]: target.name };
    const name = secretOf(vm);
    if (name === undefined) return void (await api.patch(VIRTUAL_MACHINES, target, { metadata: { labels } }));
    const copy = `${target.name}-cloudinit-${randomBytes(SUFFIX_BYTES).toString('hex')}`;
    const [secret] = await api.list<SecretObject>(SECRETS, {
      namespace: source.namespace,
      fieldSelector: `metadata.name=${name}`,
    });
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
    await api.patch(VIRTUAL_MACHINES, target, { metadata: { labels }, spec: { template: { spec: { volumes } } } });
  }
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
