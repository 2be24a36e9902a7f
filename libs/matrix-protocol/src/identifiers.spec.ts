import {
  isEventId,
  isLocalpart,
  isMediaId,
  isOpaqueId,
  isRoomAlias,
  isRoomId,
  isServerName,
  parseUserId,
  utf8Length,
} from './identifiers.js';
import { Random } from './testing/random.js';

describe('identifiers', () => {
  test.each([['a.example'], ['localhost:8448'], ['1.2.3.4'], ['[::1]:80'], ['A.example']])(
    'accepts the server %s',
    (name) => expect(isServerName(name)).toBe(true),
  );
  test.each([[''], ['a b'], ['a/b'], ['a:port'], ['user@a'], ['a:80:80'], ['-a'], [5], ['a'.repeat(256)]])(
    'refuses the server %p',
    (name) => expect(isServerName(name)).toBe(false),
  );

  test('splits a user ID at the first colon', () => {
    expect(parseUserId('@nora:b.example:8448')).toEqual({ localpart: 'nora', server: 'b.example:8448' });
  });
  test.each([['nora:b.example'], ['@:b.example'], ['@nora'], ['@nora:'], [null], [`@${'é'.repeat(125)}:b.example`]])(
    'refuses the user ID %p',
    (id) => expect(parseUserId(id)).toBeUndefined(),
  );

  test.each([
    ['[::1]'],
    ['[2001:db8::ff:1]:8448'],
    ['[::ffff:1.2.3.4]'],
    ['1.2.3.4:65535'],
    ['a.example.'],
    ['xn--bcher-kva.example'],
  ])('accepts the server %s, alone and in IDs', (server) => {
    expect(isServerName(server)).toBe(true);
    expect(parseUserId(`@n:${server}`)).toEqual({ localpart: 'n', server });
    expect([isRoomId(`!r:${server}`), isRoomAlias(`#r:${server}`)]).toEqual([true, true]);
  });

  test.each([
    ['[::1'],
    ['::1'],
    ['[::1]80'],
    ['[::1]:'],
    ['[g::1]'],
    ['[]'],
    ['a:123456'],
    ['a\n'],
    ['a.example/'],
    ['ä.example'],
  ])('refuses the server %j, alone and in IDs', (server) => {
    expect(isServerName(server)).toBe(false);
    expect(parseUserId(`@n:${server}`)).toBeUndefined();
    expect([isRoomId(`!r:${server}`), isRoomAlias(`#r:${server}`)]).toEqual([false, false]);
  });

  test.each([['Nora'], ['a!b'], ['a;"b'], ['ü'], ['+1=2/3']])('accepts the historical localpart %j', (localpart) => {
    expect(parseUserId(`@${localpart}:b.example`)).toEqual({ localpart, server: 'b.example' });
    if (localpart !== '+1=2/3') expect(isLocalpart(localpart)).toBe(false);
  });

  test.each([['a\u0000b'], ['a b'], ['a\u0085'], ['a\n'], ['a\ud800']])('refuses %j in any ID', (text) => {
    expect(parseUserId(`@${text}:b.example`)).toBeUndefined();
    expect([isRoomId(`!${text}:b.example`), isRoomId(`!${text}`), isEventId(`$${text}`)]).toEqual([
      false,
      false,
      false,
    ]);
    expect(isRoomAlias(`#${text}:b.example`)).toBe(text === 'a b');
  });

  test.each([1, 2, 3])(
    'accepts IDs of 255 bytes and refuses those of 256, whatever their characters (seed %i)',
    (seed) => {
      const random = new Random(seed);
      for (let i = 0; i < 300; i++) {
        const start = random.text('aZ9é漢😀', 60);
        const fill = (bytes: number) => start + 'x'.repeat(bytes - 1 - utf8Length(`${start}:b.example`));
        const accepts = (text: string) => [
          parseUserId(`@${text}:b.example`) !== undefined,
          isRoomAlias(`#${text}:b.example`),
          isRoomId(`!${text}:b.example`),
          isEventId(`$${text}:b.example`),
        ];
        expect(accepts(fill(255))).toEqual([true, true, true, true]);
        expect(accepts(fill(256))).toEqual([false, false, false, false]);
      }
    },
  );

  test('measures IDs in bytes, not in characters', () => {
    expect(isRoomAlias(`#${'é'.repeat(122)}:b.example`)).toBe(true);
    expect(isRoomAlias(`#${'é'.repeat(123)}:b.example`)).toBe(false);
  });

  test('accepts room IDs with and without a server', () => {
    expect(isRoomId('!r:b.example')).toBe(true);
    expect(isRoomId('!31hneApxJ_1o-63DmFrpeqnkFfWppnzWso1JvH3ogLM')).toBe(true);
    expect(isRoomId('!')).toBe(false);
    expect(isRoomId('#r:b.example')).toBe(false);
  });

  test('validates localparts, opaque IDs and media IDs', () => {
    expect([isLocalpart('a-z_0.9=/+'), isLocalpart('Nora'), isLocalpart('')]).toEqual([true, false, false]);
    expect([isOpaqueId('A~z.-_9'), isOpaqueId('a/b'), isOpaqueId('a'.repeat(256))]).toEqual([true, false, false]);
    expect([isMediaId('Az_-9'), isMediaId('../x')]).toEqual([true, false]);
  });
});
