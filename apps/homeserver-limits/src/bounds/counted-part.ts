import {
  type CountedOperation,
  exactMembers,
  KEYS_LIMIT_BYTES,
  MAX_KEYS_VALUES,
  MAX_SMALL_JSON_VALUES,
  type MatrixRequest,
} from '@headgate/homeserver-contracts';
import { isJsonObject } from '@headgate/matrix-protocol';
import type { RulePart } from '../rules/rules.js';
import type { RecipientKeys } from '../state/recipient-keys.js';

const TOKEN_LIMIT_BYTES = 64 * 1024;

/**
 * What rules have to know about a request besides its caller. Bodies are only read where a decision depends on them.
 * @param recipients left out if no rule depends on the recipient
 * @throws MatrixError for a body that is no JSON object, or is larger than the endpoint needs
 */
export async function countedPart(
  request: MatrixRequest,
  operation: CountedOperation,
  recipients: RecipientKeys | undefined,
): Promise<Pick<RulePart, 'amount' | 'recipient'>> {
  switch (operation) {
    case 'requestEmailToken':
      return recipients ? { recipient: recipients.of('email', await memberOf(request, 'email')) } : {};
    case 'requestPhoneToken':
      return recipients ? { recipient: recipients.of('msisdn', await memberOf(request, 'phone_number')) } : {};
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
