import type { Keyboard } from './key-combinations.js';
import { keyStrokes, SHIFT } from './keysyms.js';

/** An emulated keyboard buffers only a few keys; faster typing would lose some. */
const BETWEEN_KEYS_MS = 12;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Types a text key by key, until it is aborted. */
export async function typeText(keyboard: Keyboard, text: string, signal: AbortSignal, wait = pause): Promise<void> {
  for (const { keysym, shift } of keyStrokes(text)) {
    if (signal.aborted) return;
    if (shift) keyboard.sendKey(SHIFT, 'ShiftLeft', true);
    keyboard.sendKey(keysym, null);
    if (shift) keyboard.sendKey(SHIFT, 'ShiftLeft', false);
    await wait(BETWEEN_KEYS_MS);
  }
}
