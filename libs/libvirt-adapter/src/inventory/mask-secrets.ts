import type { XmlElement, XmlValue } from '../domain-xml/xml.js';

const MASK = '********';

/** Attributes and elements that hold a secret wherever they stand. */
const SECRET = /^@?(passwd|password|secret|key|token|userdata)$/i;
/** Free text in which people put user data and keys: arguments for QEMU, SMBIOS strings, firmware configuration. */
const FREE_TEXT = new Set(['qemu:arg', 'qemu:env', 'entry', 'oemStrings', 'sysinfo', 'initarg', 'cmdline']);

/** A copy of a domain's description in which no secret can be read. */
export const maskSecrets = (document: XmlElement): XmlElement => maskElement(document, false);

function maskElement(of: XmlElement, everything: boolean): XmlElement {
  const entries = Object.entries(of).map(([name, value]): [string, XmlValue] => {
    // `<secret type="ceph" uuid="…"/>` only names a secret: a child element is looked through, a text is hidden.
    if (typeof value === 'string') return [name, isSecret(name, everything) ? MASK : value];
    return [name, maskValue(value, everything || FREE_TEXT.has(name), SECRET.test(name))];
  });
  return Object.fromEntries(entries);
}

function maskValue(value: XmlValue, everything: boolean, isSecretText: boolean): XmlValue {
  if (typeof value === 'string') return everything || isSecretText ? MASK : value;
  if (Array.isArray(value))
    return (value as readonly XmlValue[]).map((entry) => maskValue(entry, everything, isSecretText));
  return maskElement(value as XmlElement, everything);
}

/** In free text the names of entries stay readable, their values don't. */
const isSecret = (name: string, everything: boolean): boolean =>
  SECRET.test(name) || FREE_TEXT.has(name) || (everything && name !== '@name' && name !== '@type');
