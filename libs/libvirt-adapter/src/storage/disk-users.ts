import { describeDomain } from '../domain-xml/domain-description.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import type { Virsh } from '../virsh/virsh.js';

/** Names of the domains whose running or kept description has the disk. */
export async function usersOfDisk(virsh: Virsh, finder: DomainFinder, path: string): Promise<string[]> {
  const domains = await finder.all();
  const [live, kept] = [
    await virsh.batch(domains.map(({ uuid }) => ['dumpxml', uuid])),
    await virsh.batch(domains.map(({ uuid }) => ['dumpxml', '--inactive', uuid])),
  ];
  const uses = (xml: string | undefined): boolean =>
    xml !== undefined && xml.trim() !== '' && describeDomain(xml).disks.some((disk) => disk.path === path);
  return domains.filter((_, i) => uses(live[i]) || uses(kept[i])).map(({ name }) => name);
}
