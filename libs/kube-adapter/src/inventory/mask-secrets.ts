import type { Json, JsonObject } from '@headgate/domain-contracts';

export const MASK = '***';

/** Fields with secret text, at any depth of an object. */
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

/** kubectl stores the whole object, including user data, in this annotation. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** A copy of an object without its secrets: user data, passwords, keys, and credentials in URLs. */
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

/** Image URLs may contain passwords and signed queries. */
function maskUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (!url.username && !url.password && !url.search) return text;
  if (url.username) url.username = MASK;
  if (url.password) url.password = MASK;
  if (url.search) url.search = MASK;
  return url.toString();
}
