import { createHash, createHmac } from 'node:crypto';
import { canonicalJson } from '@headgate/matrix-protocol';

export interface LiveKitGrant {
  key: string;
  secret: string;
  userId: string;
  deviceId: string;
  roomId: string;
  /** Unix time in seconds. */
  now: number;
}

const LIFETIME_S = 3600;
const SLOT = 'm.call#ROOM';

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');

/** The room's name at the media service. It does not reveal the room ID. */
export const mediaRoomName = (roomId: string): string =>
  createHash('sha256')
    .update(canonicalJson([roomId, SLOT]))
    .digest('base64')
    .replace(/=+$/, '');

/** A JWT (HS256) that admits a member to the room's call and nothing else. */
export function liveKitToken({ key, secret, userId, deviceId, roomId, now }: LiveKitGrant): string {
  const claims = {
    iss: key,
    sub: `${userId}:${deviceId}`,
    nbf: now,
    exp: now + LIFETIME_S,
    video: { room: mediaRoomName(roomId), roomJoin: true, canPublish: true, canSubscribe: true },
  };
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
