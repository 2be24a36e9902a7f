import { plainText } from '@headgate/domain-contracts';

const MAX_CHARS = 300;
/** Shorter ones occur in other words. */
const MIN_CHARS = 3;

/**
 * What a server has answered, as a person may read it: on one line, bounded, and without the secrets that it was sent,
 * which it may repeat as they are or in Base64.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const known = secrets.filter((secret) => secret.length >= MIN_CHARS);
  const forms = known.flatMap((secret) => [secret, base64(secret), encodeURIComponent(secret)]);
  // The longest first, because one may be part of another.
  forms.sort((a, b) => b.length - a.length);
  const hidden = forms.reduce((rest, form) => rest.replaceAll(form, '***'), text.slice(0, 4 * MAX_CHARS));
  return plainText(hidden, MAX_CHARS);
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
