import { createHash, randomBytes } from 'node:crypto';
import {
  deviceNotFound,
  DISK_RULE,
  DomainError,
  formatBytes,
  isKubernetesName,
  type AttachVolumeChange,
  type ChangeMediumChange,
  type DetachVolumeChange,
  type ExpandVolumeChange,
  type HardwareEffect,
  type PlanStep,
  type Refusal,
} from '@headgate/domain-contracts';
import { isOutcomeUnknown } from '../api/kube-api-error.js';
import type { JsonPatchOperation } from '../api/kube-api.js';
import { type KubeObject } from '../api/kube-object.js';
import type {
  ClaimObject,
  DataVolumeObject,
  GuestDisk,
  GuestVolume,
  VmiObject,
  VmObject,
} from '../api/object-types.js';
import {
  CLAIMS,
  DATA_VOLUMES,
  STORAGE_CLASSES,
  subresourcePath,
  VIRTUAL_MACHINES,
  VM_INSTANCES,
} from '../api/resources.js';
import { storageClasses, type StorageClassObject } from '../cluster/storage-classes.js';
import { bytesOf } from '../inventory/guest-size.js';
import { ANNOTATION, LABEL } from '../labels.js';
import { claimUser } from '../provisioning/create-checks.js';
import { isRunning, observe, untilRestartRequired } from './live-changes.js';
import {
  nothingToDo,
  planned,
  refusal,
  refused,
  replaceIfSame,
  VM_PATHS,
  type PlannedChange,
} from './planned-change.js';
import { uidTest } from './scale.js';
import {
  claimBytes,
  claimNameOf,
  findDataVolume,
  isHotpluggable,
  rootDiskOf,
  type HardwareDeps,
  type VmState,
} from './vm-hardware.js';

/** How a cluster adds volumes to running VMs: by requests, by editing the VM, or not at all. */
type HotplugMode = 'requests' | 'declarative' | 'none';

const POLL_MS = 200;
const FILL_TIMEOUT_MS = 60_000;
const RELEASE_TIMEOUT_MS = 60_000;
const EXPAND_TIMEOUT_MS = 20_000;
/** A new disk that is not attached after this time was left behind by a service that has ended. */
const ATTACH_TIMEOUT_MS = 10 * 60_000;
/** Phases of a DataVolume that is ready for its first consumer, or filled. */
const READY_PHASES = ['Succeeded', 'WaitForFirstConsumer', 'PendingPopulation'];

/** Plans the changes of a VM's disks. */
export class VolumeChanges {
  constructor(private readonly deps: HardwareDeps) {}

  async attach(state: VmState, { disk }: AttachVolumeChange): Promise<PlannedChange> {
    return 'sizeBytes' in disk ? this.attachNew(state, disk.sizeBytes) : this.attachExisting(state, disk.volume);
  }

  private async attachNew(state: VmState, wantedBytes: number): Promise<PlannedChange> {
    const { api } = this.deps;
    const { ref, facts } = state;
    const refusals = sizeRefusals(wantedBytes);
    if (!facts.hasCdi) {
      const reason = 'A new disk needs CDI (containerized-data-importer), which is not installed in this cluster.';
      refusals.push(refusal('NOT_SUPPORTED', reason, 'Install CDI, or attach a claim that exists.'));
    }
    if (refusals.length > 0) return refused(...refusals);
    const bytes = roundUp(wantedBytes);
    const name = `${ref.name}-disk-${randomBytes(4).toString('hex')}`.slice(-63).replace(/^-+/, '');
    const change = attachment(state, { name, dataVolume: { name } });
    const run = async (): Promise<{ volume: string }> => {
      await this.dropUnattached(state);
      const created = await api.create<DataVolumeObject>(
        DATA_VOLUMES,
        blankDisk(state, name, bytes, this.deps.clock.iso()),
      );
      try {
        await this.untilReady(created);
        await this.plug(state, change, name);
      } catch (error) {
        if (isOutcomeUnknown(error) && (await this.isAttached(state, name))) return { volume: name };
        await api.delete(DATA_VOLUMES, { namespace: ref.namespace, name }, { uid: created.metadata.uid });
        throw error;
      }
      await api.patch(
        DATA_VOLUMES,
        { namespace: ref.namespace, name },
        { metadata: { annotations: { [ANNOTATION.attaching]: null } } },
      );
      return { volume: name };
    };
    const steps: PlanStep[] = [
      { name: 'create', detail: `DataVolume ${name} of ${formatBytes(bytes)}, blank.` },
      attachStep(state, change, name),
    ];
    return planned({ ...change, steps, run });
  }

