import { call, type CallOptions, type Reply } from './http-client.js';

let last = 0;

/** An unused source address, with the whole budget for registrations. */
export const freshAddress = (): string => `10.${(++last >> 16) & 255}.${(last >> 8) & 255}.${last & 255}`;

/** A registered account with one device, and requests with its token. */
export class MatrixUser {
  private constructor(
    readonly base: string,
    readonly name: string,
    readonly userId: string,
    readonly deviceId: string,
    readonly token: string,
  ) {}

  static readonly password = 'correct horse';

  static async register(base: string, name = `user${Date.now().toString(36)}${++last}`): Promise<MatrixUser> {
    const body = { username: name, password: MatrixUser.password, auth: { type: 'm.login.dummy' } };
    const reply = await call(base, 'POST', '/_matrix/client/v3/register', { body, from: freshAddress() });
    if (reply.status !== 200) throw new Error(`registration: ${reply.status} ${reply.bytes.toString('utf8')}`);
    const { user_id, device_id, access_token } = reply.body;
    return new MatrixUser(base, name, user_id, device_id, access_token);
  }

  /** The same account as seen through another server. */
  through(base: string): MatrixUser {
    return new MatrixUser(base, this.name, this.userId, this.deviceId, this.token);
  }

  call(method: string, target: string, body?: CallOptions['body'], headers?: Record<string, string>): Promise<Reply> {
    return call(this.base, method, target, { token: this.token, body, headers });
  }

  async createRoom(body: object = {}): Promise<string> {
    const reply = await this.call('POST', '/_matrix/client/v3/createRoom', body);
    if (reply.status !== 200) throw new Error(`createRoom: ${reply.status} ${reply.bytes.toString('utf8')}`);
    return reply.body.room_id;
  }

  /** A path below the user's own, with the encoded ID. */
  path(rest: string): string {
    return `/_matrix/client/v3/user/${encodeURIComponent(this.userId)}/${rest}`;
  }
}
