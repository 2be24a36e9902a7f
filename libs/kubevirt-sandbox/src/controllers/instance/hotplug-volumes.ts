import { generateName } from '@headgate/kube-sandbox';
import { RESOURCES } from '../../resources.js';
import type { PersistentVolumeClaim, Pod } from '../../types/core-kinds.js';
import type { VirtualMachineInstance, Volume, VolumeStatus } from '../../types/virtual-machine-instance.js';
import { controlledBy, type SimulationContext } from '../../simulation-context.js';
import { selectNode } from '../../storage-classes/select-node.js';
import { claimNameOf } from '../../machines/volume-snapshot-statuses.js';
import { claimInfo, diskTargets, hotplugVolumes } from './volume-status.js';

/** The functions of the controller that the hot-plugging of volumes uses. */
export interface HotplugHost {
  took(step: string): boolean;
  recordEvent(reason: string, message: string): void;
  patch(change: (status: VolumeStatus[]) => VolumeStatus[]): void;
}

const NEXT_PHASE: Record<string, string> = {
  Bound: 'AttachedToNode',
  AttachedToNode: 'MountedToPod',
  MountedToPod: 'Ready',
};

/** Advances hot-plugged volumes by one step, both those that are added and those that are removed. */
export function stepHotplug(
  context: SimulationContext,
  vmi: VirtualMachineInstance,
  pod: Pod,
  host: HotplugHost,
): void {
  const wanted = hotplugVolumes(vmi);
  const statuses = vmi.status?.volumeStatus ?? [];
  for (const volume of wanted) {
    const status = statuses.find(({ name }) => name === volume.name);
    plug({ context, vmi, pod, volume, host }, status);
  }
  for (const status of statuses) {
    if (status.hotplugVolume && !wanted.some(({ name }) => name === status.name)) unplug(context, vmi, status, host);
  }
}

/**
 * Gives the target of a migration attachment pods for the hot-plugged volumes of a draft. Those of the source end with
 * its launcher pod.
 * @returns the uid of the first one
 */
export function moveAttachments(
  context: SimulationContext,
  vmi: VirtualMachineInstance,
  target: Pod,
): string | undefined {
  let first: string | undefined;
  const volumes = new Map(hotplugVolumes(vmi).map((volume) => [volume.name, volume]));
  for (const { name, hotplugVolume } of vmi.status?.volumeStatus ?? []) {
    const volume = volumes.get(name);
    if (!hotplugVolume?.attachPodName || !volume) continue;
    const pod = attachmentPod(context, target, name, claimNameOf(volume)!);
    const { metadata } = context.store.create<Pod>(RESOURCES.pod, pod);
    hotplugVolume.attachPodName = metadata.name;
    hotplugVolume.attachPodUID = metadata.uid;
    first ??= metadata.uid;
  }
  return first;
}

interface Hotplug {
  readonly context: SimulationContext;
  readonly vmi: VirtualMachineInstance;
  /** The launcher pod. */
  readonly pod: Pod;
  readonly volume: Volume;
  readonly host: HotplugHost;
}

function plug(hotplug: Hotplug, status: VolumeStatus | undefined): void {
  const { context, vmi, volume, host } = hotplug;
  const { name } = volume;
  const claimName = claimNameOf(volume)!;
  const claim = context.find<PersistentVolumeClaim>(RESOURCES.claim, vmi.metadata.namespace, claimName);
  if (!status) {
    const message = `PVC is in phase ${claim?.status?.phase ?? 'Pending'}`;
    host.patch((all) => [
      ...all,
      { name, target: '', phase: 'Pending', reason: 'PVCNotReady', message, hotplugVolume: {} },
    ]);
    return;
  }
  if (status.phase === 'Pending') {
    if (!claim) return;
    if (claim.status?.phase !== 'Bound') return selectNode(context, claim, vmi.status?.nodeName);
    if (host.took(`hotplug ${name} bound`)) {
      host.patch(replace(name, { phase: 'Bound', persistentVolumeClaimInfo: claimInfo(claim) }));
    }
    return;
  }
  const next = NEXT_PHASE[status.phase ?? ''];
  if (!next || !host.took(`hotplug ${name} ${next}`)) return;
  enterPhase(hotplug, next);
}

function enterPhase({ context, vmi, pod, volume, host }: Hotplug, phase: string): void {
  const { name } = volume;
  if (phase === 'AttachedToNode') {
    const attachment = context.store.create<Pod>(
      RESOURCES.pod,
      attachmentPod(context, pod, name, claimNameOf(volume)!),
    );
    const message = `Created hotplug attachment pod ${attachment.metadata.name}, for volume ${name}`;
    host.recordEvent('SuccessfulCreate', message);
    const hotplugVolume = { attachPodName: attachment.metadata.name, attachPodUID: attachment.metadata.uid };
    host.patch(replace(name, { phase, reason: 'SuccessfulCreate', message, hotplugVolume }));
  } else if (phase === 'MountedToPod') {
    const message = `Volume ${name} has been mounted in virt-launcher pod`;
    host.recordEvent('VolumeMountedToPod', message);
    host.patch(replace(name, { phase, reason: 'VolumeMountedToPod', message }));
  } else {
    const message = `Successfully attach hotplugged volume ${name} to VM`;
    host.recordEvent('VolumeReady', message);
    host.patch(replace(name, { phase, reason: 'VolumeReady', message, target: diskTargets(vmi).get(name) ?? 'sda' }));
  }
}

function unplug(
  context: SimulationContext,
  vmi: VirtualMachineInstance,
  status: VolumeStatus,
  host: HotplugHost,
): void {
  const { name, phase } = status;
  if (phase !== 'Detaching' && phase !== 'UnMountedFromPod') {
    return host.patch(
      replace(name, { phase: 'Detaching', reason: 'VolumeDetaching', message: `Volume ${name} is being detached` }),
    );
  }
  if (!host.took(`unplug ${name} ${phase}`)) return;
  if (phase === 'Detaching') {
    const message = `Volume ${name} has been unmounted from virt-launcher pod`;
    host.recordEvent('VolumeUnMountedFromPod', message);
    return host.patch(
      replace(name, { phase: 'UnMountedFromPod', reason: 'VolumeUnMountedFromPod', message, target: '' }),
    );
  }
  const { attachPodName } = status.hotplugVolume ?? {};
  if (attachPodName) context.discard(RESOURCES.pod, { namespace: vmi.metadata.namespace, name: attachPodName }, 0);
  host.recordEvent('VolumeUnplugged', `Volume ${name} has been unplugged`);
  host.patch((all) => all.filter((entry) => entry.name !== name));
}

const replace =
  (name: string, change: Partial<VolumeStatus>) =>
  (all: VolumeStatus[]): VolumeStatus[] =>
    all.map((entry) => (entry.name === name ? { ...entry, ...change } : entry));

function attachmentPod(context: SimulationContext, launcher: Pod, volume: string, claimName: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: generateName('hp-volume-'),
      namespace: launcher.metadata.namespace,
      labels: { 'kubevirt.io': 'hotplug-disk' },
      ownerReferences: [controlledBy(launcher)],
    },
    spec: {
      nodeName: launcher.spec.nodeName,
      restartPolicy: 'Never',
      containers: [
        {
          name: 'hotplug-disk',
          image: `registry.example.org/kubevirt/virt-launcher:${context.release.tag}`,
          resources: { requests: { cpu: '10m', memory: '2M' } },
        },
      ],
      volumes: [{ name: volume, persistentVolumeClaim: { claimName } }],
    },
  };
}
