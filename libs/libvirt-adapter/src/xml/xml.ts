import XMLBuilder from 'fast-xml-builder';
import { SaxesParser } from 'saxes';
import type { Json, JsonObject } from '@headgate/domain-contracts';

/**
 * An element as an object: attributes begin with `@`, text is under `#text`, and repeatable elements are always arrays.
 */
export type XmlElement = { [name: string]: XmlValue };
export type XmlValue = string | XmlElement | readonly XmlValue[];

const ATTRIBUTE = '@';
const TEXT = '#text';

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
  'snapshot',
  'ip',
  'range',
]);

/**
 * Deeper documents are refused: those of libvirt are about ten levels deep, and readers of the result are recursive.
 */
const MAX_DEPTH = 100;

const builder = new XMLBuilder({
  ignoreAttributes: false,
  attributeNamePrefix: ATTRIBUTE,
  suppressEmptyNode: true,
  format: true,
  suppressBooleanAttributes: false,
});

/**
 * Reads a document strictly: entities other than XML's own, repeated attributes and control characters are errors.
 * Surrounding white space of text is removed. All values stay text, because a version or a name that consists of digits
 * is no number.
 * @throws Error when the text is not well-formed XML, is nested too deeply, or has an element named `__proto__`
 */
export function parseXml(text: string): XmlElement {
  const document: XmlElement = {};
  const parents: XmlElement[] = [];
  let current = document;
  let content = '';

  // Namespaces are not resolved: element names keep their prefix.
  const parser = new SaxesParser({ xmlns: false });
  const addText = (more: string): void => void (content += more);
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('opentag', ({ name, attributes }) => {
    if (name === '__proto__') throw new Error('The name __proto__ is reserved.');
    if (parents.length >= MAX_DEPTH) throw new Error(`It is nested deeper than ${MAX_DEPTH} elements.`);
    keepText(current, content);
    content = '';
    const opened: XmlElement = {};
    for (const attributeName in attributes) opened[ATTRIBUTE + attributeName] = attributes[attributeName]!;
    parents.push(current);
    current = opened;
  });
  parser.on('closetag', ({ name }) => {
    keepText(current, content);
    content = '';
    const parent = parents.pop()!;
    addChild(parent, name, simplify(current));
    current = parent;
  });
  parser.write(text).close();
  return document;
}

function keepText(of: XmlElement, content: string): void {
  const trimmed = content.trim();
  if (trimmed !== '') of[TEXT] = ((of[TEXT] as string | undefined) ?? '') + trimmed;
}

/** An element with nothing but text is that text. */
function simplify(of: XmlElement): XmlValue {
  for (const name in of) if (name !== TEXT) return of;
  return of[TEXT] ?? '';
}

function addChild(parent: XmlElement, name: string, child: XmlValue): void {
  // Names such as `constructor` exist in every object.
  const before = Object.hasOwn(parent, name) ? parent[name] : undefined;
  if (Array.isArray(before)) (before as XmlValue[]).push(child);
  else if (before !== undefined) parent[name] = [before, child];
  else parent[name] = REPEATED.has(name.slice(name.indexOf(':') + 1)) ? [child] : child;
}

/** Escapes every value. */
export const formatXml = (document: XmlElement): string => builder.build(document) as string;

export const element = (parent: XmlElement | undefined, name: string): XmlElement | undefined => {
  const value = parent?.[name];
  const first = Array.isArray(value) ? (value as readonly XmlValue[])[0] : value;
  if (typeof first === 'string') return first === '' ? {} : { [TEXT]: first };
  return first as XmlElement | undefined;
};

export const elements = (parent: XmlElement | undefined, name: string): XmlElement[] => {
  const value = parent?.[name];
  if (value === undefined) return [];
  const list = Array.isArray(value) ? (value as readonly XmlValue[]) : [value];
  return list.map((entry) =>
    typeof entry === 'string' ? (entry === '' ? {} : { [TEXT]: entry }) : (entry as XmlElement),
  );
};

export const attribute = (of: XmlElement | undefined, name: string): string | undefined => {
  const value = of?.[`${ATTRIBUTE}${name}`];
  return typeof value === 'string' ? value : undefined;
};

/** The text of a child element, or of the element itself when no name is given. */
export const text = (of: XmlElement | undefined, name?: string): string | undefined => {
  const value = name === undefined ? of?.[TEXT] : element(of, name)?.[TEXT];
  return typeof value === 'string' ? value : undefined;
};

/** The document as JSON, of the same shape. */
export const toJson = (document: XmlElement): JsonObject => document as unknown as { readonly [key: string]: Json };
