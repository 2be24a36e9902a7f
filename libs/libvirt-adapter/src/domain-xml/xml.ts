import { XMLBuilder, XMLParser } from 'fast-xml-parser';
import type { Json, JsonObject } from '@headgate/domain-contracts';

/** An element as an object: attributes begin with `@`, text is under `#text`, and repeatable elements are always arrays. */
export type XmlElement = { [name: string]: XmlValue };
export type XmlValue = string | XmlElement | readonly XmlValue[];

const ATTRIBUTE = '@';

/** Names of repeatable elements, which are read as arrays even when there is only one. */
const REPEATED = new Set([
  'disk',
  'interface',
  'graphics',
  'serial',
  'console',
  'channel',
  'controller',
  'input',
  'video',
  'hostdev',
  'filesystem',
  'rng',
  'listen',
  'boot',
  'tag',
  'volume',
  'hostfwd',
  'entry',
  'smartcard',
  'redirdev',
  'shmem',
  'sound',
  'guest',
  'domain',
  'ip',
]);

const shared = { ignoreAttributes: false, attributeNamePrefix: ATTRIBUTE } as const;

const parser = new XMLParser({
  ...shared,
  // Values stay text: a version, or a name that consists of digits, must not become a number.
  parseTagValue: false,
  parseAttributeValue: false,
  isArray: (name, _path, _leaf, isAttribute) => !isAttribute && REPEATED.has(name.slice(name.indexOf(':') + 1)),
});

const builder = new XMLBuilder({ ...shared, suppressEmptyNode: true, format: true, suppressBooleanAttributes: false });

/** @throws Error when the text is not well-formed XML */
export const parseXml = (text: string): XmlElement => parser.parse(text, true) as XmlElement;

/** Escapes every value. */
export const formatXml = (document: XmlElement): string => builder.build(document) as string;

export const element = (parent: XmlElement | undefined, name: string): XmlElement | undefined => {
  const value = parent?.[name];
  const first = Array.isArray(value) ? (value as readonly XmlValue[])[0] : value;
  if (typeof first === 'string') return first === '' ? {} : { '#text': first };
  return first as XmlElement | undefined;
};

export const elements = (parent: XmlElement | undefined, name: string): XmlElement[] => {
  const value = parent?.[name];
  if (value === undefined) return [];
  const list = Array.isArray(value) ? (value as readonly XmlValue[]) : [value];
  return list.map((entry) =>
    typeof entry === 'string' ? (entry === '' ? {} : { '#text': entry }) : (entry as XmlElement),
  );
};

export const attribute = (of: XmlElement | undefined, name: string): string | undefined => {
  const value = of?.[`${ATTRIBUTE}${name}`];
  return typeof value === 'string' ? value : undefined;
};

/** The text of a child element, or of the element itself when no name is given. */
export const text = (of: XmlElement | undefined, name?: string): string | undefined => {
  const value = name === undefined ? of?.['#text'] : element(of, name)?.['#text'];
  return typeof value === 'string' ? value : undefined;
};

/** The document as JSON, of the same shape. */
export const toJson = (document: XmlElement): JsonObject => document as unknown as { readonly [key: string]: Json };
