import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  buildPlan,
  DiskIngest,
  closeWhenRead,
  DomainError,
  formatBytes,
  hashesOf,
  loss,
  throwFirstRefusal,
  type DiskWriter,
  type IngestPlan,
  type IngestSpec,
  type IngestState,
  type IngestTarget,
  type Loss,
  type PortableNic,
  type Refusal,
} from '@headgate/domain-contracts';
import { ensureNamespace, namespaceExists } from '../api/ensure-namespace.js';
import type { KubeObject } from '../api/kube-object.js';
import type { DataVolumeObject, VmObject } from '../api/object-types.js';
import {
  CLAIMS,
  DATA_VOLUMES,
  NETWORK_ATTACHMENTS,
  SECRETS,
  STORAGE_CLASSES,
  VIRTUAL_MACHINES,
} from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { NEEDS_CDI } from '../discovery/cluster-facts.js';
import type { KubeExport } from '../export/kube-export.js';
import type { ImageUploads } from '../images/image-uploads.js';
import { nameRefusals } from '../kubevirt-traits.js';
import { ANNOTATION, LABEL } from '../labels.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import { architectureOf, diskManifest, secretManifest, vmOf, volumeOf, type PlannedNic } from './moved-vm.js';
import { writeVolume } from './write-volume.js';

export interface KubeDiskIngestDeps extends WatchDeps {
  readonly discovery: ClusterDiscovery;
  readonly uploads: ImageUploads;
  readonly exports: KubeExport;
}

const GONE_INTERVAL_MS = 250;
const MAX_GONE_LOOKUPS = 240;
/** Phases in which nothing was sent yet. */
const FRESH_PHASES = /^(|Pending|PVCBound|UploadScheduled|UploadReady|WaitForFirstConsumer|PendingPopulation)$/;

/**
 * Receives VMs with CDI's uploads. A cluster has no VM that can't be started, so the VM is created when its disks are
 * complete; until then the first disk keeps it. All objects have the ID of the move as a label.
 */
export class KubeDiskIngest extends DiskIngest {
  constructor(private readonly deps: KubeDiskIngestDeps) {
    super();
  }

  override async check(): Promise<void> {
    throwFirstRefusal({ refusals: await this.missing() });
  }

  override async plan(spec: IngestSpec): Promise<IngestPlan> {
    const { ref, vm, mapping } = spec;
    const { api } = this.deps;
    const refusals: Refusal[] = [...(await this.missing()), ...nameRefusals(ref.name)];
    const warnings: string[] = [];
    if (refusals.length === 0 && (await api.find(VIRTUAL_MACHINES, ref)))
      refusals.push({
        code: 'ALREADY_EXISTS',
        reason: `A VM named ${ref.name} already exists in ${ref.namespace}.`,
        remedy: 'Choose another name.',
      });
    for (const name of new Set(Object.values(mapping.storageClasses)))
      if (!(await api.find(STORAGE_CLASSES, { name })))
        refusals.push({
          code: 'INVALID_INPUT',
          reason: `mapping.storageClasses: there is no storage class ${name}.`,
          remedy: 'Use a storage class of the cluster.',
        });
    await this.planNics(spec, refusals, warnings);
    const steps = [
      ...((await namespaceExists(api, ref.namespace)) === false
        ? [{ name: 'namespace', detail: `Create the namespace ${ref.namespace}.` }]
        : []),
      ...vm.disks.map(({ name, sizeBytes }) => ({
        name: 'disk',
        detail: `Create the DataVolume ${volumeOf(spec, name)} of ${formatBytes(sizeBytes)}.`,
      })),
    ];
    return {
      ...buildPlan(steps, { warnings, refusals }),
      losses: vm.autostart
        ? [loss('placement', 'Autostart: a cluster starts its VMs by their run strategy.', 'info')]
        : [],
      firmwareVariables: 'KubeVirt keeps variables in a volume of its own, which can not be filled.',
      format: 'raw',
    };
  }

