import type { KubeObject, ObjectAtRest, ObjectsAtRest } from '@headgate/kube-sandbox';
import { applyVmDefaults } from '../admission/virtual-machine-admission.js';
import { PVC_PROTECTION } from '../controllers/storage/claim-markers.js';
import { defaultVirtClass } from '../storage-classes/default-storage-class.js';
import { reportTransfer } from '../controllers/storage/data-volume-status.js';
import { VM_FINALIZER } from '../machines/instance-builder.js';
import { startRevision, startRevisionName } from '../machines/start-revision.js';
import { updateVmStatus } from '../controllers/virtual-machine/vm-status.js';
import { RESOURCES } from '../resources.js';
import type { PersistentVolumeClaim } from '../types/core-kinds.js';
import type { DataVolume } from '../types/data-volume.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import { controlledBy, type SimulationContext } from '../simulation-context.js';
import { seededUid } from './seeded-values.js';
import { shareParts, shareVmParts } from './shared-parts.js';
import { launcherName, seedInstance, type SeededInstance } from './seed-instance.js';
import type { SeededVmStatus, VmSeed } from './vm-seed.js';

const DEFAULT_IMAGE = 'https://images.example/fedora-cloud-42.qcow2';

const runs = (status: SeededVmStatus): boolean => status === 'Running' || status === 'Paused';

const stampOf = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;

/**
 * A VM with all objects that belong to it in its state. The claim is created first: the others are derived from it.
 * @param address of its pod; default: the next one of the pod network
 */
export function seedVm(context: SimulationContext, seed: VmSeed, address?: string): KubeObject[] {
  const { status = 'Running', namespace = 'tailvm', name } = seed;
  const createdAt = stampOf(seed.createdAt ?? new Date(context.clock.now()));
  const vm = virtualMachine(seed, createdAt, namespace, status);
  applyVmDefaults(vm);
  shareVmParts(vm);
  const disk = seed.containerDisk ? undefined : seedDisk(context, seed, vm, createdAt);
  const instance: SeededInstance | undefined =
    runs(status) || status === 'ErrorUnschedulable'
      ? seedInstance(context, vm, {
          seed,
          since: seed.startedAt ? stampOf(seed.startedAt) : createdAt,
          claim: disk?.claim,
          address,
        })
      : undefined;
  vm.status = {};
  updateVmStatus(
    context,
    vm,
    {
      vm,
      vmi: instance?.vmi,
      dataVolumes: disk?.dataVolume ? [disk.dataVolume] : [],
      claims: disk ? [disk.claim] : [],
      creationExpected: false,
    },
    { creationExpected: false },
  );
  vm.status.volumeSnapshotStatuses = [
    ...(disk
      ? [{ name: 'root', enabled: true }]
      : [
          {
            name: 'root',
            enabled: false,
            reason: 'Snapshot is not supported for this volumeSource type [containerdisk]',
          },
        ]),
  ];
  const objects: KubeObject[] = [
    ...(disk?.dataVolume ? [disk.dataVolume] : []),
    ...(disk ? [disk.claim] : []),
    vm,
    ...(instance ? [startRevision(vm), instance.vmi, instance.pod] : []),
  ];
  for (const { kind, metadata } of objects) metadata.uid ??= seededUid(`${kind}/${namespace}/${name}`);
  shareParts(vm, objects);
  return objects;
}

/** The same VM in a state at rest: running, paused or stopped. Its objects are built when one of them is first read. */
export function vmAtRest(context: SimulationContext, seed: VmSeed): ObjectsAtRest {
  const { namespace = 'tailvm', name, status = 'Running' } = seed;
  const withCdi = !context.without.has('cdi');
  const disk = `${name}-root`;
  const uid = seededUid(`VirtualMachine/${namespace}/${name}`);
  const members: ObjectAtRest[] = [];
  const add = (resource: string, member: Omit<ObjectAtRest, 'resource' | 'namespace'>): void =>
    void members.push({ resource, namespace, ...member });
  if (!seed.containerDisk) {
    const dataVolume = seededUid(`DataVolume/${namespace}/${disk}`);
    if (withCdi) add(RESOURCES.dataVolume, { name: disk, uid: dataVolume, owners: [uid] });
    add(RESOURCES.claim, {
      name: disk,
      uid: seededUid(`PersistentVolumeClaim/${namespace}/${disk}`),
      owners: [withCdi ? dataVolume : uid],
    });
  }
  add(RESOURCES.vm, { name, uid });
  if (!runs(status)) return { members, build: () => seedVm(context, seed) };
  const vmi = seededUid(`VirtualMachineInstance/${namespace}/${name}`);
  add(RESOURCES.controllerRevision, {
    name: startRevisionName({ metadata: { name, uid } }),
    uid: seededUid(`ControllerRevision/${namespace}/${name}`),
    owners: [uid],
  });
  add(RESOURCES.vmi, { name, uid: vmi, owners: [uid] });
  add(RESOURCES.pod, {
    name: launcherName(namespace, name),
    uid: seededUid(`Pod/${namespace}/${name}`),
    owners: [vmi],
  });
  const address = context.nextAddress();
  return { members, build: () => seedVm(context, seed, address) };
}

