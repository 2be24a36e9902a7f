import { MatrixError } from '@headgate/matrix-protocol';
import { type MatrixResponse, type MatrixRequest, ok, scopeOf, writableType } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { EmbeddedIdentity } from '../accounts/embedded-identity.js';
import { Handlers } from '../handlers.js';
import { ownUser } from '../own-user.js';
import { storedJson } from '../request-json.js';
import { AccountData } from './account-data.js';

@Injectable()
export class AccountDataHandlers extends Handlers {
  constructor(
    private readonly data: AccountData,
    private readonly identity: EmbeddedIdentity,
  ) {
    super();
  }

  override readonly handlers = {
    setAccountData: (request: MatrixRequest) => this.set(request),
    setRoomAccountData: (request: MatrixRequest) => this.set(request),
    getAccountData: (request: MatrixRequest) => this.get(request),
    getRoomAccountData: (request: MatrixRequest) => this.get(request),
    deleteAccountData: (request: MatrixRequest) => this.delete(request),
    deleteRoomAccountData: (request: MatrixRequest) => this.delete(request),
  };

  private async set(request: MatrixRequest): Promise<MatrixResponse> {
    const userId = ownUser(this.identity, request);
    const type = writableType(request);
    this.data.set(userId, scopeOf(request), type, await storedJson(request));
    return ok();
  }

  private get(request: MatrixRequest): MatrixResponse {
    const content = this.data.get(ownUser(this.identity, request), scopeOf(request), request.param('type'));
    if (!content) throw MatrixError.notFound('There is no account data of this type.');
    return ok(content);
  }

  private delete(request: MatrixRequest): MatrixResponse {
    this.data.delete(ownUser(this.identity, request), scopeOf(request), writableType(request));
    return ok();
  }
}
