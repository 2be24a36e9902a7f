import type { InstanceMetadata } from '../domain-xml/instance-metadata.js';
import { editDomainXml } from '../snapshots/edit-domain-xml.js';

export interface Relocation {
  /** Paths of the pools' folders on the source and on the destination. */
  readonly from: string;
  readonly to: string;
  /**
   * Targets of the disks that are copied, which have no files below them on the destination, with the names of their
   * volumes.
   */
  readonly copied: ReadonlyMap<string, string>;
  readonly metadata: InstanceMetadata;
}

/**
 * The description of a domain for another host, where its files are in another folder. Everything else stays as it is.
 */
export function relocateDomainXml(xml: string, { from, to, copied, metadata }: Relocation): string {
  const disks = new Map([...copied].map(([target, name]) => [target, `${to}/${name}`]));
  const edited = editDomainXml(xml, { disks, metadata });
  const end = edited.lastIndexOf('</metadata>');
  const path = new RegExp(`(['">])${escapePattern(escapeXml(from))}/`, 'g');
  // A function, because the path may contain characters that are special in a replacement.
  return edited.slice(0, end) + edited.slice(end).replace(path, (_match, quote: string) => `${quote}${escapeXml(to)}/`);
}

const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
