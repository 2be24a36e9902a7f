import type { ImageAcceptedView } from '@headgate/api-contracts';
import { ApiError } from '../../shared/api/api-error.js';
import { MAX_FAILURES, PART_BYTES, uploadFile } from './upload-file.js';

const FILE_BYTES = 2 * PART_BYTES + 10;
const accepted = { name: 'disk', namespace: 'local', context: 'local' };
const unreachable = (): ApiError => ApiError.unreachable();
const wrongOffset = (offset: unknown): ApiError => new ApiError(409, 'CONFLICT', 'It continues.', { offset });

type Answer = Partial<ImageAcceptedView> | Error;

describe('uploadFile', () => {
  const file = new File([new Uint8Array(FILE_BYTES)], 'disk.raw');
  const sent: [offset: number, bytes: number][] = [];
  const pauses: number[] = [];
  const stored: number[] = [];
  let abort: AbortController;

  beforeEach(() => {
    for (const list of [sent, pauses, stored]) list.length = 0;
    abort = new AbortController();
  });

  /** @param answers of the service, in order; then every part is stored */
  const upload = (answers: readonly Answer[] = [], offset = 0, onPart: () => void = () => undefined) =>
    uploadFile({
      file,
      offset,
      signal: abort.signal,
      sendPart: async (at, part) => {
        sent.push([at, part.size]);
        onPart();
        const answer = answers[sent.length - 1];
        if (answer instanceof Error) throw answer;
        const next = at + part.size;
        return { ...accepted, offset: next, ...(next === FILE_BYTES && { task: 'import-disk-1' }), ...answer };
      },
      onProgress: (bytes) => stored.push(bytes),
      pause: async (milliseconds) => void pauses.push(milliseconds),
    });

  test('sends all parts in order, and returns the answer to the last one', async () => {
    expect(await upload()).toMatchObject({ task: 'import-disk-1' });
    expect(sent).toEqual([
      [0, PART_BYTES],
      [PART_BYTES, PART_BYTES],
      [2 * PART_BYTES, 10],
    ]);
    expect(stored).toEqual([PART_BYTES, 2 * PART_BYTES, FILE_BYTES]);
  });

  test('continues a failed part at the offset that the service reports', async () => {
    await upload([{}, unreachable(), wrongOffset(PART_BYTES + 7)]);
    expect(sent.map(([at]) => at)).toEqual([0, PART_BYTES, PART_BYTES, PART_BYTES + 7, 2 * PART_BYTES + 7]);
    expect(pauses).toEqual([1000]);
  });

  test('starts again when the service has removed the upload', async () => {
    await upload([wrongOffset(0)], PART_BYTES);
    expect(sent.map(([at]) => at)).toEqual([PART_BYTES, 0, PART_BYTES, 2 * PART_BYTES]);
  });

  test('waits longer after each failure, and gives up after several without progress', async () => {
    await expect(upload(Array<Answer>(MAX_FAILURES).fill(unreachable()))).rejects.toThrow('The service is unreachable');
    expect(sent).toHaveLength(MAX_FAILURES);
    expect(pauses).toEqual([1000, 2000, 4000, 8000]);
  });

  test('does not give up while every failed part leaves something behind', async () => {
    const answers = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((offset) => [unreachable(), wrongOffset(offset)]);
    expect(await upload(answers)).toMatchObject({ task: 'import-disk-1' });
  });

  test('gives up when the reported offset never changes', async () => {
    await expect(upload(Array<Answer>(50).fill(wrongOffset(0)))).rejects.toThrow('It continues.');
    expect(sent).toHaveLength(MAX_FAILURES);
  });

  test('gives up when the service accepts the parts but stores nothing', async () => {
    await expect(upload(Array<Answer>(50).fill({ offset: 0 }))).rejects.toThrow('does not store them');
    expect(sent).toHaveLength(MAX_FAILURES);
  });

  test.each([-1, 1.5, FILE_BYTES + 1, '5', null])('accepts no offset %p from the service', async (offset) => {
    await expect(upload([wrongOffset(offset)])).rejects.toThrow('It continues.');
    expect(sent).toHaveLength(1);
  });

  test.each([
    [400, 'INVALID_INPUT'],
    [403, 'FORBIDDEN'],
    [409, 'ALREADY_EXISTS'],
    [501, 'UNSUPPORTED'],
    [507, 'INSUFFICIENT_STORAGE'],
  ])('does not repeat a part that is refused with %i %s', async (status, code) => {
    await expect(upload([new ApiError(status, code, 'Refused.')])).rejects.toThrow('Refused.');
    expect(sent).toHaveLength(1);
  });

  test('repeats a part while the service still writes the one before it', async () => {
    await upload([new ApiError(409, 'BUSY', 'Wait for it.')]);
    expect(sent.map(([at]) => at)).toEqual([0, 0, PART_BYTES, 2 * PART_BYTES]);
  });

  test('sends nothing more after it was canceled', async () => {
    await expect(upload([unreachable()], 0, () => abort.abort())).rejects.toThrow();
    expect(sent).toHaveLength(1);
  });
});
