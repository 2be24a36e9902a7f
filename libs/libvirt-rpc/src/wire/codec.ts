import { XdrError } from '../errors.js';
import type { XdrReader } from './xdr-reader.js';
import type { XdrWriter } from './xdr-writer.js';

/** Writes and reads values of one XDR type. */
export interface Codec<T> {
  write(writer: XdrWriter, value: T): void;
  read(reader: XdrReader): T;
}

/** The limit of libvirt for strings. */
export const MAX_STRING_BYTES = 4_194_304;

export const nothing: Codec<void> = { write: () => undefined, read: () => undefined };

export const int: Codec<number> = { write: (writer, value) => writer.int(value), read: (reader) => reader.int() };

export const uint: Codec<number> = { write: (writer, value) => writer.uint(value), read: (reader) => reader.uint() };

/** A truth value in an int. */
export const flag: Codec<boolean> = {
  write: (writer, value) => writer.int(value ? 1 : 0),
  read: (reader) => reader.int() !== 0,
};

export const hyper: Codec<number> = { write: (writer, value) => writer.hyper(value), read: (reader) => reader.hyper() };

export const unsignedHyper: Codec<number> = {
  write: (writer, value) => {
    if (value < 0) throw new XdrError(`${value} is negative.`);
    writer.hyper(value);
  },
  read: (reader) => reader.unsignedHyper(),
};

export const double: Codec<number> = {
  write: (writer, value) => writer.double(value),
  read: (reader) => reader.double(),
};

export const string: Codec<string> = {
  write: (writer, value) => writer.string(value, MAX_STRING_BYTES),
  read: (reader) => reader.string(MAX_STRING_BYTES),
};

export const opaque = (length: number): Codec<Buffer> => ({
  write: (writer, value) => {
    if (value.length !== length) throw new XdrError(`${value.length} bytes instead of ${length}.`);
    writer.opaque(value);
  },
  read: (reader) => reader.opaque(length),
});

/** Bytes of any length up to `max`. */
export const bytes = (max: number): Codec<Buffer> => ({
  write: (writer, value) => {
    if (value.length > max) throw new XdrError(`${value.length} bytes are more than ${max}.`);
    writer.uint(value.length);
    writer.opaque(value);
  },
  read: (reader) => Buffer.from(reader.opaque(reader.length(max, 1))),
});

/** An array of `count` characters, each of which takes four bytes in XDR. */
export const characters = (count: number): Codec<string> => ({
  write: (writer, value) => {
    for (let i = 0; i < count; i++) writer.int(value.charCodeAt(i) || 0);
  },
  read: (reader) => {
    const codes = Array.from({ length: count }, () => reader.int() & 0xff);
    const end = codes.indexOf(0);
    return String.fromCharCode(...codes.slice(0, end === -1 ? count : end));
  },
});

const UUID_BYTES = 16;

/** A UUID as text: 2c749204-8322-4dfd-b324-cb2e556e0e9a. */
export const uuid: Codec<string> = {
  write: (writer, value) => {
    const bytes = Buffer.from(value.replaceAll('-', ''), 'hex');
    if (bytes.length !== UUID_BYTES || value.length !== 36) throw new XdrError(`${value} is no UUID.`);
    writer.opaque(bytes);
  },
  read: (reader) =>
    reader
      .opaque(UUID_BYTES)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
};

export const nullable = <T>(of: Codec<T>): Codec<T | null> => ({
  write: (writer, value) => {
    writer.uint(value === null ? 0 : 1);
    if (value !== null) of.write(writer, value);
  },
  read: (reader) => (reader.isPresent() ? of.read(reader) : null),
});

/** Every type of an element takes at least four bytes. */
const MIN_ELEMENT_BYTES = 4;

export const array = <T>(of: Codec<T>, max: number): Codec<readonly T[]> => ({
  write: (writer, values) => {
    if (values.length > max) throw new XdrError(`${values.length} elements are more than ${max}.`);
    writer.uint(values.length);
    for (const value of values) of.write(writer, value);
  },
  read: (reader) => {
    const length = reader.length(max, MIN_ELEMENT_BYTES);
    const values: T[] = [];
    for (let i = 0; i < length; i++) values.push(of.read(reader));
    return values;
  },
});

type Fields<T> = { readonly [K in keyof T]: Codec<T[K]> };

/** Fields one after another, in the order of the object's properties. */
export function struct<T extends object>(fields: Fields<T>): Codec<Readonly<T>> {
  const names = Object.keys(fields) as (keyof T)[];
  return {
    write: (writer, value) => {
      for (const name of names) fields[name].write(writer, value[name]);
    },
    read: (reader) => {
      const value: Partial<T> = {};
      for (const name of names) value[name] = fields[name].read(reader);
      return value as T;
    },
  };
}
