import { useQuery } from '@tanstack/react-query';
import { deleteJson, getJson, patchJson, postJson } from '../../../shared/api/request.js';

export const useLoginView = () =>
  useQuery({ queryKey: ['login'], queryFn: ({ signal }) => getJson('/api/ext/login', { signal }) });

export const logIn = (login: string, password: string) =>
  postJson('/api/ext/login/password', { body: { login, password } });

export const createFirstAccount = (secret: string, login: string, password: string) =>
  postJson('/api/ext/login/first-account', { body: { secret, login, password } });

export const setUpAccount = (secret: string, login: string, password: string) =>
  postJson('/api/ext/login/setup', { body: { secret, login, password } });

export const recoverAccount = (code: string, login: string, password: string) =>
  postJson('/api/ext/login/recovery', { body: { code, login, password } });

export const SESSIONS_KEY = ['own-sessions'];

export const useOwnSessions = () =>
  useQuery({ queryKey: SESSIONS_KEY, queryFn: ({ signal }) => getJson('/api/ext/login/sessions', { signal }) });

export const endSession = (id: string) => deleteJson(`/api/ext/login/sessions/${id}`);

export const changePassword = (current: string, next: string) =>
  postJson('/api/ext/login/own-password', { body: { current, next } });

export const createRecoveryCodes = (password: string) =>
  postJson('/api/ext/login/recovery-codes', { body: { password } });

export const ACCOUNTS_KEY = ['accounts'];

export const useAccounts = (isEnabled: boolean) =>
  useQuery({
    queryKey: ACCOUNTS_KEY,
    queryFn: ({ signal }) => getJson('/api/ext/accounts', { signal }),
    enabled: isEnabled,
  });

export const createAccount = (login: string, admin: boolean) =>
  postJson('/api/ext/accounts', { body: { login, admin } });

export const resetAccount = (login: string) => postJson(`/api/ext/accounts/${encodeURIComponent(login)}/reset`);

export const changeAccount = (login: string, change: { admin?: boolean; disabled?: boolean }) =>
  patchJson(`/api/ext/accounts/${encodeURIComponent(login)}`, { body: change });

export const deleteAccount = (login: string) => deleteJson(`/api/ext/accounts/${encodeURIComponent(login)}`);
