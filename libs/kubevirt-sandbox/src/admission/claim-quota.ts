import { forbidden, type KubeObject } from '@headgate/kube-sandbox';
import { quantityValue } from '../quantity.js';
import { RESOURCES } from '../resources.js';
import type { PersistentVolumeClaim } from '../types/core-kinds.js';
import type { SimulationContext } from '../simulation-context.js';

interface ResourceQuota extends KubeObject {
  spec?: { hard?: Record<string, string | number> };
}

/** The limits that a quota sets for claims. Each claim adds its size, or 1 to a count. */
const CLAIM_LIMITS = ['persistentvolumeclaims', 'count/persistentvolumeclaims', 'requests.storage'];
const CLASS_LIMIT = /^(.+)\.storageclass\.storage\.k8s\.io\/(requests\.storage|persistentvolumeclaims)$/;

/** @throws ApiError 403 when a new claim would exceed a quota of its namespace */
export function refuseOverQuota(context: SimulationContext, claim: PersistentVolumeClaim): void {
  const { namespace, name } = claim.metadata;
  const quotas = context.store.list<ResourceQuota>(RESOURCES.quota, { namespace });
  if (quotas.length === 0) return;
  const present = context.store.list<PersistentVolumeClaim>(RESOURCES.claim, { namespace });
  for (const { metadata, spec } of quotas) {
    const exceeded = Object.entries(spec?.hard ?? {})
      .map(([limit, hard]) => ({
        limit,
        hard: String(hard),
        requested: consumption(claim, limit),
        used: present.reduce((sum, each) => sum + consumption(each, limit), 0),
      }))
      .filter(({ requested, used, hard }) => requested > 0 && used + requested > quantityValue(hard));
    if (exceeded.length === 0) continue;
    const list = (value: (each: (typeof exceeded)[number]) => string | number): string =>
      exceeded.map((each) => `${each.limit}=${value(each)}`).join(',');
    throw forbidden(
      { group: '', resource: 'persistentvolumeclaims', name },
      `exceeded quota: ${metadata.name}, requested: ${list((each) => asked(claim, each))}, used: ${list(({ used }) => used)}, limited: ${list(({ hard }) => hard)}`,
    );
  }
}

const asked = (claim: PersistentVolumeClaim, { limit, requested }: { limit: string; requested: number }) =>
  limit.endsWith('requests.storage') ? (claim.spec.resources?.requests?.storage ?? requested) : requested;

function consumption({ spec }: PersistentVolumeClaim, limit: string): number {
  const [, className, ofClass] = CLASS_LIMIT.exec(limit) ?? [];
  if (className !== undefined && spec.storageClassName !== className) return 0;
  const what = ofClass ?? (CLAIM_LIMITS.includes(limit) ? limit : undefined);
  if (what === undefined) return 0;
  return what === 'requests.storage' ? quantityValue(spec.resources?.requests?.storage) || 0 : 1;
}
