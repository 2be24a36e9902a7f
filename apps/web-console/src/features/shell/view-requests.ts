import type { SavedViewView, SaveViewDto, StatusView, UpdateViewDto } from '@headgate/api-contracts';
import { deleteJson, getJson, patchJson, postJson } from '../../shared/api/request.js';

const VIEWS = '/api/ext/views';

export const readViews = (signal: AbortSignal): Promise<readonly SavedViewView[]> => getJson(VIEWS, { signal });

export const saveView = (view: SaveViewDto): Promise<SavedViewView> =>
  postJson(VIEWS, { body: view }) as Promise<SavedViewView>;

export const updateView = (id: string, update: UpdateViewDto): Promise<SavedViewView> =>
  patchJson(`${VIEWS}/${id}`, { body: update }) as Promise<SavedViewView>;

export const deleteView = (id: string): Promise<StatusView> => deleteJson(`${VIEWS}/${id}`) as Promise<StatusView>;
