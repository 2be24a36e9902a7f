import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The build puts the page next to the program. */
const FOLDER = join(import.meta.dirname, 'desk');

const TYPES = {
  'index.html': 'text/html; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
} as const;

export type DeskFile = keyof typeof TYPES;

export const isDeskFile = (name: string): name is DeskFile => Object.hasOwn(TYPES, name);

/**
 * What browsers may do with the page: load its script and its style sheet from the listener, and call its API. It
 * can't be framed, and no text becomes a script.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'font-src data:',
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The headers of every response of the operator's listener. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** The files of the operator's desk, read once each. */
export class DeskFiles {
  private readonly files = new Map<DeskFile, Promise<Buffer>>();

  constructor(private readonly folder = FOLDER) {}

  /** Rejects when the page was not built. */
  read(name: DeskFile): Promise<{ type: string; content: Buffer }> {
    let content = this.files.get(name);
    if (!content) {
      content = readFile(join(this.folder, name));
      this.files.set(name, content);
      content.catch(() => this.files.delete(name));
    }
    return content.then((bytes) => ({ type: TYPES[name], content: bytes }));
  }
}
