import type { IncusApi } from '../api/incus-api.js';
import type { InstanceObject } from '../api/incus-objects.js';
import { readResources, type Resources } from '../inventory/read-host.js';
import { memberOf } from '../inventory/to-container.js';

/** The server takes some 40 ms to describe a machine, which hardly ever changes. */
const KEPT_MS = 60_000;

interface Kept {
  readonly at: number;
  readonly resources: Promise<Resources | undefined>;
}

/** The machines of a server, as they were read within the last minute. */
export class Machines {
  /** By the member of a cluster; the key of the only machine, or of the one that answers, is empty. */
  private readonly kept = new Map<string, Kept>();

  constructor(private readonly api: IncusApi) {}

  /** The machine that answers, by which the list shows containers without limits. */
  answering(): Promise<Resources | undefined> {
    return this.read('');
  }

  /** The machine of an instance. @returns undefined for a certificate that may not read it */
  of(instance: InstanceObject): Promise<Resources | undefined> {
    return this.read(memberOf(instance) ?? '');
  }

  private read(member: string): Promise<Resources | undefined> {
    const now = this.api.clock.now();
    const known = this.kept.get(member);
    if (known && now - known.at < KEPT_MS) return known.resources;
    const resources = readResources(this.api, { target: member === '' ? undefined : member });
    this.kept.set(member, { at: now, resources });
    resources.catch(() => this.kept.delete(member));
    return resources;
  }
}