  private async attachExisting(state: VmState, claim: string): Promise<PlannedChange> {
    const { api } = this.deps;
    const { ref, spec } = state;
    const found = isKubernetesName(claim)
      ? await api.find<ClaimObject>(CLAIMS, { namespace: ref.namespace, name: claim })
      : undefined;
    if (!found) {
      const reason = `There is no PVC ${claim} in ${ref.namespace}.`;
      return refused(refusal('VOLUME_NOT_FOUND', reason, 'Name a claim in the namespace of the VM.'));
    }
    const isOwn = [...(spec.volumes ?? []), ...(state.vmi?.spec?.volumes ?? [])].some(
      (volume) => claimNameOf(volume) === claim,
    );
    if (isOwn) {
      return refused(refusal('ALREADY_EXISTS', `${ref.name} has the PVC ${claim} already.`, 'Name another claim.'));
    }
    const user = await claimUser(api, found);
    if (user !== undefined) {
      return refused(refusal('BUSY', `The PVC ${claim} is used by ${user}.`, 'Name another claim.'));
    }
    const dataVolume = await findDataVolume(api, { namespace: ref.namespace, name: claim });
    const source = dataVolume ? { dataVolume: { name: claim } } : { persistentVolumeClaim: { claimName: claim } };
    const change = attachment(state, { name: volumeNameOf(claim), ...source });
    const run = async (): Promise<{ volume: string }> => {
      await this.plug(state, change, volumeNameOf(claim));
      return { volume: claim };
    };
    return planned({ ...change, steps: [attachStep(state, change, claim)], run });
  }

  /** Adds the volume to the VM, and waits until KubeVirt has added it to the running guest as well. */
  private async plug(state: VmState, { patch, request, effect }: Attachment, name: string): Promise<void> {
    const { api } = this.deps;
    const { ref } = state;
    if (request) {
      await api.invoke(subresourcePath(ref.namespace, 'virtualmachines', ref.name, 'addvolume'), request);
    } else await api.jsonPatch(VIRTUAL_MACHINES, ref, patch);
    if (!state.vmi) return request ? this.until(ref, (vm) => hasVolume(vm, name)) : undefined;
    if (effect !== 'now') return untilRestartRequired(this.deps, ref);
    try {
      await observe(this.deps, ref, (vmi) => vmi.spec?.volumes?.some((volume) => volume.name === name) === true);
    } catch (error) {
      // KubeVirt reports a volume that it can't add only after it has accepted it.
      await this.unplug(state, name).catch(() => undefined);
      throw error;
    }
  }

  async detach(state: VmState, { volume, deleteVolume }: DetachVolumeChange): Promise<PlannedChange> {
    const { api } = this.deps;
    const { ref, spec, vm, vmi } = state;
    const found = this.find(state, volume);
    if ('code' in found) return refused(found);
    const { disk, source, claim } = found;
    const refuse = (reason: string, remedy: string): PlannedChange => refused(refusal('WRONG_STATE', reason, remedy));
    if (rootDiskOf(vmi?.spec ?? spec)?.name === disk || rootDiskOf(spec)?.name === disk) {
      return refuse(`${ref.name} boots from ${volume}, so it can't be detached.`, 'Delete the VM instead.');
    }
    if (vm.spec?.dataVolumeTemplates?.some(({ metadata }) => metadata.name === claim)) {
      return refuse(`${volume} was created with ${ref.name} and belongs to it.`, 'Delete the VM instead.');
    }
    const path = { namespace: ref.namespace, name: claim ?? '' };
    const [dataVolume, pvc] =
      claim === undefined ? [] : await Promise.all([findDataVolume(api, path), api.find<ClaimObject>(CLAIMS, path)]);
    const owner = dataVolume ?? pvc;
    const isOwn = owner?.metadata.labels?.[LABEL.vm] === ref.name;
    if (deleteVolume && !isOwn) {
      return refuse(
        `${volume} was not created for ${ref.name}, so it is not deleted with its disk.`,
        'Detach it without deleting it.',
      );
    }
    const mode = modeOf(state);
    const isLive = vmi !== undefined && isHotpluggable(source) && mode !== 'none';
    const effect: HardwareEffect = isLive ? 'now' : 'next-start';
    if (deleteVolume && vmi && !isLive) {
      return refuse(`${ref.name} uses ${volume} until it stops, so it can't be deleted.`, 'Stop the VM first.');
    }
    const steps = [
      { name: 'detach', detail: `${volume} from ${ref.name}${isLive ? ', when the guest releases it' : ''}.` },
      ...(deleteVolume ? [{ name: 'delete', detail: `${dataVolume ? 'DataVolume' : 'PVC'} ${claim}.` }] : []),
    ];
    const run = async (): Promise<void> => {
      const label = async (value: string | null): Promise<void> => {
        const change = { metadata: { labels: { [LABEL.vm]: value } } };
        if (dataVolume) await api.patch(DATA_VOLUMES, path, change);
        if (pvc) await api.patch(CLAIMS, path, change);
      };
      // A volume that is kept no longer belongs to the VM, and is not deleted with it.
      if (isOwn && !deleteVolume) await label(null);
      try {
        await this.unplug(state, disk);
        if (isLive) await this.untilReleased(state, disk, volume);
        else if (vmi) await untilRestartRequired(this.deps, ref);
      } catch (error) {
        if (isOwn && !deleteVolume) await label(ref.name).catch(() => undefined);
        throw error;
      }
      if (!deleteVolume || !owner) return;
      await api.delete(dataVolume ? DATA_VOLUMES : CLAIMS, path, { uid: owner.metadata.uid });
      await this.untilGone(path);
    };
    const warnings = effect === 'next-start' && vmi ? ['The running VM keeps the disk until it is started again.'] : [];
    return planned({ effect, steps, warnings, run });
  }

