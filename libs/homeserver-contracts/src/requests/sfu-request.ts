import { isJsonObject, isRoomId, isServerName, type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import { exactMembers } from './exact-members.js';

export interface SfuRequest {
  roomId: string;
  deviceId: string;
  serverName: string;
  openIdToken: string;
}

/** Reads either of the two shapes that call clients send. @throws MatrixError M_BAD_JSON */
export function readSfuRequest(body: JsonObject): SfuRequest {
  exactMembers(body, ['openid_token']);
  const roomId = body.room ?? body.room_id;
  const member = isJsonObject(body.member) ? body.member : {};
  const deviceId = body.device_id ?? member.claimed_device_id;
  const token = isJsonObject(body.openid_token) ? body.openid_token : {};
  exactMembers(token, ['access_token', 'matrix_server_name']);
  if (!isRoomId(roomId)) throw MatrixError.badJson('room must be a room ID.');
  if (typeof deviceId !== 'string' || deviceId === '') throw MatrixError.badJson('device_id must be a string.');
  if (typeof token.access_token !== 'string') throw MatrixError.badJson('openid_token.access_token must be a string.');
  if (!isServerName(token.matrix_server_name)) {
    throw MatrixError.badJson('openid_token.matrix_server_name must be a server name.');
  }
  return { roomId, deviceId, serverName: token.matrix_server_name, openIdToken: token.access_token };
}
