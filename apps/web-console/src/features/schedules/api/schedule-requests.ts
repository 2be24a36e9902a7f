import { useQuery } from '@tanstack/react-query';
import type {
  CreateScheduleDto,
  PlanView,
  ScheduleDetailView,
  ScheduledRunView,
  SchedulePreviewView,
  UpdateScheduleDto,
} from '@headgate/api-contracts';
import { deleteJson, getJson, patchJson, postJson } from '../../../shared/api/request.js';

const PATH = '/api/ext/schedules';
const REFRESH_INTERVAL_MS = 15_000;
export const SCHEDULES_KEY = ['schedules'] as const;

export const useSchedules = () =>
  useQuery({
    queryKey: SCHEDULES_KEY,
    queryFn: ({ signal }) => getJson(PATH, { signal }),
    refetchInterval: REFRESH_INTERVAL_MS,
  });

export type Times = Pick<CreateScheduleDto, 'cron' | 'timeZone'>;

/** The next planned times of an expression, as the service computes them. */
export const previewTimes = (times: Times, signal: AbortSignal): Promise<SchedulePreviewView> =>
  postJson(`${PATH}/preview`, { body: times, signal });

export const createSchedule = (order: CreateScheduleDto): Promise<ScheduleDetailView> =>
  postJson(PATH, { body: order });

export const updateSchedule = (id: string, update: UpdateScheduleDto): Promise<ScheduleDetailView> =>
  patchJson(`${PATH}/${id}`, { body: update });

export const previewDeletion = (id: string, signal: AbortSignal): Promise<PlanView> =>
  deleteJson(`${PATH}/${id}`, { query: { dryRun: true }, signal });

export const deleteSchedule = (id: string): Promise<unknown> => deleteJson(`${PATH}/${id}`);

export const previewRun = (id: string, signal: AbortSignal): Promise<PlanView> =>
  postJson(`${PATH}/${id}/run`, { query: { dryRun: true }, signal });

export const runSchedule = (id: string): Promise<ScheduledRunView> => postJson(`${PATH}/${id}/run`);
