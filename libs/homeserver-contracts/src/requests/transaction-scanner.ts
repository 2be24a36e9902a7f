import { MatrixError, MAX_JSON_DEPTH } from '@headgate/matrix-protocol';
import { exactMembers } from './exact-members.js';

/** Thrown as soon as one PDU too many begins. */
export class TooManyPdus extends Error {
  override name = 'TooManyPdus';
}

/** The members of a transaction that its bound depends on. */
const MEMBERS = ['pdus', 'origin'];

/** The specification defines four. Their names are held in memory to detect duplicates. */
const MAX_MEMBERS = 1000;
const MAX_TOKEN_CHARACTERS = 1000;

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const LITERALS: readonly string[] = ['true', 'false', 'null'];
const ESCAPES = '"\\/bfnrtu';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const enum State {
  Value,
  FirstElement,
  FirstKey,
  Key,
  Colon,
  AfterValue,
  End,
  String,
  Escape,
  Scalar,
}

/**
 * Counts the PDUs of a federation transaction while its body arrives, and checks that the body is JSON, without
 * building it: millions of empty objects in a body of a few megabytes would block the process for seconds.
 * @throws MatrixError M_NOT_JSON; M_BAD_JSON for anything but an object with the list `pdus`, or a duplicate member of
 *   it; TooManyPdus
 */
export class TransactionScanner {
  private readonly decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** Whether each open container is an object. */
  private readonly open: boolean[] = [];
  private readonly members = new Set<string>();
  private state = State.Value;
  /** The number, the literal or the name of a top-level member that is being read. */
  private token = '';
  /** The string being read is a member's name, at any depth. */
  private isKey = false;
  /** The string being read is the name of a top-level member. */
  private readsKey = false;
  private hexDigits = 0;
  private member = '';
  private isObject = false;
  private isInPdus = false;
  private pdus: number | undefined;

  constructor(private readonly maxPdus: number) {}

  push(chunk: Uint8Array): void {
    this.scan(this.decode(chunk, true));
  }

  /** No more bytes follow. @returns the number of PDUs */
  end(): number {
    this.scan(this.decode(new Uint8Array(), false));
    if (this.state === State.Scalar) this.endScalar();
    if (this.state !== State.End) throw notJson();
    if (!this.isObject) throw MatrixError.badJson('The body must be a JSON object.');
    if (this.pdus === undefined) throw noPdus();
    return this.pdus;
  }

  private decode(chunk: Uint8Array, stream: boolean): string {
    try {
      return this.decoder.decode(chunk, { stream });
    } catch (cause) {
      throw new MatrixError(400, 'M_NOT_JSON', 'The body is not valid UTF-8.', { cause });
    }
  }

  private scan(text: string): void {
    for (let at = 0; at < text.length;) {
      if (this.state === State.String) at = this.scanString(text, at);
      else if (this.state === State.Escape) this.scanEscape(text[at++]!);
      else if (this.state === State.Scalar) at = this.scanScalar(text, at);
      else this.scanStructure(text[at++]!);
    }
  }

