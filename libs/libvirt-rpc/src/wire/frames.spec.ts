import { FrameDecoder, HEADER_BYTES, LENGTH_BYTES, MAX_MESSAGE_BYTES } from './frames.js';

const frame = (payload: Buffer): Buffer => {
  const message = Buffer.concat([Buffer.alloc(LENGTH_BYTES + HEADER_BYTES), payload]);
  message.writeUInt32BE(message.length);
  return message;
};

const lengthField = (length: number): Buffer => {
  const bytes = Buffer.alloc(LENGTH_BYTES);
  bytes.writeUInt32BE(length);
  return bytes;
};

describe('FrameDecoder', () => {
  const payloads = [Buffer.alloc(0), Buffer.from('one'), Buffer.alloc(200_000, 7), Buffer.from('last')];
  const stream = Buffer.concat(payloads.map(frame));

  test.each([1, 3, 4, 27, 28, 29, 65_536, stream.length])(
    'splits a stream that arrives in chunks of %d bytes',
    (size) => {
      const decoder = new FrameDecoder();
      const found: Buffer[] = [];
      for (let from = 0; from < stream.length; from += size) {
        found.push(...decoder.push(stream.subarray(from, from + size)));
      }
      expect(found.map((message) => message.subarray(HEADER_BYTES).toString('latin1'))).toEqual(
        payloads.map((payload) => payload.toString('latin1')),
      );
    },
  );

  test('keeps an incomplete message for later', () => {
    const decoder = new FrameDecoder();
    const message = frame(Buffer.from('whole'));
    expect(decoder.push(message.subarray(0, -1))).toEqual([]);
    expect(decoder.push(message.subarray(-1))).toHaveLength(1);
  });

  test.each([0, 1, LENGTH_BYTES, LENGTH_BYTES + HEADER_BYTES - 1, MAX_MESSAGE_BYTES + LENGTH_BYTES + 1, 0xffffffff])(
    'refuses an announced length of %d bytes',
    (length) => {
      const inOneChunk = (): unknown => new FrameDecoder().push(lengthField(length));
      expect(inOneChunk).toThrow(expect.objectContaining({ failure: 'protocol' }));
      const byteByByte = (): void => {
        const decoder = new FrameDecoder();
        for (const byte of lengthField(length)) decoder.push(Buffer.of(byte));
      };
      expect(byteByByte).toThrow(expect.objectContaining({ failure: 'protocol' }));
    },
  );

  test('does not allocate what the peer announces before it has sent it', () => {
    const decoders = Array.from({ length: 200 }, () => new FrameDecoder());
    const before = process.memoryUsage().arrayBuffers;
    for (const decoder of decoders) {
      decoder.push(lengthField(MAX_MESSAGE_BYTES));
      decoder.push(Buffer.alloc(100));
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 ** 2);
    expect(decoders).toHaveLength(200);
  });
});
