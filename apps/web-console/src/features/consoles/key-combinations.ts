import { SHIFT } from './keysyms.js';

const CONTROL = 0xffe3;
const ALT = 0xffe9;
const SUPER = 0xffeb;
const F1 = 0xffbe;

export interface KeyCombination {
  readonly label: string;
  /** Pressed in this order and released in reverse order. */
  readonly keys: readonly { readonly keysym: number; readonly code: string }[];
}

const control = { keysym: CONTROL, code: 'ControlLeft' };
const alt = { keysym: ALT, code: 'AltLeft' };
const shift = { keysym: SHIFT, code: 'ShiftLeft' };
const functionKey = (number: number) => ({ keysym: F1 + number - 1, code: `F${number}` });

/** Combinations that a browser or an operating system intercepts. Codes: https://www.w3.org/TR/uievents-code/ */
export const KEY_COMBINATIONS: readonly KeyCombination[] = [
  { label: 'Ctrl+Alt+Del', keys: [control, alt, { keysym: 0xffff, code: 'Delete' }] },
  { label: 'Ctrl+Alt+Backspace', keys: [control, alt, { keysym: 0xff08, code: 'Backspace' }] },
  ...[1, 2, 3, 4, 5, 6, 7].map((number) => ({
    label: `Ctrl+Alt+F${number}`,
    keys: [control, alt, functionKey(number)],
  })),
  { label: 'Alt+Tab', keys: [alt, { keysym: 0xff09, code: 'Tab' }] },
  { label: 'Alt+F4', keys: [alt, functionKey(4)] },
  { label: 'Ctrl+Shift+Esc', keys: [control, shift, { keysym: 0xff1b, code: 'Escape' }] },
  { label: 'Super (Windows)', keys: [{ keysym: SUPER, code: 'MetaLeft' }] },
  { label: 'Print Screen', keys: [{ keysym: 0xff61, code: 'PrintScreen' }] },
  { label: 'Alt+SysRq', keys: [alt, { keysym: 0xff15, code: 'PrintScreen' }] },
  { label: 'Esc', keys: [{ keysym: 0xff1b, code: 'Escape' }] },
  { label: 'F11', keys: [functionKey(11)] },
];

export interface Keyboard {
  sendKey(keysym: number, code: string | null, down?: boolean): void;
}

export function sendCombination(keyboard: Keyboard, { keys }: KeyCombination): void {
  for (const { keysym, code } of keys) keyboard.sendKey(keysym, code, true);
  for (const { keysym, code } of keys.toReversed()) keyboard.sendKey(keysym, code, false);
}
