import { isJsonObject, MatrixError, parseUserId } from '@headgate/matrix-protocol';
import { type MatrixResponse, type MatrixRequest, ok } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { EmbeddedOptions } from '../embedded-options.js';
import { Handlers } from '../handlers.js';
import { Accounts, type Session } from './accounts.js';
import { deviceOf } from './device-of.js';
import { EmbeddedIdentity } from './embedded-identity.js';
import { PasswordHash } from './password-hash.js';

/** Login, logout, devices and whoami. */
@Injectable()
export class LoginHandlers extends Handlers {
  constructor(
    private readonly options: EmbeddedOptions,
    private readonly accounts: Accounts,
    private readonly identity: EmbeddedIdentity,
    private readonly passwords: PasswordHash,
  ) {
    super();
  }

  override readonly handlers = {
    loginFlows: () => ok({ flows: [{ type: 'm.login.password' }] }),
    login: (request: MatrixRequest) => this.login(request),
    whoami: (request: MatrixRequest) => this.whoami(request),
    devices: (request: MatrixRequest) => ok({ devices: this.accounts.devices(this.identity.require(request).userId) }),
    logout: (request: MatrixRequest) => this.logout(request),
    logoutAll: (request: MatrixRequest) => this.logoutAll(request),
  };

  private async login(request: MatrixRequest): Promise<MatrixResponse> {
    const body = await request.json();
    if (body.type !== 'm.login.password') throw new MatrixError(400, 'M_UNKNOWN', 'This login type is not supported.');
    if (typeof body.password !== 'string') throw MatrixError.missingParam('password');
    const device = deviceOf(body);
    const userId = this.userNamed(body);
    const isCorrect = await this.passwords.verify(body.password, userId && this.accounts.passwordHash(userId));
    if (!isCorrect || userId === undefined) throw MatrixError.forbidden('Wrong user name or password.');
    return ok(sessionBody(this.accounts.logIn(userId, device)));
  }

  private whoami(request: MatrixRequest): MatrixResponse {
    const { userId, deviceId } = this.identity.require(request);
    return ok({ user_id: userId, device_id: deviceId, is_guest: false });
  }

  private logout(request: MatrixRequest): MatrixResponse {
    const { userId, deviceId } = this.identity.require(request);
    this.accounts.removeDevice(userId, deviceId);
    return ok();
  }

  private logoutAll(request: MatrixRequest): MatrixResponse {
    this.accounts.removeAllDevices(this.identity.require(request).userId);
    return ok();
  }

  // The bound has checked that all of them name one account. Accounts have no email address or phone number here.
  private userNamed({ identifier, user: oldName, medium }: Record<string, unknown>): string | undefined {
    if (identifier === undefined && oldName === undefined && medium === undefined) {
      throw MatrixError.missingParam('identifier');
    }
    if (identifier !== undefined && !isJsonObject(identifier)) {
      throw MatrixError.badJson('identifier must be an object.');
    }
    const user = identifier?.type === 'm.id.user' ? identifier.user : oldName;
    if (typeof user !== 'string') return undefined;
    const id = parseUserId(user) ?? { localpart: user, server: this.options.serverName };
    return id.server === this.options.serverName ? `@${id.localpart.toLowerCase()}:${id.server}` : undefined;
  }
}

export const sessionBody = ({ userId, deviceId, accessToken }: Session) => ({
  user_id: userId,
  access_token: accessToken,
  device_id: deviceId,
});