  private async unplug(state: VmState, name: string): Promise<void> {
    const { api } = this.deps;
    const { ref } = state;
    const vm = await api.find<VmObject>(VIRTUAL_MACHINES, ref);
    const spec = vm?.spec?.template?.spec;
    const volume = spec?.volumes?.find((one) => one.name === name);
    if (!vm || !volume) return;
    if (modeOf(state) === 'requests' && isHotpluggable(volume)) {
      await api.invoke(subresourcePath(ref.namespace, 'virtualmachines', ref.name, 'removevolume'), { name });
      return this.until(ref, (now) => !hasVolume(now, name));
    }
    const disks = spec?.domain?.devices?.disks;
    await api.jsonPatch(VIRTUAL_MACHINES, ref, [
      uidTest(vm.metadata.uid),
      ...replaceIfSame(VM_PATHS.volumes, spec?.volumes, without(spec?.volumes, name)),
      ...replaceIfSame(VM_PATHS.disks, disks, without(disks, name)),
    ]);
  }

  async expand(state: VmState, { volume, sizeBytes }: ExpandVolumeChange): Promise<PlannedChange> {
    const { api } = this.deps;
    const { ref, facts } = state;
    const found = this.find(state, volume);
    if ('code' in found) return refused(found);
    const refusals = sizeRefusals(sizeBytes);
    if (refusals.length > 0) return refused(...refusals);
    const { claim } = found;
    const path = { namespace: ref.namespace, name: claim ?? '' };
    const pvc = claim === undefined ? undefined : await api.find<ClaimObject>(CLAIMS, path);
    if (claim === undefined || !pvc) {
      const reason = `${volume} is not on a PVC, so it has no size to change.`;
      return refused(refusal('NOT_SUPPORTED', reason, 'Expand a disk that is on a PVC.'));
    }
    const present = (await claimBytes(this.deps, ref, claim)) ?? 0;
    const bytes = roundUp(sizeBytes);
    if (bytes < present) {
      const reason = `size: ${volume} has ${formatBytes(present)}, and a disk can't shrink.`;
      return refused(refusal('INVALID_QUANTITY', reason, `Use more than ${formatBytes(present)}.`));
    }
    if (bytes === present) return nothingToDo;
    const blocked = await this.expansionRefusal(pvc, volume);
    if (blocked) return refused(blocked);
    // A claim with a file system is larger than the disk in it by a constant factor.
    const claimed = bytesOf(pvc.spec?.resources?.requests?.storage) ?? present;
    const storage = formatBytes(roundUp(Math.ceil(bytes * Math.max(1, claimed / (present || claimed)))));
    const run = async (): Promise<void> => {
      await api.patch(CLAIMS, path, {
        metadata: { annotations: { [ANNOTATION.diskBytes]: String(bytes) } },
        spec: { resources: { requests: { storage } } },
      });
      if (isRunning(state)) await this.untilExpanded(path, storage);
    };
    const isLive = state.vmi !== undefined && facts.isGateEnabled('ExpandDisks');
    const detail = `PVC ${claim} from ${formatBytes(present)} to ${formatBytes(bytes)}. The file systems in it are the guest's to grow.`;
    const effect: HardwareEffect = isLive ? 'now' : 'next-start';
    const warnings = state.vmi && !isLive ? ['The guest sees the new size when it is started the next time.'] : [];
    return planned({ effect, steps: [{ name: 'expand', detail }], warnings, run });
  }

