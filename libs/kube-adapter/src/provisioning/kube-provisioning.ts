import { randomBytes } from 'node:crypto';
import {
  DomainError,
  InstanceProvisioning,
  buildPlan,
  type Creation,
  type InstanceRef,
  type Log,
  type Plan,
  type PlanStep,
  type VmSourceKind,
  type VmSpec,
} from '@headgate/domain-contracts';
import { VIRTUAL_MACHINES } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import type { ClusterFacts } from '../discovery/cluster-facts.js';
import { instanceNotFound } from '../instance-not-found.js';
import type { VmObject } from '../inventory/vm-object.js';
import { TAG_PREFIX } from '../labels.js';
import type { Following } from '../migration/follow-object.js';
import { pinnedTo, type NodeObject } from '../migration/migration-target.js';
import { bootVolumes } from './boot-volumes.js';
import { checkCreate, type CreateRefusal } from './create-checks.js';
import { ensureNamespace, namespaceExists } from './ensure-namespace.js';
import { fitsInline } from './cloud-init.js';
import { belongingsOf } from './vm-belongings.js';
import { fillDisk } from './disk-filling.js';
import { VmDeletion } from './vm-deletion.js';
import { VmCreation, type VmDraft } from './vm-creation.js';
import { vmSources } from './vm-sources.js';

/** Makes VMs and removes them. */
export class KubeProvisioning extends InstanceProvisioning {
  private readonly creation: VmCreation;
  private readonly deletion: VmDeletion;

  constructor(
    private readonly following: Following,
    private readonly discovery: ClusterDiscovery,
    log: Log,
  ) {
    super();
    this.creation = new VmCreation(following, log);
    this.deletion = new VmDeletion(following.api);
  }

  override sources(): Readonly<Record<VmSourceKind, true | string>> {
    return vmSources(this.discovery.known);
  }

  override async planCreate(spec: VmSpec): Promise<Plan> {
    const { api } = this.following;
    const facts = await this.discovery.facts();
    const { refusals, node } = await checkCreate(api, facts, spec);
    const exists = await namespaceExists(api, spec.ref.namespace);
    const rejected = refusals.length === 0 && exists !== false ? await this.rehearse(draftOf(spec, facts, node)) : [];
    return buildPlan(createSteps(spec, exists === false), {
      warnings: createWarnings(spec),
      refusals: [...refusals, ...rejected],
    });
  }

  override async create(spec: VmSpec): Promise<Creation> {
    const { api } = this.following;
    const facts = await this.discovery.facts();
    const { refusals, node } = await checkCreate(api, facts, spec);
    const [first] = refusals;
    if (first) throw new DomainError(first.code, first.reason, { details: { refusals } });
    await ensureNamespace(api, spec.ref.namespace);
    const draft = draftOf(spec, facts, node);
    const vm = await this.creation.carryOut(draft);
    const [template] = vm.spec?.dataVolumeTemplates ?? [];
    const imported = template?.metadata.name;
    if (imported === undefined || !['import', 'image', 'iso'].includes(spec.source.kind)) return {};
    const filled =
      spec.source.kind === 'iso' ? (vm.spec?.dataVolumeTemplates?.[1]?.metadata.name ?? imported) : imported;
    return {
      remaining: fillDisk(this.following, spec.ref, filled, () => this.deletion.removeVm(spec.ref, vm.metadata.uid)),
    };
  }

  override async planDelete(ref: InstanceRef): Promise<Plan> {
    const { api } = this.following;
    const vm = await this.vm(ref);
    const belongings = await belongingsOf(api, ref, vm.metadata.uid);
    const running: PlanStep[] = vm.status?.created ? [{ name: 'stop', detail: `Power ${ref.name} off at once.` }] : [];
    const owned = (vm.spec?.dataVolumeTemplates ?? []).map(({ metadata }): PlanStep => ({
      name: 'delete',
      detail: `DataVolume ${metadata.name} and its PVC, which the VM owns.`,
    }));
    const labelled = belongings.map(({ resource, object }): PlanStep => ({
      name: 'delete',
      detail: `${resource.kind} ${object.metadata.name}.`,
    }));
    const steps = [...running, { name: 'delete', detail: `VirtualMachine ${ref.name}.` }, ...owned, ...labelled];
    return buildPlan(steps, { refusals: this.deletion.refusals(ref, vm) });
  }

  override async delete(ref: InstanceRef): Promise<void> {
    await this.deletion.carryOut(ref);
  }

  override async setTag(ref: InstanceRef, tag: string, on: boolean): Promise<void> {
    const labels = { [TAG_PREFIX + tag]: on ? 'true' : null };
    await this.following.api.patch(VIRTUAL_MACHINES, ref, { metadata: { labels } });
  }

  private async vm(ref: InstanceRef): Promise<VmObject> {
    const vm = await this.following.api.find<VmObject>(VIRTUAL_MACHINES, ref);
    if (!vm) throw instanceNotFound(ref);
    return vm;
  }

  /** What admission says to this very object, without making it. */
  private async rehearse(draft: VmDraft): Promise<CreateRefusal[]> {
    try {
      await this.creation.rehearse(draft);
      return [];
    } catch (error) {
      if (!DomainError.is(error, 'REJECTED_BY_BACKEND', 'BACKEND_FORBIDDEN')) throw error;
      return [{ code: error.code, reason: error.message, remedy: 'Change what the cluster objects to.' }];
    }
  }
}

/** @returns what to make, with an id that marks everything that this call makes */
function draftOf(spec: VmSpec, facts: ClusterFacts, node: NodeObject | undefined): VmDraft {
  const createId = randomBytes(4).toString('hex');
  const liveUpdate = facts.atLeast(1, 5) || facts.gate('VMLiveUpdateFeatures');
  return {
    spec,
    createId,
    disks: bootVolumes(spec, createId),
    nodeSelector: node && pinnedTo(node),
    headroom: { cpu: liveUpdate, memory: liveUpdate && facts.isAmd64 },
  };
}

function createSteps(spec: VmSpec, namespaceMissing: boolean): PlanStep[] {
  const { name, namespace } = spec.ref;
  const disks = bootVolumes(spec, 'xxxx').templates.length;
  return [
    ...(namespaceMissing ? [{ name: 'namespace', detail: `Create the namespace ${namespace}.` }] : []),
    { name: 'create', detail: `VirtualMachine ${name} in ${namespace}.` },
    ...(spec.cloudInit !== undefined && !fitsInline(spec.cloudInit)
      ? [{ name: 'secret', detail: 'Secret with the cloud-init user data, owned by the VM.' }]
      : []),
    ...(disks > 0 ? [{ name: 'import', detail: `${disks} DataVolume(s), filled by CDI and owned by the VM.` }] : []),
    ...(spec.start ? [{ name: 'start', detail: `Start ${name}.` }] : []),
  ];
}

const createWarnings = ({ source }: VmSpec): string[] =>
  source.kind === 'containerDisk' || source.kind === 'image'
    ? [
        'A container disk is not persistent: what the guest writes to it is lost at power-off, and the disk size has no effect.',
      ]
    : [];
