import type { KubeObject, ObjectKey } from '@headgate/kube-sandbox';
import type { Pod } from '../types/core-kinds.js';

const idOf = (namespace = '', name: string): string => `${namespace}/${name}`;
const isOver = ({ status }: Pod): boolean => ['Succeeded', 'Failed'].includes(status?.phase ?? '');

/** The live pods that use each claim. */
export class ClaimConsumers {
  private readonly consumers = new Map<string, Map<string, ObjectKey>>();

  note(before: Pod | undefined, after: Pod | undefined): void {
    for (const claim of claimsOf(before)) {
      const pods = this.consumers.get(claim);
      pods?.delete(before!.metadata.name);
      if (pods?.size === 0) this.consumers.delete(claim);
    }
    for (const claim of claimsOf(after)) {
      const { namespace, name } = after!.metadata;
      this.consumers.set(claim, (this.consumers.get(claim) ?? new Map()).set(name, { namespace, name }));
    }
  }

  of({ metadata }: Pick<KubeObject, 'metadata'>): ObjectKey[] {
    return [...(this.consumers.get(idOf(metadata.namespace, metadata.name))?.values() ?? [])];
  }
}

function claimsOf(pod: Pod | undefined): string[] {
  if (!pod || isOver(pod)) return [];
  return (pod.spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
    persistentVolumeClaim ? [idOf(pod.metadata.namespace, persistentVolumeClaim.claimName)] : [],
  );
}