  private async expansionRefusal({ spec, status }: ClaimObject, volume: string): Promise<Refusal | undefined> {
    const className = spec?.storageClassName;
    const found = className
      ? await this.deps.api.find<StorageClassObject>(STORAGE_CLASSES, { name: className })
      : undefined;
    if (found?.allowVolumeExpansion !== true) {
      const classes = (await storageClasses(this.deps.api)).filter((one) => one.allowVolumeExpansion);
      const others = classes.map(({ metadata }) => metadata.name).join(', ') || 'none';
      return refusal(
        'NOT_SUPPORTED',
        `The storage class ${className ?? '(none)'} of ${volume} does not permit expansion. Those that do: ${others}.`,
        'Set allowVolumeExpansion in the storage class.',
      );
    }
    if (status?.phase !== 'Bound') {
      return refusal(
        'WRONG_STATE',
        `${volume} is not bound to storage yet.`,
        'Start the VM once, then expand the disk.',
      );
    }
    return undefined;
  }

  /** A drive is a CD-ROM disk; its medium is the volume of the same name. */
  async changeMedium(state: VmState, { drive, volume }: ChangeMediumChange): Promise<PlannedChange> {
    const { ref, spec, vmi, vm } = state;
    const drives = (spec.domain?.devices?.disks ?? []).filter(({ cdrom }) => cdrom !== undefined);
    if (!drives.some(({ name }) => name === drive)) {
      const present = drives.map(({ name }) => name);
      const { message } = deviceNotFound(ref.name, `drive ${drive}`, present);
      return refused(refusal('DEVICE_NOT_FOUND', message, 'Name one of its drives.'));
    }
    if (modeOf(state) !== 'declarative') {
      const reason = 'Changing the medium of a drive needs KubeVirt 1.9 or the feature gate DeclarativeHotplugVolumes.';
      return refused(refusal('NOT_SUPPORTED', reason, 'Update KubeVirt.'));
    }
    const before = spec.volumes?.find(({ name }) => name === drive);
    if ((before && claimNameOf(before)) === (volume ?? undefined) && (volume !== null || !before)) return nothingToDo;
    if (vm.spec?.dataVolumeTemplates?.some(({ metadata }) => before && metadata.name === claimNameOf(before))) {
      const reason = `The medium in ${drive} was created with ${ref.name} and belongs to it.`;
      return refused(refusal('WRONG_STATE', reason, 'Delete the VM instead.'));
    }
    const claim =
      volume !== null && isKubernetesName(volume)
        ? await this.deps.api.find<ClaimObject>(CLAIMS, { namespace: ref.namespace, name: volume })
        : undefined;
    if (volume !== null && !claim) {
      const reason = `There is no PVC ${volume} in ${ref.namespace}.`;
      return refused(refusal('VOLUME_NOT_FOUND', reason, 'Name a claim in the namespace of the VM.'));
    }
    const user = claim && (await claimUser(this.deps.api, claim));
    if (user !== undefined)
      return refused(refusal('BUSY', `The PVC ${volume} is used by ${user}.`, 'Name another claim.'));
    const others = without(spec.volumes, drive);
    const medium = { name: drive, persistentVolumeClaim: { claimName: volume ?? '', hotpluggable: true } };
    const patch = [
      uidTest(vm.metadata.uid),
      ...replaceIfSame(VM_PATHS.volumes, spec.volumes, volume === null ? others : [...others, medium]),
    ];
    const live = vmi?.spec?.volumes?.find(({ name }) => name === drive);
    const isLive = vmi !== undefined && (!live || isHotpluggable(live));
    const run = async (): Promise<void> => {
      await this.deps.api.jsonPatch(VIRTUAL_MACHINES, ref, patch);
      if (vmi && !isLive) await untilRestartRequired(this.deps, ref);
    };
    const detail = volume === null ? `The medium in ${drive}.` : `PVC ${volume} into ${drive}.`;
    const step = { name: volume === null ? 'eject' : 'insert', detail };
    return planned({ effect: isLive ? 'now' : 'next-start', steps: [step], patch, run });
  }

