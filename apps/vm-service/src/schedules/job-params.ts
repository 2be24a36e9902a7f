import type { BulkQuery, ScheduleJobDto } from '@headgate/api-contracts';
import type { ScheduledJob } from '@headgate/domain-contracts';

/** The job of a schedule as it is stored: an action on the instances that match a query at the time of the run. */
export const scheduledJob = (params: ScheduleJobDto): ScheduledJob => ({
  kind: params.action === 'backup' ? 'backup' : 'bulk',
  params: JSON.parse(JSON.stringify(params)) as ScheduleJobDto,
});

export const paramsOf = ({ params }: ScheduledJob): ScheduleJobDto => params as ScheduleJobDto;

/** Where the instances of a query are, for the journal. */
export const placesOf = ({ q, context, folder }: BulkQuery): string =>
  [q, context && `in context ${context}`, folder && `in folder ${folder}`].filter(Boolean).join(', ');
