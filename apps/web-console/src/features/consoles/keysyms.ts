/**
 * Keys of the X Window System. Source: https://www.x.org/releases/current/doc/xproto/x11protocol.html#keysym_encoding
 */
const RETURN = 0xff0d;
const TAB = 0xff09;
export const SHIFT = 0xffe1;
const UNICODE = 0x0100_0000;

/** Characters that need Shift on a US keyboard, which guests assume by default. */
const SHIFTED = /^[A-Z~!@#$%^&*()_+{}|:"<>?]$/;

export interface KeyStroke {
  readonly keysym: number;
  readonly shift: boolean;
}

/** The key strokes that type a text. All kinds of line breaks become Return. */
export function keyStrokes(text: string): KeyStroke[] {
  return [...text.replace(/\r\n?/g, '\n')].map((character) => ({
    keysym: keysymOf(character),
    shift: SHIFTED.test(character),
  }));
}

function keysymOf(character: string): number {
  if (character === '\n') return RETURN;
  if (character === '\t') return TAB;
  const point = character.codePointAt(0) ?? 0;
  return point < 0x100 ? point : UNICODE | point;
}
