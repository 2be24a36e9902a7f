import {
  type MatrixResponse,
  exactMembers,
  Identity,
  KEYS_LIMIT_BYTES,
  type MatrixRequest,
  MAX_KEYS_VALUES,
  oneTimeKeysIn,
} from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { Bound, type Next } from './bound.js';
import { Caps } from '../rules/caps.js';
import { Rules } from '../rules/rules.js';

/**
 * A dehydrated device (MSC3814) is uploaded with its one-time keys. It replaces the previous one, so these are all its
 * keys.
 */
@Injectable()
export class DehydratedDeviceBound extends Bound {
  override readonly operations = ['setDehydratedDevice'] as const;

  constructor(
    private readonly identity: Identity,
    private readonly caps: Caps,
    private readonly rules: Rules,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<MatrixResponse> {
    const caller = await this.identity.callerOf(request);
    const body = await request.json(KEYS_LIMIT_BYTES, { maxValues: MAX_KEYS_VALUES });
    exactMembers(body, ['one_time_keys']);
    if (this.rules.isExempt(request, caller)) return next();
    this.caps.requireRoom(this.caps.oneTimeKeys, Object.keys(oneTimeKeysIn(body)).length);
    return next();
  }
}
