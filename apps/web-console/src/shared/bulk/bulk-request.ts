import { t } from '@lingui/core/macro';
import type { BulkDto, BulkPlanView, BulkTaskView, PlanView, StatusView } from '@headgate/api-contracts';
import { postJson } from '../api/request.js';
import type { BulkOptions } from './bulk-options.js';
import { perLanguage } from '../texts/per-language.js';

/** What a bulk task does to each instance. */
export type BulkRequest = Pick<BulkDto, 'action' | 'force' | 'tag' | 'folder'> & BulkOptions;

const BULK = '/api/ext/bulk';

/** The answer to a dry run. A service of an earlier release has no plans of the members. */
export type BulkPlan = PlanView & Partial<Pick<BulkPlanView, 'members' | 'unplanned'>>;

/** Plans the request for each instance. Changes nothing. */
export const previewBulk = (request: BulkRequest, refs: readonly string[], signal: AbortSignal): Promise<BulkPlan> =>
  postJson(BULK, { body: { ...request, refs: [...refs] }, query: { dryRun: true }, signal });

/** Each of these returns the ID of the task. */
export const startBulk = async (request: BulkRequest, refs: readonly string[]): Promise<string> =>
  (await postJson(BULK, { body: { ...request, refs } })).task;

export const retryBulk = async (id: string): Promise<string> =>
  (await postJson(`${BULK}/${encodeURIComponent(id)}/retry`)).task;

export const cancelBulk = (id: string): Promise<StatusView> => postJson(`${BULK}/${encodeURIComponent(id)}/cancel`);

export const pauseBulk = (id: string): Promise<StatusView> => postJson(`${BULK}/${encodeURIComponent(id)}/pause`);

export const resumeBulk = (id: string): Promise<StatusView> => postJson(`${BULK}/${encodeURIComponent(id)}/resume`);

const labels = perLanguage((): Readonly<Record<BulkTaskView['action'], string>> => ({
  start: t`Start`,
  stop: t`Shut down`,
  restart: t`Restart`,
  pause: t`Pause`,
  unpause: t`Resume`,
  migrate: t`Migrate`,
  snapshot: t`Snapshot`,
  tag: t`Add tag`,
  untag: t`Remove tag`,
  folder: t`Put into folder`,
  unfolder: t`Take out of folder`,
  delete: t`Delete`,
  move: t`Move`,
  drain: t`Drain`,
  backup: t`Back up`,
}));

/** A readable name of the request, such as "Add tag night". */
export function bulkLabel(order: Pick<BulkTaskView, 'action' | 'force' | 'tag' | 'folder'>): string {
  const { action, force, tag, folder } = order;
  const object = tag ?? folder;
  if (object !== undefined) return t`${labels()[action]} ${object}`;
  return force ? t`Force stop` : labels()[action];
}