function virtualMachine(
  seed: VmSeed,
  creationTimestamp: string,
  namespace: string,
  status: SeededVmStatus,
): VirtualMachine {
  const { name, cpu = 2, memory = '4Gi', disk = '20Gi', image = DEFAULT_IMAGE, containerDisk } = seed;
  const root = `${name}-root`;
  const storage = {
    resources: { requests: { storage: disk } },
    ...(seed.storageClass ? { storageClassName: seed.storageClass } : {}),
  };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: {
      name,
      namespace,
      uid: seededUid(`VirtualMachine/${namespace}/${name}`),
      creationTimestamp,
      generation: 1,
      finalizers: [VM_FINALIZER],
      ...(seed.annotations ? { annotations: seed.annotations } : {}),
      ...(seed.labels ? { labels: seed.labels } : {}),
    },
    spec: {
      runStrategy: seed.runStrategy ?? (runs(status) || status === 'ErrorUnschedulable' ? 'Always' : 'Halted'),
      ...(seed.instancetype ? { instancetype: { name: seed.instancetype } } : {}),
      ...(seed.preference ? { preference: { name: seed.preference } } : {}),
      ...(containerDisk
        ? {}
        : { dataVolumeTemplates: [{ metadata: { name: root }, spec: { source: { http: { url: image } }, storage } }] }),
      template: {
        metadata: {
          labels: { 'kubevirt.io/vm': name },
          ...(seed.templateAnnotations ? { annotations: seed.templateAnnotations } : {}),
        },
        spec: {
          terminationGracePeriodSeconds: 60,
          ...(status === 'ErrorUnschedulable' ? { nodeSelector: { 'kubernetes.io/hostname': 'node-that-left' } } : {}),
          domain: {
            ...(seed.instancetype ? {} : { cpu: { sockets: cpu, cores: 1, threads: 1 }, memory: { guest: memory } }),
            firmware: { serial: seededUid(`serial/${namespace}/${name}`) },
            devices: {
              rng: {},
              disks: [{ name: 'root', bootOrder: 1, disk: { bus: 'virtio' } }],
              interfaces: [{ name: 'default', masquerade: {}, model: 'virtio' }],
            },
          },
          networks: [{ name: 'default', pod: {} }],
          volumes: [
            containerDisk
              ? { name: 'root', containerDisk: { image: containerDisk } }
              : { name: 'root', dataVolume: { name: root } },
          ],
        },
      },
    },
  };
}

function seedDisk(
  context: SimulationContext,
  seed: VmSeed,
  vm: VirtualMachine,
  creationTimestamp: string,
): { claim: PersistentVolumeClaim; dataVolume?: DataVolume } {
  const { namespace } = vm.metadata;
  const name = `${vm.metadata.name}-root`;
  const storage = seed.disk ?? '20Gi';
  const storageClassName = seed.storageClass ?? defaultVirtClass(context)?.metadata.name;
  const uid = seededUid(`DataVolume/${namespace}/${name}`);
  const dataVolume: DataVolume = {
    apiVersion: 'cdi.kubevirt.io/v1beta1',
    kind: 'DataVolume',
    metadata: { name, namespace, uid, creationTimestamp, ownerReferences: [controlledBy(vm)] },
    spec: vm.spec.dataVolumeTemplates![0]!.spec,
    status: { restartCount: 0 },
  };
  const failed = seed.status === 'DataVolumeError';
  reportTransfer(
    dataVolume,
    failed
      ? {
          phase: 'Failed',
          bound: true,
          running: 'no',
          reason: 'Error',
          message: 'Unable to process data: checksum mismatch',
        }
      : { phase: 'Succeeded', progress: '100.0%', bound: true, running: 'done' },
    creationTimestamp,
  );
  const withCdi = !context.without.has('cdi');
  const claim: PersistentVolumeClaim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace,
      uid: seededUid(`PersistentVolumeClaim/${namespace}/${name}`),
      creationTimestamp,
      finalizers: [PVC_PROTECTION],
      ownerReferences: [controlledBy(withCdi ? dataVolume : vm)],
    },
    spec: {
      accessModes: ['ReadWriteMany'],
      ...(storageClassName ? { storageClassName } : {}),
      volumeMode: 'Block',
      volumeName: `pvc-${uid}`,
      resources: { requests: { storage } },
    },
    status: { phase: 'Bound', accessModes: ['ReadWriteMany'], capacity: { storage } },
  };
  return withCdi ? { claim, dataVolume } : { claim };
}
