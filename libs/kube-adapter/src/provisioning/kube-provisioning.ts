import { randomBytes } from 'node:crypto';
import {
  throwFirstRefusal,
  DomainError,
  InstanceProvisioning,
  buildPlan,
  messageOf,
  type BackgroundWork,
  type Creation,
  type CreationState,
  type InstanceRef,
  type Log,
  type Plan,
  type PlanStep,
  type Refusal,
  type VmSourceKind,
  type VmSpec,
} from '@headgate/domain-contracts';
import { ensureNamespace, namespaceExists } from '../api/ensure-namespace.js';
import { instanceNotFound } from '../api/kube-api-error.js';
import type { DataVolumeObject, NodeObject, VmObject } from '../api/object-types.js';
import { DATA_VOLUMES, SECRETS, VIRTUAL_MACHINES } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import type { ClusterFacts } from '../discovery/cluster-facts.js';
import type { ImageUploads } from '../images/image-uploads.js';
import { isProvided } from '../data-volumes/data-volume-facts.js';
import { ANNOTATION, LABEL, TAG_PREFIX } from '../labels.js';
import { nodeSelectorFor } from '../migration/migration-target.js';
import { followObject } from '../watch/follow-object.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import { bootVolumes, type BootVolumes } from './boot-volumes.js';
import { fitsInline } from './cloud-init.js';
import { checkCreate, vmSources } from './create-checks.js';
import { followImport, type DiskImport } from './disk-import.js';
import { ownedObjects } from './owned-objects.js';
import { VmCreation, type VmDraft } from './vm-creation.js';
import { VmDeletion } from './vm-deletion.js';

/** Creates and deletes VMs. */
export class KubeProvisioning extends InstanceProvisioning {
  private readonly creation: VmCreation;
  private readonly deletion: VmDeletion;

  constructor(
    private readonly deps: WatchDeps,
    private readonly discovery: ClusterDiscovery,
    private readonly uploads: ImageUploads,
    private readonly log: Log,
  ) {
    super();
    this.creation = new VmCreation(deps, log);
    this.deletion = new VmDeletion(deps.api, discovery);
  }

  override sources(): Readonly<Record<VmSourceKind, true | string>> {
    return vmSources(this.discovery.latest);
  }

  override async planCreate(spec: VmSpec): Promise<Plan> {
    const { api } = this.deps;
    const facts = await this.discovery.facts();
    const { refusals, node } = await checkCreate(api, facts, spec);
    const exists = await namespaceExists(api, spec.ref.namespace);
    const rejected = refusals.length === 0 && exists !== false ? await this.dryRun(draftOf(spec, facts, node)) : [];
    return buildPlan(createSteps(spec, facts, exists === false), {
      warnings: createWarnings(spec, facts),
      refusals: [...refusals, ...(await this.uploadRefusals(spec, facts, node)), ...rejected],
    });
  }

  override async create(spec: VmSpec): Promise<Creation> {
    const { api } = this.deps;
    if (isBuilt(spec) && (spec.source.builder === 'context' ? spec.source.volume : spec.source.disk) === undefined)
      throw new DomainError('NOT_SUPPORTED', 'The disk of the bootc image has not been built.');
    const facts = await this.discovery.facts();
    const { refusals, node } = await checkCreate(api, facts, spec);
    throwFirstRefusal({ refusals: [...refusals, ...(await this.uploadRefusals(spec, facts, node))] });
    await ensureNamespace(api, spec.ref.namespace);
    const vm = await this.creation.create(draftOf(spec, facts, node));
    const dataVolumes = (vm.spec?.dataVolumeTemplates ?? []).map(({ metadata }) => metadata.name ?? '');
    if (dataVolumes.length === 0) return {};
    const created = { ref: spec.ref, vm, dataVolumes, start: spec.start };
    return { remaining: isBuilt(spec) ? this.sendDisk(spec, created) : followImport(this.deps, created) };
  }

