import { useQuery } from '@tanstack/react-query';
import type {
  ChangeWebhookDto,
  CreatedWebhookView,
  CreateWebhookDto,
  PlanView,
  WebhookTestView,
  WebhookView,
} from '@headgate/api-contracts';
import { deleteJson, getJson, patchJson, postJson } from '../../../shared/api/request.js';

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

export const previewWebhookRotation = (id: string, signal: AbortSignal): Promise<PlanView> =>
  postJson(`${PATH}/${id}/rotate`, { body: {}, query: { dryRun: true }, signal });

export const rotateWebhook = (id: string): Promise<CreatedWebhookView> =>
  postJson(`${PATH}/${id}/rotate`, { body: {} });

export const changeWebhook = (id: string, body: ChangeWebhookDto): Promise<WebhookView> =>
  patchJson(`${PATH}/${id}`, { body });

export const testWebhook = (id: string): Promise<WebhookTestView> => postJson(`${PATH}/${id}/test`);

export const previewReplay = (id: string, signal: AbortSignal): Promise<PlanView> =>
  postJson(`${PATH}/${id}/replay`, { query: { dryRun: true }, signal });

export const replayWebhook = (id: string): Promise<unknown> => postJson(`${PATH}/${id}/replay`);
