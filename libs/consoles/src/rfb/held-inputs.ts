/** The keys and buttons that a viewer holds down, so that they can be released when the viewer leaves. */
export class HeldInputs {
  private readonly keys = new Map<number, number | undefined>();
  private pointer = { buttons: 0, x: 0, y: 0 };

  key(down: boolean, keysym: number, keycode?: number): void {
    if (down) this.keys.set(keysym, keycode);
    else this.keys.delete(keysym);
  }

  point(buttons: number, x: number, y: number): void {
    this.pointer = { buttons, x, y };
  }

  /** Returns the held keys and buttons, and forgets them. */
  release(): { keys: [keysym: number, keycode: number | undefined][]; pointer?: { x: number; y: number } } {
    const keys = [...this.keys];
    const { buttons, x, y } = this.pointer;
    this.keys.clear();
    this.pointer = { buttons: 0, x, y };
    return buttons === 0 ? { keys } : { keys, pointer: { x, y } };
  }
}