  private find({ ref, spec, vmi }: VmState, volume: string): FoundVolume | Refusal {
    const specs = [...(vmi?.spec ? [vmi.spec] : []), spec];
    for (const { volumes = [], domain } of specs) {
      const source = volumes.find((one) => claimNameOf(one) === volume || one.name === volume);
      const disk = domain?.devices?.disks?.find(({ name }) => name === source?.name);
      const claim = source && claimNameOf(source);
      if (source && disk) return { disk: disk.name, source, ...(claim !== undefined && { claim }) };
    }
    const present = (spec.volumes ?? []).flatMap((one) => claimNameOf(one) ?? []);
    const { message } = deviceNotFound(ref.name, `disk ${volume}`, present);
    return refusal('DEVICE_NOT_FOUND', message, 'Name one of its disks.');
  }

  /** Deletes new disks of this VM that a service has left behind before it attached them. */
  private async dropUnattached({ ref, spec }: VmState): Promise<void> {
    const { api, clock } = this.deps;
    const own = await api.list<DataVolumeObject>(DATA_VOLUMES, {
      namespace: ref.namespace,
      labelSelector: `${LABEL.vm}=${ref.name}`,
    });
    for (const { metadata } of own) {
      const since = Date.parse(metadata.annotations?.[ANNOTATION.attaching] ?? '');
      const isUsed = spec.volumes?.some((volume) => claimNameOf(volume) === metadata.name) === true;
      if (!isUsed && clock.now() - since > ATTACH_TIMEOUT_MS) {
        await api.delete(DATA_VOLUMES, { namespace: ref.namespace, name: metadata.name }, { uid: metadata.uid });
      }
    }
  }

  private async isAttached({ ref }: VmState, name: string): Promise<boolean> {
    const vm = await this.deps.api.find<VmObject>(VIRTUAL_MACHINES, ref);
    return vm !== undefined && hasVolume(vm, name);
  }

  private async untilReady(dataVolume: DataVolumeObject): Promise<void> {
    const { namespace, name } = dataVolume.metadata;
    await this.poll(FILL_TIMEOUT_MS, async () => {
      const now = await this.deps.api.find<DataVolumeObject>(DATA_VOLUMES, { namespace, name });
      if (now?.status?.phase === 'Failed') {
        throw new DomainError('BACKEND_FAILED', `The DataVolume ${name} could not be filled.`);
      }
      return !now || READY_PHASES.includes(now.status?.phase ?? '');
    });
  }

  /** @throws DomainError BACKEND_TIMEOUT */
  private async untilReleased({ ref }: VmState, disk: string, volume: string): Promise<void> {
    const isReleased = await this.poll(RELEASE_TIMEOUT_MS, async () => {
      const vmi = await this.deps.api.find<VmiObject>(VM_INSTANCES, ref);
      const isThere = vmi?.spec?.volumes?.some(({ name }) => name === disk);
      return !isThere && !vmi?.status?.volumeStatus?.some(({ name }) => name === disk);
    });
    if (isReleased) return;
    throw new DomainError(
      'BACKEND_TIMEOUT',
      `${ref.name} did not release ${volume} within ${RELEASE_TIMEOUT_MS / 1000} s: unmount it in the guest. The volume is kept.`,
    );
  }

  private async untilGone(path: { readonly namespace: string; readonly name: string }): Promise<void> {
    await this.poll(RELEASE_TIMEOUT_MS, async () => !(await this.deps.api.find(CLAIMS, path)));
  }

  private async untilExpanded(
    path: { readonly namespace: string; readonly name: string },
    storage: string,
  ): Promise<void> {
    await this.poll(EXPAND_TIMEOUT_MS, async () => {
      const claim = await this.deps.api.find<ClaimObject>(CLAIMS, path);
      return (bytesOf(claim?.status?.capacity?.storage) ?? 0) >= (bytesOf(storage) ?? 0);
    });
  }

  private async until(ref: VmState['ref'], isMet: (vm: VmObject) => boolean): Promise<void> {
    await this.poll(RELEASE_TIMEOUT_MS, async () => {
      const vm = await this.deps.api.find<VmObject>(VIRTUAL_MACHINES, ref);
      return !vm || isMet(vm);
    });
  }

