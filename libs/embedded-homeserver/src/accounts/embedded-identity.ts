import { MatrixError } from '@headgate/matrix-protocol';
import { type Caller, Identity, type MatrixRequest } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { EmbeddedOptions } from '../embedded-options.js';
import { RemoteOpenId } from '../peers/remote-openid.js';
import { Accounts, type TokenOwner } from './accounts.js';
import { OpenIdTokens } from './openid-tokens.js';

export interface EmbeddedCaller extends Caller {
  readonly deviceId: string;
  readonly tokenDigest: string;
}

/** Identifies callers by the access tokens in the database. */
@Injectable()
export class EmbeddedIdentity extends Identity {
  constructor(
    private readonly options: EmbeddedOptions,
    private readonly accounts: Accounts,
    private readonly openId: OpenIdTokens,
    private readonly remote: RemoteOpenId,
  ) {
    super();
  }

  override async callerOf(request: MatrixRequest): Promise<EmbeddedCaller> {
    return this.require(request);
  }

  /** @throws MatrixError 401 */
  require(request: MatrixRequest): EmbeddedCaller {
    const token = request.token();
    if (token === undefined) throw MatrixError.missingToken();
    const owner: TokenOwner | undefined = this.accounts.owner(token);
    if (!owner) throw MatrixError.unknownToken();
    const { userId, deviceId, digest } = owner;
    return { userId, deviceId, tokenDigest: digest, exemptFromRates: false };
  }

  override async openIdUser(serverName: string, token: string): Promise<string | undefined> {
    return serverName === this.options.serverName ? this.openId.userOf(token) : this.remote.userOf(serverName, token);
  }
}
