import { jest } from '@jest/globals';
import { RfbClientFilter } from './client-filter.js';

const version = Buffer.from('RFB 003.008\n');
const handshake = Buffer.concat([version, Buffer.from([1, 0])]);
const pixelFormat = Buffer.alloc(20);
const encodings = Buffer.from([2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 7]);
const update = Buffer.from([3, 1, 0, 0, 0, 0, 4, 0, 3, 0]);
const key = Buffer.from([4, 1, 0, 0, 0, 0, 0, 0x61]);
const pointer = Buffer.from([5, 1, 0, 9, 0, 9]);
const cut = Buffer.concat([Buffer.from([6, 0, 0, 0, 0, 0, 0, 3]), Buffer.from('abc')]);
const extendedCut = Buffer.concat([Buffer.from([6, 0, 0, 0, 0xff, 0xff, 0xff, 0xfc]), Buffer.from('abcd')]);
const qemuKey = Buffer.from([255, 0, 0, 1, 0, 0, 0, 0x61, 0, 0, 0, 30]);
const fence = Buffer.from([248, 0, 0, 0, 0, 0, 0, 1, 2, 9, 9]);
const desktopSize = Buffer.concat([Buffer.from([251, 0, 0, 9, 0, 9, 1, 0]), Buffer.alloc(16)]);
const xvp = Buffer.from([250, 0, 1, 2]);

describe('RfbClientFilter', () => {
  const shared = Buffer.concat([version, Buffer.from([1, 1])]);

  test('forwards the bytes of an operator unchanged, except that the screen is shared', () => {
    const filter = new RfbClientFilter(false);
    expect(filter.pass(Buffer.concat([handshake, key]))).toEqual(Buffer.concat([shared, key]));
    expect(filter.pass(pointer)).toEqual(pointer);
    expect(filter.pass(Buffer.from([99]))).toEqual(Buffer.from([99]));
  });

  test('drops everything by which a view-only client would act on the guest, and nothing else', () => {
    const filter = new RfbClientFilter(true);
    const sent = [
      pixelFormat,
      key,
      encodings,
      pointer,
      cut,
      update,
      extendedCut,
      qemuKey,
      fence,
      desktopSize,
      xvp,
      update,
    ];
    expect(filter.pass(Buffer.concat([handshake, ...sent]))).toEqual(
      Buffer.concat([shared, pixelFormat, encodings, update, fence, update]),
    );
  });

  test('decides the same in whatever pieces the bytes arrive', () => {
    const bytes = Buffer.concat([handshake, encodings, key, cut, update, qemuKey, fence, pointer, update]);
    const whole = new RfbClientFilter(true).pass(bytes);
    for (let size = 1; size < bytes.length; size++) {
      const filter = new RfbClientFilter(true);
      const out: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) out.push(filter.pass(Buffer.from(bytes.subarray(at, at + size))));
      expect(Buffer.concat(out)).toEqual(whole);
    }
  });

  test('follows a password exchange', () => {
    const password = Buffer.alloc(16, 7);
    const filter = new RfbClientFilter(true);
    expect(filter.pass(Buffer.concat([version, Buffer.from([2]), password, Buffer.from([0]), key, update]))).toEqual(
      Buffer.concat([version, Buffer.from([2]), password, Buffer.from([1]), update]),
    );
  });

  test.each([
    ['an old protocol', Buffer.from('RFB 003.003\n')],
    ['an unknown security type', Buffer.concat([version, Buffer.from([19])])],
    ['an unknown message', Buffer.concat([handshake, Buffer.from([99])])],
    ['an unknown QEMU message', Buffer.concat([handshake, Buffer.from([255, 9])])],
    [
      'a clipboard that is too long',
      Buffer.concat([handshake, Buffer.from([6, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff]), Buffer.alloc(17_000_000)]),
    ],
  ])('refuses a view-only client that uses %s', (_what, bytes) => {
    expect(() => new RfbClientFilter(true).pass(bytes)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
  });

  test('copies a large clipboard no more than once, however small its pieces are', () => {
    const filter = new RfbClientFilter(true);
    filter.pass(handshake);
    const length = 15 * 1024 ** 2;
    const head = Buffer.from([6, 0, 0, 0, 0, 0, 0, 0]);
    head.writeInt32BE(length, 4);
    const copied = countCopiedBytes(() => {
      filter.pass(head);
      let forwarded = 0;
      for (let sent = 0; sent < length; sent += 256) forwarded += filter.pass(Buffer.alloc(256)).length;
      expect(forwarded).toBe(0);
      expect(filter.pass(update)).toEqual(update);
    });
    expect(copied).toBeLessThan(2 * length);
  });
});

/** The bytes that concatenation copies while the work runs. */
function countCopiedBytes(work: () => void): number {
  const concat = jest.spyOn(Buffer, 'concat');
  let copied = 0;
  try {
    work();
    for (const { value } of concat.mock.results) copied += (value as Buffer).length;
  } finally {
    concat.mockRestore();
  }
  return copied;
}