  /** @returns false if the time has passed first */
  private async poll(timeoutMs: number, isMet: () => Promise<boolean>): Promise<boolean> {
    const { clock } = this.deps;
    const began = clock.now();
    for (;;) {
      if (await isMet()) return true;
      if (clock.now() - began > timeoutMs) return false;
      await clock.delay(POLL_MS);
    }
  }
}

interface FoundVolume {
  /** The name of the disk, which is that of its volume. */
  readonly disk: string;
  readonly source: GuestVolume;
  readonly claim?: string;
}

interface Attachment {
  readonly effect: HardwareEffect;
  readonly patch: readonly JsonPatchOperation[];
  /** The request, where the cluster adds volumes by requests. */
  readonly request?: object;
  readonly warnings: readonly string[];
}

/** Names of volumes are labels; those of claims may be longer, and have dots. */
const volumeNameOf = (claim: string): string =>
  /^[a-z0-9-]{1,63}$/.test(claim) ? claim : `disk-${createHash('sha256').update(claim).digest('hex').slice(0, 16)}`;

function modeOf({ facts }: VmState): HotplugMode {
  if (facts.isGateEnabled('HotplugVolumes')) return 'requests';
  return facts.isAtLeast(1, 6) && facts.isGateEnabled('DeclarativeHotplugVolumes') ? 'declarative' : 'none';
}

/** SCSI disks can be added to running guests on every release. The guest finds the disk by its serial number. */
function attachment(state: VmState, volume: GuestVolume): Attachment {
  const { spec, vm, vmi } = state;
  const mode = modeOf(state);
  const { name } = volume;
  const disk = { name, disk: { bus: 'scsi' }, serial: createHash('sha256').update(name).digest('hex').slice(0, 20) };
  const hotpluggable = mode === 'none' ? {} : { hotpluggable: true };
  const source: GuestVolume = {
    name,
    ...(volume.dataVolume && { dataVolume: { ...volume.dataVolume, ...hotpluggable } }),
    ...(volume.persistentVolumeClaim && {
      persistentVolumeClaim: { ...volume.persistentVolumeClaim, ...hotpluggable },
    }),
  };
  const disks: readonly GuestDisk[] | undefined = spec.domain?.devices?.disks;
  const patch = [
    uidTest(vm.metadata.uid),
    ...replaceIfSame(VM_PATHS.volumes, spec.volumes, [...(spec.volumes ?? []), source]),
    ...replaceIfSame(VM_PATHS.disks, disks, [...(disks ?? []), disk]),
  ];
  const { name: _name, ...volumeSource } = source;
  const isLive = vmi !== undefined && mode !== 'none';
  return {
    effect: isLive ? 'now' : 'next-start',
    patch,
    ...(mode === 'requests' && { request: { name, disk, volumeSource } }),
    warnings:
      vmi && !isLive ? ['Disks can not be added to running VMs in this cluster: it appears at the next start.'] : [],
  };
}

const attachStep = ({ ref }: VmState, { effect }: Attachment, volume: string): PlanStep => ({
  name: 'attach',
  detail: `Attach ${volume} to ${ref.name}${effect === 'now' ? ', at once' : ''}.`,
});

const blankDisk = ({ ref }: VmState, name: string, bytes: number, now: string): KubeObject & { spec: object } => ({
  metadata: {
    name,
    namespace: ref.namespace,
    labels: { [LABEL.vm]: ref.name },
    annotations: { [ANNOTATION.attaching]: now },
  },
  spec: { source: { blank: {} }, storage: { resources: { requests: { storage: formatBytes(bytes) } } } },
});

const hasVolume = ({ spec }: VmObject, name: string): boolean =>
  spec?.template?.spec?.volumes?.some((volume) => volume.name === name) === true;

const without = <T extends { readonly name: string }>(list: readonly T[] | undefined, name: string): T[] =>
  (list ?? []).filter((one) => one.name !== name);

const roundUp = (bytes: number): number => Math.ceil(bytes / DISK_RULE.stepBytes) * DISK_RULE.stepBytes;

function sizeRefusals(bytes: number): Refusal[] {
  const { minBytes, maxBytes } = DISK_RULE;
  if (Number.isSafeInteger(bytes) && bytes >= minBytes && bytes <= maxBytes) return [];
  const limits = `from ${formatBytes(minBytes)} to ${formatBytes(maxBytes)}`;
  return [refusal('INVALID_QUANTITY', `size must be ${limits}.`, 'Choose another size.')];
}
