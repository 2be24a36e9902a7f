import type { Condition } from '../../types/condition.js';
import type { DataVolume } from '../../types/data-volume.js';

/** The three conditions of a DataVolume. */
export interface TransferReport {
  phase: string;
  progress?: string;
  bound: boolean;
  running: 'yes' | 'no' | 'done';
  reason?: string;
  message?: string;
}

/** Writes phase, progress and conditions, on a draft. */
export function reportTransfer(dataVolume: DataVolume, report: TransferReport, now: string): void {
  const status = (dataVolume.status ??= {});
  const conditions = (status.conditions ??= []);
  const { name } = dataVolume.metadata;
  status.phase = report.phase;
  if (report.progress) status.progress = report.progress;
  status.claimName = name;
  const done = report.running === 'done';
  setCdiCondition(
    conditions,
    report.bound
      ? { type: 'Bound', status: 'True', reason: 'Bound', message: `PVC ${name} Bound` }
      : { type: 'Bound', status: 'False', reason: 'Pending', message: `PVC ${name} Pending` },
    now,
  );
  setCdiCondition(
    conditions,
    done
      ? { type: 'Ready', status: 'True' }
      : { type: 'Ready', status: 'False', ...(report.running === 'yes' ? { reason: 'TransferRunning' } : {}) },
    now,
  );
  setCdiCondition(
    conditions,
    {
      type: 'Running',
      status: report.running === 'yes' ? 'True' : 'False',
      reason: report.reason ?? (done ? 'Completed' : report.running === 'yes' ? 'Pod is running' : undefined),
      message: report.message ?? (done ? 'Import Complete' : undefined),
    },
    now,
  );
}

/** Reports that no claim can be created, on a draft. */
export function reportUnusable(
  dataVolume: DataVolume,
  { phase, reason, message }: { phase: string; reason: string; message: string },
  now: string,
): void {
  const status = (dataVolume.status ??= {});
  const conditions = (status.conditions ??= []);
  if (phase) status.phase = phase;
  else delete status.phase;
  status.claimName = dataVolume.metadata.name;
  setCdiCondition(conditions, { type: 'Bound', status: 'Unknown', reason, message }, now);
  setCdiCondition(conditions, { type: 'Ready', status: 'False', reason }, now);
  setCdiCondition(conditions, { type: 'Running', status: 'False', reason, message }, now);
}

/** CDI's conditions have a heartbeat instead of a probe time, and it changes only with the condition. */
function setCdiCondition(conditions: Condition[], wanted: Condition, now: string): void {
  const index = conditions.findIndex(({ type }) => type === wanted.type);
  const known = conditions[index];
  if (known?.status === wanted.status && known.reason === wanted.reason && known.message === wanted.message) return;
  const lastTransitionTime = known?.status === wanted.status ? known.lastTransitionTime : now;
  const next = { ...wanted, lastHeartbeatTime: now, lastTransitionTime };
  if (next.reason === undefined) delete next.reason;
  if (next.message === undefined) delete next.message;
  if (index >= 0) conditions[index] = next;
  else conditions.push(next);
}
