import { ApiError } from '../api/api-error.js';
import { deleteJson, postJson } from '../api/request.js';

const FOLDERS = '/api/folders';
const MEMBERS = `${FOLDERS}/members`;

/** Puts an instance into a folder, which is created if it is not one of the known paths. */
export async function putIntoFolder(ref: string, path: string, known: readonly string[]): Promise<void> {
  if (!known.includes(path)) await createFolder(path);
  await postJson(MEMBERS, { body: { path, ref } });
}

/** Another user may have created it in the meantime. */
async function createFolder(path: string): Promise<void> {
  try {
    await postJson(FOLDERS, { body: { path } });
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'ALREADY_EXISTS')) throw error;
  }
}

export const takeOutOfFolder = (ref: string): Promise<unknown> => deleteJson(MEMBERS, { query: { ref } });
