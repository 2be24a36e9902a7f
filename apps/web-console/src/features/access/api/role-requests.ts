import { useQuery } from '@tanstack/react-query';
import type { AssignRoleDto, ChangeRoleDto, PlanView, RoleAssignmentView } from '@headgate/api-contracts';
import { deleteJson, getJson, patchJson, postJson } from '../../../shared/api/request.js';
import type { AccessQuestion } from '../access-question.js';

const PATH = '/api/ext/roles';
const REFRESH_INTERVAL_MS = 15_000;
/** The roles, and the answers that depend on them. */
export const ACCESS_KEY = ['access'] as const;

export const useRoles = () =>
  useQuery({
    queryKey: [...ACCESS_KEY, 'roles'],
    queryFn: ({ signal }) => getJson(PATH, { signal }),
    refetchInterval: REFRESH_INTERVAL_MS,
  });

/** What a user or a group may do; nothing is asked while there is no question. */
export const useAccess = (question: AccessQuestion | undefined) =>
  useQuery({
    queryKey: [...ACCESS_KEY, 'question', question],
    queryFn: ({ signal }) => getJson('/api/ext/access', { query: { ...question }, signal }),
    enabled: question !== undefined,
  });

export const previewAssignment = (order: AssignRoleDto, signal: AbortSignal): Promise<PlanView> =>
  postJson(PATH, { body: order, query: { dryRun: true }, signal });

export const assignRole = (order: AssignRoleDto): Promise<RoleAssignmentView> => postJson(PATH, { body: order });

export const previewChange = (id: string, change: ChangeRoleDto, signal: AbortSignal): Promise<PlanView> =>
  patchJson(`${PATH}/${id}`, { body: change, query: { dryRun: true }, signal });

export const changeRole = (id: string, change: ChangeRoleDto): Promise<RoleAssignmentView> =>
  patchJson(`${PATH}/${id}`, { body: change });

export const previewRemoval = (id: string, signal: AbortSignal): Promise<PlanView> =>
  deleteJson(`${PATH}/${id}`, { query: { dryRun: true }, signal });

export const removeRole = (id: string): Promise<unknown> => deleteJson(`${PATH}/${id}`);
