import { type MatrixResponse, ok } from '../wire/matrix-response.js';
import { liveKitToken } from './livekit-token.js';

/** Where the media service is, and the key pair that signs for it. All three are set, or none. */
export interface CallServiceSettings {
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  readonly secret?: string | undefined;
}

/** The user and device that join the call of a room. */
export interface CallMember {
  userId: string;
  deviceId: string;
  roomId: string;
}

/** Creates the credentials with which members join the calls of their rooms. */
export class CallCredentials {
  private constructor(
    private readonly service: { url: string; key: string; secret: string },
    private readonly now: () => number,
  ) {}

  /** Undefined without a media service. */
  static of({ url, key, secret }: CallServiceSettings, now: () => number = Date.now): CallCredentials | undefined {
    if (url === undefined || key === undefined || secret === undefined) return undefined;
    return new CallCredentials({ url, key, secret }, now);
  }

  respond(member: CallMember): MatrixResponse {
    const { url, key, secret } = this.service;
    return ok({ url, jwt: liveKitToken({ key, secret, ...member, now: Math.floor(this.now() / 1000) }) });
  }
}
