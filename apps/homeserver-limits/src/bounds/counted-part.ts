import {
  type CountedOperation,
  exactMembers,
  KEYS_LIMIT_BYTES,
  MAX_KEYS_VALUES,
  MAX_SMALL_JSON_VALUES,
  type MatrixRequest,
} from '@headgate/homeserver-contracts';
import { accountKey, isJsonObject } from '@headgate/matrix-protocol';
import type { RulePart } from '../rules/rules.js';
import type { RecipientKeys } from '../state/recipient-keys.js';

const TOKEN_LIMIT_BYTES = 64 * 1024;

export interface CountedPartOptions {
  /** Undefined if no rule depends on the recipient. */
  readonly recipients: RecipientKeys | undefined;
  /** Of the accounts. */
  readonly serverName: string;
}

/**
 * What rules have to know about a request besides its caller. Bodies are only read where a decision depends on them.
 * @throws MatrixError for a body that is no JSON object, or is larger than the endpoint needs
 */
export async function countedPart(
  request: MatrixRequest,
  operation: CountedOperation,
  { recipients, serverName }: CountedPartOptions,
): Promise<Pick<RulePart, 'account' | 'amount' | 'recipient'>> {
  switch (operation) {
    case 'requestEmailToken':
      return recipients ? { recipient: recipients.of('email', await memberOf(request, 'email')) } : {};
    case 'requestPhoneToken':
      return recipients ? { recipient: recipients.of('msisdn', await memberOf(request, 'phone_number')) } : {};
    case 'authLogin':
      return { account: accountOf(await fieldOf(request, 'username'), serverName) };
    case 'authRecovery':
      return recipients ? { recipient: recipients.of('email', await fieldOf(request, 'email')) } : {};
    case 'queryKeys':
      return { amount: await amountIn(request, 'device_keys') };
    case 'claimKeys':
      return { amount: await amountIn(request, 'one_time_keys') };
    default:
      return {};
  }
}

/** The member that names the recipient. Servers read no other one on the path of its medium. */
async function memberOf(request: MatrixRequest, name: string): Promise<unknown> {
  const body = await request.json(TOKEN_LIMIT_BYTES, { maxValues: MAX_SMALL_JSON_VALUES });
  exactMembers(body, [name]);
  return body[name];
}

/** A field of a form. Of several, the first: the service refuses such forms. */
async function fieldOf(request: MatrixRequest, name: string): Promise<string | undefined> {
  const body = await request.bytes(TOKEN_LIMIT_BYTES);
  return new URLSearchParams(body.toString('utf8')).get(name) ?? undefined;
}

/** The account of a user name, a user ID or an email address. */
function accountOf(name: string | undefined, serverName: string): string | undefined {
  if (name === undefined || name.trim() === '') return undefined;
  const isEmail = name.lastIndexOf('@') > 0;
  return accountKey(isEmail ? { medium: 'email', address: name } : { user: name }, serverName);
}

/** How many devices a request asks for. A user without a list of devices counts as one. */
async function amountIn(request: MatrixRequest, member: string): Promise<number> {
  const body = await request.json(KEYS_LIMIT_BYTES, { maxValues: MAX_KEYS_VALUES });
  exactMembers(body, [member]);
  const users = body[member];
  if (!isJsonObject(users)) return Math.max(1, sizeOf(users));
  return Object.values(users).reduce<number>((sum, devices) => sum + Math.max(1, sizeOf(devices)), 0);
}

function sizeOf(devices: unknown): number {
  if (Array.isArray(devices)) return devices.length;
  return isJsonObject(devices) ? Object.keys(devices).length : 0;
}
