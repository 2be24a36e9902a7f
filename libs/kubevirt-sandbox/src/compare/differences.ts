import type { Answer } from './answer.js';
import { isObject, type Json } from './scenario.js';

export interface Difference {
  readonly request: string;
  /** `status`, `header.warning`, `body.details.causes.0.field`. */
  readonly field: string;
  readonly expected: Json | undefined;
  readonly actual: Json | undefined;
}

/** Compares two runs of the same scenarios, field by field. */
export function differences(expected: readonly Answer[], actual: readonly Answer[]): Difference[] {
  const others = new Map(actual.map((answer) => [answer.request, answer]));
  const missing = actual.filter(({ request }) => !expected.some((answer) => answer.request === request));
  return [
    ...expected.flatMap((answer) => {
      const other = others.get(answer.request);
      if (!other) return [{ request: answer.request, field: 'status', expected: answer.status, actual: undefined }];
      return [
        ...fieldsThatDiffer('status', answer.status, other.status),
        ...fieldsThatDiffer('header', answer.headers ?? {}, other.headers ?? {}),
        ...fieldsThatDiffer('body', answer.body, other.body),
      ].map((difference) => ({ request: answer.request, ...difference }));
    }),
    ...missing.map(({ request, status }) => ({ request, field: 'status', expected: undefined, actual: status })),
  ];
}

function fieldsThatDiffer(
  field: string,
  expected: Json | undefined,
  actual: Json | undefined,
): Omit<Difference, 'request'>[] {
  if (isObject(expected) && isObject(actual)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...keys].flatMap((key) => fieldsThatDiffer(`${field}.${key}`, expected[key], actual[key]));
  }
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const length = Math.max(expected.length, actual.length);
    return Array.from({ length }, (_none, index) => index).flatMap((index) =>
      fieldsThatDiffer(`${field}.${index}`, expected[index], actual[index]),
    );
  }
  return JSON.stringify(expected) === JSON.stringify(actual) ? [] : [{ field, expected, actual }];
}

const MAX_LENGTH = 300;

function shown(value: Json | undefined): string {
  const text = value === undefined ? 'absent' : JSON.stringify(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

/** The differences as text, grouped by request. */
export function report(found: readonly Difference[], names: { expected: string; actual: string }): string[] {
  const width = Math.max(names.expected.length, names.actual.length);
  const lines: string[] = [];
  let request: string | undefined;
  for (const difference of found) {
    if (difference.request !== request) lines.push(difference.request);
    request = difference.request;
    lines.push(
      `  ${difference.field}`,
      `    ${names.expected.padEnd(width)}  ${shown(difference.expected)}`,
      `    ${names.actual.padEnd(width)}  ${shown(difference.actual)}`,
    );
  }
  return lines;
}
