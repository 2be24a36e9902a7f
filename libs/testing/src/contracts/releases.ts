/** Things that were opened and must be released, even if opening one of them takes longer than anyone waits for it. */
export class Releases {
  private readonly pending: (() => unknown)[] = [];
  private isOver = false;

  /**
   * Opens something and releases it in `releaseAll`, or immediately if that has been called in the meantime.
   * @throws Error if it has been called
   */
  async open<T>(open: () => Promise<T>, release: (opened: T) => unknown): Promise<T> {
    const opened = await open();
    if (this.isOver) {
      await release(opened);
      throw new Error('It was opened too late and has been closed again.');
    }
    this.add(() => release(opened));
    return opened;
  }

  /** Adds something that is open already. */
  add(release: () => unknown): void {
    this.pending.push(release);
  }

  /**
   * Releases everything, the last opened first.
   * @throws the first error, after everything was released
   */
  async releaseAll(): Promise<void> {
    this.isOver = true;
    const errors: unknown[] = [];
    for (const release of this.pending.splice(0).reverse()) {
      try {
        await release();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
