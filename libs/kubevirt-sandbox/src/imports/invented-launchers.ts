import type { KubeObject } from '@headgate/kube-sandbox';
import { launcherPod } from '../controllers/instance/launcher-pod.js';
import { setRunning } from '../controllers/pods/pod-status.js';
import { isControlledBy, type SimulationContext } from '../simulation-context.js';
import { setCondition } from '../types/condition.js';
import type { Pod } from '../types/core-kinds.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import { isTrue } from '../types/condition.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import { startRevision } from '../machines/start-revision.js';
import { ofKind } from './invented-settings.js';

const UNKNOWN_HOST = '192.0.2.1';

/** The pods of guests that run, where the list of pods does not have them: they began between the two lists. */
export function inventedLaunchers(
  context: SimulationContext,
  objects: readonly KubeObject[],
  notes: string[],
): KubeObject[] {
  const owners = new Set(
    ofKind<Pod>(objects, 'Pod').flatMap(({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) ?? []),
  );
  const now = context.clock.timestamp();
  const pods = ofKind<VirtualMachineInstance>(objects, 'VirtualMachineInstance')
    .filter(
      ({ status, metadata }) => ['Scheduled', 'Running'].includes(status?.phase ?? '') && !owners.has(metadata.uid!),
    )
    .map((vmi) => runningLauncher(context, vmi, now));
  if (pods.length > 0)
    notes.push(`${pods.length} ${pods.length === 1 ? 'guest' : 'guests'} without a pod got an invented one.`);
  return pods;
}

function runningLauncher(context: SimulationContext, vmi: VirtualMachineInstance, now: string): Pod {
  const pod = launcherPod(context, vmi);
  const node = vmi.status?.nodeName;
  if (node !== undefined) pod.spec.nodeName = node;
  pod.status = { startTime: now, qosClass: 'Burstable', conditions: [] };
  setCondition(pod.status.conditions!, { type: 'PodScheduled', status: 'True' }, now);
  setRunning(pod, context.nextAddress(), UNKNOWN_HOST, now);
  return pod;
}

/**
 * The copies of the specs with which guests were started, which no client of virtual machines reads. Where no restart
 * is required, they are the specs of today.
 */
export function inventedStarts(objects: readonly KubeObject[]): KubeObject[] {
  const guests = new Map(
    ofKind<VirtualMachineInstance>(objects, 'VirtualMachineInstance').map((vmi) => [placeOf(vmi), vmi]),
  );
  return ofKind<VirtualMachine>(objects, 'VirtualMachine').flatMap((vm) => {
    const vmi = guests.get(placeOf(vm));
    const name = vmi?.status?.virtualMachineRevisionName;
    if (!vmi || !name || !isControlledBy(vmi, vm) || isTrue(vm.status?.conditions, 'RestartRequired')) return [];
    const revision = startRevision(vm);
    return [{ ...revision, metadata: { ...revision.metadata, name } }];
  });
}

const placeOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;
