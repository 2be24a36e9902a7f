/** The type of a field's value. */
export type FieldType =
  'string' | 'bytes' | 'int' | 'bool' | 'time' | { message: MessageType } | { mapTo: 'string' | 'bytes' };

export interface Field {
  name: string;
  type: FieldType;
  repeated?: boolean;
}

/** Fields of a message by their number. */
export type MessageType = Record<number, Field>;

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/** Reads the protobuf wire format and skips unknown fields. */
export class MessageReader {
  private at = 0;

  constructor(private readonly data: Buffer) {}

  read(type: MessageType): Record<string, unknown> {
    const message: Record<string, unknown> = {};
    while (this.at < this.data.length) {
      const tag = this.varint();
      const field = type[Number(tag >> 3n)];
      const wireType = Number(tag & 7n);
      if (!field) this.skip(wireType);
      else this.readField(message, field, wireType);
    }
    return message;
  }

  private readField(message: Record<string, unknown>, { name, type, repeated }: Field, wireType: number): void {
    if (wireType === VARINT) {
      const value = this.varint();
      message[name] = type === 'bool' ? value !== 0n : Number(BigInt.asIntN(64, value));
      return;
    }
    if (wireType !== LENGTH_DELIMITED) return this.skip(wireType);
    const bytes = this.bytes();
    if (typeof type === 'object' && 'mapTo' in type) {
      const { key, value } = new MessageReader(bytes).read({
        1: { name: 'key', type: 'string' },
        2: { name: 'value', type: type.mapTo },
      });
      message[name] = { ...(message[name] as object | undefined), [String(key ?? '')]: value ?? '' };
    } else if (repeated) message[name] = [...((message[name] as unknown[] | undefined) ?? []), valueOf(bytes, type)];
    else {
      const value = valueOf(bytes, type);
      // Go sends empty strings and unset times; JSON omits them.
      if (value !== '' && value !== undefined) message[name] = value;
    }
  }

  private varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.data[this.at++];
      if (byte === undefined) throw new RangeError('truncated message');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError('number too long');
  }

  private bytes(): Buffer {
    const length = Number(this.varint());
    const end = this.at + length;
    if (end > this.data.length) throw new RangeError('truncated message');
    const bytes = this.data.subarray(this.at, end);
    this.at = end;
    return bytes;
  }

  private skip(wireType: number): void {
    if (wireType === VARINT) this.varint();
    else if (wireType === LENGTH_DELIMITED) this.bytes();
    else if (wireType === FIXED64 || wireType === FIXED32) this.at += wireType === FIXED64 ? 8 : 4;
    else throw new RangeError(`unknown wire type ${wireType}`);
  }
}

function valueOf(bytes: Buffer, type: FieldType): unknown {
  if (type === 'bytes') return bytes.toString('base64');
  if (type === 'time') {
    const { seconds } = new MessageReader(bytes).read({ 1: { name: 'seconds', type: 'int' } });
    return typeof seconds === 'number' && seconds > 0
      ? `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
      : undefined;
  }
  return typeof type === 'object' && 'message' in type
    ? new MessageReader(bytes).read(type.message)
    : bytes.toString('utf8');
}