  /** Reads up to the end of the string, the next escape or the end of the text. */
  private scanString(text: string, from: number): number {
    let at = from;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code < 0x20) throw notJson();
      if (code === QUOTE || code === BACKSLASH) break;
    }
    if (this.readsKey) this.extendToken(text.slice(from, at));
    if (at === text.length) return at;
    if (text.charCodeAt(at) === BACKSLASH) this.state = State.Escape;
    else this.endString();
    return at + 1;
  }

  private scanEscape(char: string): void {
    if (this.hexDigits > 0) {
      if (!/[0-9a-fA-F]/.test(char)) throw notJson();
      if (this.readsKey) this.extendToken(char);
      if (--this.hexDigits === 0) this.state = State.String;
      return;
    }
    if (!ESCAPES.includes(char)) throw notJson();
    if (this.readsKey) this.extendToken(`\\${char}`);
    if (char === 'u') this.hexDigits = 4;
    else this.state = State.String;
  }

  private endString(): void {
    if (!this.isKey) {
      this.endValue();
      return;
    }
    this.isKey = false;
    this.state = State.Colon;
    if (this.readsKey) this.endMemberName();
  }

  private endMemberName(): void {
    this.readsKey = false;
    this.member = JSON.parse(`"${this.token}"`) as string;
    exactMembers({ [this.member]: true }, MEMBERS);
    if (this.members.has(this.member)) throw MatrixError.badJson('The body contains a member twice.');
    if (this.members.add(this.member).size > MAX_MEMBERS) throw MatrixError.badJson('The body has too many members.');
  }

  private scanScalar(text: string, from: number): number {
    let at = from;
    while (at < text.length && /[-+.0-9a-zA-Z]/.test(text[at]!)) at++;
    this.extendToken(text.slice(from, at));
    if (at < text.length) this.endScalar();
    return at;
  }

  private endScalar(): void {
    if (!NUMBER.test(this.token) && !LITERALS.includes(this.token)) throw notJson();
    this.endValue();
  }

  private scanStructure(char: string): void {
    if (char === ' ' || char === '\n' || char === '\r' || char === '\t') return;
    switch (this.state) {
      case State.FirstElement:
        if (char === ']') return this.close(false);
        return this.startValue(char);
      case State.Value:
        return this.startValue(char);
      case State.FirstKey:
        if (char === '}') return this.close(true);
        return this.startKey(char);
      case State.Key:
        return this.startKey(char);
      case State.Colon:
        if (char !== ':') throw notJson();
        this.state = State.Value;
        return;
      case State.AfterValue:
        return this.continueContainer(char);
      default:
        throw notJson();
    }
  }

  private startValue(char: string): void {
    const depth = this.open.length;
    if (depth === 0) this.isObject = char === '{';
    if (depth === 1 && this.member === 'pdus') this.startPdus(char);
    if (depth === 2 && this.isInPdus) this.countPdu();
    if (char === '{') return this.openContainer(true);
    if (char === '[') return this.openContainer(false);
    if (char === '"') {
      this.state = State.String;
      return;
    }
    if (!/[-0-9tfn]/.test(char)) throw notJson();
    this.token = char;
    this.state = State.Scalar;
  }

  private startPdus(char: string): void {
    if (char !== '[') throw noPdus();
    this.isInPdus = true;
    this.pdus = 0;
  }

  private countPdu(): void {
    this.pdus = (this.pdus ?? 0) + 1;
    if (this.pdus > this.maxPdus) throw new TooManyPdus();
  }

  private startKey(char: string): void {
    if (char !== '"') throw notJson();
    this.isKey = true;
    this.readsKey = this.open.length === 1;
    this.token = '';
    this.state = State.String;
  }

  private openContainer(isObject: boolean): void {
    if (this.open.push(isObject) > MAX_JSON_DEPTH) {
      throw MatrixError.badJson(`The body is nested deeper than ${MAX_JSON_DEPTH} levels.`);
    }
    this.state = isObject ? State.FirstKey : State.FirstElement;
  }

  private continueContainer(char: string): void {
    const isObject = this.open.at(-1) === true;
    if (char === ',') this.state = isObject ? State.Key : State.Value;
    else if (char === (isObject ? '}' : ']')) this.close(isObject);
    else throw notJson();
  }

  private close(isObject: boolean): void {
    if (this.open.pop() !== isObject) throw notJson();
    if (this.open.length === 1) this.isInPdus = false;
    this.endValue();
  }

  private endValue(): void {
    this.state = this.open.length === 0 ? State.End : State.AfterValue;
  }

  private extendToken(text: string): void {
    this.token += text;
    if (this.token.length > MAX_TOKEN_CHARACTERS) throw MatrixError.badJson('A number or a member name is too long.');
  }
}

const notJson = (): MatrixError => new MatrixError(400, 'M_NOT_JSON', 'The body is not valid JSON.');
const noPdus = (): MatrixError => MatrixError.badJson('pdus must be a list.');
