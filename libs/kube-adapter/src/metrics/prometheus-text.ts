/** One sample of the text format of Prometheus. */
export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** NaN and the infinities are values of the format. */
  readonly value: number;
}

const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/y;
const LABEL = /[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*/y;
/** The value, and the time of the sample, which is rare. */
const VALUE = /[ \t]*([^ \t\r]+)(?:[ \t]+-?\d+)?[ \t\r]*$/y;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const INFINITY = /^([+-]?)inf(?:inity)?$/i;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' };

/** The name of the series that a line belongs to; undefined for comments and for lines of another format. */
export const seriesOf = (line: string): string | undefined => matchAt(NAME, line, 0)?.[0];

/**
 * Parses a line such as `name{label="value"} 1.5e+09`.
 * https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 * @returns undefined for a comment, and for a line that is not of the format
 */
export function parseSample(line: string): Sample | undefined {
  const name = seriesOf(line);
  if (name === undefined) return undefined;
  const labels = new Map<string, string>();
  let at = skipBlanks(line, name.length);
  if (line[at] === '{') {
    const end = parseLabels(line, at + 1, labels);
    if (end === undefined) return undefined;
    at = end;
  }
  const value = valueOf(matchAt(VALUE, line, at)?.[1]);
  return value === undefined ? undefined : { name, labels, value };
}

/** @returns the position after the closing brace */
function parseLabels(line: string, begin: number, labels: Map<string, string>): number | undefined {
  let at = skipBlanks(line, begin);
  while (line[at] !== '}') {
    const label = matchAt(LABEL, line, at);
    if (!label) return undefined;
    const [all, name = '', text = ''] = label;
    labels.set(name, unescaped(text));
    at += all.length;
    if (line[at] === ',') at = skipBlanks(line, at + 1);
    else if (line[at] !== '}') return undefined;
  }
  return at + 1;
}

const unescaped = (text: string): string =>
  text.includes('\\') ? text.replace(/\\(.)/gs, (pair, letter: string) => ESCAPES[letter] ?? pair) : text;

function valueOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (NUMBER.test(text)) return Number(text);
  if (/^nan$/i.test(text)) return Number.NaN;
  const sign = INFINITY.exec(text)?.[1];
  return sign === undefined ? undefined : sign === '-' ? -Infinity : Infinity;
}

function skipBlanks(line: string, at: number): number {
  let end = at;
  while (line[end] === ' ' || line[end] === '\t') end++;
  return end;
}

function matchAt(pattern: RegExp, line: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(line);
}