  override async begin(spec: IngestSpec): Promise<readonly Loss[]> {
    throwFirstRefusal(await this.plan(spec));
    const { api } = this.deps;
    await ensureNamespace(api, spec.ref.namespace);
    const nics = await this.planNics(spec, [], []);
    const vm = vmOf(spec, nics, architectureOf(spec.vm));
    try {
      if (spec.vm.cloudInit !== undefined) await api.create(SECRETS, secretManifest(spec, spec.vm.cloudInit));
      for (const [index, disk] of spec.vm.disks.entries())
        await api.create(DATA_VOLUMES, diskManifest(spec, disk, index === 0 ? vm : undefined));
    } catch (error) {
      await this.discard(spec).catch(() => undefined);
      throw error;
    }
    return [];
  }

  override async write(target: IngestTarget, disk: string, signal: AbortSignal): Promise<DiskWriter> {
    return writeVolume(this.deps, await this.freshVolume(await this.partialVolume(target, disk)), signal);
  }

  override get updateProblem(): string {
    return 'CDI fills a disk from one upload, from its first byte to its last, so its guest has to be stopped for the copy.';
  }

  override async *hashes(target: IngestTarget, disk: string, signal: AbortSignal): AsyncIterable<string> {
    const { metadata } = await this.partialVolume(target, disk);
    const compressed = await this.deps.exports.openClaim(target.ref, metadata.name ?? '', signal);
    // The reader receives the errors of both streams. Each is destroyed with the other.
    const content = pipeline(compressed, createGunzip(), () => undefined);
    yield* closeWhenRead(compressed, () => hashesOf(content));
  }

  override async commit(target: IngestTarget): Promise<void> {
    if ((await this.state(target)) === 'committed') return;
    const kept = (await this.volumes(target)).map(({ metadata }) => metadata.annotations?.[ANNOTATION.movedVm]);
    const manifest = kept.find((text) => text !== undefined);
    if (manifest === undefined)
      throw new DomainError('INSTANCE_NOT_FOUND', `The disks of ${target.ref.name} no longer exist.`);
    try {
      await this.deps.api.create(VIRTUAL_MACHINES, JSON.parse(manifest) as KubeObject);
    } catch (error) {
      // An earlier attempt may have got no answer.
      if ((await this.state(target)) !== 'committed') throw error;
    }
  }

  override async discard(target: IngestTarget): Promise<void> {
    if ((await this.state(target)) === 'committed')
      throw new DomainError('WRONG_STATE', `${target.ref.name} is complete, so it is not removed.`);
    const { api } = this.deps;
    for (const resource of [DATA_VOLUMES, SECRETS])
      for (const { metadata } of await this.labeled(target, resource))
        await api.delete(resource, metadata, { uid: metadata.uid });
  }

  override async state(target: IngestTarget): Promise<IngestState> {
    const vm = await this.deps.api.find<VmObject>(VIRTUAL_MACHINES, target.ref);
    if (vm?.metadata.labels?.[LABEL.move] === target.id) return 'committed';
    return (await this.volumes(target)).length > 0 ? 'partial' : 'absent';
  }

  /** What the cluster lacks to receive any VM. */
  private async missing(): Promise<Refusal[]> {
    const { discovery, uploads, exports } = this.deps;
    const facts = await discovery.facts();
    const refuse = (reason: string, remedy: string): Refusal[] => [{ code: 'NOT_SUPPORTED', reason, remedy }];
    if (!facts.hasCdi) return refuse(NEEDS_CDI, 'Install CDI.');
    const refusals = await uploads.refusals();
    if (refusals.length > 0) return refusals;
    try {
      // The disks are read back for the comparison.
      await exports.expectExports();
      return [];
    } catch (error) {
      if (!DomainError.is(error, 'NOT_SUPPORTED')) throw error;
      return refuse(error.message, 'Enable exports in the cluster.');
    }
  }

