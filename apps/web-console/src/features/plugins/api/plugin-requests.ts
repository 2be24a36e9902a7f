import { useQuery } from '@tanstack/react-query';
import type { PlanView, PluginView } from '@headgate/api-contracts';
import { deleteJson, getResponse, postJson } from '../../../shared/api/request.js';

const PATH = '/api/plugins';

export const PLUGINS_KEY = ['plugins'] as const;

export interface Plugins {
  readonly plugins: readonly PluginView[];
  /** Whether a store could not be read. */
  readonly isPartial: boolean;
}

export const usePlugins = () =>
  useQuery({
    queryKey: PLUGINS_KEY,
    queryFn: async ({ signal }): Promise<Plugins> => {
      const response = await getResponse(PATH, { signal });
      return {
        plugins: (await response.json()) as PluginView[],
        isPartial: response.headers.get('svc-partial') === 'true',
      };
    },
  });

const pathOf = (name: string) => `${PATH}/${encodeURIComponent(name)}` as const;

export const installPlugin = (name: string): Promise<unknown> => postJson(`${pathOf(name)}/install`);

export const previewInstallation = (name: string, signal: AbortSignal): Promise<PlanView> =>
  postJson(`${pathOf(name)}/install`, { query: { dryRun: true }, signal });

export const removePlugin = (name: string): Promise<unknown> => deleteJson(pathOf(name));

export const previewRemoval = (name: string, signal: AbortSignal): Promise<PlanView> =>
  deleteJson(pathOf(name), { query: { dryRun: true }, signal });
