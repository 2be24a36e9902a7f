import { plainText } from '../values/plain-text.js';
import type { BootSign } from './boot-sign.js';

const TAIL_CHARS = 8192;
const MAX_PROMPT_CHARS = 200;
/** Terminals are moved to the login prompt by such sequences. */
const CONTROL_SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[()#][0-9A-Z]|[=>78cDEHM])/g;
const PROMPT = /(?:^|[\r\n])[^\S\r\n]*(?!last\b)((?:[\w.@()-]{1,64} ?){0,4}login:)/i;

/** Looks for the login prompt in the output of a serial line, which arrives in parts. */
export class LoginPrompt {
  private tail = '';

  /** @returns the sign, once the output has a prompt */
  find(data: Buffer): BootSign | undefined {
    this.tail = `${this.tail}${data.toString('latin1')}`.replace(CONTROL_SEQUENCE, '').slice(-TAIL_CHARS);
    const found = PROMPT.exec(this.tail);
    return found ? { kind: 'prompt', text: plainText(found[1] ?? '', MAX_PROMPT_CHARS) } : undefined;
  }
}
