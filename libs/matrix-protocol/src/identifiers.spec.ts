import { isLocalpart, isMediaId, isOpaqueId, isRoomAlias, isRoomId, isServerName, parseUserId } from './identifiers.js';

describe('identifiers', () => {
  test.each([['a.example'], ['localhost:8448'], ['1.2.3.4'], ['[::1]:80'], ['A.example']])(
    'takes the server %s',
    (name) => expect(isServerName(name)).toBe(true),
  );
  test.each([[''], ['a b'], ['a/b'], ['a:port'], ['user@a'], ['a:80:80'], ['-a'], [5], ['a'.repeat(256)]])(
    'refuses the server %p',
    (name) => expect(isServerName(name)).toBe(false),
  );

  test('takes a user id apart at the first colon', () => {
    expect(parseUserId('@nora:b.example:8448')).toEqual({ localpart: 'nora', server: 'b.example:8448' });
  });
  test.each([['nora:b.example'], ['@:b.example'], ['@nora'], ['@nora:'], [null], [`@${'é'.repeat(125)}:b.example`]])(
    'refuses the user id %p',
    (id) => expect(parseUserId(id)).toBeUndefined(),
  );

  test('measures ids in bytes, not in characters', () => {
    expect(isRoomAlias(`#${'é'.repeat(122)}:b.example`)).toBe(true);
    expect(isRoomAlias(`#${'é'.repeat(123)}:b.example`)).toBe(false);
  });

  test('takes room ids with and without a server', () => {
    expect(isRoomId('!r:b.example')).toBe(true);
    expect(isRoomId('!31hneApxJ_1o-63DmFrpeqnkFfWppnzWso1JvH3ogLM')).toBe(true);
    expect(isRoomId('!')).toBe(false);
    expect(isRoomId('#r:b.example')).toBe(false);
  });

  test('knows what a localpart, an opaque id and a media id may hold', () => {
    expect([isLocalpart('a-z_0.9=/+'), isLocalpart('Nora'), isLocalpart('')]).toEqual([true, false, false]);
    expect([isOpaqueId('A~z.-_9'), isOpaqueId('a/b'), isOpaqueId('a'.repeat(256))]).toEqual([true, false, false]);
    expect([isMediaId('Az_-9'), isMediaId('../x')]).toEqual([true, false]);
  });
});
