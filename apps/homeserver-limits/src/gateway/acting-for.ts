import { MatrixError } from '@headgate/matrix-protocol';
import type { MatrixRequest } from '../wire/matrix-request.js';

const USER = 'user_id';
const DEVICE = ['device_id', 'org.matrix.msc3202.device_id'];

/** Whom an application service acts for. Servers read it from its requests only, so it means nothing in anybody else's. */
export interface ActingFor {
  userId?: string;
  deviceId?: string;
}

/** @throws MatrixError M_INVALID_PARAM for two users or two devices, of which servers might take either */
export function actingFor({ query }: MatrixRequest): ActingFor {
  return { userId: onlyOne(query.getAll(USER)), deviceId: onlyOne(DEVICE.flatMap((name) => query.getAll(name))) };
}

/** The parameters that say so, as they came. */
export const actingParameters = ({ query }: MatrixRequest): [name: string, value: string][] =>
  [...query].filter(([name]) => name === USER || DEVICE.includes(name));

function onlyOne(values: readonly string[]): string | undefined {
  const [value, other] = new Set(values);
  if (other !== undefined) throw MatrixError.invalidParam('The request acts for two users or devices.');
  return value;
}
