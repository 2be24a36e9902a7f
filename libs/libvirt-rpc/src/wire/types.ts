import { XdrError } from '../errors.js';
import { array, double, flag, hyper, int, string, struct, uint, unsignedHyper, uuid, type Codec } from './codec.js';

/** The limit of libvirt for lists of objects. */
export const MAX_LIST_LENGTH = 16_384;
const MAX_STATS_PER_DOMAIN = 262_144;

export interface WireDomain {
  readonly name: string;
  readonly uuid: string;
  /** -1 while it is not active. */
  readonly id: number;
}

export interface WireNetwork {
  readonly name: string;
  readonly uuid: string;
}

export type WirePool = WireNetwork;

export interface WireVolume {
  readonly pool: string;
  readonly name: string;
  readonly key: string;
}

export const domain: Codec<WireDomain> = struct({ name: string, uuid, id: int });
export const network: Codec<WireNetwork> = struct({ name: string, uuid });
export const pool: Codec<WirePool> = struct({ name: string, uuid });
export const volume: Codec<WireVolume> = struct({ pool: string, name: string, key: string });

/** libvirt identifies a domain by its UUID; the name appears in messages only. */
export const domainOf = (uuid: string): WireDomain => ({ name: '', uuid, id: -1 });

export type TypedValue = number | boolean | string;

/** The types of `virTypedParameterType`, by their numbers. */
const VALUES: Readonly<Record<number, Codec<never>>> = {
  1: int,
  2: uint,
  3: hyper,
  4: unsignedHyper,
  5: double,
  6: flag,
  7: string,
} as Readonly<Record<number, Codec<unknown>>> as Readonly<Record<number, Codec<never>>>;

const STRING_TYPE = 7;
const BOOLEAN_TYPE = 6;
const LONG_TYPE = 3;

const typedValue: Codec<TypedValue> = {
  write: (writer, value) => {
    const type = typeof value === 'string' ? STRING_TYPE : typeof value === 'boolean' ? BOOLEAN_TYPE : LONG_TYPE;
    writer.int(type);
    VALUES[type]?.write(writer, value as never);
  },
  read: (reader) => {
    const type = reader.int();
    const codec = VALUES[type];
    if (!codec) throw new XdrError(`${type} is no type of a parameter.`);
    return codec.read(reader);
  },
};

/** Parameters by name. */
export const typedParams = (max = MAX_STATS_PER_DOMAIN): Codec<ReadonlyMap<string, TypedValue>> => {
  const list = array(struct({ field: string, value: typedValue }), max);
  return {
    write: (writer, params) =>
      list.write(
        writer,
        [...params].map(([field, value]) => ({ field, value })),
      ),
    read: (reader) => new Map(list.read(reader).map(({ field, value }) => [field, value])),
  };
};

/** Parameters whose values are texts. A name may occur several times. */
export const textParams = (max: number): Codec<readonly TextParam[]> => {
  const list = array(struct({ field: string, value: typedValue }), max);
  return {
    write: (writer, params) => list.write(writer, params),
    read: (reader) => list.read(reader).map(({ field, value }) => ({ field, value: String(value) })),
  };
};

export interface TextParam {
  readonly field: string;
  readonly value: string;
}
