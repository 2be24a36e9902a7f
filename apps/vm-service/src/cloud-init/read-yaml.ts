import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit, type Node, type YAMLMap } from 'yaml';
import type { ValueKind } from './cloud-config-keys.js';

export interface YamlProblem {
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** Both from 1 on. */
  readonly line: number;
  readonly column: number;
}

export interface YamlText {
  readonly problems: readonly YamlProblem[];
  /** The mapping at the top; undefined if there is none. */
  readonly map?: YAMLMap<Node, Node | null>;
  /** A problem at a node. */
  at(node: Node | null | undefined, severity: YamlProblem['severity'], message: string): YamlProblem;
}

const MAX_DEPTH = 200;
const NESTED_BLOCKS = new RegExp(`(?:[-?] ){${MAX_DEPTH}}`);
const START = { line: 1, column: 1 };

/**
 * Reads a text as YAML 1.1, as cloud-init does. It is never converted to values, so that aliases are not expanded: a
 * few lines of them can expand to gigabytes. Such a text is refused.
 */
export function readYaml(text: string): YamlText {
  const lineCounter = new LineCounter();
  const place = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const at: YamlText['at'] = (node, severity, message) => ({
    severity,
    message,
    ...(node?.range ? place(node.range[0]) : START),
  });
  if (isTooDeep(text)) {
    const message = `It is nested more than ${MAX_DEPTH} levels deep.`;
    return { at, problems: [{ severity: 'error', message, ...START }] };
  }
  let document;
  try {
    document = parseDocument<Node>(text, { lineCounter, version: '1.1', prettyErrors: false, logLevel: 'silent' });
  } catch (error) {
    // The parser is recursive.
    if (!(error instanceof RangeError)) throw error;
    return { at, problems: [{ severity: 'error', message: 'It is nested too deeply.', ...START }] };
  }
  const problems = document.errors.map(({ message, pos }): YamlProblem => ({
    severity: 'error',
    message: sentence(message),
    ...place(pos[0]),
  }));
  visit(document, {
    Alias: (_key, node) => {
      problems.push(at(node, 'error', `The alias *${node.source} is refused: aliases can expand to gigabytes.`));
      return visit.BREAK;
    },
  });
  const { contents } = document;
  return { at, problems, ...(isMap(contents) && { map: contents as YAMLMap<Node, Node | null> }) };
}

/** The parser needs seconds for a text that is nothing but brackets. Those in scripts are usually closed again. */
function isTooDeep(text: string): boolean {
  if (NESTED_BLOCKS.test(text)) return true;
  let depth = 0;
  for (const character of text) {
    if (character === '[' || character === '{') depth++;
    else if (depth > 0 && (character === ']' || character === '}')) depth--;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

const sentence = (message: string): string => (/[.!?]$/.test(message) ? message : `${message}.`);

/** The kind of a value; undefined for null. */
export function kindOf(node: Node | null | undefined): ValueKind | undefined {
  if (isMap(node)) return 'map';
  if (isSeq(node)) return 'list';
  if (!isScalar(node) || isAlias(node) || node.value === null) return undefined;
  if (typeof node.value === 'boolean') return 'switch';
  return typeof node.value === 'number' || typeof node.value === 'bigint' ? 'number' : 'text';
}

/** The key of a pair as text. */
export const keyText = (key: Node): string => (isScalar(key) ? String(key.value) : '');
