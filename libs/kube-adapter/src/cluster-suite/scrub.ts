/** The longest text of one failure in the report. */
const MAX_LENGTH = 800;

const COLORS = /\u001b\[[0-9;]*m/g;
const STACK = /\n\s+at [\s\S]*$/;
const TOKEN = /\b(eyJ[\w-]+\.[\w-]+\.?[\w-]*|(?<=Bearer )\S+)/g;
const URL_AUTHORITY = /\b([a-z][a-z0-9+.-]*:\/\/)[^/\s"'<>)]+/gi;
const IPV4 = /\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b/g;
const IPV6 = /(?<![\w:])\[?(?=[0-9a-f:]*:[0-9a-f]*:)[0-9a-f:]{3,39}\]?(:\d+)?(?![\w:])/gi;
const MAC = /\b[0-9a-f]{2}(:[0-9a-f]{2}){5}\b/gi;
const FILE = /(?<![\w/.-])\/(?:home|root|Users|tmp|var|work|opt|mnt|srv|usr)\/[^\s:)"']+/g;

/** Removes from a text what must not leave the machine: addresses, tokens, paths of files, and the given names. */
export class Scrubber {
  private readonly names: readonly (readonly [string, string])[];

  /** @param names the replacements of names, such as those of nodes and of the server's host */
  constructor(names: Readonly<Record<string, string>>) {
    // The longest first: node-1 is a part of node-10.
    this.names = Object.entries(names)
      .filter(([name]) => name !== '')
      .sort(([one], [other]) => other.length - one.length);
  }

  scrub(text: string): string {
    let clean = text.replaceAll(COLORS, '').replace(STACK, '').replaceAll(URL_AUTHORITY, '$1<address>');
    for (const [name, replacement] of this.names) clean = clean.replaceAll(name, replacement);
    clean = clean
      .replaceAll(TOKEN, '<token>')
      .replaceAll(IPV4, '<address>')
      .replaceAll(MAC, '<mac>')
      .replaceAll(IPV6, '<address>')
      .replaceAll(FILE, '<file>')
      .trim();
    return clean.length > MAX_LENGTH ? `${clean.slice(0, MAX_LENGTH)} …` : clean;
  }
}
