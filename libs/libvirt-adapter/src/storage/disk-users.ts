import { describeDomain } from '../domain-xml/domain-description.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import type { Virsh } from '../virsh/virsh.js';

/** Names of the domains that have the disk in their live or persistent configuration. */
export async function usersOfDisk(virsh: Virsh, finder: DomainFinder, path: string): Promise<string[]> {
  const domains = await finder.all();
  const [live, persistent] = [
    await virsh.batch(domains.map(({ uuid }) => ['dumpxml', uuid])),
    await virsh.batch(domains.map(({ uuid }) => ['dumpxml', '--inactive', uuid])),
  ];
  const uses = (xml: string | undefined): boolean =>
    xml !== undefined && xml.trim() !== '' && describeDomain(xml).disks.some((disk) => disk.path === path);
  return domains.filter((_, i) => uses(live[i]) || uses(persistent[i])).map(({ name }) => name);
}
