import { useQuery } from '@tanstack/react-query';
import type { CreatedWebhookView, CreateWebhookDto, PlanView } from '@headgate/api-contracts';
import { deleteJson, getJson, postJson } from '../../../shared/api/request.js';

const PATH = '/api/ext/webhooks';
const REFRESH_INTERVAL_MS = 15_000;
export const WEBHOOKS_KEY = ['webhooks'] as const;

export const useWebhooks = () =>
  useQuery({
    queryKey: WEBHOOKS_KEY,
    queryFn: ({ signal }) => getJson(PATH, { signal }),
    refetchInterval: REFRESH_INTERVAL_MS,
  });

export const createWebhook = (order: CreateWebhookDto): Promise<CreatedWebhookView> => postJson(PATH, { body: order });

export const previewDeletion = (id: string, signal: AbortSignal): Promise<PlanView> =>
  deleteJson(`${PATH}/${id}`, { query: { dryRun: true }, signal });

export const deleteWebhook = (id: string): Promise<unknown> => deleteJson(`${PATH}/${id}`);

export const previewReplay = (id: string, signal: AbortSignal): Promise<PlanView> =>
  postJson(`${PATH}/${id}/replay`, { query: { dryRun: true }, signal });

export const replayWebhook = (id: string): Promise<unknown> => postJson(`${PATH}/${id}/replay`);
