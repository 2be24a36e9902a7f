import {
  Identity,
  type MatrixRequest,
  MAX_SMALL_JSON_VALUES,
  type MatrixResponse,
  readSfuRequest,
} from '@headgate/homeserver-contracts';
import { MatrixError } from '@headgate/matrix-protocol';
import { Injectable } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { Rules } from '../rules/rules.js';
import { Bound, type Next } from './bound.js';

const SFU_LIMIT_BYTES = 64 * 1024;

/** Credentials for the media service: every request with a live OpenID token counts, before the membership check. */
@Injectable()
export class SfuCredentialBound extends Bound {
  override readonly operations = ['sfuCredential'] as const;

  constructor(
    private readonly identity: Identity,
    private readonly rules: Rules,
    private readonly config: LiveConfig,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<MatrixResponse> {
    const { gateway, rtc } = this.config.current;
    if (gateway.upstream === undefined && rtc.url === undefined) throw MatrixError.unrecognized();
    const { serverName, openIdToken } = readSfuRequest(
      await request.json(SFU_LIMIT_BYTES, { maxValues: MAX_SMALL_JSON_VALUES }),
    );
    const userId = await this.identity.openIdUser(serverName, openIdToken, request);
    if (userId === undefined) throw MatrixError.unknownToken();
    return this.rules.run(request, [{ event: 'sfu_credential', user: userId }], next);
  }
}
