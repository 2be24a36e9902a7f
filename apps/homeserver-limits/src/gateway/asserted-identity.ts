import type { MatrixRequest } from '@headgate/homeserver-contracts';
import { MatrixError } from '@headgate/matrix-protocol';

const USER = 'user_id';
const DEVICE = ['device_id', 'org.matrix.msc3202.device_id'];

/** The user and device as which an application service acts. Servers ignore these parameters in other requests. */
export interface AssertedIdentity {
  userId?: string;
  deviceId?: string;
}

/** @throws MatrixError M_INVALID_PARAM for two users or two devices, of which servers might take either */
export function assertedIdentity({ query }: MatrixRequest): AssertedIdentity {
  return { userId: onlyOne(query.getAll(USER)), deviceId: onlyOne(DEVICE.flatMap((name) => query.getAll(name))) };
}

/** The query parameters of the asserted identity, as received. */
export const assertedParameters = ({ query }: MatrixRequest): [name: string, value: string][] =>
  [...query].filter(([name]) => name === USER || DEVICE.includes(name));

function onlyOne(values: readonly string[]): string | undefined {
  const [value, other] = new Set(values);
  if (other !== undefined) throw MatrixError.invalidParam('The request acts for two users or two devices.');
  return value;
}
