/** A condition in the form of KubeVirt and core kinds. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  lastProbeTime?: string | null;
  lastTransitionTime?: string | null;
  lastHeartbeatTime?: string;
}

type New = Pick<Condition, 'type' | 'status'> & Partial<Condition>;

export const findCondition = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((condition) => condition.type === type);

export const isTrue = (conditions: readonly Condition[] | undefined, type: string): boolean =>
  findCondition(conditions, type)?.status === 'True';

/** Sets a condition in place. The transition time changes only with the status. */
export function setCondition(conditions: Condition[], wanted: New, now: string): void {
  const index = conditions.findIndex(({ type }) => type === wanted.type);
  const known = conditions[index];
  const lastTransitionTime = known?.status === wanted.status ? known.lastTransitionTime : now;
  const next: Condition = { lastProbeTime: null, ...wanted, lastTransitionTime };
  if (index >= 0) conditions[index] = next;
  else conditions.push(next);
}

export function removeCondition(conditions: Condition[], type: string): void {
  const index = conditions.findIndex((condition) => condition.type === type);
  if (index >= 0) conditions.splice(index, 1);
}
