import { useQuery } from '@tanstack/react-query';
import type { AddContextDto, ChangeContextDto, PlanView, TestContextDto } from '@headgate/api-contracts';
import { deleteJson, getJson, patchJson, postJson } from '../../../shared/api/request.js';

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

const pathOf = (name: string) => `${PATH}/${encodeURIComponent(name)}` as const;

export const previewChange = (name: string, order: ChangeContextDto, signal: AbortSignal): Promise<PlanView> =>
  patchJson(pathOf(name), { body: order, query: { dryRun: true }, signal }) as Promise<PlanView>;

export const changeContext = (name: string, order: ChangeContextDto): Promise<unknown> =>
  patchJson(pathOf(name), { body: order });

export const previewRemoval = (name: string, signal: AbortSignal): Promise<PlanView> =>
  deleteJson(pathOf(name), { query: { dryRun: true }, signal });

export const removeContext = (name: string): Promise<unknown> => deleteJson(pathOf(name));
