import { createHmac } from 'node:crypto';
import { liveKitToken, mediaRoomName } from './livekit-token.js';

const grant = { key: 'k', secret: 's', userId: '@a:b', deviceId: 'D', roomId: '!r:b', now: 1000 };

describe('liveKitToken', () => {
  const [head = '', claims = '', signature = ''] = liveKitToken(grant).split('.');

  test('is signed with HS256', () => {
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(signature).toBe(createHmac('sha256', 's').update(`${head}.${claims}`).digest('base64url'));
  });

  test('admits one device of one user to one room for an hour, without creating rooms', () => {
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
      iss: 'k',
      sub: '@a:b:D',
      nbf: 1000,
      exp: 4600,
      video: { room: mediaRoomName('!r:b'), roomJoin: true, canPublish: true, canSubscribe: true },
    });
  });

  test('does not reveal the room ID to the media service', () => {
    expect(mediaRoomName('!r:b')).toMatch(/^[A-Za-z0-9+/]{43}$/);
  });
});
