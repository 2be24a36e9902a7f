import { createHmac, randomBytes } from 'node:crypto';
import type { Webhook } from '@headgate/domain-contracts';

/**
 * Begins every secret. Source:
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export const newSecret = (): string => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');

/** The secrets that sign a message now: the present one first. @param now milliseconds since the epoch */
export const secretsOf = (
  { secret, former }: Pick<Webhook, 'secret' | 'former'>,
  now: number,
): [string, ...string[]] => (former && Date.parse(former.until) > now ? [secret, former.secret] : [secret]);

export interface SignedMessage {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly timestampSeconds: number;
  readonly body: string;
}

/**
 * The headers of a message, with one signature per secret, separated by spaces: a receiver accepts a message if one of
 * them is that of its secret.
 */
export function signedHeaders(
  { id, timestampSeconds, body }: SignedMessage,
  ...secrets: readonly [string, ...string[]]
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
}
