import type { XmlElement, XmlValue } from '../xml/xml.js';

const MASK = '********';

/** Attributes and elements that are secret anywhere in the document. */
const SECRET = /^@?(passwd|password|secret|key|token|userdata)$/i;
/** Free text that often contains user data and keys: QEMU arguments, SMBIOS strings, firmware configuration. */
const FREE_TEXT = new Set(['qemu:arg', 'qemu:env', 'entry', 'oemStrings', 'sysinfo', 'initarg', 'cmdline']);

/** A copy of a domain's XML with all secrets masked. */
export const maskSecrets = (document: XmlElement): XmlElement => maskElement(document, false);

function maskElement(of: XmlElement, everything: boolean): XmlElement {
  const entries = Object.entries(of).map(([name, value]): [string, XmlValue] => {
    // `<secret type="ceph" uuid="…"/>` only names a secret: child elements are traversed, text is masked.
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

/** Within free text, names of entries stay readable and their values are masked. */
const isSecret = (name: string, everything: boolean): boolean =>
  SECRET.test(name) || FREE_TEXT.has(name) || (everything && name !== '@name' && name !== '@type');
