import { BACKING, editDisks, SOURCE } from '../domain-xml/edit-disks.js';
import {
  INSTANCE_PREFIX,
  INSTANCE_XMLNS,
  metadataElement,
  type InstanceMetadata,
} from '../domain-xml/instance-metadata.js';
import { formatXml } from '../xml/xml.js';

export interface DomainXmlEdit {
  /** The new files of disks, by target. */
  readonly disks: ReadonlyMap<string, string>;
  readonly metadata: InstanceMetadata;
  /** The new file with the variables of the firmware. */
  readonly nvram?: string;
  /** The media of drives, by target; undefined ejects the medium. */
  readonly media?: ReadonlyMap<string, string | undefined>;
}

/**
 * The XML of a stopped domain with other files and other metadata of this service. Everything else stays as it is, to
 * the letter, because any program may have written it. Defining the result changes all of them in one step.
 */
export function editDomainXml(xml: string, { disks, metadata, nvram, media = NO_MEDIA }: DomainXmlEdit): string {
  const end = xml.lastIndexOf('</metadata>');
  const head = replaceMetadata(xml.slice(0, end), metadata);
  const tail = editDisks(xml.slice(end), (disk, target) => {
    const path = disks.get(target) ?? media.get(target);
    if (path !== undefined) return replaceFile(disk, path);
    return media.has(target) ? disk.replace(SOURCE, '') : disk;
  }).replace(/(<nvram\b[^>]*>)[^<]*(<\/nvram>)/, (whole, open: string, close: string) =>
    nvram === undefined ? whole : `${open}${escape(nvram)}${close}`,
  );
  return head + tail;
}

const NO_MEDIA: ReadonlyMap<string, undefined> = new Map();

/** libvirt reads the files below an overlay from the overlay itself. */
const replaceFile = (disk: string, path: string): string =>
  disk
    .replace(BACKING, '')
    .replace(/(<source\b[^>]*\bfile=)(?:'[^']*'|"[^"]*")/, (_whole, start: string) => `${start}"${escape(path)}"`);

/** The prefix is up to the writer. */
const OWN_ELEMENT = new RegExp(
  `<((?:[\\w.-]+:)?instance)\\b[^>]*\\bxmlns(?::[\\w.-]+)?=['"]${INSTANCE_XMLNS}['"][^>]*?(?:/>|>[\\s\\S]*?</\\1>)`,
);

const replaceMetadata = (head: string, metadata: InstanceMetadata): string =>
  head.replace(OWN_ELEMENT, () =>
    formatXml({
      [`${INSTANCE_PREFIX}:instance`]: {
        [`@xmlns:${INSTANCE_PREFIX}`]: INSTANCE_XMLNS,
        ...metadataElement(metadata),
      },
    }),
  );

const escape = (text: string): string => text.replace(/[<>&"']/g, (character) => `&#${character.codePointAt(0)};`);