  /** Sends the disk to CDI. The VM is removed if it does not get its disk: nothing else would ever fill it. */
  private sendDisk({ ref, source }: BuiltSpec, created: DiskImport): BackgroundWork {
    const { disk = '' } = source;
    const { context, namespace } = ref;
    const follow = followImport(this.deps, {
      ...created,
      upload: (name, options) => this.uploads.send({ context, namespace, name }, disk, options),
    });
    return async (report) => {
      try {
        await follow(report);
      } catch (error) {
        await this.deletion.delete(ref).catch((problem: unknown) => {
          if (!DomainError.is(problem, 'INSTANCE_NOT_FOUND'))
            this.log.warn({ vm: ref.name, reason: messageOf(problem) }, 'an incomplete VM could not be removed');
        });
        throw error;
      }
    };
  }

  /** A built disk is sent to CDI, and it is for the architecture of this service's machine. */
  private async uploadRefusals(spec: VmSpec, facts: ClusterFacts, node: NodeObject | undefined): Promise<Refusal[]> {
    if (!isBuilt(spec) || spec.source.builder === 'context' || !facts.hasCdi) return [];
    const refusals = await this.uploads.refusals();
    const architecture = node?.status?.nodeInfo?.architecture ?? facts.defaultArchitecture;
    if (architecture === OWN_ARCHITECTURE) return refusals;
    const reason = `A disk from a bootc image is built for ${OWN_ARCHITECTURE}, and the VM would run on ${architecture}.`;
    return [...refusals, { code: 'NOT_SUPPORTED', reason, remedy: 'Choose another source, or another node.' }];
  }

  override async creationState(ref: InstanceRef, creation: string): Promise<CreationState> {
    const vm = await this.findCreated(ref, creation);
    if (!vm) return 'absent';
    const { namespace } = ref;
    const { dataVolumeTemplates = [], template } = vm.spec ?? {};
    for (const { metadata } of dataVolumeTemplates) {
      const { name } = metadata;
      const dataVolume = await this.deps.api.find<DataVolumeObject>(DATA_VOLUMES, { namespace, name });
      if (!dataVolume || !isProvided(dataVolume)) return 'incomplete';
    }
    const secret = template?.spec?.volumes
      ?.map(({ cloudInitNoCloud }) => cloudInitNoCloud?.secretRef?.name)
      .find(Boolean);
    if (secret === undefined) return 'complete';
    // The service may list Secrets of VMs, but not get them.
    const secrets = await this.deps.api.list(SECRETS, { namespace, labelSelector: `${LABEL.vm}=${ref.name}` });
    return secrets.some(({ metadata }) => metadata.name === secret) ? 'complete' : 'incomplete';
  }

  override async discardCreation(ref: InstanceRef, creation: string): Promise<void> {
    if ((await this.creationState(ref, creation)) !== 'incomplete') return;
    const vm = await this.findCreated(ref, creation);
    if (!vm) return;
    await this.deletion.delete(ref);
    // Another VM of this name can be created when this one is gone.
    const signal = AbortSignal.timeout(REMOVAL_TIMEOUT_MS);
    const following = { resource: VIRTUAL_MACHINES, object: vm, signal, onChange: () => false, onRemoved: () => true };
    await followObject<VmObject>({ ...this.deps, ...following });
  }

  private async findCreated(ref: InstanceRef, creation: string): Promise<VmObject | undefined> {
    const vm = await this.deps.api.find<VmObject>(VIRTUAL_MACHINES, ref);
    return vm?.metadata.annotations?.[ANNOTATION.createId] === creation ? vm : undefined;
  }

  override async planDelete(ref: InstanceRef): Promise<Plan> {
    const { api } = this.deps;
    const vm = await api.find<VmObject>(VIRTUAL_MACHINES, ref);
    if (!vm) throw instanceNotFound(ref);
    const labeled = await ownedObjects(api, await this.discovery.facts(), { ref, uid: vm.metadata.uid });
    const steps: PlanStep[] = [
      ...(vm.status?.created ? [{ name: 'stop', detail: `Power off ${ref.name} immediately.` }] : []),
      { name: 'delete', detail: `VirtualMachine ${ref.name}.` },
      ...(vm.spec?.dataVolumeTemplates ?? []).map(({ metadata }) => ({
        name: 'delete',
        detail: `DataVolume ${metadata.name} and its PVC, which the VM owns.`,
      })),
      ...labeled.map(({ resource, object }) => ({
        name: 'delete',
        detail: `${resource.kind} ${object.metadata.name}.`,
      })),
    ];
    return buildPlan(steps, { refusals: this.deletion.refusals(ref, vm) });
  }

