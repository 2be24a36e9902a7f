import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type MatrixResponse, ok } from '@headgate/homeserver-contracts';
import { meterResponse } from './response-meter.js';

const KIB = 1024;

/** Charges to a limit in bytes. */
function limitOf(limit: number) {
  const charges: number[] = [];
  const charge = async (bytes: number) => {
    if (charges.reduce((sum, one) => sum + one, bytes) > limit) throw new Error('no room');
    charges.push(bytes);
  };
  return { charges, charge };
}

const streamed = (chunks: number[], headers: readonly string[] = [], status = 200): MatrixResponse => ({
  status,
  headers,
  body: Readable.from(chunks.map((length) => Buffer.alloc(length, 'x'))),
});
const read = (response: MatrixResponse) => buffer(response.body as Readable);

describe('meterResponse', () => {
  test('charges the declared length once, before the first byte', async () => {
    const { charges, charge } = limitOf(1000);
    const response = await meterResponse(streamed([100, 200], ['content-LENGTH', '300']), charge);
    expect(charges).toEqual([300]);
    expect(await read(response)).toHaveLength(300);
  });

  test('sends nothing of a declared length without room, and closes the response of the upstream', async () => {
    const { charge } = limitOf(299);
    const response = streamed([300], ['Content-Length', '300']);
    await expect(meterResponse(response, charge)).rejects.toThrow('no room');
    expect((response.body as Readable).destroyed).toBe(true);
  });

  test('charges a body of unknown length by parts, all of its bytes', async () => {
    const { charges, charge } = limitOf(Infinity);
    const chunks = [10, 300 * KIB, 64 * KIB, 700 * KIB, 1];
    const total = chunks.reduce((sum, one) => sum + one, 0);
    expect(await read(await meterResponse(streamed(chunks), charge))).toHaveLength(total);
    const charged = charges.reduce((sum, one) => sum + one, 0);
    expect(charged).toBeGreaterThanOrEqual(total);
    expect(charged - total).toBeLessThan(256 * KIB);
  });

  test('ends a body of unknown length where its limit ends', async () => {
    const { charge } = limitOf(600 * KIB);
    const source = streamed(Array(64).fill(64 * KIB));
    const response = await meterResponse(source, charge);
    let received = 0;
    (response.body as Readable).on('data', (chunk: Buffer) => (received += chunk.length));
    await expect(new Promise((_, reject) => (response.body as Readable).once('error', reject))).rejects.toThrow(
      'no room',
    );
    expect(received).toBeLessThanOrEqual(600 * KIB);
    expect((source.body as Readable).destroyed).toBe(true);
  });

  test('ends the response of the upstream when the caller hangs up', async () => {
    const source = streamed(Array(64).fill(64 * KIB));
    const { body } = await meterResponse(source, limitOf(Infinity).charge);
    const closed = new Promise((resolve) => (source.body as Readable).once('close', resolve));
    (body as Readable).destroy();
    await closed;
  });

  test('charges the length of a buffer, and nothing for a refusal', async () => {
    const { charges, charge } = limitOf(1000);
    await meterResponse(ok({}), charge);
    await meterResponse(streamed([500], ['Content-Length', '500'], 404), charge);
    expect(charges).toEqual([2]);
  });
});
