import {
  buildPlan,
  DiskBuilds,
  DomainError,
  formatBytes,
  type BuildContainer,
  type BuildReport,
  type BuildVolume,
  type DiskBuild,
  type FollowedBuild,
  type Plan,
  type Refusal,
} from '@headgate/domain-contracts';
import { isTrue, type KubeObject } from '../api/kube-object.js';
import { ensureNamespace, namespaceExists } from '../api/ensure-namespace.js';
import type { ClaimObject, DataVolumeObject, JobObject, NodeObject, VmObject } from '../api/object-types.js';
import { CLAIMS, DATA_VOLUMES, JOBS, NODES, PODS, SECRETS, VIRTUAL_MACHINES, type Resource } from '../api/resources.js';
import { missingPermissions } from '../diagnostics/missing-permissions.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { LABEL } from '../labels.js';
import { nodeSelectorFor } from '../migration/migration-target.js';
import { claimUser } from '../provisioning/create-checks.js';
import { followDataVolume, ImportDeadline } from '../data-volumes/follow-data-volume.js';
import { BUILD_RBAC_RULES } from '../rbac.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import {
  isAllowedImage,
  isOfBuild,
  jobManifest,
  jobName,
  keysManifest,
  podManifest,
  volumeManifest,
  volumeName,
  type BuildPod,
  type DiskBuildOptions,
} from './build-objects.js';
import { BuildFollower } from './follow-build.js';

export interface KubeDiskBuildsDeps extends WatchDeps {
  readonly discovery: ClusterDiscovery;
  readonly options: DiskBuildOptions;
}

/**
 * Builds disks in Jobs. CDI creates the empty volume, so that its mode, its size and the file on it are those that
 * KubeVirt expects; a Job writes to it; then the VM becomes its owner. All objects have the label of the build.
 */
export class KubeDiskBuilds extends DiskBuilds {
  constructor(private readonly deps: KubeDiskBuildsDeps) {
    super();
  }

  override async plan(build: DiskBuild, container: BuildContainer): Promise<Plan> {
    const { api, options } = this.deps;
    const { namespace } = build.ref;
    const refusals: Refusal[] = [];
    if (!isAllowedImage(container.image, options.images))
      refusals.push({
        code: 'INVALID_SOURCE',
        reason: `Builds of ${container.image} are not allowed in ${build.ref.context}.`,
        remedy: 'Choose another image, or ask an administrator to add its repository to diskBuilds.images.',
      });
    const exists = (await namespaceExists(api, namespace)) !== false;
    refusals.push(...(await this.permissionRefusals(namespace)));
    if (exists && refusals.length === 0) refusals.push(...(await this.rehearse(build, container)));
    const steps = [
      { name: 'disk', detail: `Create an empty DataVolume of ${formatBytes(build.request.diskBytes)}.` },
      { name: 'install', detail: `Install ${container.image} on it, in a Job with a privileged pod in ${namespace}.` },
    ];
    const unknown = exists
      ? []
      : [`The namespace ${namespace} does not exist yet, so whether it allows privileged pods is not known.`];
    return buildPlan(steps, { warnings: unknown, refusals });
  }

  override async prepare(build: DiskBuild, report: BuildReport): Promise<BuildVolume> {
    const { api } = this.deps;
    await ensureNamespace(api, build.ref.namespace);
    const name = volumeName(build);
    const { namespace } = build.ref;
    const found = await api.find<DataVolumeObject>(DATA_VOLUMES, { namespace, name });
    if (found && !isOfBuild(found, build))
      throw new DomainError('ALREADY_EXISTS', `The DataVolume ${name} already exists, and belongs to something else.`);
    const volume = found ?? (await this.createVolume(build));
    await this.untilFilled(volume, report);
    const claim = await api.find<ClaimObject>(CLAIMS, { namespace, name });
    return { name, isBlockDevice: claim?.spec?.volumeMode === 'Block' };
  }

  override async install(build: DiskBuild, container: BuildContainer, report: FollowedBuild): Promise<void> {
    const { api, options } = this.deps;
    const path = { namespace: build.ref.namespace, name: jobName(build.id) };
    const found = await api.find<JobObject>(JOBS, path);
    if (found) report.log('The build was started before; it is followed to its end.');
    const job = found ?? (await this.startJob(build, container));
    const { sshKey } = build.request;
    // The pod waits for its Secret.
    if (sshKey !== undefined && !isOver(job)) await this.createKeys(build, job, sshKey);
    report.log(`Job ${path.namespace}/${path.name}, image ${options.builderImage ?? container.image}.`);
    await new BuildFollower(this.deps, job, report).follow();
  }

