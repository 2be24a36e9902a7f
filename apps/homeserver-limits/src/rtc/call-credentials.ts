import type { RtcSection } from '../config/rtc.section.js';
import { type Answer, ok } from '../wire/answer.js';
import { liveKitToken } from './livekit-token.js';

/** Who asks to join the call of which room, with which of his devices. */
export interface CallMember {
  userId: string;
  deviceId: string;
  roomId: string;
}

/** Makes the credentials with which members join the calls of their rooms. */
export class CallCredentials {
  private constructor(
    private readonly service: { url: string; key: string; secret: string },
    private readonly now: () => number,
  ) {}

  /** Undefined where there is no media service. */
  static of({ url, key, secret }: Readonly<RtcSection>, now: () => number = Date.now): CallCredentials | undefined {
    if (url === undefined || key === undefined || secret === undefined) return undefined;
    return new CallCredentials({ url, key, secret }, now);
  }

  answer(member: CallMember): Answer {
    const { url, key, secret } = this.service;
    return ok({ url, jwt: liveKitToken({ key, secret, ...member, now: Math.floor(this.now() / 1000) }) });
  }
}
