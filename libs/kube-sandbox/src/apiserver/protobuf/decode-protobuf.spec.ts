import { ApiError } from '../api-error.js';
import { decodeProtobuf } from './decode-protobuf.js';

const LENGTH_DELIMITED = 2;

const field = (number: number, value: string | Buffer): Buffer => {
  const bytes = Buffer.from(value);
  const tag = (number << 3) | LENGTH_DELIMITED;
  return Buffer.concat([
    Buffer.from(tag < 128 ? [tag] : [(tag & 127) | 128, tag >> 7]),
    Buffer.from([bytes.length]),
    bytes,
  ]);
};
const number = (id: number, value: number): Buffer => Buffer.from([id << 3, value]);
const message = (...fields: Buffer[]): Buffer => Buffer.concat(fields);
const envelope = (apiVersion: string, kind: string, raw: Buffer): Buffer =>
  message(Buffer.from('k8s\0'), field(1, message(field(1, apiVersion), field(2, kind))), field(2, raw));

describe('decodeProtobuf', () => {
  test('reads metadata, maps, bytes and lists', () => {
    const metadata = message(
      field(1, 's'),
      field(3, 'lab'),
      field(11, message(field(1, 'app'), field(2, 'web'))),
      field(14, 'x'),
      field(14, 'y'),
    );
    const raw = message(
      field(1, metadata),
      field(2, message(field(1, 'key'), field(2, Buffer.from([1, 2])))),
      field(3, 'Opaque'),
      number(5, 1),
    );
    expect(decodeProtobuf(envelope('v1', 'Secret', raw))).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: 'lab', labels: { app: 'web' }, finalizers: ['x', 'y'] },
      data: { key: 'AQI=' },
      type: 'Opaque',
      immutable: true,
    });
  });

  test('skips unknown fields and omits empty ones', () => {
    const metadata = message(field(1, 'n'), field(2, ''), field(8, ''), field(17, 'managed'), number(7, 3));
    expect(decodeProtobuf(envelope('v1', 'Namespace', field(1, metadata)))).toEqual({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'n' },
    });
  });

  test.each([
    ['no envelope', Buffer.from('{}'), 400],
    ['a cut message', envelope('v1', 'Namespace', Buffer.from([10, 50, 1])), 400],
    ['another kind', envelope('batch/v1', 'Job', Buffer.alloc(0)), 415],
  ])('refuses %s', (_, body, code) => {
    const run = () => decodeProtobuf(body);
    expect(run).toThrow(ApiError);
    expect(run).toThrow(expect.objectContaining({ status: expect.objectContaining({ code }) }) as unknown as Error);
  });
});