  private async planNics(
    { ref, vm, mapping }: IngestSpec,
    refusals: Refusal[],
    warnings: string[],
  ): Promise<PlannedNic[]> {
    const planned: PlannedNic[] = [];
    for (const nic of vm.nics) {
      const mapped = mapping.networks[nic.network];
      const attachment = await this.attachmentOf(mapped ?? nic.network, ref.namespace);
      if (attachment !== undefined) planned.push({ ...nic, attachment });
      else if (mapped !== undefined && mapped !== POD_NETWORK)
        refusals.push({
          code: 'INVALID_INPUT',
          reason: `mapping.networks: there is no network attachment definition ${mapped}.`,
          remedy: `Use one of the cluster, or ${POD_NETWORK}.`,
        });
      else this.toPodNetwork(nic, planned, warnings, mapped === undefined && nic.network !== '');
    }
    return planned;
  }

  private toPodNetwork(nic: PortableNic, planned: PlannedNic[], warnings: string[], isUnknown: boolean): void {
    if (planned.some(({ attachment }) => attachment === undefined)) {
      warnings.push(`The card ${nic.name} is left out: only one card can be on the network of the pod.`);
      return;
    }
    if (isUnknown)
      warnings.push(`The card ${nic.name} gets the network of the pod, because ${nic.network} does not exist here.`);
    planned.push(nic);
  }

  private async attachmentOf(network: string, home: string): Promise<string | undefined> {
    if (!/^[a-z0-9.-]+(\/[a-z0-9.-]+)?$/.test(network)) return undefined;
    const [namespace = home, name = ''] = network.includes('/') ? network.split('/') : [home, network];
    const { api, discovery } = this.deps;
    if (!(await discovery.facts()).serves(NETWORK_ATTACHMENTS.apiVersion)) return undefined;
    return (await api.find(NETWORK_ATTACHMENTS, { namespace, name })) ? `${namespace}/${name}` : undefined;
  }

  private labeled({ id, ref }: IngestTarget, resource: typeof DATA_VOLUMES): Promise<KubeObject[]> {
    return this.deps.api.list(resource, { namespace: ref.namespace, labelSelector: `${LABEL.move}=${id}` });
  }

  private async volumes(target: IngestTarget): Promise<DataVolumeObject[]> {
    return (await this.labeled(target, DATA_VOLUMES)) as DataVolumeObject[];
  }

  private async partialVolume(target: IngestTarget, disk: string): Promise<DataVolumeObject> {
    if ((await this.state(target)) === 'committed')
      throw new DomainError('WRONG_STATE', `${target.ref.name} is complete.`);
    const volumes = await this.volumes(target);
    if (volumes.length === 0) throw new DomainError('INSTANCE_NOT_FOUND', `${target.ref.name} is not being received.`);
    const found = volumes.find(({ metadata }) => metadata.name === volumeOf(target, disk));
    if (!found) throw new DomainError('DEVICE_NOT_FOUND', `${target.ref.name} has no disk ${disk}.`);
    return found;
  }

  /** CDI accepts one upload: after an interrupted one, the disk is created again. */
  private async freshVolume(volume: DataVolumeObject): Promise<DataVolumeObject> {
    if (FRESH_PHASES.test(volume.status?.phase ?? '')) return volume;
    const { api, clock } = this.deps;
    const { namespace, name, labels, annotations, uid } = volume.metadata;
    await api.delete(DATA_VOLUMES, { namespace, name }, { uid });
    for (let lookup = 0; lookup < MAX_GONE_LOOKUPS; lookup++) {
      const left = await Promise.all([
        api.find(DATA_VOLUMES, { namespace, name }),
        api.find(CLAIMS, { namespace, name }),
      ]);
      if (left.every((object) => object === undefined)) break;
      await clock.delay(GONE_INTERVAL_MS);
    }
    const { source, storage } = volume.spec ?? {};
    return api.create<DataVolumeObject>(DATA_VOLUMES, {
      metadata: { namespace, name, labels, annotations },
      spec: { source, storage },
    } as KubeObject);
  }
}

/** The name of the network of the pod in a mapping. */
const POD_NETWORK = 'pod';
