import type { DomainDescription } from '../domain-xml/domain-description.js';
import { backingElement } from '../domain-xml/domain-devices.js';
import type { DiskSpec } from '../domain-xml/domain-spec.js';
import { BACKING, editDisks, SOURCE } from '../domain-xml/edit-disks.js';
import { attribute, element, elements, formatXml } from '../xml/xml.js';

export type ServedBacking = NonNullable<DiskSpec['backing']>;

/**
 * The XML of a domain whose disks are based on disks that this process serves. A read of these that fails, also for a
 * write to a part of a cluster, pauses the guest, and is repeated when it goes on.
 * @param backings by the targets of the disks
 */
export const withServedBacking = (xml: string, backings: ReadonlyMap<string, ServedBacking>): string =>
  editPlainDisks(xml, new Set(backings.keys()), (disk, target) => {
    const backing = backings.get(target);
    if (!backing) return disk;
    return disk
      .replace(SOURCE, (source) => source + formatXml({ backingStore: backingElement(backing) }))
      .replace(/<driver\b[^>]*?(?=\/?>)/, (driver) => `${driver} error_policy="stop" rerror_policy="stop"`);
  });

/** The XML of a domain whose disks are based on nothing, and report errors to the guest as those of other VMs do. */
export const withoutServedBacking = (xml: string, targets: readonly string[]): string =>
  editPlainDisks(xml, new Set(targets), (disk) => disk);

/** The targets of the disks that are based on a served one, in the order of the domain. */
export const servedTargets = ({ document }: DomainDescription, socket: string): string[] =>
  elements(element(document, 'devices'), 'disk').flatMap((disk) => {
    const source = element(element(disk, 'backingStore'), 'source');
    const target = attribute(element(disk, 'target'), 'dev');
    return target !== undefined && attribute(elements(source, 'host')[0], 'socket') === socket ? [target] : [];
  });

const POLICIES = /\s(?:r?error_policy)=(?:'[^']*'|"[^"]*")/g;

/** @param edit a disk that is based on nothing, and has the usual policies */
const editPlainDisks = (
  xml: string,
  targets: ReadonlySet<string>,
  edit: (disk: string, target: string) => string,
): string =>
  editDisks(xml, (disk, target) =>
    targets.has(target) ? edit(disk.replace(BACKING, '').replace(POLICIES, ''), target) : disk,
  );
