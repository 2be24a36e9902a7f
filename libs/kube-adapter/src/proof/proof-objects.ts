import type { BootSpec, JsonObject } from '@headgate/domain-contracts';
import type { KubeObject, OwnerReference } from '../api/kube-object.js';
import { VIRTUAL_MACHINES } from '../api/resources.js';
import { ANNOTATION, LABEL } from '../labels.js';
import { proofVmName } from '../proof-vm.js';
import { architectureOf, machine, UPLOAD_ANNOTATIONS, uploadSpec } from '../moves/moved-vm.js';
import { size } from '../provisioning/vm-manifest.js';

const volumeName = (id: string, index: number): string => `${proofVmName(id)}-disk${index}`;
const deviceName = (index: number): string => `disk${index}`;

const labelsOf = (id: string): Readonly<Record<string, string>> => ({ [LABEL.proof]: id });

/**
 * The VM of a proof, stopped. It owns everything else of the proof, so the cluster removes that with it. Its guest has
 * no network and starts paused, so that its serial line is open before it prints anything. It runs once, leaves no
 * state and does not move to another node.
 */
export function proofVm({ id, vm }: Pick<BootSpec, 'id' | 'vm'>, namespace: string): KubeObject {
  const architecture = architectureOf(vm);
  return {
    metadata: {
      name: proofVmName(id),
      namespace,
      labels: labelsOf(id),
      annotations: { [ANNOTATION.proofBeat]: '0' },
    },
    spec: {
      runStrategy: 'Halted',
      template: {
        // No label of the user: no Service and no policy of theirs selects the pod.
        metadata: { labels: labelsOf(id) },
        spec: {
          startStrategy: 'Paused',
          terminationGracePeriodSeconds: 0,
          evictionStrategy: 'None',
          ...(architecture !== '' && { architecture }),
          domain: {
            ...size(vm),
            // A TPM with a state would need a volume of its own.
            ...machine({ ...vm, tpm: false }),
            devices: {
              rng: {},
              ...(vm.tpm && { tpm: {} }),
              // The output of the guest stays out of the logs of the cluster.
              logSerialConsole: false,
              disks: vm.disks.map(({ bus }, index) => ({
                name: deviceName(index),
                ...(index === 0 && { bootOrder: 1 }),
                disk: { bus },
              })),
              interfaces: [],
              autoattachPodInterface: false,
            },
          },
          networks: [],
          volumes: vm.disks.map((_disk, index) => ({
            name: deviceName(index),
            dataVolume: { name: volumeName(id, index) },
          })),
        },
      },
    },
  } as unknown as KubeObject;
}

const ownerOf = ({ metadata: { name = '', uid = '' } }: KubeObject): OwnerReference => ({
  apiVersion: VIRTUAL_MACHINES.apiVersion,
  kind: VIRTUAL_MACHINES.kind,
  name,
  uid,
});

/** The copy of a disk. */
export const proofVolume = (
  machine: KubeObject,
  { id, index, sizeBytes }: { readonly id: string; readonly index: number; readonly sizeBytes: number },
  storageClass: string | undefined,
): KubeObject & { readonly spec: JsonObject } => ({
  metadata: {
    name: volumeName(id, index),
    namespace: machine.metadata.namespace ?? '',
    labels: labelsOf(id),
    annotations: UPLOAD_ANNOTATIONS,
    ownerReferences: [ownerOf(machine)],
  },
  spec: uploadSpec(sizeBytes, storageClass),
});
