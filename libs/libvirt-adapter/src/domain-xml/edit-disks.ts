const TARGET = /<target\b[^>]*\bdev=['"]([^'"]+)['"]/;

/** The file or the device of a disk. */
export const SOURCE = /<source\b[^>]*?(?:\/>|>[\s\S]*?<\/source>)/;

/** Everything below an overlay. */
export const BACKING = /<backingStore\b[\s\S]*<\/backingStore>|<backingStore\s*\/>/;

/**
 * The XML of a domain with other disks. Everything else stays to the letter, because any program may have written it.
 * @param edit the XML of one disk
 */
export const editDisks = (xml: string, edit: (disk: string, target: string) => string): string =>
  xml.replace(/<disk\b[\s\S]*?<\/disk>/g, (disk) => edit(disk, TARGET.exec(disk)?.[1] ?? ''));
