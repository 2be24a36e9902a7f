import type { Json, JsonObject } from '@headgate/domain-contracts';

export const MASK = '***';

/** Fields whose text is a secret wherever it stands in an object of the cluster. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'userData',
  'userDataBase64',
  'networkData',
  'networkDataBase64',
  'password',
  'passphrase',
  'token',
  'privateKey',
  'accessKeyId',
  'secretKey',
  'extraHeaders',
  'data',
  'stringData',
]);

/** kubectl keeps the whole object, user data and all, in this annotation. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** A copy of an object with everything secret in it replaced: user data, passwords, keys, credentials in addresses. */
export function maskSecrets(value: Json, field = ''): Json {
  if (typeof value === 'string') {
    if (SECRET_FIELDS.has(field) || field === LAST_APPLIED) return MASK;
    return field === 'url' || field === 'uri' ? maskUrl(value) : value;
  }
  if (Array.isArray(value)) return value.map((item: Json) => (SECRET_FIELDS.has(field) ? MASK : maskSecrets(item)));
  if (value === null || typeof value !== 'object') return value;
  const masked: Record<string, Json> = {};
  for (const [name, item] of Object.entries(value as JsonObject)) {
    masked[name] = SECRET_FIELDS.has(field) && typeof item === 'string' ? MASK : maskSecrets(item, name);
  }
  return masked;
}

/** Passwords and signed queries stand in image addresses. */
function maskUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (!url.username && !url.password && !url.search) return text;
  if (url.username) url.username = MASK;
  if (url.password) url.password = MASK;
  if (url.search) url.search = MASK;
  return url.toString();
}
