/** One value of a series, with its labels. */
export interface Sample {
  /** Without the prefix of the server, such as `memory_MemTotal_bytes`. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^(?:incus|lxd)_(\w+)\{(.*)\} (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;
const ESCAPED = /\\(.)/g;

/**
 * Reads the series of instances in the text of `/1.0/metrics`.
 * https://linuxcontainers.org/incus/docs/main/reference/provided_metrics/
 */
export function parseMetrics(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', digits] = LINE.exec(line) ?? [];
    const value = Number(digits);
    if (name === undefined || !Number.isFinite(value)) return [];
    return [{ name, labels: Object.fromEntries(pairsOf(labels)), value }];
  });
}

const pairsOf = (labels: string): [string, string][] =>
  [...labels.matchAll(LABEL)].map(([, key = '', value = '']) => [
    key,
    value.replace(ESCAPED, (_, letter: string) => (letter === 'n' ? '\n' : letter)),
  ]);
