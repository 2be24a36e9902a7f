import { isJsonObject, type JsonObject, MatrixError } from '@headgate/matrix-protocol';

const TEXTS = ['app_display_name', 'device_display_name', 'lang'];

/**
 * The listed form of a pusher, from the request that sets it.
 * @throws MatrixError M_MISSING_PARAM, M_INVALID_PARAM
 */
export function describePusher({ append, ...pusher }: JsonObject): JsonObject {
  if (append !== undefined && typeof append !== 'boolean')
    throw MatrixError.invalidParam('append must be true or false.');
  for (const name of ['pushkey', 'app_id', ...TEXTS]) requireText(pusher, name);
  if (pusher.pushkey === '' || pusher.app_id === '')
    throw MatrixError.invalidParam('pushkey and app_id must not be empty.');
  if (pusher.profile_tag !== undefined) requireText(pusher, 'profile_tag');
  const { kind, data } = pusher;
  if (kind !== 'http' && kind !== 'email') throw MatrixError.invalidParam('kind must be http, email or null.');
  if (data === undefined) throw MatrixError.missingParam('data');
  if (!isJsonObject(data)) throw MatrixError.invalidParam('data must be an object.');
  if (data.format !== undefined) requireText(data, 'format');
  if (kind === 'http') checkPushUrl(data.url);
  else if (pusher.app_id !== 'm.email')
    throw MatrixError.invalidParam('The app_id of an email pusher must be m.email.');
  return pusher;
}

function requireText(object: JsonObject, name: string): void {
  if (object[name] === undefined) throw MatrixError.missingParam(name);
  if (typeof object[name] !== 'string') throw MatrixError.invalidParam(`${name} must be a string.`);
}

function checkPushUrl(url: unknown): void {
  if (url === undefined) throw MatrixError.missingParam('data.url');
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'https:' || parsed.pathname !== '/_matrix/push/v1/notify') {
    throw MatrixError.invalidParam('data.url must be an https URL with the path /_matrix/push/v1/notify.');
  }
}
