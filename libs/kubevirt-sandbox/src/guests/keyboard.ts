const KEYSYMS = new Map<number, string>([
  [0xff0d, '\r'],
  [0xff8d, '\r'],
  [0xff08, '\b'],
  [0xff09, '\t'],
  [0xff1b, '\x1b'],
  [0xffff, '\x7f'],
]);

const CONTROL_KEYS = new Set([0xffe3, 0xffe4]);

/** Translates the X11 keysyms of RFB into the characters that a tty reads. */
export class Keyboard {
  private control = false;

  constructor(private readonly type: (text: string) => void) {}

  key(keysym: number, down: boolean): void {
    if (CONTROL_KEYS.has(keysym)) this.control = down;
    else if (down) {
      const text = KEYSYMS.get(keysym) ?? (keysym >= 0x20 && keysym < 0x100 ? String.fromCharCode(keysym) : '');
      this.type(
        this.control && /^[a-z]$/i.test(text) ? String.fromCharCode(text.toUpperCase().charCodeAt(0) - 64) : text,
      );
    }
  }
}
