/** Counts how many members of all queues use each host at the same time. */
export class HostSlots {
  private readonly used = new Map<string, number>();
  private freed = Promise.withResolvers<void>();

  /** Takes a slot on each host, or on none. @returns whether all of them had one left */
  take(hosts: readonly string[], limit: number): boolean {
    if (hosts.some((host) => (this.used.get(host) ?? 0) >= limit)) return false;
    this.occupy(hosts);
    return true;
  }

  /** Takes a slot on each host, also if there is none left. */
  occupy(hosts: readonly string[]): void {
    for (const host of hosts) this.used.set(host, (this.used.get(host) ?? 0) + 1);
  }

  free(hosts: readonly string[]): void {
    for (const host of hosts) {
      const left = (this.used.get(host) ?? 0) - 1;
      if (left > 0) this.used.set(host, left);
      else this.used.delete(host);
    }
    const { resolve } = this.freed;
    this.freed = Promise.withResolvers();
    resolve();
  }

  /** Resolves when a slot becomes free. */
  whenFreed(): Promise<void> {
    return this.freed.promise;
  }
}
