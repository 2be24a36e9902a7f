import type { ApiRequest } from '../actions/api-request.js';

const FOLDERS = '/api/folders';

/** The changes of folders as data, so that they can be rehearsed, sent and shown. */
export const folderChanges = {
  create: (path: string): ApiRequest => ({ method: 'POST', path: FOLDERS, body: { path } }),
  move: (from: string, to: string): ApiRequest => ({ method: 'POST', path: `${FOLDERS}/move`, body: { from, to } }),
  remove: (path: string): ApiRequest => ({ method: 'DELETE', path: FOLDERS, query: { path } }),
} as const;
