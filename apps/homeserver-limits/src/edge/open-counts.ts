/** How many things of each source are open. Sources with none are not in memory. */
export class OpenCounts {
  private readonly counts = new Map<string, number>();

  of(source: string): number {
    return this.counts.get(source) ?? 0;
  }

  sources(): Iterable<string> {
    return this.counts.keys();
  }

  open(source: string): void {
    this.counts.set(source, this.of(source) + 1);
  }

  close(source: string): void {
    const count = this.of(source) - 1;
    if (count > 0) this.counts.set(source, count);
    else this.counts.delete(source);
  }
}
