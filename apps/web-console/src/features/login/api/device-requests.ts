import { useQuery } from '@tanstack/react-query';
import { deleteJson, getJson, postJson } from '../../../shared/api/request.js';

export const findDevice = (userCode: string) => postJson('/api/ext/login/device/request', { body: { userCode } });

export const approveDevice = (userCode: string) => postJson('/api/ext/login/device/approve', { body: { userCode } });

export const denyDevice = (userCode: string) => postJson('/api/ext/login/device/deny', { body: { userCode } });

export const DEVICES_KEY = ['own-devices'];

export const useOwnDevices = () =>
  useQuery({ queryKey: DEVICES_KEY, queryFn: ({ signal }) => getJson('/api/ext/login/devices', { signal }) });

export const revokeDevice = (id: string) => deleteJson(`/api/ext/login/devices/${id}`);
