import { fieldForbidden, fieldInvalid, fieldRequired, type StatusCause } from '../api-error.js';
import { deepEqual } from '../deep-copy.js';
import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition, ResourceStrategy } from '../resource-definition.js';
import {
  anything,
  boolean,
  int64,
  integer,
  object,
  oneOf,
  string,
  time,
  withDefault,
} from '../schema/schema-builders.js';
import { newUid } from '../store/new-object.js';
import { age, humanDuration } from '../table/human-duration.js';
import { builtIn } from './built-in.js';
import { ageColumn, column } from './column.js';
import { podTemplate } from './pod-schema.js';
import { conditions, labelSelector } from './shared-schemas.js';

export interface Job extends KubeObject {
  spec: {
    completions?: number;
    parallelism?: number;
    backoffLimit?: number;
    activeDeadlineSeconds?: number;
    ttlSecondsAfterFinished?: number;
    suspend?: boolean;
    manualSelector?: boolean;
    selector?: { matchLabels?: Record<string, string> };
    template: {
      metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
      spec: { restartPolicy?: string };
    };
  };
  status?: {
    active?: number;
    ready?: number;
    succeeded?: number;
    failed?: number;
    startTime?: string;
    completionTime?: string;
    conditions?: {
      type: string;
      status: string;
      reason?: string;
      message?: string;
      lastProbeTime?: string;
      lastTransitionTime?: string;
    }[];
  };
}

/** The labels of the pods of a Job, with the older names that the server still sets. */
const podLabels = (uid: string, name: string): Record<string, string> => ({
  'batch.kubernetes.io/controller-uid': uid,
  'controller-uid': uid,
  'batch.kubernetes.io/job-name': name,
  'job-name': name,
});

const DEFAULT_BACKOFF_LIMIT = 6;

const strategy: ResourceStrategy = {
  prepareForCreate: (draft) => {
    const { metadata, spec } = draft as Job;
    metadata.uid ??= newUid();
    if (!spec?.template) return;
    spec.backoffLimit ??= DEFAULT_BACKOFF_LIMIT;
    if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
    spec.parallelism ??= 1;
    if (spec.manualSelector) return;
    spec.selector = { matchLabels: { 'batch.kubernetes.io/controller-uid': metadata.uid } };
    const template = (spec.template.metadata ??= {});
    template.labels = { ...template.labels, ...podLabels(metadata.uid, metadata.name) };
  },
  validate: (object, previous) => {
    const { spec } = object as Job;
    const causes: StatusCause[] = [];
    for (const field of [
      'completions',
      'parallelism',
      'backoffLimit',
      'activeDeadlineSeconds',
      'ttlSecondsAfterFinished',
    ] as const) {
      const value = spec[field];
      if (value !== undefined && value < 0)
        causes.push(fieldInvalid(`spec.${field}`, value, 'must be greater than or equal to 0'));
    }
    if (!['OnFailure', 'Never'].includes(spec.template.spec.restartPolicy ?? ''))
      causes.push(fieldRequired('spec.template.spec.restartPolicy', 'valid values: "OnFailure", "Never"'));
    if (previous && !deepEqual(spec.template, (previous as Job).spec.template) && !(previous as Job).spec.suspend)
      causes.push(fieldForbidden('spec.template', 'field is immutable'));
    return causes;
  },
};

/** The condition with which a Job has ended; undefined while it runs. */
export const endOfJob = ({ status }: Job): 'Complete' | 'Failed' | undefined =>
  (['Complete', 'Failed'] as const).find((end) =>
    status?.conditions?.some((condition) => condition.type === end && condition.status === 'True'),
  );

function jobStatus(job: Job): string {
  const { metadata, spec } = job;
  const end = endOfJob(job);
  if (end) return end;
  if (metadata.deletionTimestamp) return 'Terminating';
  return spec.suspend ? 'Suspended' : 'Running';
}

function jobDuration({ status }: Job, nowMs: number): string {
  if (status?.startTime === undefined) return '';
  if (status.completionTime === undefined) return age(status.startTime, nowMs);
  return humanDuration(Date.parse(status.completionTime) - Date.parse(status.startTime));
}

export const jobs: ResourceDefinition = builtIn({
  group: 'batch',
  kind: 'Job',
  categories: ['all'],
  statusSubresource: true,
  strategy,
  schema: object(
    {
      spec: object(
        {
          completions: integer(),
          parallelism: integer(),
          backoffLimit: integer('How many pods may fail before the Job fails.'),
          activeDeadlineSeconds: int64(),
          ttlSecondsAfterFinished: integer(),
          completionMode: withDefault('NonIndexed', oneOf(['NonIndexed', 'Indexed'])),
          podReplacementPolicy: withDefault('TerminatingOrFailed', oneOf(['TerminatingOrFailed', 'Failed'])),
          podFailurePolicy: anything(),
          successPolicy: anything(),
          backoffLimitPerIndex: integer(),
          maxFailedIndexes: integer(),
          managedBy: string(),
          manualSelector: boolean(),
          selector: labelSelector,
          suspend: withDefault(false, boolean()),
          template: podTemplate,
        },
        ['template'],
      ),
      status: object({
        active: integer(),
        ready: integer(),
        succeeded: integer(),
        failed: integer(),
        terminating: integer(),
        startTime: time(),
        completionTime: time(),
        completedIndexes: string(),
        failedIndexes: string(),
        uncountedTerminatedPods: anything(),
        conditions,
      }),
    },
    [],
    'Runs pods until they complete.',
  ),
  columns: [
    column<Job>('Status', jobStatus),
    column<Job>('Completions', ({ spec, status }) => `${status?.succeeded ?? 0}/${spec.completions ?? 1}`),
    column<Job>('Duration', jobDuration),
    ageColumn,
  ],
});
