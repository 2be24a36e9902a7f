import { isLocalpart, type JsonObject, MatrixError, utf8Length } from '@headgate/matrix-protocol';
import { randomInt } from 'node:crypto';
import { type MatrixResponse, type MatrixRequest, ok } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { EmbeddedOptions } from '../embedded-options.js';
import { Handlers } from '../handlers.js';
import { Accounts } from './accounts.js';
import { deviceOf } from './device-of.js';
import { InteractiveAuth } from './interactive-auth.js';
import { sessionBody } from './login.handlers.js';
import { PasswordHash } from './password-hash.js';

/** Registration. */
@Injectable()
export class RegisterHandlers extends Handlers {
  constructor(
    private readonly options: EmbeddedOptions,
    private readonly accounts: Accounts,
    private readonly passwords: PasswordHash,
    private readonly interactiveAuth: InteractiveAuth,
  ) {
    super();
  }

  override readonly handlers = {
    register: (request: MatrixRequest) => this.register(request),
    registerAvailable: (request: MatrixRequest) => this.available(request),
  };

  private async register(request: MatrixRequest): Promise<MatrixResponse> {
    const body = await request.json();
    if (!this.options.registration) throw MatrixError.forbidden('Registration is disabled on this server.');
    if (request.query.get('kind') === 'guest') throw MatrixError.forbidden('This server has no guest accounts.');
    const device = deviceOf(body);
    const userId = this.newUserId(body);
    if (body.password !== undefined && typeof body.password !== 'string') {
      throw MatrixError.badJson('password must be a string.');
    }
    const challenge = this.interactiveAuth.challenge(body);
    if (challenge) return challenge;
    if (!body.password) throw MatrixError.missingParam('password');
    const created = this.accounts.create(userId, await this.passwords.hash(body.password));
    if (!created) throw taken();
    if (body.inhibit_login === true) return ok({ user_id: userId });
    return ok(sessionBody(this.accounts.logIn(userId, device)));
  }

  private available(request: MatrixRequest): MatrixResponse {
    this.newUserId({ username: request.query.get('username') ?? '' });
    return ok({ available: true });
  }

  /** Checked before authentication. @throws MatrixError M_INVALID_USERNAME, M_USER_IN_USE */
  private newUserId({ username = generatedName() }: JsonObject): string {
    const userId = `@${String(username)}:${this.options.serverName}`;
    if (!isLocalpart(username) || utf8Length(userId) > 255) {
      throw new MatrixError(
        400,
        'M_INVALID_USERNAME',
        'A user name has the characters a-z 0-9 . _ = - / + and, with the server name, at most 255 bytes.',
      );
    }
    if (this.accounts.exists(userId)) throw taken();
    return userId;
  }
}

const taken = () => new MatrixError(400, 'M_USER_IN_USE', 'This user name is taken.');
const generatedName = () => `user${randomInt(1e9, 1e12)}`;
