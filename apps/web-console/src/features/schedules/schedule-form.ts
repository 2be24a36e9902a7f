import { t } from '@lingui/core/macro';
import type { CreateScheduleDto, ScheduleView } from '@headgate/api-contracts';
import { keepFormOf, keepProblem, rulesOf, USUAL_RULES, type KeepForm } from '../../shared/backups/keep-form.js';
import { perLanguage } from '../../shared/texts/per-language.js';

/** The actions as users choose them. */
export type ActionChoice = 'start' | 'stop' | 'forceStop' | 'restart' | 'snapshot' | 'backup';

export const actionLabels = perLanguage((): Readonly<Record<ActionChoice, string>> => ({
  start: t`Start`,
  stop: t`Shut down`,
  forceStop: t`Force stop`,
  restart: t`Restart`,
  snapshot: t`Snapshot`,
  backup: t`Back up`,
}));

/** The texts of the form of a schedule. */
export interface ScheduleForm {
  readonly name: string;
  readonly action: ActionChoice;
  /** How many snapshots remain; empty for all. */
  readonly keep: string;
  /** The ID of the target of backups; empty before one is chosen. */
  readonly target: string;
  /** Which backups remain; all of them without any rule. */
  readonly backupKeep: KeepForm;
  /** Whether the new backups are booted. */
  readonly prove: boolean;
  /** Whether backups are deleted only if a newer one has booted. */
  readonly onlyIfProved: boolean;
  readonly kind: 'vm' | 'ct';
  readonly q: string;
  readonly folder: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly missed: CreateScheduleDto['missed'];
}

const MAX_KEPT = 100;

export const emptyForm = (): ScheduleForm => ({
  name: '',
  action: 'snapshot',
  keep: '7',
  target: '',
  backupKeep: USUAL_RULES,
  prove: false,
  onlyIfProved: false,
  kind: 'vm',
  q: '',
  folder: '',
  cron: '30 2 * * *',
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  missed: 'skip',
});

export const choiceOf = ({ action, force }: ScheduleView['job']): ActionChoice =>
  action === 'stop' && force ? 'forceStop' : action;

export const formOf = ({ name, job, cron, timeZone, missed }: ScheduleView): ScheduleForm => ({
  name,
  action: choiceOf(job),
  keep: job.keep === undefined ? '' : String(job.keep),
  target: job.backup?.target ?? '',
  backupKeep: job.backup ? keepFormOf(job.backup.keep) : USUAL_RULES,
  prove: job.backup?.prove ?? false,
  onlyIfProved: job.backup?.onlyIfProved ?? false,
  kind: job.query.kind ?? 'vm',
  q: job.query.q ?? '',
  folder: job.query.folder ?? '',
  cron,
  timeZone,
  missed,
});

/** @param job the job that is changed: what the form does not show stays as it is */
export function requestOf(form: ScheduleForm, job?: ScheduleView['job']): CreateScheduleDto {
  const { action, keep, kind, q, folder, name, cron, timeZone, missed = 'skip', target } = form;
  const rules = rulesOf(form.backupKeep);
  const { force: _force, keep: _keep, backup: _backup, waitReady, ...others } = job ?? { action: 'start', query: {} };
  const { context } = others.query;
  return {
    name: name.trim(),
    cron: cron.trim(),
    timeZone: timeZone.trim(),
    missed,
    job: {
      ...others,
      action: action === 'forceStop' ? 'stop' : action,
      ...(action === 'forceStop' && { force: true }),
      ...(action === 'snapshot' && keep.trim() !== '' && { keep: Number(keep) }),
      ...(action === 'backup' && {
        backup: {
          target,
          ...(rules && { keep: rules }),
          ...(form.prove && { prove: true }),
          ...(form.onlyIfProved && rules && { onlyIfProved: true }),
        },
      }),
      ...(waitReady && (action === 'start' || action === 'restart') && { waitReady }),
      query: {
        kind: action === 'backup' ? 'vm' : kind,
        ...(q.trim() !== '' && { q: q.trim() }),
        ...(folder.trim() !== '' && { folder: folder.trim() }),
        ...(context !== undefined && { context }),
      },
    },
  };
}

/** Why the form can't be sent; undefined if it can. */
export function problemOf(form: ScheduleForm, context?: string): string | undefined {
  const { name, action, keep, q, folder, target, backupKeep } = form;
  if (name.trim() === '') return t`Enter a name first.`;
  if (q.trim() === '' && folder.trim() === '' && context === undefined) return t`Enter a query or a folder first.`;
  const isCount = /^[1-9]\d*$/.test(keep.trim()) && Number(keep) <= MAX_KEPT;
  if (action === 'snapshot' && keep.trim() !== '' && !isCount)
    return t`Enter a number from 1 to ${MAX_KEPT} of snapshots to keep, or nothing to keep all.`;
  if (action === 'backup' && target === '') return t`Choose a backup target first.`;
  return action === 'backup' ? keepProblem(backupKeep) : undefined;
}