  override async delete(ref: InstanceRef): Promise<void> {
    await this.deletion.delete(ref);
  }

  override async setTag(ref: InstanceRef, tag: string, on: boolean): Promise<void> {
    const labels = { [TAG_PREFIX + tag]: on ? 'true' : null };
    await this.deps.api.patch(VIRTUAL_MACHINES, ref, { metadata: { labels } });
  }

  override async setProtection(ref: InstanceRef, on: boolean): Promise<void> {
    const labels = { [LABEL.deleteProtection]: on ? 'true' : null };
    await this.deps.api.patch(VIRTUAL_MACHINES, ref, { metadata: { labels } });
  }

  /** The refusals of the cluster's admission for the object that would be created. */
  private async dryRun(draft: VmDraft): Promise<Refusal[]> {
    try {
      await this.creation.dryRun(draft);
      return [];
    } catch (error) {
      if (!DomainError.is(error, 'REJECTED_BY_BACKEND', 'BACKEND_FORBIDDEN')) throw error;
      return [{ code: error.code, reason: error.message, remedy: 'Change what the cluster objects to.' }];
    }
  }
}

/** How long the deletion of a VM may take. */
const REMOVAL_TIMEOUT_MS = 120_000;

type BuiltSpec = VmSpec & { readonly source: Extract<VmSpec['source'], { kind: 'bootc' }> };

const isBuilt = (spec: VmSpec): spec is BuiltSpec => spec.source.kind === 'bootc';

/** The architecture of this service's machine as Kubernetes names it. */
const OWN_ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;

function draftOf(spec: VmSpec, facts: ClusterFacts, node: NodeObject | undefined): VmDraft {
  const createId = randomBytes(4).toString('hex');
  const architecture = node?.status?.nodeInfo?.architecture ?? facts.defaultArchitecture;
  return {
    spec,
    createId,
    disks: bootVolumes(spec, { createId, architecture, canImport: facts.hasCdi }),
    nodeSelector: node && nodeSelectorFor(node),
  };
}

/** The disks of a plan, whose names do not matter. */
const plannedVolumes = (spec: VmSpec, { hasCdi, defaultArchitecture }: ClusterFacts): BootVolumes =>
  bootVolumes(spec, { createId: 'xxxx', architecture: defaultArchitecture, canImport: hasCdi });

function createSteps(spec: VmSpec, facts: ClusterFacts, namespaceMissing: boolean): PlanStep[] {
  const { name, namespace } = spec.ref;
  const disks = plannedVolumes(spec, facts).templates.length;
  return [
    ...(namespaceMissing ? [{ name: 'namespace', detail: `Create the namespace ${namespace}.` }] : []),
    {
      name: 'create',
      detail: `VirtualMachine ${name} in ${namespace}${spec.network === undefined ? '' : `, on the network ${spec.network}`}.`,
    },
    ...(spec.cloudInit !== undefined && !fitsInline(spec.cloudInit)
      ? [{ name: 'secret', detail: 'Secret with the cloud-init user data, owned by the VM.' }]
      : []),
    ...(disks > 0
      ? [
          {
            name: 'import',
            detail: `${disks} DataVolume(s)${spec.storageClass === undefined ? '' : ` of the storage class ${spec.storageClass}`}, filled by CDI and owned by the VM.`,
          },
        ]
      : []),
    ...(spec.start ? [{ name: 'start', detail: `Start ${name}.` }] : []),
  ];
}

const createWarnings = (spec: VmSpec, facts: ClusterFacts): string[] =>
  plannedVolumes(spec, facts).volumes.some((volume) => 'containerDisk' in volume)
    ? ['A container disk is not persistent: the guest loses its changes at power-off, and the disk size has no effect.']
    : [];
