import { useQuery } from '@tanstack/react-query';
import type { AddContextDto, PlanView, TestContextDto } from '@headgate/api-contracts';
import { deleteJson, getJson, postJson } from '../../../shared/api/request.js';

const PATH = '/api/ext/contexts';
const REFRESH_INTERVAL_MS = 5000;
export const CONTEXTS_KEY = ['settings', 'contexts'] as const;

export const useContextList = () =>
  useQuery({
    queryKey: CONTEXTS_KEY,
    queryFn: ({ signal }) => getJson(PATH, { signal }),
    refetchInterval: REFRESH_INTERVAL_MS,
  });

export const testContext = (order: TestContextDto) => postJson(`${PATH}/test`, { body: order });

export const addContext = (order: AddContextDto) => postJson(PATH, { body: order });

export const previewRemoval = (name: string, signal: AbortSignal): Promise<PlanView> =>
  deleteJson(`${PATH}/${encodeURIComponent(name)}`, { query: { dryRun: true }, signal });

export const removeContext = (name: string): Promise<unknown> => deleteJson(`${PATH}/${encodeURIComponent(name)}`);
