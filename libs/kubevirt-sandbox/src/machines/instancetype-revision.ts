import type { KubeObject } from '@headgate/kube-sandbox';
import { RESOURCES } from '../resources.js';
import type { ControllerRevision } from '../types/core-kinds.js';
import type { Matcher, VirtualMachine } from '../types/virtual-machine.js';
import { controlledBy, type SimulationContext } from '../simulation-context.js';

/** The copy of an instancetype or preference that was taken when the VM first used it. */
export function revisionOf<T extends KubeObject>(
  context: SimulationContext,
  vm: VirtualMachine,
  matcher: Matcher,
  field: 'instancetypeRef' | 'preferenceRef',
): T | undefined {
  const recorded = vm.status?.[field];
  const name =
    matcher.revisionName ?? (recorded?.name === matcher.name ? recorded?.controllerRevisionRef?.name : undefined);
  if (!name) return undefined;
  return context.find<ControllerRevision>(RESOURCES.controllerRevision, vm.metadata.namespace, name)?.data as
    T | undefined;
}

/** Creates the copy, so that later changes of the original do not affect the VM. Returns its name. */
export function takeRevision(context: SimulationContext, vm: VirtualMachine, original: KubeObject): string {
  const { name, uid, generation = 1, creationTimestamp, resourceVersion } = original.metadata;
  const version = original.apiVersion.split('/').at(-1)!;
  const revisionName = `${vm.metadata.name}-${name}-${version}-${uid}-${generation}`;
  if (!context.find(RESOURCES.controllerRevision, vm.metadata.namespace, revisionName)) {
    context.store.create<ControllerRevision>(RESOURCES.controllerRevision, {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        name: revisionName,
        namespace: vm.metadata.namespace,
        labels: {
          'instancetype.kubevirt.io/object-generation': String(generation),
          'instancetype.kubevirt.io/object-kind': original.kind,
          'instancetype.kubevirt.io/object-name': name,
          'instancetype.kubevirt.io/object-uid': uid!,
          'instancetype.kubevirt.io/object-version': version,
        },
        ownerReferences: [controlledBy(vm)],
      },
      data: { ...original, metadata: { name, uid, generation, creationTimestamp, resourceVersion } },
      revision: 0,
    });
  }
  return revisionName;
}