  override async handOver(build: DiskBuild): Promise<void> {
    const { api } = this.deps;
    const { namespace, name } = build.ref;
    const vm = await api.find<VmObject>(VIRTUAL_MACHINES, build.ref);
    if (!vm || !usesVolume(vm, volumeName(build))) return;
    const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name, uid: vm.metadata.uid };
    await api.patch(
      DATA_VOLUMES,
      { namespace, name: volumeName(build) },
      { metadata: { labels: { [LABEL.vm]: name }, ownerReferences: [owner] } },
    );
  }

  override async remove(build: DiskBuild): Promise<void> {
    const { api } = this.deps;
    const { namespace } = build.ref;
    // The Job first: its pod writes to the volume, and it owns the Secret.
    for (const [resource, name] of [
      [JOBS, jobName(build.id)],
      [DATA_VOLUMES, volumeName(build)],
    ] as const) {
      const found = await api.find(resource, { namespace, name });
      if (!found || !isOfBuild(found, build)) continue;
      if (resource === DATA_VOLUMES && (await claimUser(api, found)) !== undefined) continue;
      await api.delete(resource, { namespace, name }, { uid: found.metadata.uid });
    }
  }

  private createVolume(build: DiskBuild): Promise<DataVolumeObject> {
    return this.createOnce<DataVolumeObject>(DATA_VOLUMES, volumeManifest(build), build);
  }

  private async startJob(build: DiskBuild, container: BuildContainer): Promise<JobObject> {
    const { namespace } = build.ref;
    const claim = await this.deps.api.find<ClaimObject>(CLAIMS, { namespace, name: volumeName(build) });
    const pod = await this.podOf(build, container, claim?.spec?.volumeMode === 'Block');
    return this.createOnce<JobObject>(JOBS, jobManifest(pod), build);
  }

  /** An earlier attempt may have got no response. */
  private async createOnce<T extends KubeObject>(
    resource: Resource,
    manifest: KubeObject,
    build: DiskBuild,
  ): Promise<T> {
    try {
      return await this.deps.api.create<T>(resource, manifest);
    } catch (error) {
      if (!DomainError.is(error, 'ALREADY_EXISTS')) throw error;
      const found = await this.deps.api.find<T>(resource, manifest.metadata);
      if (!found || !isOfBuild(found, build)) throw error;
      return found;
    }
  }

  /** The service may create Secrets and not get them. The name of this one contains the ID of the build. */
  private async createKeys(build: DiskBuild, job: JobObject, sshKey: string): Promise<void> {
    try {
      await this.deps.api.create(SECRETS, keysManifest(build, job, sshKey));
    } catch (error) {
      if (!DomainError.is(error, 'ALREADY_EXISTS')) throw error;
    }
  }

  private async podOf(build: DiskBuild, container: BuildContainer, isBlockDevice: boolean): Promise<BuildPod> {
    const { api, discovery, options } = this.deps;
    const node = build.node === undefined ? undefined : await api.find<NodeObject>(NODES, { name: build.node });
    const architecture = node?.status?.nodeInfo?.architecture ?? (await discovery.facts()).defaultArchitecture;
    const nodeSelector = { 'kubernetes.io/arch': architecture, ...(node && nodeSelectorFor(node)) };
    return { build, container, isBlockDevice, nodeSelector, options };
  }

  private async permissionRefusals(namespace: string): Promise<Refusal[]> {
    const missing = await missingPermissions(this.deps.api, () => true, { rules: BUILD_RBAC_RULES, namespace });
    if (missing.length === 0) return [];
    return [
      {
        code: 'NOT_SUPPORTED',
        reason: `The service may not build disks in ${namespace}: it lacks ${missing.join(', ')}.`,
        remedy: 'Bind the ClusterRole of deploy/kustomize/disk-builds.yaml in this namespace.',
      },
    ];
  }

  /** Lets the cluster check the pod. The API server would accept the Job, and refuse its pods later. */
  private async rehearse(build: DiskBuild, container: BuildContainer): Promise<Refusal[]> {
    const pod = podManifest(await this.podOf(build, container, false));
    try {
      await this.deps.api.create(PODS, pod, { dryRun: true });
      return [];
    } catch (error) {
      if (!DomainError.is(error, 'REJECTED_BY_BACKEND', 'BACKEND_FORBIDDEN')) throw error;
      const reason = `The cluster refuses the privileged pod of the build: ${error.message.replace(/\.$/, '')}.`;
      return [{ code: 'NOT_SUPPORTED', reason, remedy: PRIVILEGED_REMEDY(build.ref.namespace) }];
    }
  }

  private async untilFilled(volume: DataVolumeObject, { log, signal }: BuildReport): Promise<void> {
    const { namespace = '', name = '', uid } = volume.metadata;
    const failed = (reason: string): DomainError =>
      new DomainError('BACKEND_FAILED', `The DataVolume ${name} can't be created: ${reason.replace(/\.$/, '')}.`);
    const late = new AbortController();
    const deadline = new ImportDeadline(this.deps.clock, [name], (reason) => late.abort(failed(reason)));
    const either = AbortSignal.any([signal, late.signal]);
    const report = { step: () => undefined, progress: () => undefined, log, signal: either };
    const subject = `The disk ${name}`;
    try {
      await followDataVolume(this.deps, {
        namespace,
        name,
        uid,
        subject,
        start: true,
        report,
        signal: either,
        deadline,
        failed,
      });
    } finally {
      deadline.cancel();
    }
  }
}

const isOver = ({ status }: JobObject): boolean =>
  isTrue(status?.conditions, 'Complete') || isTrue(status?.conditions, 'Failed');

const PRIVILEGED_REMEDY = (namespace: string): string =>
  `Create the VM in a namespace that allows privileged pods: kubectl label namespace ${namespace} pod-security.kubernetes.io/enforce=privileged`;

const usesVolume = ({ spec }: VmObject, name: string): boolean =>
  spec?.template?.spec?.volumes?.some(({ dataVolume }) => dataVolume?.name === name) === true;
