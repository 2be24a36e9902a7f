import { createHash } from 'node:crypto';
import { generateName } from '@headgate/kube-sandbox';
import { binaryQuantity, MIB } from '../../quantity.js';
import type { Container, Pod } from '../../types/core-kinds.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import { controlledBy, type SimulationContext } from '../../simulation-context.js';
import { vcpus } from '../../machines/vmi-defaults.js';
import { claimNameOf } from '../../machines/volume-snapshot-statuses.js';
import type { Affinity } from '../pods/affinity.js';
import { launcherSelector } from './launcher-selector.js';
import { memoryOverheadBytes } from './memory-overhead.js';
import { ordinaryMemoryBytes, placementResources } from './placement-resources.js';
import { bootVolumes } from './volume-status.js';

const MAX_LABEL_LENGTH = 63;
const CREATED_BY = 'kubevirt.io/created-by';
const HOSTNAME = 'kubernetes.io/hostname';
/** A tenth of a core is requested per virtual CPU (`cpuAllocationRatio`). */
const MILLICORES_PER_CPU = 100;

/** The guest's host name. */
export const guestHostname = ({ spec, metadata }: VirtualMachineInstance): string =>
  (spec.hostname ?? metadata.name).split('.')[0]!.slice(0, MAX_LABEL_LENGTH);

export interface LauncherExtras {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  /** Selectors that the VMI's own ones override. */
  addedSelector?: Record<string, string>;
  /** Whether the pod may not run on a node with another launcher of the VMI. */
  apart?: boolean;
}

/** The launcher pod of a VMI. `extra` restricts the nodes for the target of a migration. */
export function launcherPod(context: SimulationContext, vmi: VirtualMachineInstance, extra: LauncherExtras = {}): Pod {
  const { spec, metadata } = vmi;
  const logs = consoleLog(context, vmi);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: generateName(`virt-launcher-${metadata.name}-`),
      namespace: metadata.namespace,
      labels: { ...metadata.labels, ...launcherLabels(context, vmi), ...extra.labels },
      annotations: {
        'kubevirt.io/domain': metadata.name,
        'kubevirt.io/migrationTransportUnix': 'true',
        ...multusAnnotation(vmi),
        ...extra.annotations,
      },
      ownerReferences: [controlledBy(vmi)],
    },
    spec: {
      restartPolicy: 'Never',
      hostname: guestHostname(vmi),
      terminationGracePeriodSeconds: (spec.terminationGracePeriodSeconds ?? 30) + 30,
      nodeSelector: launcherSelector(context, vmi, extra.addedSelector),
      ...(spec.affinity || extra.apart ? { affinity: affinityOf(vmi, extra.apart) } : {}),
      ...(spec.tolerations ? { tolerations: spec.tolerations } : {}),
      readinessGates: [{ conditionType: 'kubevirt.io/virtual-machine-unpaused' }],
      ...(logs && context.release.since('1.6') ? { initContainers: [{ ...logs, restartPolicy: 'Always' }] } : {}),
      containers: [...containersOf(context, vmi), ...(logs && !context.release.since('1.6') ? [logs] : [])],
      // Attachment pods have the hot-plugged ones.
      volumes: bootVolumes(vmi).map((volume) => {
        const claimName = claimNameOf(volume);
        return claimName
          ? { name: volume.name, persistentVolumeClaim: { claimName } }
          : { name: volume.name, emptyDir: {} };
      }),
    },
  };
}

function launcherLabels(context: SimulationContext, vmi: VirtualMachineInstance): Record<string, string> {
  const { name, uid } = vmi.metadata;
  const long = name.length > MAX_LABEL_LENGTH;
  const id = long ? `${name.slice(0, 54)}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}` : name;
  return {
    'kubevirt.io': 'virt-launcher',
    [CREATED_BY]: uid!,
    'vm.kubevirt.io/name': guestHostname(vmi),
    ...(context.release.since('1.7') ? { 'vmi.kubevirt.io/id': id } : {}),
  };
}

function containersOf(context: SimulationContext, vmi: VirtualMachineInstance): Container[] {
  const memory = binaryQuantity(
    Math.ceil((ordinaryMemoryBytes(vmi.spec) + memoryOverheadBytes(context, vmi)) / MIB) * MIB,
  );
  const reserved = placementResources(vmi.spec);
  const hasReserved = Object.keys(reserved).length > 0;
  const disks = (vmi.spec.volumes ?? []).flatMap(({ name, containerDisk }) =>
    containerDisk
      ? [{ name: `volume${name}`, image: containerDisk.image, resources: { requests: { cpu: '1m', memory: '1M' } } }]
      : [],
  );
  return [
    {
      name: 'compute',
      image: `registry.example.org/kubevirt/virt-launcher:${context.release.tag}`,
      command: ['/usr/bin/virt-launcher-monitor'],
      resources: {
        requests: {
          cpu: `${vcpus(vmi.spec) * MILLICORES_PER_CPU}m`,
          memory,
          'devices.kubevirt.io/kvm': '1',
          'devices.kubevirt.io/tun': '1',
          ...reserved,
        },
        ...(hasReserved ? { limits: { ...(reserved.cpu === undefined ? {} : { memory }), ...reserved } } : {}),
      },
    },
    ...disks,
  ];
}

/** Writes the output of the serial console to its log: an ordinary container up to 1.5, a sidecar later. */
function consoleLog({ release }: SimulationContext, { spec }: VirtualMachineInstance): Container | undefined {
  if (spec.domain.devices.autoattachSerialConsole === false) return undefined;
  return {
    name: 'guest-console-log',
    image: `registry.example.org/kubevirt/virt-launcher:${release.tag}`,
    command: ['/usr/bin/virt-tail'],
    resources: { requests: { cpu: '5m', memory: '35M' }, limits: { cpu: '15m', memory: '60M' } },
  };
}

function multusAnnotation({ spec, metadata }: VirtualMachineInstance): Record<string, string> {
  const secondary = (spec.networks ?? []).flatMap(({ multus }, index) => {
    if (!multus) return [];
    const [name, namespace = metadata.namespace] = multus.networkName.split('/').reverse();
    return [{ name, namespace, interface: `pod${index}` }];
  });
  return secondary.length > 0 ? { 'k8s.v1.cni.cncf.io/networks': JSON.stringify(secondary) } : {};
}

function affinityOf({ spec, metadata }: VirtualMachineInstance, apart = false): unknown {
  if (!apart) return spec.affinity;
  const own = spec.affinity as Affinity | undefined;
  const others = { labelSelector: { matchLabels: { [CREATED_BY]: metadata.uid! } }, topologyKey: HOSTNAME };
  return {
    ...own,
    podAntiAffinity: {
      ...own?.podAntiAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: [
        ...(own?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
        others,
      ],
    },
  } satisfies Affinity;
}
