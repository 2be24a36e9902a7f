import { useQuery } from '@tanstack/react-query';
import type { CreatedTokenView, CreateTokenDto, PlanView } from '@headgate/api-contracts';
import { deleteJson, getJson, postJson } from '../../../shared/api/request.js';

const PATH = '/api/ext/tokens';
export const TOKENS_KEY = ['api-tokens'] as const;

/** What an administrator does with a running agent, or with a stopped one. */
export type AgentSwitch = 'stop' | 'resume';

export const useTokens = () => useQuery({ queryKey: TOKENS_KEY, queryFn: ({ signal }) => getJson(PATH, { signal }) });

export const createToken = (order: CreateTokenDto): Promise<CreatedTokenView> => postJson(PATH, { body: order });

export const previewRotation = (id: string, signal: AbortSignal): Promise<PlanView> =>
  postJson(`${PATH}/${id}/rotate`, { query: { dryRun: true }, signal });

/** @returns the token with its new secret */
export const rotateToken = (id: string): Promise<CreatedTokenView> => postJson(`${PATH}/${id}/rotate`);

/** @param action `stop` or `resume` the agent with the token */
export const previewAgent = (action: AgentSwitch, token: string, signal: AbortSignal): Promise<PlanView> =>
  postJson(`/api/ext/agents/${action}`, { body: { token }, query: { dryRun: true }, signal });

export const switchAgent = (action: AgentSwitch, token: string): Promise<unknown> =>
  postJson(`/api/ext/agents/${action}`, { body: { token } });

export const previewRevocation = (id: string, signal: AbortSignal): Promise<PlanView> =>
  deleteJson(`${PATH}/${id}`, { query: { dryRun: true }, signal });

export const revokeToken = (id: string): Promise<unknown> => deleteJson(`${PATH}/${id}`);
